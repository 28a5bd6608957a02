import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import FactorAnalysis

from mercer.selection import (
    Half,
    bi_cross_validation,
    choice_seconds,
    cross_validated_rank,
    spectral_rank,
)
from mercer.selection import _bicross as room
from mercer.selection._bicross import _inverted, partial_variances, unique_variances

from .noise_families import FAMILIES, SHAPES, TRUE, family


def halves(X, wide=False):
    if wide:
        Y = X - X.mean(axis=0)
        order = np.random.default_rng(9).permutation(X.shape[1])
        parts = [Y[:, order[::2]], Y[:, order[1::2]]]
        return [Half(Z @ Z.T, Z.shape[1]) for Z in parts]
    parts = [Y - Y.mean(axis=0) for Y in (X[::2], X[1::2])]
    return [Half(Z.T @ Z, len(Z)) for Z in parts]


def found(X):
    wide = X.shape[0] < X.shape[1]
    return bi_cross_validation(*halves(X, wide), wide=wide).k


def corner_by_svd(Xi, Xo, A, B, k):
    """Σ(X_iA - X_iB (X_oB)_k⁺ X_oA)² with the pseudo-inverse of a truncated SVD."""
    u, s, vt = np.linalg.svd(Xo[:, B], full_matrices=False)
    inverse = vt[:k].T @ np.diag(1 / s[:k]) @ u[:, :k].T
    return np.sum((Xi[:, A] - Xi[:, B] @ (inverse @ Xo[:, A])) ** 2)


@pytest.mark.parametrize("p", [7, 12])
def test_errors_are_those_of_the_table_itself(p):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((41, 2)) @ rng.standard_normal((2, p)) + rng.standard_normal(
        (41, p)
    )
    parts = [Y - Y.mean(axis=0) for Y in (X[::2], X[1::2])]
    order = np.random.default_rng(5).permutation(p)
    got = room._Splits(halves(X), [order], False).errors()
    A, B = order[: p // 2], order[p // 2 :]
    for k, error in enumerate(got.errors):
        total = size = 0.0
        for i, o in ((0, 1), (1, 0)):
            for a, b in ((A, B), (B, A)):
                total += corner_by_svd(parts[i], parts[o], a, b, k)
                size += np.sum(parts[i][:, a] ** 2)
        assert_allclose(error, total / size, rtol=1e-11)


def test_the_offset_scale_unit_and_length_do_not_matter():
    X = family("white", 0, 90, 24)
    base = bi_cross_validation(*halves(X))
    scaled = [Half(half.gram * 2.0**-60, half.rows) for half in halves(X)]
    assert_allclose(bi_cross_validation(*scaled).errors, base.errors, rtol=1e-12)
    assert base.errors[0] == 1.0
    values, hidden = _table(20_000, 20, 3, 0.5, 0.2, 3)
    x = np.where(hidden, np.nan, values)
    assert cross_validated_rank(x) == cross_validated_rank(x[::20])
    few, many = choice_seconds(1000, 50), choice_seconds(1000, 400)
    assert 0 < few < many
    assert choice_seconds(10**6, 50) > 10 * few
    assert choice_seconds(50, 10**6) == choice_seconds(10**6, 50)


@pytest.mark.parametrize("X", [np.zeros((6, 4)), np.ones((6, 1)), np.eye(3)[:, :2]])
def test_nothing_to_predict_is_no_component(X):
    assert bi_cross_validation(*halves(X)).k == 0


def test_copies_and_transposes():
    X = np.random.default_rng(0).standard_normal((200, 10))
    X[:, 5] = X[:, 2]
    assert found(X) == 1
    X = family("columns", 1)
    assert found(X) == found(X.T) == 5
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) @ rng.standard_normal((40, 120))
    X += 1e-3 * rng.standard_normal(X.shape)
    assert found(X) == 40


def nothing_found(shape, draws):
    n, p = shape
    tables = (np.random.default_rng([7, n, p, i]).standard_normal(shape) for i in range(draws))
    return np.mean([found(X) == 0 for X in tables])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise_has_no_component(shape):
    assert nothing_found(shape, 20) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_noise_has_no_component_in_200_draws(shape):
    assert nothing_found(shape, 200) >= 0.95


def right(name, draws):
    return np.mean([abs(found(family(name, seed)) - TRUE[name]) <= 1 for seed in range(draws)])


@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_noise(name):
    assert right(name, 10) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_noise_in_100_draws(name):
    assert right(name, 100) >= 0.95


def factors(n, p, k, seed, size=1.5):
    """k factors in noise whose size differs by column from 0.3 to 1.7."""
    rng = np.random.default_rng([seed, n, p])
    noise = rng.standard_normal((n, p)) * rng.uniform(0.3, 1.7, p)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * size + noise


@pytest.mark.parametrize(
    ("n", "p", "k"),
    [(45, 30, 3), (300, 30, 3), (3000, 30, 3), (1200, 12, 3), (600, 6, 1), (5000, 6, 2)],
)
def test_unequal_noise_and_many_rows_add_no_components(n, p, k):
    counts = [found(factors(n, p, k, seed)) for seed in range(10)]
    assert np.all(np.abs(np.array(counts) - k) <= 1)
    assert np.median(counts) == k


@pytest.mark.parametrize("n", [300, 5000])
def test_columns_beside_a_component_are_none(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 6))
    X[:, :4] = 3 * rng.standard_normal((n, 1)) + X[:, :4]
    # Errors for k = 1, 2, 3 differ in the fourth figure: nothing but chance.
    assert found(X) == 1


def test_columns_that_are_nearly_copies_do_not_rule_the_others():
    rng = np.random.default_rng(0)
    X = factors(400, 20, 3, 0)
    row = np.zeros((400, 2))
    row[7] = 5.0  # two columns that vary in one row only, and alike
    assert abs(found(np.c_[X, row]) - 3) <= 1
    near = X[:, :1] + 1e-4 * rng.standard_normal((400, 1))
    assert found(np.c_[X, near]) in (3, 4)


def table(n=4000, p=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 2, p)
    signal = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * 2
    return signal + rng.standard_normal((n, p)) * noise, noise**2


def test_partial_variances_are_residuals_of_regressions():
    X, _ = table(60)
    X = X - X.mean(axis=0)
    for j, found in enumerate(partial_variances(X.T @ X)):
        others = np.delete(X, j, axis=1)
        rest = X[:, j] - others @ np.linalg.lstsq(others, X[:, j])[0]
        assert_allclose(found, rest @ rest, rtol=1e-4)
    X, _ = table(60)
    X[:, 1], X[:, 2] = 0.0, X[:, 3]
    found = partial_variances(X.T @ X)
    assert np.all(np.isfinite(found))
    assert np.all(found > 0)
    assert found[1] == 1.0


def test_unique_variances_are_those_of_factor_analysis():
    X, truth = table()
    S = np.cov(X.T, bias=True)
    found = unique_variances(S, 2, partial_variances(S), 1e-6)
    other = FactorAnalysis(2, tol=1e-10, max_iter=20_000, svd_method="lapack").fit(X)
    assert_allclose(found, other.noise_variance_, rtol=2e-3)
    assert_allclose(found, truth, rtol=0.15)
    X, _ = table()
    S = np.cov(X.T)
    assert_allclose(unique_variances(S, 0, np.ones(8), 1e-3), np.diagonal(S))


@pytest.mark.parametrize("p", [1, 64, 65, 131, 500, 501])
def test_triangles_are_inverted_in_pieces(p):
    rng = np.random.default_rng(p)
    upper = np.triu(rng.standard_normal((p, p)) / np.sqrt(p)) + 2 * np.eye(p)
    expected = np.linalg.inv(upper)
    given = np.asfortranarray(upper)
    found = _inverted(given)
    assert found is given
    assert_allclose(found, expected, atol=1e-13)


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
