"""What is told beside the axes of a discriminant analysis."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from discriminant_data import classes
from scipy.stats import chi2
from sklearn.datasets import load_iris

from mercer import LinearDiscriminantAnalysis
from mercer.errors import InputError

X, y = load_iris(return_X_y=True)


def test_confusion_is_what_fits_without_the_rows_say():
    found = LinearDiscriminantAnalysis().confusion(X, y, folds=5, seed=3)
    assert found.counts.sum() == 150
    assert found.counts.sum(axis=1).tolist() == [50, 50, 50]
    assert found.accuracy == pytest.approx(np.mean(found.predicted == y))
    np.testing.assert_allclose(found.recall, np.diagonal(found.counts) / 50)
    assert "5 folds" in str(found)


def test_leaving_out_one_row_at_a_time():
    few = np.r_[0:150:6]
    found = LinearDiscriminantAnalysis().confusion(X[few], y[few], folds=len(few))
    for row in range(len(few)):
        rest = np.delete(few, row)
        model = LinearDiscriminantAnalysis().fit(X[rest], y[rest])
        assert found.predicted[row] == model.predict(X[few[row : row + 1]])[0]


@pytest.mark.parametrize("form", [pd.DataFrame, scipy.sparse.csr_array, np.ndarray.tolist])
def test_confusion_of_other_tables(form):
    names = np.array(["s", "ve", "vi"])[y]
    found = LinearDiscriminantAnalysis().confusion(form(X), names, folds=3)
    assert found.classes.tolist() == ["s", "ve", "vi"]
    assert found.accuracy > 0.9


def test_a_class_of_one_row_cannot_be_right():
    A, b = classes(30, 3, 2, 1)
    b[0] = 5
    found = LinearDiscriminantAnalysis().confusion(A, b, folds=5)
    assert found.recall[2] == 0
    with pytest.raises(InputError, match="folds"):
        LinearDiscriminantAnalysis().confusion(A, b, folds=1)


def test_ellipses_hold_their_share():
    A, b = classes(6000, 4, 3, 2)
    model = LinearDiscriminantAnalysis().fit(A, b)
    found = model.ellipses(A, b, level=0.9)
    Z = model.transform(A)
    for g in range(3):
        gone = Z[b == g] - found.centres[g]
        distance = np.einsum("ij,jk,ik->i", gone, np.linalg.inv(found.covariances[g]), gone)
        assert np.mean(distance < chi2.ppf(0.9, 2)) == pytest.approx(0.9, abs=0.03)
        outline = found.outline(g) - found.centres[g]
        radius = np.einsum("ij,jk,ik->i", outline, np.linalg.inv(found.covariances[g]), outline)
        np.testing.assert_allclose(radius, chi2.ppf(0.9, 2), rtol=1e-9)
        small = found.outline(g, mean=True) - found.centres[g]
        np.testing.assert_allclose(small * np.sqrt(2000), outline, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.centres, model.centres_, rtol=0, atol=1e-9)


def test_a_class_of_one_row_has_no_ellipse():
    A, b = classes(40, 3, 3, 3)
    b[0] = 9
    model = LinearDiscriminantAnalysis().fit(A, b)
    assert model.ellipses(A, b).outline(3) is None
    two = LinearDiscriminantAnalysis().fit(A, b > 0)
    with pytest.raises(InputError, match="no plane"):
        two.ellipses(A, b > 0).outline(0)
    with pytest.raises(InputError, match="level"):
        model.ellipses(A, b, level=1.0)


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
