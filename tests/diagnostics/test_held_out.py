import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.diagnostics import HeldOut, held_out
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


def test_constant_columns_and_missing_axes_give_no_warning():
    X = np.zeros((12, 3))
    X[:, 0] = np.arange(12)
    found = held_out(X, 2)
    assert np.all(np.isfinite(found.t2))
    assert_allclose(found.q, 0, atol=1e-20)


def test_limits_are_ranks():
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


def test_a_row_at_the_limit_counts_among_the_others():
    """One column: the limit is the largest deviation, in deviations of all rows."""
    X = np.random.default_rng(3).standard_normal((99, 1))
    found = held_out(X, 1)
    ordered = np.sort(np.abs(X - X.mean()).ravel())
    want = (ordered[94] / X.std(ddof=1)) ** 2
    assert_allclose(found.limits(0.95)[0], want, rtol=0.03)


def test_rows_of_other_shapes_keep_their_level_where_axes_are_real():
    for draw in (np.random.Generator.uniform, np.random.Generator.exponential):
        over = np.zeros(2)
        for i in range(60):
            rng = np.random.default_rng(i)
            X, Y = (draw(rng, size=(n, 6)) * [30, 15, 1, 1, 1, 1] for n in (40, 200))
            limits = held_out(X, 2).limits(0.95)
            over += [np.mean(v > m) for v, m in zip(by_svd(X, Y, 2), limits, strict=True)]
        assert_allclose(over / 60, 0.05, atol=0.017)
