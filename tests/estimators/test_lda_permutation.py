import numpy as np
import pytest
from discriminant_data import classes

from mercer import LinearDiscriminantAnalysis
from mercer.errors import InputError


def test_the_statistic_is_wilks():
    X, y = classes(60, 4, 3, 1)
    found = LinearDiscriminantAnalysis().permutation(X, y, 200, seed=0)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert found.statistic == "wilks"
    assert found.observed == pytest.approx(model.tests_.wilks[0], rel=1e-9)
    shuffled = np.random.default_rng(0).permutation(y)
    again = LinearDiscriminantAnalysis().fit(X, shuffled)
    assert found.null[0] == pytest.approx(again.tests_.wilks[0], rel=1e-9)
    assert found.p_value == 1 / 201
    assert len(found.null) == 200


def test_far_from_the_origin():
    X, y = classes(60, 3, 2, 2, apart=0.4)
    near = LinearDiscriminantAnalysis().permutation(X, y, 50)
    far = LinearDiscriminantAnalysis().permutation(np.round(X, 3) + 1e7, y, 50)
    assert far.observed == pytest.approx(near.observed, rel=1e-2)


def test_more_columns_than_rows_are_compared_by_shares():
    X, y = classes(24, 60, 2, 3, apart=1.0)
    found = LinearDiscriminantAnalysis().permutation(X, y, 99)
    assert found.statistic == "share"
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.stack([Z[y == g].mean(axis=0) for g in range(2)])
    assert found.observed == pytest.approx(12 * np.sum(means**2) / np.sum(Z**2))
    assert found.p_value == 0.01
    with pytest.raises(InputError, match="at least once"):
        LinearDiscriminantAnalysis().permutation(X, y, 0)


def even(count, draws):
    """p-values of noise over `count` tables."""
    rng, p = np.random.default_rng(4), []
    y = np.arange(30) % 3
    for i in range(count):
        X = rng.standard_exponential(size=(30, 3))
        p.append(LinearDiscriminantAnalysis().permutation(X, y, draws, seed=i).p_value)
    return np.array(p)


def test_noise_gives_even_p_values():
    p = even(40, 19)
    assert abs(p.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 40)


@pytest.mark.slow
def test_noise_gives_even_p_values_over_many_tables():
    p = even(600, 59)
    for level in (0.05, 0.2, 0.5, 0.8):
        assert np.mean(p <= level) == pytest.approx(
            level, abs=1 / 60 + 4 * np.sqrt(level * (1 - level) / 600)
        )
