import numpy as np
import pytest
from scipy import sparse

from mercer.arrays import Measure
from mercer.arrays.programs._program_tiles import (
    check_measure,
    key_of,
    measure_diagonal,
    measure_tile,
    prepare_measure,
)
from mercer.errors import InputError


def term(kind, u, v):
    """One column's part of a measure, in plain Python."""
    if kind in ("chi2", "chi2sum"):
        if u + v == 0:
            return 0.0
        return (u - v) ** 2 / (u + v) if kind == "chi2" else 2 * u * v / (u + v)
    plain = {
        "dot": u * v,
        "sqdist": (u - v) ** 2,
        "dist": (u - v) ** 2,
        "l1": abs(u - v),
        "hamming": float(u != v),
        "minsum": min(u, v),
    }
    return plain[kind]


def formula(kind, x, y):
    total = sum(term(kind, u, v) for u, v in zip(x, y, strict=True))
    if kind == "hamming":
        return total / len(x)
    return total**0.5 if kind == "dist" else total


def tile_of(measure, x, y, xp, dtype=np.float64):
    a = prepare_measure(measure, xp.asarray(x.astype(dtype)), None)
    b = prepare_measure(measure, xp.asarray(y.astype(dtype)), a)
    out = np.empty((len(x), len(y)), dtype) if xp.name in ("numpy", "read-only") else None
    return xp.numpy(measure_tile(measure, a, b, slice(0, len(x)), slice(0, len(y)), out, 1.0))


KINDS = ["dot", "sqdist", "dist", "l1", "hamming", "chi2", "chi2sum", "minsum"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_measures_are_their_formulas(xp, rng, kind, dtype):
    x, y = rng.poisson(1.0, (9, 4)) / 2, rng.poisson(1.0, (5, 4)) / 2
    truth = [[formula(kind, u, v) for v in y.tolist()] for u in x.tolist()]
    found = tile_of(Measure(kind), x, y, xp, dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, truth, rtol=0, atol=32 * np.finfo(dtype).eps)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_scales(xp, rng, kind):
    x, y = rng.random((6, 4)), rng.random((5, 4))
    several = Measure(kind, columns=(3, 1), scale=(2.0, 0.5))
    truth = tile_of(Measure(kind), x[:, [3, 1]] * [2, 0.5], y[:, [3, 1]] * [2, 0.5], xp)
    np.testing.assert_allclose(tile_of(several, x, y, xp), truth, rtol=0, atol=1e-14)
    truth = tile_of(Measure(kind), x * 3, y * 3, xp)
    np.testing.assert_allclose(tile_of(Measure(kind, scale=3.0), x, y, xp), truth, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_diagonals(xp, rng, kind):
    x = rng.random((6, 4))
    measure = Measure(kind, scale=2.0)
    held = prepare_measure(measure, xp.asarray(x), None)
    found = xp.numpy(measure_diagonal(measure, held))
    assert found.dtype == np.float64
    truth = [formula(kind, u, u) for u in (2 * x).tolist()]
    np.testing.assert_allclose(found, truth, rtol=1e-14)


def test_lengthscales_share_their_rows():
    assert key_of(Measure("sqdist", scale=2.0)) == key_of(Measure("dist"))
    assert key_of(Measure("sqdist", scale=(2.0, 1.0))) != key_of(Measure("sqdist"))
    assert key_of(Measure("dot")) == key_of(Measure("minsum", scale=3.0))
    assert key_of(Measure("dot")) != key_of(Measure("sqdist"))


@pytest.mark.parametrize("kind", ["chi2", "chi2sum", "minsum"])
def test_counts_are_not_negative(kind):
    with pytest.raises(InputError, match="row 0, column 1"):
        check_measure(Measure(kind), np.array([[1.0, -1.0]]), None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_products(rng, dtype):
    x = (rng.random((6, 5)) * (rng.random((6, 5)) < 0.5)).astype(dtype)
    measure = Measure("dot", columns=(0, 2, 4), scale=(1.0, 2.0, 3.0))
    held = prepare_measure(measure, sparse.csr_array(x), None)
    weighted = x[:, [0, 2, 4]].astype(float) * [1, 2, 3]
    out = np.empty((6, 6), dtype)
    whole = slice(0, 6)
    measure_tile(measure, held, held, whole, whole, out, 1.0)
    np.testing.assert_allclose(out, weighted @ weighted.T, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_allclose(measure_diagonal(measure, held), (weighted**2).sum(axis=1))
    assert measure_diagonal(Measure("sqdist"), held).tolist() == [0.0] * 6


def test_no_column_that_is_empty_divides_by_zero(xp):
    zeros = np.zeros((2, 3))
    for kind in KINDS:
        np.testing.assert_array_equal(tile_of(Measure(kind), zeros, zeros, xp), zeros[:, :2])


def test_large_counts_do_not_overflow(xp):
    x = np.array([[1e300, 0.0]])
    y = np.array([[0.0, 1e300]])
    assert tile_of(Measure("chi2"), x, y, xp)[0, 0] == 2e300
    assert tile_of(Measure("chi2sum"), x, x, xp)[0, 0] == 1e300
