import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.stats import f as f_law
from scipy.stats import f_oneway, norm
from sklearn.datasets import load_iris
from sklearn.decomposition._factor_analysis import _ortho_rotation

from mercer import PCA
from mercer.diagnostics import (
    correlation_ratios,
    correlations_tested,
    false_shares,
    group_tests,
    oblimin,
    orthomax,
    p_of,
    promax,
    sampling_error,
    shares_tests,
    wilks_tests,
)

RNG = np.random.default_rng(0)


def test_v_is_the_normal_number_of_a_random_sample():
    x = RNG.normal(size=200)
    at = np.repeat([0, 1], [50, 150])
    v = group_tests(x[:, None], at, 2)[:, 0]
    spread = np.sqrt(np.var(x) / 50 * 150 / 199)
    assert v[0] == pytest.approx((x[:50].mean() - x.mean()) / spread)
    drawn = [np.mean(RNG.permutation(x)[:50]) for _ in range(4000)]
    assert np.std(drawn) == pytest.approx(spread, rel=0.05)


def test_groups_are_opposite_and_odd_columns_harmless():
    x, at = RNG.normal(size=(90, 3)), RNG.integers(0, 2, 90)
    v = group_tests(x, at, 2)
    np.testing.assert_allclose(v[0], -v[1])
    np.testing.assert_allclose(group_tests(x * 1e3 + 1e8, at, 2), v, rtol=1e-4)
    x = np.c_[np.full(6, np.nan), np.ones(6), [1, 2, 3, np.nan, 5, 6]]
    assert np.all(np.isfinite(group_tests(x, np.zeros(6, int), 1)))
    v = group_tests(x, np.array([0, 0, 0, 1, 1, -1]), 2)
    assert np.all(v[:, :2] == 0)
    assert v[1, 2] > 0


@pytest.mark.parametrize("n", [12, 300, 20_000])
def test_shares_follow_the_hypergeometric_law(n):
    levels, at = RNG.integers(0, 3, n), RNG.integers(0, 2, n)
    at[levels == 2] = 1
    v, p = shares_tests(levels, at, 3, 2)
    for g in range(2):
        for j in range(3):
            x = np.sum((levels == j) & (at == g))
            law = stats.hypergeom(n, np.sum(levels == j), np.sum(at == g))
            above = x > law.mean()
            tail = law.sf(x - 1) if above else law.cdf(x)
            assert p[g, j] == pytest.approx(min(2 * tail, 1), rel=1e-6, abs=1e-290)
            assert (v[g, j] > 0) == above or abs(v[g, j]) < 1e-9
    assert np.all(np.isfinite(v))


def test_ratios_and_correlations_are_those_of_scipy():
    x, at = RNG.normal(size=(60, 2)), np.repeat([0, 1, 2], 20)
    x[:, 0] += at
    share, p = correlation_ratios(x, at, 3)
    for j in range(2):
        wanted = stats.f_oneway(*(x[at == g, j] for g in range(3)))
        assert p[j] == pytest.approx(wanted.pvalue, rel=1e-8)
    assert share[0] > share[1]
    assert correlation_ratios(np.ones((3, 1)), np.arange(3), 3)[1][0] == 1.0
    x, z = RNG.normal(size=(40, 2)), RNG.normal(size=(40, 2))
    x[:, 1] += z[:, 0]
    x[3, 1] = np.nan
    r, p = correlations_tested(x, z)
    for a in range(2):
        wanted = stats.pearsonr(np.delete(x[:, 1], 3), np.delete(z[:, a], 3))
        assert r[1, a] == pytest.approx(wanted.statistic)
        assert p[1, a] == pytest.approx(wanted.pvalue, rel=1e-6)
    assert correlations_tested(np.ones((5, 1)), z[:5])[1].tolist() == [[1.0, 1.0]]
    p = RNG.uniform(size=30) ** 3
    np.testing.assert_allclose(false_shares(p), stats.false_discovery_control(p))
    np.testing.assert_allclose(p_of(np.array([0.0, 1.96])), [1.0, 0.05], rtol=0, atol=1e-4)


@pytest.mark.parametrize("value", [0.1, 0.3, 1.7])
def test_a_constant_column_tells_nothing(rng, value):
    for n in (7, 10, 50, 121):
        flat, z = np.full((n, 1), value), rng.standard_normal((n, 2))
        assert not np.any(group_tests(flat, np.arange(n) % 2, 2))
        r, p = correlations_tested(flat, z)
        assert not np.any(r)
        assert np.all(p == 1)


def roots_of(X, y):
    """Eigenvalues of scatter within by scatter between, written out."""
    mean = X.mean(axis=0)
    within, between = 0, 0
    for g in np.unique(y):
        rows = X[y == g]
        gone = rows - rows.mean(axis=0)
        within = within + gone.T @ gone
        apart = rows.mean(axis=0) - mean
        between = between + len(rows) * np.outer(apart, apart)
    return np.sort(np.linalg.eigvals(np.linalg.solve(within, between)).real)[::-1]


def test_manova_of_statsmodels():
    """The first test is Wilks' test of a one-way MANOVA."""
    manova = pytest.importorskip("statsmodels.multivariate.manova")
    X, y = load_iris(return_X_y=True)
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(g=[f"g{i}" for i in y])
    table = manova.MANOVA.from_formula("a + b + c + d ~ g", frame).mv_test()
    theirs = table.results["g"]["stat"].loc["Wilks' lambda"]
    found = wilks_tests(roots_of(X, y), 150, 4, 3)
    assert found.wilks[0] == pytest.approx(theirs["Value"], rel=1e-9)
    assert found.f[0] == pytest.approx(theirs["F Value"], rel=1e-9)
    assert (found.f_dof1[0], found.f_dof2[0]) == (theirs["Num DF"], theirs["Den DF"])


def test_iris_as_r_prints_it():
    found = wilks_tests(roots_of(*load_iris(return_X_y=True)), 150, 4, 3)
    assert round(found.wilks[0], 6) == 0.023439
    assert round(found.f[0], 2) == 199.15
    assert (found.f_dof1[0], found.f_dof2[0]) == (8, 288)
    assert wilks_tests(np.ones(2), 10, 8, 3) is None
    assert wilks_tests(np.ones(2), 10, 7, 3) is not None
    assert wilks_tests(np.zeros(0), 10, 0, 3) is None


def test_one_column_is_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    x = rng.normal(size=60) + 0.3 * y
    found = wilks_tests(roots_of(x[:, None], y), 60, 1, 4)
    f, p = f_oneway(*(x[y == g] for g in range(4)))
    assert found.f[0] == pytest.approx(f, rel=1e-10)
    assert found.f_p[0] == pytest.approx(p, rel=1e-9)
    found = wilks_tests(np.array([2.0, 1e-18]), 100, 3, 4)
    assert len(found.wilks) == 3
    np.testing.assert_allclose(found.wilks, [1 / 3, 1, 1])
    assert found.f[1] > 0  # not lost in a difference
    assert found.chi2_dof.tolist() == [9, 4, 1]
    np.testing.assert_allclose(found.correlations[0], np.sqrt(2 / 3))
    assert str(found).count("\n") == 3


def test_two_classes_are_hotellings_test():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[y == 1] += 0.5
    found = wilks_tests(roots_of(X, y), 40, 3, 2)
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    pooled = (np.cov(X[y == 0].T) + np.cov(X[y == 1].T)) / 2
    t2 = 10 * apart @ np.linalg.solve(pooled, apart)
    f = t2 * (38 - 3 + 1) / (38 * 3)
    assert found.f[0] == pytest.approx(f, rel=1e-10)
    assert found.f_p[0] == pytest.approx(f_law.sf(f, 3, 36), rel=1e-9)


def test_p_values_of_noise_are_even():
    rng = np.random.default_rng(2)
    y, p = np.arange(50) % 3, []
    for _ in range(300):
        p.append(wilks_tests(roots_of(rng.normal(size=(50, 4)), y), 50, 4, 3).f_p[0])
    assert abs(np.mean(p) - 0.5) < 4 * np.sqrt(1 / 12 / 300)
    low = np.mean(np.array(p) < 0.05)
    assert low < 0.05 + norm.isf(1e-4) * np.sqrt(0.05 * 0.95 / 300)


def simple(seed=0, p=12, k=3):
    rng = np.random.default_rng(seed)
    L = np.zeros((p, k))
    L[np.arange(p), np.arange(p) % k] = rng.uniform(0.5, 1, p) * rng.choice([-1, 1], p)
    return L + 0.02 * rng.standard_normal((p, k))


def turned(L, seed=1):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((L.shape[1], L.shape[1])))
    return L @ q


def criterion(L, gamma):
    return np.sum(L**4) - gamma / len(L) * np.sum(np.sum(L**2, axis=0) ** 2)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
@pytest.mark.parametrize("seed", range(3))
def test_without_normalising_it_is_scikit_learns(method, seed):
    A = turned(simple(seed), seed)
    found = orthomax(A, gamma=float(method == "varimax"), normalise=False)
    other = _ortho_rotation(A, method=method, tol=1e-12, max_iter=5000).T
    gamma = float(method == "varimax")
    assert found.converged
    assert criterion(found.loadings, gamma) >= criterion(other, gamma) * (1 - 1e-9)
    match = np.abs(found.loadings.T @ other)
    np.testing.assert_allclose(match.max(axis=1), np.sum(found.loadings**2, axis=0), rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_simple_structure_is_found_again_and_nothing_is_lost(gamma):
    L = simple()
    found = orthomax(turned(L), gamma=gamma)
    order = np.argsort(-np.sum(L**2, axis=0))
    np.testing.assert_allclose(np.abs(found.loadings), np.abs(L[:, order]), atol=0.05)
    np.testing.assert_allclose(found.matrix.T @ found.matrix, np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.loadings, turned(L) @ found.matrix)
    assert np.sum(found.loadings**2) == pytest.approx(np.sum(L**2))
    assert np.all(np.diff(np.sum(found.loadings**2, axis=0)) <= 0)
    assert np.all(found.loadings[np.argmax(np.abs(found.loadings), axis=0), range(3)] > 0)


def test_scale_and_zero_rows_do_not_matter():
    A = np.vstack([turned(simple()), np.zeros((1, 3))])
    for turn, normalise in itertools.product((orthomax, promax, oblimin), (True, False)):
        plain = turn(A, normalise=normalise)
        for unit in (1e200, 1e-200):
            other = turn(A * unit, normalise=normalise)
            np.testing.assert_allclose(plain.loadings, other.loadings / unit, atol=1e-8)
        assert np.all(plain.loadings[-1] == 0)


def test_promax_makes_correlated_factors_of_variance_one():
    rng = np.random.default_rng(3)
    phi = np.array([[1.0, 0.5], [0.5, 1.0]])
    L = np.zeros((10, 2))
    L[:5, 0], L[5:, 1] = rng.uniform(0.6, 0.9, 5), rng.uniform(0.6, 0.9, 5)
    values, vectors = np.linalg.eigh(L @ phi @ L.T)
    A = vectors[:, -2:] * np.sqrt(values[-2:])
    found = promax(A)
    np.testing.assert_allclose(np.diagonal(found.correlations), 1.0)
    assert found.correlations[0, 1] == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(
        np.abs(np.sort(found.loadings, axis=1)[:, 0]), 0, rtol=0, atol=0.08
    )
    again = found.loadings @ found.correlations @ found.loadings.T
    np.testing.assert_allclose(again, A @ A.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_oblimin_finds_perfect_structure_and_the_correlations_behind_it(k, scale):
    rng = np.random.default_rng(k)
    L = np.kron(np.eye(k), rng.uniform(0.5, 0.9, (4, 1))) * rng.uniform(0.8, 1.2, (4 * k, 1))
    phi = np.full((k, k), 0.4) + 0.6 * np.eye(k)
    A = turned(L @ np.linalg.cholesky(phi), k) * scale
    for normalise in (True, False):
        found = oblimin(A, normalise=normalise)
        assert found.converged
        np.testing.assert_allclose(found.correlations, phi, rtol=0, atol=1e-6)
        np.testing.assert_allclose(
            np.sort(found.loadings / scale, axis=1)[:, :-1], 0, rtol=0, atol=1e-6
        )


def test_oblimin_is_at_a_minimum_of_its_criterion(rng):
    L = np.kron(np.eye(3), np.ones((4, 1))) + 0.2 * rng.standard_normal((12, 3))
    for gamma in (0.0, -0.5):
        found = oblimin(turned(L), gamma=gamma, normalise=False)
        T = np.linalg.inv(found.matrix).T  # axes of length one; L = A·T⁻ᵀ

        def criterion_of(step, T=T, gamma=gamma):
            axes = T + step
            squares = (turned(L) @ np.linalg.inv(axes / np.linalg.norm(axes, axis=0)).T) ** 2
            middle = squares - gamma * squares.mean(axis=0)
            return np.sum(squares * (middle @ (1 - np.eye(3))))

        least = criterion_of(np.zeros((3, 3)))
        steps = rng.standard_normal((40, 3, 3)) * 1e-3
        assert all(criterion_of(step) >= least * (1 - 1e-12) for step in steps)
        again = found.loadings @ found.correlations @ found.loadings.T
        np.testing.assert_allclose(again, L @ L.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_axes_stand_still_and_the_start_is_no_matter(rng, gamma, k):
    """At the top of the criterion L'(L³ - γ/p·L·diag(L'L)) is symmetric."""
    L = np.kron(np.eye(k), np.ones((4, 1))) + 0.15 * rng.standard_normal((4 * k, k))
    found = orthomax(L, gamma=gamma, normalise=False)
    turned = found.loadings
    pull = turned.T @ (turned**3 - gamma / len(L) * turned * np.sum(turned**2, axis=0))
    np.testing.assert_allclose(pull, pull.T, rtol=0, atol=1e-8 * np.abs(pull).max())
    assert found.converged
    other = orthomax(
        L @ np.linalg.qr(rng.standard_normal((k, k)))[0], gamma=gamma, normalise=False
    )
    np.testing.assert_allclose(other.loadings, turned, rtol=0, atol=1e-8)


def test_sampling_errors_are_those_of_mean_squares(rng):
    z = rng.standard_normal((50, 3))
    truth = np.std(z**2, axis=0, ddof=1) / np.sqrt(50)
    np.testing.assert_allclose(sampling_error(z), truth)
    x = rng.standard_normal((300, 5)) * [5, 4, 3, 2, 1]
    model = PCA(2).fit(x)
    found = sampling_error(model.transform(x))
    np.testing.assert_allclose(found, model.explained_variance_ * np.sqrt(2 / 300), rtol=0.4)
    z = np.array([[1.0], [2.0], [4.0]], np.float32) * np.float32(1e15)
    found = sampling_error(z)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, sampling_error(z.astype(np.float64)))


def test_it_foretells_how_far_variances_move():
    rng = np.random.default_rng(3)
    sd = np.array([3.0, 1.0])
    samples = rng.standard_normal((400, 200, 2)) * sd
    samples -= samples.mean(axis=1, keepdims=True)
    variances = np.sum(samples**2, axis=1) / 199
    claimed = np.mean([sampling_error(z) for z in samples], axis=0)
    np.testing.assert_allclose(claimed, np.std(variances, axis=0), rtol=0.15)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_it_scales_with_the_variance(rng, scale):
    z = rng.standard_normal((30, 2))
    np.testing.assert_allclose(sampling_error(scale * z), scale**2 * sampling_error(z))
