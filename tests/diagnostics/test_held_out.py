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


def false_alarms(n, p, draws, k=3, new=100):
    sizes = np.concatenate([[6.0, 4.0, 3.0], np.ones(p - 3)])
    over = np.zeros(2)
    for i in range(draws):
        rng = np.random.default_rng([n, p, k, i])
        X, Y = (rng.standard_normal((m, p)) * sizes for m in (n, new))
        limits = held_out(X, k, seed=i).limits(0.95)
        over += [np.mean(v > limit) for v, limit in zip(by_svd(X, Y, k), limits, strict=True)]
    return over / draws


@pytest.mark.parametrize(("n", "p"), [case for case in CASES if case != (300, 100)])
def test_false_alarms_among_new_rows(n, p):
    # Limits differ from draw to draw: their mean over 100 is good to about 0.004.
    assert_allclose(false_alarms(n, p, 100 if n == 30 else 50), 0.05, atol=0.017)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("n", "p"), CASES)
def test_false_alarms_among_new_rows_in_2000_draws(n, p):
    assert_allclose(false_alarms(n, p, 2000), 0.05, atol=0.01)
