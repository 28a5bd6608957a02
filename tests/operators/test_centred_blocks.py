"""Centred blocks are one linear map, the centred table, however they are asked."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from pieces import Diary, Pieces, block_bytes

from mercer.operators import BlockRows, CentredBlocks, Centring, centred
from mercer.solvers import BlockKrylov, Goal
from mercer.testing import check_operator


def table(kind, n=40, p=9):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, p)) * 0.8 ** np.arange(p)
    if kind == "far":
        return X + 1e8
    if kind == "drift":
        return X + np.linspace(0, 1000, n)[:, None]
    if kind == "float32":
        return (X + 3).astype(np.float32)
    if kind == "integers":
        return (X * 50).astype(np.int32)
    if kind == "huge":
        return X * 1e200
    if kind == "sparse":
        return scipy.sparse.csr_array(np.where(X > 0, X, 0))
    return X


def operator(X, rows, weights=None, factor=None, products=None, journal=None):
    source = Pieces(X, 7)
    held = BlockRows(source, weights, products, block_bytes(source, rows), journal)
    moments = held.moments()
    return CentredBlocks(held, Centring(held.origin, moments.offset, held.exponent, factor))


def truth(op, X, weights, factor):
    """Return the centred table in the unit of the operator."""
    Y = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, np.float64)
    e = op.centring.exponent
    Y = np.ldexp(Y, -e)
    w = np.ones(len(Y)) if weights is None else weights
    level = Y[0].copy()
    Y = Y - level
    Y = (Y - w @ Y / w.sum()) * np.sqrt(w)[:, None]
    return Y if factor is None else Y * factor


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [7, 40])
@pytest.mark.parametrize("kind", ["plain", "far", "drift", "integers", "huge", "sparse"])
def test_the_laws_of_an_operator(kind, rows, weighted, scaled):
    X = table(kind)
    w = 0.5 + np.arange(40) % 3 if weighted else None
    if weighted:
        w[:7], w[20:30] = 0, 0  # blocks that weigh nothing
    factor = np.linspace(0.5, 2, 9) if scaled else None
    op = operator(X, rows, w, factor)
    check_operator(op, truth(op, X, w, factor), rtol=1e-12 if kind != "far" else 1e-8)


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_float32(rows):
    X = table("float32")
    op = operator(X, rows)
    check_operator(op, truth(op, X, None, None), rtol=1e-5)
    assert 0 < op.product_error < 1e-5
    assert isinstance(centred(op.rows, op.centring), CentredBlocks)
    q = np.random.default_rng(0).standard_normal((9, 3))
    A = truth(op, X, None, None)
    wrong = op.gram_matmat(q) - A.T @ (A @ q)
    size = np.linalg.norm(A) * np.linalg.norm(A @ q, axis=0)
    assert np.all(np.linalg.norm(wrong, axis=0) <= op.product_error * size)


def test_every_product_is_one_walk():
    op = operator(table("plain"), 7)
    source = op.rows.source
    for name, count in (("matmat", 9), ("rmatmat", 40), ("gram_matmat", 9)):
        before = source.walks
        getattr(op, name)(np.ones((count, 2)))
        assert source.walks == before + 1
    before = source.walks
    op.triangle()
    assert source.walks == before + 1
    op.taste(np.ones((9, 1)))
    assert source.walks == before + 1
    X, diary = table("plain"), Diary()
    one, q = operator(X, 7, journal=diary), np.eye(9)[:, :2]
    one.gram_matmat(q)
    other, A = operator(X, 7, journal=diary), truth(one, X, None, None)
    assert np.allclose(other.gram_matmat(3 * q), 3 * A.T @ A @ q)  # not taken for those of q
    assert other.rows.source.walks == 1  # the moments were known, the product was not


def test_a_taste_reads_nothing_and_points_the_right_way():
    rng = np.random.default_rng(0)
    axis = np.linalg.qr(rng.standard_normal((30, 1)))[0]
    X = 1e4 + 20 * rng.standard_normal((4000, 1)) * axis.T + rng.standard_normal((4000, 30))
    op = operator(X, 300)
    walks = op.rows.source.walks
    q = rng.standard_normal((30, 2))
    for _ in range(op.tastes):
        q = np.linalg.qr(op.taste(q))[0]
    assert op.rows.source.walks == walks
    assert np.linalg.norm(q.T @ axis) > 0.99


@pytest.mark.parametrize("kind", ["plain", "float32", "sparse"])
def test_an_iteration_goes_on_from_everywhere_with_the_same_bits(kind):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 30)) * 0.8 ** np.arange(30)
    X = X.astype(np.float32) if kind == "float32" else X
    X = scipy.sparse.csr_array(np.where(X > 0, X, 0)) if kind == "sparse" else X
    solver, goal = BlockKrylov(8, max_passes=12), Goal(2, tol=1e-4)
    diary = Diary()
    whole = solver.solve(operator(X, 13, journal=diary), goal)
    for state in diary.log[::4]:
        op = operator(X, 13, journal=Diary(state))
        found = solver.solve(op, goal)
        assert np.array_equal(found.values, whole.values)
        assert np.array_equal(found.right, whole.right)
        assert np.array_equal(found.certificate.residual, whole.certificate.residual)
        assert found.passes == whole.passes


@pytest.mark.parametrize("kind", ["plain", "sparse"])
def test_a_wide_table_is_written_down_without_more(kind):
    X = table(kind, 10, 2000)
    op = operator(X, 4)
    tracemalloc.start()
    try:
        found = op.dense()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.abs(found - truth(op, X, None, None)).max() <= 1e-12
    # The identity of the wide side is 200 times as large; other threads may allocate a little.
    assert most <= 6 * found.nbytes
