import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import RunningSvd, rows_of
from mercer.sources import scan


def values(X, w=None):
    """Return the eigenvalues of the centred scatter, by LAPACK's SVD."""
    w = np.ones(len(X)) if w is None else w
    Y = np.sqrt(w)[:, None] * (X - w @ X / w.sum())
    return np.linalg.svd(Y, compute_uv=False) ** 2


def folded(X, rank, step, w=None):
    found = RunningSvd(rank)
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        found.add(rows_of(scan(X[part]), None if w is None else w[part]))
    return found


def spiked(n=600, p=80, seed=0):
    rng = np.random.default_rng(seed)
    size = np.concatenate([[30, 20, 10], np.ones(p - 3)])
    return rng.standard_normal((n, p)) * size + 1e3


def decaying(n=600, p=80, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p)) / np.arange(1, p + 1)


def trended(n=600, p=80, seed=0):
    X = decaying(n, p, seed)
    X[:, -1] += np.linspace(0, 1e4, n)
    return X


def flat(n=600, p=80, seed=0):
    return np.random.default_rng(seed).integers(0, 255, (n, p)).astype(np.float64)


@pytest.mark.parametrize("make", [spiked, decaying, trended, flat])
@pytest.mark.parametrize(("rank", "step"), [(12, 12), (12, 1), (12, 100), (40, 40), (79, 200)])
def test_the_bounds_hold_against_lapack(make, rank, step):
    X = make()
    exact, found = values(X), folded(X, rank, step)
    theta = np.linalg.svd(found.factor, compute_uv=False)[:rank] ** 2
    room = found.error + found.sums.error
    assert len(found.factor) < 2 * rank
    assert np.all(theta <= exact[:rank] + room)
    assert np.all(exact[:rank] <= theta + found.slack + room)
    assert found.slack <= found.lost
    assert np.sum(found.sums.scatter) == pytest.approx(np.sum(exact), rel=1e-10)
    # Every step adds the largest value left out: the sum is a bound, not the error itself.
    assert found.lost >= exact[rank] / 2
    left = np.sum(found.sums.scatter) - np.sum(found.factor**2)
    assert found.slack <= left + found.error + found.sums.error  # the trace bounds too


@pytest.mark.parametrize("step", [1, 7, 50, 300])
def test_low_rank_is_exact_whatever_the_batches(step):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 90)) + 1e5
    found = folded(X, 8, step)
    theta = np.linalg.svd(found.factor, compute_uv=False) ** 2
    np.testing.assert_allclose(theta[:5], values(X)[:5], rtol=1e-10)
    assert found.slack < 1e-9 * theta[0]
    mean = found.origin + np.ldexp(found.sums.offset, found.exponent)
    np.testing.assert_allclose(mean, X.mean(0), rtol=1e-14)


def test_sparse_rows_weights_and_rows_without_weight():
    rng = np.random.default_rng(0)
    X = scipy.sparse.csr_array(rng.random((90, 30)) * (rng.random((90, 30)) < 0.2))
    w = np.random.default_rng(1).integers(0, 3, 90).astype(float)
    w[:10] = 0
    found = folded(X, 30, 30, w)
    with pytest.raises(InputError, match="leading directions only"):
        found.remove(RunningSvd(5))
    faded = folded(X[:40], 30, 30, w[:40]).fade(0.25).add(rows_of(scan(X[40:]), w[40:]))
    v = np.where(np.arange(90) < 40, 0.25 * w, w)
    theta = np.linalg.svd(faded.factor, compute_uv=False)[:30] ** 2
    near = 1e-12 * theta[0]
    np.testing.assert_allclose(theta, values(X.toarray(), v)[:30], rtol=0, atol=near)
    assert faded.total == v.sum()
    assert (found.rows, found.total) == (90, w.sum())
    theta = np.linalg.svd(found.factor, compute_uv=False) ** 2
    np.testing.assert_allclose(
        theta[:30], values(X.toarray(), w)[:30], rtol=0, atol=1e-12 * theta[0]
    )


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_units(scale):
    X = decaying(200, 20)
    whole = folded(X, 20, 50)
    found = RunningSvd(20).add(rows_of(scan(X[:100] * scale))).add(rows_of(scan(X[100:])))
    big = X[:100] * scale if scale > 1 else X[100:]
    top = np.linalg.svd(np.ldexp(found.factor, 0), compute_uv=False)[0]
    exact = np.linalg.svd(np.ldexp(big - big.mean(0), -found.exponent), compute_uv=False)[0]
    assert top >= exact * (1 - 1e-9)
    assert np.isfinite(found.factor).all()
    assert whole.exponent == 0


def test_parts_merge_and_copies_are_apart():
    X = decaying()
    one, two = folded(X[:250], 30, 50), folded(X[250:], 30, 50)
    kept = one.copy()
    merged = one.merge(two.copy())
    assert (kept.rows, merged.rows, two.rows) == (250, 600, 350)
    theta = np.linalg.svd(merged.factor, compute_uv=False)[:30] ** 2
    exact = values(X)[:30]
    assert np.all(theta <= exact * (1 + 1e-10))
    assert np.all(exact <= theta + merged.slack + merged.error)
    empty = RunningSvd(30).merge(kept.copy())
    np.testing.assert_array_equal(empty.factor, kept.factor)
    assert empty.lost == pytest.approx(kept.lost)


def test_a_checkpoint_goes_on_where_it_was():
    X = decaying()
    one = folded(X[:300], 10, 40)
    two = RunningSvd(10)
    assert two.restore({name: array.copy() for name, array in one.keep().items()})
    for part in (X[300:450], X[450:]):
        one.add(rows_of(scan(part)))
        two.add(rows_of(scan(part)))
    np.testing.assert_array_equal(one.factor, two.factor)
    assert (one.lost, one.error, one.total) == (two.lost, two.error, two.total)


@pytest.mark.parametrize("seed", range(40))
def test_random_streams_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(5, 200)), int(rng.integers(3, 60))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-3, 2, p) + rng.uniform(-1e4, 1e4)
    rank = int(rng.integers(1, min(n, p)))
    found, exact = folded(X, rank, int(rng.integers(1, n))), values(X)
    theta = np.linalg.svd(found.factor, compute_uv=False) ** 2
    room = found.error + found.sums.error
    k = min(rank, len(exact), len(theta))
    assert np.all(theta[:k] <= exact[:k] + room)
    assert np.all(exact[:k] <= theta[:k] + found.slack + room)
