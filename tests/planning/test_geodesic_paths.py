import dataclasses

import pytest

from mercer.errors import BudgetError
from mercer.planning import KernelCost, Problem, landmark_count, plan

COST = KernelCost(flops=1.0, centred=False, geodesic=True)
PROBLEM = Problem(
    rows=5000,
    cols=3,
    components=2,
    itemsize=8,
    memory=10**11,
    kernel=COST,
    threads=2,
    allowed=("lapack", "stored"),
)


def on(**changes):
    return dataclasses.replace(PROBLEM, **changes)


def test_all_pairs_are_stored_and_searched():
    made = plan(PROBLEM)
    assert made.chosen.name == "stored"
    assert {path.name for path, _ in made.rejected} == {"lapack"}
    assert "all pairs" in made.chosen.note
    assert made.chosen.bytes > 8 * 5000**2
    plain = plan(on(kernel=dataclasses.replace(COST, geodesic=False)))
    assert made.chosen.seconds > plain.chosen.seconds + 5  # 25 million paths


def test_a_policy_that_needs_all_pairs_goes_to_lapack():
    assert plan(on(kernel=dataclasses.replace(COST, whole=True))).chosen.name == "lapack"


def test_landmarks_are_the_only_path_where_they_are_asked_for():
    few = plan(on(rows=20_000, kernel=dataclasses.replace(COST, landmarks=500)))
    assert (few.chosen.name, few.rejected) == ("landmarks", ())
    assert 8 * 500 * 20_000 < few.chosen.bytes < 0.1 * 8 * 20_000**2
    assert few.chosen.seconds < 0.1 * plan(on(rows=20_000)).chosen.seconds


def test_the_number_of_landmarks_grows_with_the_axes():
    assert [landmark_count(n, k) for n, k in ((100, 2), (10**5, 2), (10**5, 30))] == [
        100,
        500,
        1500,
    ]


def test_what_does_not_fit_is_refused():
    with pytest.raises(BudgetError, match="memory"):
        plan(on(memory=10**7))
