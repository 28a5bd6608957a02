import numpy as np
import pytest
from discriminant_data import classes
from sklearn.covariance import ledoit_wolf_shrinkage

from mercer.estimators.groups._canonical_axes import ledoit_wolf, target_of
from mercer.operators import GroupedRows
from mercer.sources import scan


@pytest.mark.parametrize("shape", [(50, 6), (8, 30), (1, 3), (20, 1)], ids=str)
def test_the_amount_of_scikit_learn(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1)
    X = X - X.mean(axis=0)
    amount, level = ledoit_wolf(X, np.ones(shape[0]))
    theirs = ledoit_wolf_shrinkage(X, assume_centered=True) if shape[0] > 1 else 0.0
    assert amount == pytest.approx(theirs, abs=1e-12)
    assert level == pytest.approx(np.sum(X**2) / X.size)


def test_counts_are_repeats():
    rng = np.random.default_rng(1)
    X, counts = rng.normal(size=(20, 4)), rng.integers(1, 4, 20)
    one = ledoit_wolf(X, counts.astype(float))
    other = ledoit_wolf(np.repeat(X, counts, axis=0), np.ones(counts.sum()))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_targets():
    X, y = classes(40, 3, 2, 1)
    rows = GroupedRows(scan(X), y, 2)
    found = rows.moments()
    assert target_of(None, rows, found) is None
    assert target_of(0.0, rows, found) is None
    half = target_of(0.5, rows, found)
    np.testing.assert_allclose(half.diagonal, 0.5 * np.trace(found.scatter) / 38 / 3)
    assert half.shares.tolist() == [0.5, 0.5]
    auto = target_of("auto", rows, found)
    assert np.all((auto.shares >= 0) & (auto.shares <= 1))
