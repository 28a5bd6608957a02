import numpy as np
import pytest

from mercer.cli.fitting._axis_lines import components_for, spectrum_table, what_was_found

ratio = np.array([0.6, 0.3, 0.1, 0.0])
V = np.eye(4)
names = ["height", "width", "depth", "colour"]


def found(ratio=ratio, components=V, **options):
    given = {"rank": 4, "groups": (), **options}
    return what_was_found(ratio, components, names, **given)


def test_table_shows_the_farther_end_of_each_interval_and_running_sums():
    values = 10 * ratio
    lines = spectrum_table(values, values - 1e-9, values + 3e-9, values / 100, ratio, rows=3)
    head, first, second, third, more = lines
    assert head.split() == [
        "component", "variance", "certified", "±", "sampling", "±", "share", "%", "sum", "%",
    ]  # fmt: skip
    assert first.split() == ["1", "6.0000", "3.0e-09", "0.060", "60.0", "60.0"]
    assert second.split()[-1] == "90.0"
    assert third.split()[-1] == "100.0"
    assert "(1 more)" in more
    assert len({len(line) for line in (head, first, second, third)}) == 1


@pytest.mark.parametrize(
    ("share", "count"), [(0.5, 1), (0.6, 1), (0.61, 2), (0.9, 2), (1.0, 3), (1.1, None)]
)
def test_components_for_a_share(share, count):
    assert components_for(ratio, share) == count


def test_the_usual_findings():
    lines = found()
    assert lines[0] == "2 components carry 90 % of the variance (of 4 features)."
    assert lines[1] == "The map of PC1 and PC2 shows 90.0 % of it."
    assert lines[2] == "PC1 weighs most: height (+1.00)."
    assert lines[4] == "Rank 4: every direction carries variance."
    assert lines[5] == "The arithmetic tells every axis with variance from its neighbours."


def test_a_share_out_of_reach_is_said_plainly():
    assert found(ratio[:1], V[:1])[0] == "1 component carries 60.0 % of the variance."


def test_rank_names_constant_columns_and_zero_axes_are_not_called_ties():
    lines = found(rank=2, groups=[(2, 3)], constant=["colour"])
    assert "Rank 2: 2 of 4 directions carry no variance; constant: colour." in lines
    assert not [line for line in lines if "cannot be told apart" in line]


def test_ties_are_named_from_one():
    lines = found(groups=[(0, 1)])
    assert lines[-1] == "PC1, PC2 cannot be told apart: only the space they span has a meaning."


def test_a_tie_with_an_axis_that_was_not_asked_for_is_said():
    lines = found(ratio[:2], V[:2], groups=[(1, 2)])
    assert lines[-1].startswith("PC2, the next axis cannot be told apart")
