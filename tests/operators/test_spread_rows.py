"""Sums of rows in parts are those of rows in one piece."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import CentredParts, Centring, SpreadRows, centred, rows_of
from mercer.sources import scan

da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.usefixtures("every_chunk")


def table(rng, n=90, p=6, offset=1e4):
    return rng.standard_normal((n, p)) * np.arange(1, p + 1) + offset


def parted(X, chunks=(13, 4)):
    return scan(da.from_array(X, chunks=chunks))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_moments_are_those_of_all_rows(rng, weighted, whole):
    X = table(rng)
    w = rng.integers(0, 4, len(X)).astype(float) if weighted else None
    source = parted(X)
    if weighted:
        w[20:] = 0
    rows = SpreadRows(source, source.weights_of(w))
    found = rows.scatter() if whole else rows.moments()
    repeated = X if w is None else np.repeat(X, w.astype(int), axis=0)
    wanted = np.cov(repeated.T) * (len(repeated) - 1)
    got = np.ldexp(found.scatter, 2 * rows.exponent)
    np.testing.assert_allclose(got, wanted if whole else np.diag(wanted), rtol=1e-10, atol=1e-8)
    mean = rows.origin + np.ldexp(found.offset, rows.exponent)
    np.testing.assert_allclose(mean, repeated.mean(axis=0), rtol=1e-13)
    assert found.total == len(repeated) == source.weighed
    assert rows.walks == 1
    assert rows.shape == (90, 6)
    assert rows.counted_rows == (90 if w is None else np.sum(w > 0))


def operator(X, chunks=(13, 4)):
    rows = SpreadRows(parted(X, chunks))
    moments = rows.moments()
    centring = Centring(rows.origin, moments.offset, rows.exponent, None)
    return centred(rows, centring), centring


@pytest.mark.parametrize("n", [90, 4])
def test_the_triangle_has_the_same_cross_product(rng, n):
    X = table(rng, n)
    op, centring = operator(X, (3, 6) if n < 6 else (13, 4))
    assert isinstance(op, CentredParts)
    Y = (X - X.mean(axis=0)) / 2.0**centring.exponent
    Q = rng.standard_normal((6, 2))
    np.testing.assert_allclose(op.gram_matmat(Q), Y.T @ (Y @ Q), rtol=1e-10, atol=1e-9)
    assert op.rows.walks == 2
    if n < 6:  # fewer rows than columns may come as their triangle
        whole, wanted = (np.linalg.svd(m, compute_uv=False) for m in (op.dense(), Y))
        assert op.dense().shape == (4, 6)
        np.testing.assert_allclose(whole, wanted, rtol=1e-9, atol=1e-9)
    found = op.triangle()
    assert len(found) <= 6
    np.testing.assert_allclose(found.T @ found, Y.T @ Y, rtol=1e-9, atol=1e-9)


def test_rows_are_never_gathered(rng):
    op, _ = operator(table(rng))
    for refused in (
        lambda: op.matmat(np.eye(6)),
        lambda: op.rmatmat(np.ones((90, 1))),
        op.dense,
    ):
        with pytest.raises(NotImplementedError, match="never gathered"):
            refused()


def test_sparse_parts_give_the_same_sums(rng):
    X = scipy.sparse.random_array((90, 6), density=0.3, random_state=rng, format="csr")
    source = scan(da.from_array(X.toarray(), chunks=(13, 4)).map_blocks(scipy.sparse.csr_array))
    rows = SpreadRows(source)
    found = rows.scatter()
    wanted = rows_of(scan(X)).scatter()
    np.testing.assert_allclose(found.variances, wanted.variances, rtol=1e-12)
    np.testing.assert_array_equal(rows.origin, np.zeros(6))  # sparse rows stay about zero


@pytest.mark.parametrize(
    ("value", "said"), [(np.nan, "NaN at row 40"), (np.inf, "infinity at row 40")]
)
def test_a_bad_cell_is_named_among_all_rows(rng, value, said):
    X = table(rng)
    X[40, 5] = value
    with pytest.raises(InputError, match=f"{said}, column 5"):
        SpreadRows(parted(X)).moments()
    data = da.ones((3, 2), chunks=(1, 2))
    with pytest.raises(InputError, match="n_samples = 0"):
        SpreadRows(scan(data[data[:, 0] > 1])).moments()
