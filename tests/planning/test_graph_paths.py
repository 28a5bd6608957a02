"""Paths of graphs, geodesics, inverses and unfoldings follow from their numbers alone."""

import dataclasses
import math

import pytest

from mercer.errors import BudgetError
from mercer.planning import (
    GraphCost,
    KernelCost,
    Problem,
    foreseen_gap,
    landmark_count,
    plan,
)
from mercer.solvers import BlockKrylov


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
    made = planned(n, front, k=10 if n == 1_000_000 else 5)
    assert made.chosen.name == path
    assert path in str(made)
    assert made.bytes < 8e9


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
    exact = 1 - math.cos(math.pi / (n - 1))
    assert 0.2 < foreseen_gap(n, 1.0) / exact < 5
    assert foreseen_gap(n, float(n)) == 1.0


GB = 10**9
COST = KernelCost(flops=1.0, centred=False)
USUAL = {"cols": 3, "components": 2, "itemsize": 8, "threads": 2, "memory": 100 * GB}


def geodesic(rows=5000, memory=100 * GB, **cost):
    kernel = dataclasses.replace(COST, **{"geodesic": True, **cost})
    only = ("lapack", "stored")
    return plan(Problem(rows, **USUAL | {"memory": memory}, kernel=kernel, allowed=only))


def unfolded(rows, landmarks=None, neighbours=6, memory=16 * GB):
    kernel = dataclasses.replace(COST, landmarks=landmarks, bars=neighbours)
    return plan(Problem(rows, **USUAL | {"memory": memory}, kernel=kernel))


def inverted(rows=20_000, cells=50, k=2, memory=10 * GB):
    usual = USUAL | {"cols": rows, "components": k, "memory": memory}
    return plan(Problem(rows, **usual, nnz=rows * cells, inverse=True))


def test_geodesics_between_all_pairs_are_stored_and_searched():
    made = geodesic()
    assert made.chosen.name == "stored"
    assert {path.name for path, _ in made.rejected} == {"lapack"}
    assert "all pairs" in made.chosen.note
    assert made.chosen.bytes > 8 * 5000**2
    assert made.chosen.seconds > geodesic(geodesic=False).chosen.seconds + 5  # 25 million paths
    assert geodesic(whole=True).chosen.name == "lapack"
    few = geodesic(20_000, landmarks=500)
    assert (few.chosen.name, few.rejected) == ("landmarks", ())
    assert 8 * 500 * 20_000 < few.chosen.bytes < 0.1 * 8 * 20_000**2
    assert few.chosen.seconds < 0.1 * geodesic(20_000).chosen.seconds
    counts = [landmark_count(n, k) for n, k in ((100, 2), (10**5, 2), (10**5, 30))]
    assert counts == [100, 500, 1500]


def test_a_large_matrix_is_iterated_on_with_its_factors():
    made = inverted()
    assert made.chosen.name == "inverse"
    assert isinstance(made.chosen.solver, BlockKrylov)
    assert made.chosen.then is None
    assert [path.name for path, _ in made.rejected] == ["lapack"]
    assert made.bytes < 1e9
    assert "factors" in str(made)
    for rows, k in ((50, 2), (300, 2), (2000, 500)):  # small ones or many axes
        assert inverted(rows, k=k).chosen.name == "lapack"
    costs = [inverted(rows).chosen for rows in (5000, 20_000, 10**5)]
    assert costs[0].seconds < costs[1].seconds < costs[2].seconds
    more = inverted(cells=400).chosen
    assert (more.bytes > costs[1].bytes, more.seconds > costs[1].seconds) == (True, True)
    assert inverted(1000, 1000).chosen.bytes < 2e8  # at most a triangle twice


def test_unfoldings_are_priced_by_points_and_bars():
    assert unfolded(1000).chosen.name == "interior"
    made = unfolded(20_000, 500)
    assert made.chosen.name == "landmarks"
    assert "500 landmarks" in str(made)
    few, many = unfolded(1000).chosen, unfolded(1000, neighbours=12).chosen
    assert many.flops > 4 * few.flops
    assert many.bytes > few.bytes
    assert unfolded(1000, 200).chosen.seconds < few.seconds / 5
    pairs = unfolded(10, neighbours=9).chosen  # never more bars than pairs
    assert unfolded(10, neighbours=20).chosen.flops == pairs.flops


@pytest.mark.parametrize(
    ("made", "memory"), [(geodesic, 10**7), (inverted, 10**6), (unfolded, 10**6)]
)
def test_what_does_not_fit_is_refused(made, memory):
    with pytest.raises(BudgetError, match="memory"):
        made(5000, memory=memory)
