import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import plots
from mercer.studies import separation

X, y = load_iris(return_X_y=True)


def test_shares_between_classes_are_squared_correlations():
    """For two classes η² is the squared correlation with the class."""
    two = y < 2
    found = separation(X[two], y[two], 2)
    wanted = [np.corrcoef(z, y[two])[0, 1] ** 2 for z in found.pca.T]
    np.testing.assert_allclose(found.eta2_pca, wanted, rtol=1e-10)
    assert found.lda.shape == (100, 1)


def test_no_axis_tells_classes_better_than_the_first_of_lda():
    found = separation(X, y, 2)
    assert found.gain >= 0
    rng = np.random.default_rng(0)
    from mercer.studies._separation import eta2

    assert eta2(X @ rng.normal(size=(4, 500)), y).max() <= found.eta2_lda[0] + 1e-12
    assert "LDA" in str(found)


@pytest.mark.parametrize("groups", [2, 3])
def test_both_maps_are_drawn(groups):
    few = y < groups
    panels = separation(X[few], np.array(list("abc"))[y[few]]).panels()
    text = plots.figure(panels)
    assert "PCA" in text
    assert "LDA" in text
