"""Which path a graph takes follows from its size and the width of its band."""

import pytest

from mercer.errors import BudgetError
from mercer.planning import GraphCost, Problem, foreseen_gap, plan


def planned(n, front, k=5, memory=8e9, nnz="ten", time=None):
    return plan(
        Problem(
            rows=n,
            cols=n,
            components=k,
            itemsize=8,
            memory=int(memory),
            nnz=11 * n if nnz == "ten" else nnz,
            graph=GraphCost(front),
            threads=2,
            time=time,
        )
    )


@pytest.mark.parametrize(
    ("n", "front", "path"),
    [
        (200, 20, "lapack"),
        (100_000, 260, "inverse"),  # a sheet
        (1_000_000, 900, "inverse"),
        (100_000, 1, "inverse"),  # a chain
        (100_000, 8_000, "filter"),  # rows in many dimensions
        (20_000, 1_470, "filter"),
    ],
)
def test_narrow_bands_are_factored_and_wide_ones_filtered(n, front, path):
    made = planned(n, front)
    assert made.chosen.name == path
    assert path in str(made)


def test_a_million_points_of_a_sheet_fit_eight_gigabytes():
    assert planned(1_000_000, 900, k=10).bytes < 8e9


def test_factors_that_do_not_fit_are_not_made():
    assert planned(100_000, 260, memory=300e6).chosen.name == "filter"
    with pytest.raises(BudgetError, match="filter needs"):
        planned(100_000, 260, memory=10e6)


def test_all_pairs_go_to_an_iteration_on_the_matrix():
    made = planned(8_000, 8_000, nnz=None)
    assert made.chosen.name == "filter"
    assert [path.name for path, _ in made.rejected] == ["lapack"]


def test_behind_a_path_come_those_that_fit():
    made = planned(3_000, 320)
    names, path = [], made.chosen
    while path is not None:
        names.append(path.name)
        path = path.then
    assert names[-1] == "lapack"
    assert len(set(names)) == len(names)
    assert planned(100_000, 260).chosen.then is None
    assert planned(3_000, 320, time=0.2).chosen.then is None


@pytest.mark.parametrize("n", [100, 1000])
def test_the_gap_of_a_path_is_foreseen_within_a_few_times(n):
    import math

    exact = 1 - math.cos(math.pi / (n - 1))
    assert 0.2 < foreseen_gap(n, 1.0) / exact < 5
    assert foreseen_gap(n, float(n)) == 1.0
