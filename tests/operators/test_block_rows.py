"""Rows read block by block give the sums of the rows in memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from pieces import Diary, Pieces, block_bytes

from mercer.errors import InputError
from mercer.operators import (
    BlockRows,
    CentredBlocks,
    Centring,
    block_length,
    centred,
    half_runs,
    rows_of,
    run_length,
    scatter_by_halves,
)
from mercer.solvers import BlockKrylov, Goal
from mercer.sources import ArrayBlocks, scan
from mercer.testing import check_operator


def table(kind, n=50, p=6):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p)) * 0.7 ** np.arange(p)
    if kind == "far":
        return X + 1e8
    if kind == "drift":
        return X + np.linspace(0, 1e6, n)[:, None]
    if kind == "sorted":
        return np.sort(X, axis=0) + 100
    if kind == "float32":
        return (X + 50).astype(np.float32)
    if kind == "integers":
        return (X * 100).astype(np.int16)
    if kind == "truth":
        return X > 0
    if kind == "huge":
        return X * 1e200
    if kind == "tiny":
        return X * 1e-200
    if kind == "late":
        X[30:] *= 1e180
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "sparse":
        return scipy.sparse.csr_array(np.where(X > 0.3, X, 0))
    if kind == "full column":
        Y = np.where(X > 0.3, X, 0)
        Y[:, 2] = 1e5 + X[:, 2]
        return scipy.sparse.csr_array(Y)
    return X


FLOATS = ["plain", "far", "drift", "sorted", "huge", "tiny", "late", "fortran"]
KINDS = [*FLOATS, "float32", "integers", "truth", "sparse", "full column"]
LENGTHS = (1, 7, 64)


def dense(X):
    return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, np.float64)


def blocks(X, rows, weights=None, **options):
    source = Pieces(X, 7)
    return BlockRows(source, weights, np.float64, block_bytes(source, rows), **options)


def truth(X, weights=None):
    """Return e, Σw, mean and centred scatter in extended precision, in units of 2^e."""
    X = dense(X)
    unit = int(np.frexp(np.abs(X).max())[1])
    Y = np.ldexp(X, -unit).astype(np.longdouble)
    w = np.ones(len(Y), np.longdouble) if weights is None else weights.astype(np.longdouble)
    mean = (w[:, None] * Y).sum(0) / w.sum()
    away = np.sqrt(w)[:, None] * (Y - mean)
    return unit, w.sum(), mean, away.T @ away


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_moments_and_scatter(kind, rows, weighted):
    X = table(kind)
    w = np.arange(50) % 3 * 0.75 if weighted else None
    held = blocks(X, rows, w)
    assert held.per_block == rows
    unit, total, mean, scatter = truth(X, w)
    size = np.trace(scatter)
    whole, diagonal = held.scatter(), held.moments()
    assert held.walks == 2
    assert whole.total == diagonal.total == total
    step = 2.0 ** (held.exponent - unit)  # one of theirs in ours
    scale = 1e-13 if kind not in ("far", "drift") else 1e-12
    assert np.abs(whole.scatter * step**2 - scatter).max() <= scale * size
    assert np.abs(diagonal.scatter * step**2 - np.diagonal(scatter)).max() <= scale * size
    found = np.ldexp(held.origin, -unit) + whole.offset * step
    assert np.abs(found - mean).max() <= 4e-16 * np.abs(mean).max() + 1e-14 * np.sqrt(size)
    assert np.linalg.norm(whole.scatter - (scatter / step**2).astype(float), 2) <= whole.error


@pytest.mark.parametrize("factors", [False, True])
@pytest.mark.parametrize("rows", [2, 7, 64])
@pytest.mark.parametrize("kind", ["plain", "far", "float32", "integers", "huge", "sparse"])
def test_outer_and_triangle(kind, rows, factors):
    X = table(kind)[:9]
    w = np.array([0, 0, 2, 1, 1, 3, 0.5, 0, 1])  # a block of two rows weighs nothing
    held = blocks(X, rows, w)

    def factor_of(*_):
        return np.arange(1.0, 7.0) if factors else None

    gram, found, factor = held.outer(factor_of)
    same = rows_of(scan(X), w, np.float64).outer(factor_of)
    assert (factor is None) == (not factors)
    unit = 2.0 ** (held.exponent - rows_of(scan(X), w, np.float64).exponent)
    assert np.abs(gram * unit**2 - same[0]).max() <= 1e-13 * np.trace(same[0])
    assert np.isclose(found.raw_trace, np.trace(gram))
    centring = Centring(held.origin, found.offset, held.exponent, factor)
    r = held.triangle(centring)
    exact = rows_of(scan(dense(X)), w, np.float64, held.exponent, held.origin)
    away = exact.centred_block(slice(0, 9), None, centring)
    assert np.abs(r.T @ r - away.T @ away).max() <= 1e-13 * np.trace(r.T @ r)
    assert np.abs(gram - away @ away.T).max() <= 1e-13 * np.trace(gram)
    assert r.shape[0] <= 6


@pytest.mark.parametrize("kind", ["drift", "float32", "sparse", "huge"])
def test_sums_go_on_from_every_block_with_the_same_bits(kind):
    X, diary = table(kind), Diary()
    held = blocks(X, 7, journal=diary, name="gram8")
    undisturbed = held.scatter()
    for state in diary.log:
        again = blocks(X, 7, journal=Diary(state), name="gram8")
        found = again.scatter()
        assert np.array_equal(found.scatter, undisturbed.scatter)
        assert np.array_equal(found.offset, undisturbed.offset)
        assert (found.error, found.raw_trace) == (undisturbed.error, undisturbed.raw_trace)
        assert np.array_equal(again.origin, held.origin)
        assert (again.sample is None) == (held.sample is None)
        assert again.sample is None or np.array_equal(again.sample, held.sample)
    held.moments()
    assert list(diary.walks) == ["gram8 1", "gram8 2"]


@pytest.mark.parametrize("panel", [1, 2, 5])
def test_outer_by_panels(panel):
    """More rows than a panel holds: every pair once, whatever the panels; and it goes on."""
    X, diary = table("drift", 23, 6), Diary()
    held = blocks(X, panel, journal=diary)
    gram = held.outer(lambda *_: None)[0]
    assert held.walks == 1 + -(-23 // (4 * panel))
    away = X - X.mean(0)
    assert np.abs(gram - away @ away.T).max() <= 1e-13 * np.trace(gram)
    for state in diary.log:
        found = blocks(X, panel, journal=Diary(state)).outer(lambda *_: None)[0]
        assert np.array_equal(found, gram)


def test_the_sample_is_a_twentieth_of_the_rows_and_bounded():
    X = np.arange(8000.0)[:, None] * [1.0, 2.0]
    for forecast in (None, 8000, 1000):
        source = Pieces(X, 33, forecast=forecast)
        held = BlockRows(source, None, None, block_bytes(source, 100))
        held.moments()
        assert np.array_equal(held.sample, X[:: 8000 // len(held.sample)][: len(held.sample)])
        assert len(held.sample) <= 100  # no more than a block, whatever the forecast was


@pytest.mark.parametrize("kind", ["plain", "float32", "sparse"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [4, 64])
def test_a_cell_that_is_no_number_is_named(rows, value, kind):
    X = table(kind if kind != "sparse" else "plain")
    X = np.where(X > 0.3, X, 0) if kind == "sparse" else X
    X[31, 4] = value
    w = np.where(np.arange(50) // 5 == 6, 0.0, 1.0) if value > 0 else None  # it counts anyway
    X = scipy.sparse.csr_array(X) if kind == "sparse" else X
    source = Pieces(X, 7, names=tuple("abcdef"))
    held = BlockRows(source, w, None, block_bytes(source, rows))
    with np.errstate(all="ignore"), pytest.raises(InputError) as caught:
        held.scatter()
    assert "pieces, row 31, column 4 ('e')" in str(caught.value)
    assert {"nan": "NaN", "inf": "infinity", "-inf": "-infinity"}[str(value)] in str(
        caught.value
    )
    assert source.begun == [source.begun[0]]  # it is not looked for in another walk


@pytest.mark.parametrize("count", [49, 51])
@pytest.mark.parametrize("rows", [10, 64])
def test_weights_for_other_rows_are_refused(count, rows):
    with pytest.raises(InputError, match="one number per row"):
        blocks(table("plain"), rows, np.ones(count)).moments()
    with pytest.raises(InputError, match="must exceed 1"):
        blocks(table("plain"), rows, np.full(50, 0.01)).moments()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows(n):
    source = Pieces(np.ones((n, 3)), 7, forecast=20)
    with pytest.raises(InputError, match=f"n_samples = {n}: pieces"):
        BlockRows(source, None, None, 1e5).moments()


def test_the_length_of_a_block():
    X = np.zeros((100, 10))
    assert block_length(ArrayBlocks(scan(X)), 8000) == 100
    assert block_length(ArrayBlocks(scan(X)), 799) == 9
    assert block_length(ArrayBlocks(scan(X)), 1) == 1
    assert block_length(ArrayBlocks(scan(X.astype(np.int8))), 800) == 10  # as float64
    assert block_length(ArrayBlocks(scan(X.astype(np.float32))), 800) == 20
    assert block_length(ArrayBlocks(scan(scipy.sparse.csr_array(X))), 1e9) == 2**20


@pytest.mark.parametrize("rows", [3, 50])
def test_the_error_of_float32_products_is_a_bound(rows):
    X = (table("plain", 12, 400) + 50).astype(np.float32)
    source = Pieces(X, 5)
    held = BlockRows(source, None, np.float32, block_bytes(source, rows))
    gram, found, _ = held.outer(lambda *_: None)
    away = X.astype(np.float64) - X.astype(np.float64).mean(0)
    assert np.linalg.norm(gram - away @ away.T, 2) <= found.error <= 1e-4 * np.trace(gram)
    whole = BlockRows(source, None, np.float32, block_bytes(source, rows)).scatter()
    assert np.linalg.norm(whole.scatter - away.T @ away, 2) <= whole.error


def rows_in(runs):
    return np.concatenate([np.arange(run.start, run.stop) for run in runs])


def test_blocks_and_the_whole_are_cut_alike():
    for start, stop, run in ((0, 1, 3), (0, 37, 1), (5, 90, 8), (7, 8, 2)):
        found = [rows_in(half) for half in half_runs(start, stop, run) if half]
        assert sorted(np.concatenate(found)) == list(range(stop - start))
    whole = half_runs(0, 100, 7)
    parts = [half_runs(a, b, 7) for a, b in ((0, 30), (30, 65), (65, 100))]
    for half in (0, 1):
        pieces = [rows_in(p[half]) + a for p, a in zip(parts, (0, 30, 65), strict=True)]
        assert np.array_equal(np.concatenate(pieces), rows_in(whole[half]))


def test_a_trend_falls_into_both_halves():
    t = np.linspace(-1, 1, 640)
    first, second = (rows_in(half) for half in half_runs(0, 640, run_length(640, 1000)))
    assert len(first) == len(second) == 320
    for power in (1, 2, 3):
        assert_allclose(np.mean(t[first] ** power), np.mean(t[second] ** power), atol=2e-3)


def reference(X, runs, weights=None):
    some = rows_in(runs)
    w = np.ones(len(some)) if weights is None else weights[some]
    Y = X[some] - np.average(X[some], axis=0, weights=w)
    return (Y * w[:, None]).T @ Y, w.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
def test_halves_in_memory(kind, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((333, 6)) * 3 + 40
    if kind == "sparse":
        X = np.where(rng.random(X.shape) < 0.6, 0, X)
    X = X.astype(np.float32).astype(np.float64)
    weights = rng.integers(0, 3, 333).astype(float) if weighted else None
    given = {"dense": X, "float32": X.astype(np.float32), "sparse": scipy.sparse.csr_array(X)}
    rows = rows_of(scan(given[kind]), weights)
    moments, halves = scatter_by_halves(rows)
    plain = rows_of(scan(given[kind]), weights).scatter()
    rtol = 1e-5 if kind == "float32" else 1e-11
    size = np.abs(plain.scatter).max()
    assert_allclose(moments.scatter, plain.scatter, atol=rtol * size)
    assert_allclose(moments.offset, plain.offset, atol=rtol * 40)
    assert moments.total == plain.total
    runs = half_runs(0, 333, run_length(333, rows.tiles().rows))
    for half, run in zip(halves, runs, strict=True):
        scatter, total = reference(X, run, weights)
        assert_allclose(half.scatter, scatter, atol=rtol * size)
        assert half.total == total
        assert half.rows == len(rows_in(run))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("per_block", [7, 50, 1000])
def test_halves_of_a_file(tmp_path, per_block, weighted):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 5)) + 1e6
    np.save(tmp_path / "x.npy", X)
    weights = rng.integers(0, 2, 200).astype(float) if weighted else None
    diary = Diary()

    def read(journal, halved=True):
        rows = BlockRows(scan(tmp_path / "x.npy"), weights, journal=journal)
        rows.per_block, rows.halved = per_block, halved
        return rows, rows.scatter()

    rows, moments = read(diary)
    for state in diary.log[::9]:
        again, _ = read(Diary(state))
        for one, other in zip(rows.halves, again.halves, strict=True):
            assert np.array_equal(one.scatter, other.scatter)
        assert np.array_equal(read(Diary(state), False)[1].offset, read(None, False)[1].offset)
    runs = half_runs(0, 200, run_length(200, per_block))
    for half, run in zip(rows.halves, runs, strict=True):
        scatter, total = reference(X, run, weights)
        assert_allclose(half.scatter, scatter, rtol=1e-8, atol=1e-8)
        assert half.total == total
    whole, _ = reference(X, [slice(0, 200)], weights)
    assert_allclose(moments.scatter, whole, rtol=1e-8, atol=1e-8)
    assert rows.walks == 1


def test_a_half_that_weighs_nothing_is_no_half():
    X = np.random.default_rng(0).standard_normal((64, 3))
    first, _ = half_runs(0, 64, 2)
    weights = np.zeros(64)
    weights[rows_in(first)] = 1
    rows = rows_of(scan(X), weights)
    moments, halves = scatter_by_halves(rows)
    assert halves is None
    assert_allclose(moments.scatter, reference(X, first)[0], atol=1e-12)


def small_table(kind, n=40, p=9):
    return table(kind, n, p) / 50 if kind == "drift" else table(kind, n, p)


def operator(X, rows, weights=None, factor=None, products=None, journal=None):
    source = Pieces(X, 7)
    held = BlockRows(source, weights, products, block_bytes(source, rows), journal)
    moments = held.moments()
    return CentredBlocks(held, Centring(held.origin, moments.offset, held.exponent, factor))


def centred_truth(op, X, weights, factor):
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
    X = small_table(kind)
    w = 0.5 + np.arange(40) % 3 if weighted else None
    if weighted:
        w[:7], w[20:30] = 0, 0  # blocks that weigh nothing
    factor = np.linspace(0.5, 2, 9) if scaled else None
    op = operator(X, rows, w, factor)
    check_operator(op, centred_truth(op, X, w, factor), rtol=1e-12 if kind != "far" else 1e-8)


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_float32(rows):
    X = small_table("float32")
    op = operator(X, rows)
    check_operator(op, centred_truth(op, X, None, None), rtol=1e-5)
    assert 0 < op.product_error < 1e-5
    assert isinstance(centred(op.rows, op.centring), CentredBlocks)
    q = np.random.default_rng(0).standard_normal((9, 3))
    A = centred_truth(op, X, None, None)
    wrong = op.gram_matmat(q) - A.T @ (A @ q)
    size = np.linalg.norm(A) * np.linalg.norm(A @ q, axis=0)
    assert np.all(np.linalg.norm(wrong, axis=0) <= op.product_error * size)


def test_every_product_is_one_walk():
    op = operator(small_table("plain"), 7)
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
    X, diary = small_table("plain"), Diary()
    one, q = operator(X, 7, journal=diary), np.eye(9)[:, :2]
    one.gram_matmat(q)
    other, A = operator(X, 7, journal=diary), centred_truth(one, X, None, None)
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
    X = small_table(kind, 10, 2000)
    op = operator(X, 4)
    tracemalloc.start()
    try:
        found = op.dense()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.abs(found - centred_truth(op, X, None, None)).max() <= 1e-12
    # The identity of the wide side is 200 times as large; other threads may allocate a little.
    assert most <= 6 * found.nbytes
