"""Parts are plain values: nothing can be changed, numbers are told from text."""

import dataclasses

import pytest

from mercer.report import _page_parts as _parts
from mercer.report._page_parts import Code, MapView, Page, Section, Table


def test_numbers_are_told_from_text():
    table = Table("t", ("a", "b", "c", "d"), (("x", 1, None, "1.0"), ("y", None, 2.5, "2")))
    assert table.numeric == (False, True, True, False)
    assert Table("empty", ("a", "b"), ()).numeric == (False, False)


def test_no_part_can_be_changed():
    kinds = [k for k in vars(_parts).values() if dataclasses.is_dataclass(k)]
    assert len(kinds) > 8
    for kind in kinds:
        if kind.__module__ == _parts.__name__:
            assert kind.__dataclass_params__.frozen
    part = Code("a", "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.text = "c"


def test_what_is_left_out_is_empty():
    assert Section("k", "t").parts == ()
    assert Page("t", (), (), ()).cloud is None
    assert MapView("k", (0, 1)).words == ""
