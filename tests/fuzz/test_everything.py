"""Everything on everything: 300 cases of the sweep that ``./run test-fuzz`` makes at length."""

import pytest
from fuzzed_case import drawn, run
from fuzzed_inputs import KINDS
from fuzzed_methods import BY_NAME


@pytest.mark.parametrize("name", drawn(23, 300))
def test_right_or_refused_or_warned(name):
    """``./run test-fuzz --case NAME`` shows one again."""
    assert not run(name)


def test_all_methods_and_all_kinds_are_tried():
    parts = [name.split("/") for name in drawn(23, 300)]
    assert {part[0] for part in parts} == set(BY_NAME)
    assert {part[1] for part in parts} == set(KINDS)
    pairs = len(BY_NAME) * len(KINDS)
    assert len({n.rpartition("/")[0] for n in drawn(0, pairs)}) == pairs
