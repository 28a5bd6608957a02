import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from mercer.operators import BlockRows, half_runs, rows_of, run_length, scatter_by_halves
from mercer.operators._rounding import Rounding
from mercer.operators.rows._block_rows import FirstWalk
from mercer.operators.rows._running_moments import RunningMoments
from mercer.sources import scan


def rows_in(runs):
    return np.concatenate([np.arange(run.start, run.stop) for run in runs])


@pytest.mark.parametrize(
    ("start", "stop", "run"), [(0, 1, 3), (0, 37, 1), (5, 90, 8), (7, 8, 2)]
)
def test_every_row_is_in_one_half(start, stop, run):
    found = np.concatenate([rows_in(half) for half in half_runs(start, stop, run) if half])
    assert sorted(found) == list(range(stop - start))


def test_blocks_and_the_whole_are_cut_alike():
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
    rows = BlockRows(scan(tmp_path / "x.npy"), weights)
    rows.per_block, rows.halved = per_block, True
    moments = rows.scatter()
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


def test_a_walk_keeps_both_halves_and_knows_one_without():
    X = np.random.default_rng(0).standard_normal((20, 3))
    sums = [RunningMoments().add(rows_of(scan(part))) for part in (X[:12], X[12:])]
    kept = FirstWalk(sums[0], Rounding(np.float64), 0, 0, sums[1]).keep()
    fresh = [RunningMoments(), RunningMoments()]
    assert FirstWalk(fresh[0], Rounding(np.float64), 0, 0, fresh[1]).restore(kept, ended=False)
    for one, other in zip(sums, fresh, strict=True):
        assert np.array_equal(one.scatter, other.scatter)
    single = FirstWalk(RunningMoments(), Rounding(np.float64), 0, 0)
    assert not single.restore(kept, ended=False)
