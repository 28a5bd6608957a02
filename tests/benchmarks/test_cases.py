from collections import Counter

from benchmarks.cases import dense_cases, select, sparse_cases
from benchmarks.rivals import RIVALS


def test_the_dense_grid_is_whole():
    cases = dense_cases()
    assert len(cases) == 40
    assert len({case.name for case in cases}) == 40
    assert Counter((case.rows, case.columns) for case in cases) == {
        (1_000_000, 50): 8,
        (200_000, 200): 8,
        (20_000, 2_000): 8,
        (2_000, 20_000): 8,
        (5_000, 5_000): 8,
    }
    assert Counter(case.components for case in cases) == {10: 20, 50: 20}
    assert Counter(case.offset for case in cases) == {1.0: 20, 100.0: 20}


def test_cells_that_share_data_stand_together():
    names = [case.data_name for case in select("all")]
    runs = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
    assert len(runs) == len(set(runs))


def test_tolerances_follow_the_dtype():
    assert {case.dtype: case.tolerance for case in sparse_cases()} == {
        "float64": 1e-6,
        "float32": 1e-4,
    }


def test_patterns_select():
    assert [case.name for case in select("dense", "*5000x5000-float32-offset1-*")] == [
        "dense-5000x5000-float32-offset1-k10",
        "dense-5000x5000-float32-offset1-k50",
    ]
    assert select("sparse", "nothing") == []


def test_quick_cases_are_small():
    for case in select("all", quick=True):
        assert case.rows * case.columns <= 5_000_000
        assert case.components <= min(case.rows, case.columns)


def test_the_million_is_one_case_of_its_own():
    (case,) = select("sparse", "*million*")
    assert (case.rows, case.columns, case.components) == (1_300_000, 2_000, 50)
    assert case.rows * case.columns * case.data.density == 214_500_000
    assert case.data.logged
    refused = RIVALS["sklearn-covariance_eigh"].refuse(case)
    assert refused is not None
    assert "hopeless" in refused
