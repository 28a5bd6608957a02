import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose

from mercer.diagnostics import HeldOut, barycentres, held_out, read_levels, spread_of, v_tests
from mercer.diagnostics._held_out import LeftOutLaw, _freedom, left_out_law, turned
from mercer.errors import InputError


def by_svd(inside, outside, k):
    mean = inside.mean(axis=0)
    _, s, vt = np.linalg.svd(inside - mean, full_matrices=False)
    z = (outside - mean) @ vt[:k].T
    rest = outside - mean - z @ vt[:k]
    return z**2 @ ((len(inside) - 1) / s[:k] ** 2), np.sum(rest**2, axis=1)


@pytest.mark.parametrize("shape", [(20, 4), (12, 40)])
def test_each_row_is_judged_without_itself(shape):
    X = np.random.default_rng(0).standard_normal(shape) + 5
    found = held_out(X, 2, folds=100)
    for i in range(shape[0]):
        t2, q = by_svd(np.delete(X, i, 0), X[i : i + 1], 2)
        assert_allclose([found.t2[i], found.q[i]], [t2[0], q[0]], rtol=1e-8)


def test_constant_columns_and_ranks():
    X = np.zeros((12, 3))
    X[:, 0] = np.arange(12)
    found = held_out(X, 2)
    assert np.all(np.isfinite(found.t2))
    assert_allclose(found.q, 0, atol=1e-20)
    values = np.arange(1.0, 100.0)[::-1]
    assert HeldOut(values, values).limits(0.95) == (95.0, 95.0)
    few = np.array([1.0, 2.0, 4.0])
    assert HeldOut(few, few).limits(0.95)[0] == 4.0  # no value has that rank
    assert HeldOut(few, few).limits(0.1)[0] == 1.0
    # Rank 29.45 of 30: a tail like e^-x leaves 5 % above in the mean.
    tail = np.sort(np.random.default_rng(0).exponential(size=(20_000, 30)))
    limits = [HeldOut(row, row).limits(0.95)[0] for row in tail[:4000]]
    assert_allclose(np.mean(np.exp(-np.array(limits))), 0.05, atol=0.002)


@pytest.mark.parametrize(("shape", "k"), [((6, 3), 4), ((4, 9), 3), ((6, 3), 0)])
def test_too_many_axes_are_refused(shape, k):
    with pytest.raises(InputError, match="too few rows"):
        held_out(np.ones(shape), k)


CASES = [(n, p) for n in (30, 300) for p in (5, 20, 100)]
KINDS = {  # deviations of the axes that are real, and how many axes are kept
    "three real": ([6.0, 4.0, 3.0], 3),
    "one real": ([6.0], 1),
    "one real of three": ([6.0], 3),
    "three of noise": ([], 3),
    "one of noise": ([], 1),
}


def false_alarms(n, p, kind, draws, new=100):
    real, k = KINDS[kind]
    sizes = np.concatenate([real, np.ones(p - len(real))])
    over = np.zeros(2)
    for i in range(draws):
        rng = np.random.default_rng([n, p, k, i])
        X, Y = (rng.standard_normal((m, p)) * sizes for m in (n, new))
        limits = held_out(X, k, seed=i).limits(0.95)
        over += [np.mean(v > limit) for v, limit in zip(by_svd(X, Y, k), limits, strict=True)]
    return over / draws


@pytest.mark.parametrize(
    ("n", "p", "kind", "draws"),
    [
        (30, 5, "one real of three", 80),
        (30, 5, "one real", 60),
        (30, 20, "one of noise", 60),
        (30, 20, "three of noise", 60),
        (30, 100, "three real", 40),
        (30, 100, "one of noise", 40),
        (300, 5, "three real", 30),
        (300, 20, "three of noise", 30),
        (300, 20, "one real", 30),
    ],
)
def test_false_alarms_among_new_rows(n, p, kind, draws):
    # Limits differ from draw to draw: their mean over 40 is good to about 0.007.
    assert_allclose(false_alarms(n, p, kind, draws), 0.05, atol=0.02)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "p"), CASES)
def test_false_alarms_among_new_rows_in_2000_draws(n, p, kind):
    found = false_alarms(n, p, kind, 2000)
    measured = f"n = {n}, p = {p}, {kind}: T² {found[0]:.2%}, Q {found[1]:.2%} of new rows"
    assert np.all(np.abs(found - 0.05) <= 0.01), measured


def test_axes_of_noise_are_not_determined_and_real_ones_are():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((40, 10))
    assert not held_out(noise, 2).determined
    assert held_out(noise, 2).by_law(0.9)
    real = noise * [20, 10, *[1] * 8]
    found = held_out(real, 2)
    assert found.determined
    assert not found.by_law(0.9)
    assert found.by_law(0.99)  # no row has that rank
    assert held_out(np.tile(noise, (6, 1)), 2).law is None


def test_rows_at_the_limit_and_of_other_shapes():
    X = np.random.default_rng(3).standard_normal((99, 1))
    found = held_out(X, 1)
    ordered = np.sort(np.abs(X - X.mean()).ravel())
    want = (ordered[94] / X.std(ddof=1)) ** 2
    assert_allclose(found.limits(0.95)[0], want, rtol=0.03)
    for draw in (np.random.Generator.uniform, np.random.Generator.exponential):
        over = np.zeros(2)
        for i in range(60):
            rng = np.random.default_rng(i)
            X, Y = (draw(rng, size=(n, 6)) * [30, 15, 1, 1, 1, 1] for n in (40, 200))
            limits = held_out(X, 2).limits(0.95)
            over += [np.mean(v > m) for v, m in zip(by_svd(X, Y, 2), limits, strict=True)]
        assert_allclose(over / 60, 0.05, atol=0.017)


def test_limits_are_quantiles_of_f():
    law = LeftOutLaw(3.0, 3.0, 7.0, 4.0, 30)
    t2, q = law.limits(0.95)
    assert_allclose(t2, 3 * scipy.stats.f(3, 34).ppf(0.95))
    assert_allclose(q, 7 * scipy.stats.f(4, 60).ppf(0.95))
    X = np.random.default_rng(0).standard_normal((40, 60))
    rest = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:39] ** 2 / 39
    assert_allclose(_freedom(rest, 39, 60), 60, rtol=0.15)
    assert _freedom(np.zeros(3), 10, 5) == 5.0
    assert turned(np.array([2.0, 2.0, 1.0]), 1, 100) == np.inf
    assert turned(np.array([2.0, 0.0]), 1, 100) == 0.0
    assert turned(np.array([2.0, 1.0]), 2, 100) == 0.0


@pytest.mark.parametrize("shape", [(40, 6), (20, 50)])
def test_both_gram_matrices_give_the_same_law(shape):
    """Columns of zeros change nothing but the matrix that is solved."""
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 1, shape[1])
    X -= X.mean(axis=0)
    rotated = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((shape[1],) * 2))[0]
    wide = np.c_[X, np.zeros((shape[0], 100))]
    plain, other = left_out_law(X, 2, 0), left_out_law(wide, 2, 0)
    assert_allclose(other.t2_mean, plain.t2_mean, rtol=1e-8)
    assert_allclose(other.q_mean, plain.q_mean, rtol=1e-8)
    assert_allclose(left_out_law(rotated, 2, 0).limits(0.9), plain.limits(0.9), rtol=1e-8)


def test_laws_of_real_axes_and_of_noise():
    n, means = 60, []
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((n, 6)) * [90, 50, 30, 0.1, 0.1, 0.1]
        law = left_out_law(X - X.mean(axis=0), 3, seed)
        means.append(law.t2_mean)
        assert_allclose(law.t2_freedom, 3, atol=0.1)
        assert_allclose(law.q_freedom, 3, rtol=0.5)
    assert_allclose(np.mean(means), 3 * (1 + 1 / n), rtol=0.05)
    ratios = []
    for seed in range(15):
        X = np.random.default_rng(seed).standard_normal((30, 100))
        X -= X.mean(axis=0)
        top = np.linalg.svd(X, compute_uv=False)[0] ** 2 / 29
        ratios.append(left_out_law(X, 1, seed).t2_mean * top)  # of variance one, not of top
        assert top > 5
    assert_allclose(np.mean(ratios), 1, rtol=0.2)


@pytest.mark.parametrize("n", [50, 500])
def test_how_far_another_sample_turns_an_axis(n):
    sizes = np.array([9.0, 1.0, 1.0, 1.0])
    turns = []
    for seed in range(200):
        X = np.random.default_rng(seed).standard_normal((n, 4)) * np.sqrt(sizes)
        axis = np.linalg.svd(X - X.mean(axis=0))[2][0]
        turns.append(1 - axis[0] ** 2)
    assert_allclose(turned(sizes, 1, 10**9) * 10**9 / n, np.mean(turns), rtol=0.25)


@pytest.fixture
def rows(rng):
    codes = rng.integers(-1, 3, 50)
    codes[codes == 2] = 1  # the level 2 has no rows
    return codes, rng.random(50) + 0.1, rng.normal(size=(50, 2)) + codes[:, None]


def test_barycentres_by_hand(rows):
    codes, weights, f = rows
    counts, means = barycentres(codes, 3, weights, f)
    for level in (0, 1):
        here = codes == level
        assert counts[level] == pytest.approx(weights[here].sum())
        np.testing.assert_allclose(
            means[level], np.average(f[here], axis=0, weights=weights[here])
        )
    assert counts[2] == 0
    assert np.isnan(means[2]).all()


def test_eta2_is_the_r_squared_of_a_regression_on_the_levels(rows):
    codes, weights, f = rows
    there = codes >= 0
    dummies = (codes[there, None] == [0, 1]).astype(float)
    root = np.sqrt(weights[there])[:, None]
    fitted = dummies @ np.linalg.lstsq(root * dummies, root * f[there], rcond=None)[0]
    middle = np.average(f[there], axis=0, weights=weights[there])
    part = weights[there] @ (fitted - middle) ** 2 / (weights[there] @ (f[there] - middle) ** 2)
    np.testing.assert_allclose(read_levels(codes, 3, weights, f)[2], part)
    given = spread_of(weights, f)  # of no use here: some rows have no level
    np.testing.assert_allclose(read_levels(codes, 3, weights, f, given)[2], part)


def test_v_tests_are_standard_errors_without_replacement(rng):
    f = rng.normal(size=30)
    f -= f.mean()
    counts, total = np.array([8.0]), 30.0
    means = [f[rng.permutation(30)[:8]].mean() for _ in range(20000)]
    v = v_tests(np.array([[0.5]]), counts, total, np.array([f.var()]))
    assert v[0, 0] == pytest.approx(0.5 / np.std(means), rel=0.02)
    found = v_tests(np.array([[0.0], [np.nan]]), np.array([5.0, 0.0]), 5.0, np.ones(1))
    assert np.isnan(found).all()
    codes = np.array([0, 1, 0])
    weights = np.ones(3)
    flat = np.full((3, 1), 7.0)
    assert read_levels(codes, 2, weights, flat)[2] == [0]
    assert np.isnan(read_levels(np.full(3, -1), 2, weights, flat)[2]).all()
