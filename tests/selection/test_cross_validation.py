import numpy as np
import pytest

from mercer.selection import cross_validated_rank, spectral_rank


def _table(n, p, rank, noise, share, seed, level=0.0):
    rng = np.random.default_rng(seed)
    signal = np.zeros((n, p))
    if rank:
        axes = rng.standard_normal((rank, p)) * np.linspace(1, 0.5, rank)[:, None]
        signal = rng.standard_normal((n, rank)) @ axes
        signal /= signal.std()
    values = signal + noise * rng.standard_normal((n, p)) + level
    hidden = rng.random((n, p)) < share
    return values, hidden


def _fitted(x, rank, rounds=400):
    """Regularised iterative PCA as its authors write it: a whole SVD in every round."""
    gaps = np.isnan(x)
    n, p = x.shape
    filled = np.where(gaps, np.nanmean(x, axis=0), x)
    for _ in range(rounds):
        mean = filled.mean(axis=0)
        u, d, vt = np.linalg.svd(filled - mean, full_matrices=False)
        lam = d**2 / n
        noise = n * p / min(p, n - 1) * np.sum(lam[rank:]) / ((n - 1 - rank) * (p - rank))
        noise = min(noise, lam[rank])
        shrunk = (lam[:rank] - noise) / np.sqrt(lam[:rank])
        fit = mean + (u[:, :rank] * shrunk * np.sqrt(n)) @ vt[:rank]
        filled = np.where(gaps, fit, x)
    return fit


def _gcv(x, rank):
    n, p = x.shape
    cells = np.count_nonzero(~np.isnan(x))
    # The parameters one by one: means, coordinates about zero, orthonormal axes.
    free = p + rank * (n - 1) + (rank * p - rank**2)
    return cells * np.nansum((x - _fitted(x, rank)) ** 2) / (cells - free) ** 2


def test_the_values_are_those_of_the_published_rule():
    values, hidden = _table(60, 10, 2, 0.4, 0.2, 0)
    x = np.where(hidden, np.nan, values)
    found = cross_validated_rank(x)
    assert len(found.values) >= 5
    # The rows are measured in their own unit, the rule in squares of it.
    shown = np.array(found.values) / found.values[0]
    expected = np.array([_gcv(x, rank) for rank in range(len(shown))])
    np.testing.assert_allclose(shown, expected / expected[0], rtol=0.01)
    assert found.rank == int(np.argmin(expected))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("noise", [0.2, 1.0])
@pytest.mark.parametrize(("n", "p", "rank"), [(400, 40, 4), (60, 12, 0), (50, 150, 3)])
def test_a_known_rank_is_found(n, p, rank, noise, share):
    values, hidden = _table(n, p, rank, noise, share, 1, level=100.0)
    assert cross_validated_rank(np.where(hidden, np.nan, values)).rank == rank


# Where there is more noise than signal the rule takes too few axes rather than too many.
@pytest.mark.parametrize(("noise", "most"), [(0.5, 1.01), (1.5, 1.08)])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_rank_serves_the_hidden_cells(noise, most, share):
    values, hidden = _table(300, 15, 4, noise, share, 2)
    x = np.where(hidden, np.nan, values)
    errors = [np.mean((_fitted(x, rank, 60) - values)[hidden] ** 2) for rank in range(9)]
    assert errors[cross_validated_rank(x).rank] < most * min(errors)


def test_many_rows_cost_no_more_than_some_of_them():
    values, hidden = _table(20_000, 20, 3, 0.5, 0.2, 3)
    x = np.where(hidden, np.nan, values)
    assert cross_validated_rank(x) == cross_validated_rank(x[::20])


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_the_unit_does_not_matter(unit):
    values, hidden = _table(100, 10, 2, 0.3, 0.2, 4)
    x = np.where(hidden, np.nan, values)
    plain, scaled = cross_validated_rank(x), cross_validated_rank(x * unit)
    assert plain.rank == scaled.rank == 2
    np.testing.assert_allclose(plain.values, scaled.values, rtol=1e-6)


def test_the_ends():
    rng = np.random.default_rng(5)
    nan = np.nan
    # Two rows, one column, and tables with bare rows and columns have no axis to offer.
    assert cross_validated_rank(np.array([[1.0, nan], [nan, 2.0]])).rank == 0
    assert cross_validated_rank(np.array([[1.0], [2.0], [nan]])).rank == 0
    assert cross_validated_rank(np.full((4, 3), nan)).rank == 0
    assert cross_validated_rank(np.full((4, 3), 7.0)).rank == 0
    values, hidden = _table(100, 10, 2, 0.1, 0.2, 6)
    x = np.where(hidden, nan, values)
    bare = np.vstack([np.hstack([x, np.full((100, 1), nan)]), np.full((1, 11), nan)])
    assert cross_validated_rank(bare) == cross_validated_rank(x)
    assert cross_validated_rank(x, most=1).rank == 1
    # A table without noise is fitted exactly by its own rank, and no higher one is tried.
    exact = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 9))
    assert cross_validated_rank(exact).rank == 2


@pytest.mark.parametrize(("n", "p", "rank"), [(200, 12, 3), (40, 60, 2), (50, 10, 0)])
def test_complete_rows_are_judged_by_their_variances(n, p, rank):
    values, _ = _table(n, p, rank, 0.5, 0.0, 7)
    found = cross_validated_rank(values)
    lam = np.linalg.svd(values - values.mean(axis=0), compute_uv=False) ** 2 / n
    shown = spectral_rank(lam, float(np.sum(lam)), n, p)
    assert shown.rank == found.rank == rank
    some = min(len(shown.values), len(found.values))
    ratio = np.array(shown.values[:some]) / found.values[:some]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    # Few leading variances and the total are enough.
    assert spectral_rank(lam[: rank + 4], float(np.sum(lam)), n, p).rank == rank
    assert spectral_rank(np.zeros(3), 0.0, n, p).rank == 0


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(size=(40, 2)) * [3, 1] @ rng.normal(size=(2, 6))
        x += rng.normal(size=(40, 6))
        x[rng.random(x.shape) < 0.2] = np.nan
        w = rng.integers(0, 5, 40)
        x[w == 0] *= 1e3
        weighted = cross_validated_rank(x, weights=w)
        often = cross_validated_rank(np.repeat(x, w, axis=0))
        np.testing.assert_allclose(weighted.values, often.values, rtol=1e-6)
