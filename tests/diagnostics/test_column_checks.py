import numpy as np
import pytest

from mercer.diagnostics import health

from .fits import factors, found


def clean(n=200, p=6, seed=0):
    return factors(n, p, np.random.default_rng(seed))


# -- M104 -----------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.0, 1e-140, 1e140])
def test_a_column_in_other_units_is_named(factor):
    X = clean() * [1, 1, 1000, 1, 1, 1]
    finding = found(X * factor, names=list("abcdef"))["M104"]
    assert finding.got.startswith("c: 100.00%") or finding.got.startswith("c: 99.9")
    assert "standardize=True" in finding.fix
    assert "M104" not in found(X / X.std(axis=0))


def test_a_few_columns_in_other_units_are_named():
    X = clean(400, 30) * np.where(np.arange(30) < 3, 500.0, 1.0)
    finding = found(X)["M104"]
    assert "3 of 30 columns" in finding.what
    for name in ("column 0", "column 1", "column 2"):
        assert name in finding.got


def test_sizes_that_differ_a_little_are_silent():
    rng = np.random.default_rng(0)
    assert "M104" not in found(clean() * [1, 2, 4, 1, 2, 4])
    assert "M104" not in found(rng.standard_normal((50, 1)) * 1e9, 1)
    assert "M104" not in found(rng.standard_normal((50, 2)) * [3, 1], 1)
    # A spectrum with one band: neighbours share a unit.
    band = np.exp(-(((np.arange(300) - 150) / 6.0) ** 2))
    assert "M104" not in found(rng.standard_normal((50, 1)) * band, 1)


# -- M109 -----------------------------------------------------------------------------


def test_copies_are_named_whatever_their_unit():
    X = clean()
    X = np.c_[X, X[:, 1] * 2.54 + 7, -X[:, 1]]
    got = found(X, names=[*"abcdef", "inch", "minus"])["M109"].got
    assert "b, inch and minus" in got


def test_a_sum_is_named():
    X = clean()
    X = np.c_[X, X[:, 0] + X[:, 3]]
    got = found(X, names=[*"abcdef", "total"])["M109"].got
    assert "total is made up of a and d" in got


def test_a_sum_is_found_among_several():
    X = clean(300, 8)
    X = np.c_[X, X[:, 0] - X[:, 3], X[:, 5] + 2 * X[:, 6] + X[:, 7]]
    assert "column 8 is made up of column 0 and column 3" in found(X)["M109"].got


def test_parts_of_a_whole_are_said():
    X = np.random.default_rng(0).dirichlet(np.ones(9), 100)
    assert "every row adds up to the same" in found(X)["M109"].got


def test_columns_that_are_nearly_alike_are_silent():
    X = clean()
    X = np.c_[X, X[:, 0] + 0.05 * np.random.default_rng(1).standard_normal(200)]
    assert "M109" not in found(X)
    wide = clean(20, 40)  # more columns than rows are all sums of each other
    assert "M109" not in found(wide)


def test_many_copies_in_a_wide_table_are_found():
    X = np.random.default_rng(0).standard_normal((30, 2000))
    X[:, 1700] = X[:, 12]
    assert "column 12 and column 1700" in found(X)["M109"].got


# -- M110 -----------------------------------------------------------------------------


def test_constant_columns_are_named():
    X = clean()
    X[:, 2] = 4.0
    assert "c, of 6 columns" in found(X, names=list("abcdef"))["M110"].got
    X[:, 4] = 1e8
    assert "2 columns do not vary" in found(X)["M110"].what
    assert "M110" not in found(clean())


# -- M111 -----------------------------------------------------------------------------


def test_a_long_tail_is_named():
    rng = np.random.default_rng(0)
    X = clean(2000)
    X[:, 1] = np.exp(2 * rng.standard_normal(2000)) / 10
    finding = found(X, names=list("abcdef"))["M111"]
    assert "b (" in finding.got
    X[:, 1] = np.log(X[:, 1])
    assert "M111" not in found(X)


def test_a_tail_that_moves_no_axis_is_silent():
    X = clean(2000)
    X[:, 1] = 0.001 * np.exp(2 * np.random.default_rng(0).standard_normal(2000))
    assert X[:, 1].std() < 0.1
    assert "M111" not in found(X)


def test_of_some_rows_a_column_is_only_said_to_vary_hardly_there():
    X = clean()
    X[:, 2] = 0.0
    finding = {f.code: f for f in health(X, X[:, :2], [2.0, 1.0], rows=10 * len(X))}["M110"]
    assert finding.what == "a column hardly varies"
    assert f"constant in the {len(X):,} rows looked at" in finding.got


def test_of_some_rows_copies_must_rest_on_many_cells():
    X = clean()
    rare = np.zeros(len(X))
    rare[3] = 1.0
    X[:, 0] = X[:, 1] = rare
    scores = X[:, 2:4]
    codes = [f.code for f in health(X, scores, [2.0, 1.0], rows=10 * len(X))]
    assert "M109" not in codes
    assert "M109" in [f.code for f in health(X, scores, [2.0, 1.0])]
