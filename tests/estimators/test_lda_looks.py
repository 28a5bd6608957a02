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
