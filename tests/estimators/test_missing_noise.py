"""Missing cells where no axis is beyond noise: the means of the columns fill them."""

import numpy as np
import pytest

import mercer
from mercer.errors import DataWarning

METHODS = ["em", "ppca"]


@pytest.mark.parametrize("method", METHODS)
def test_where_no_axis_is_beyond_noise_means_fill_the_cells(method):
    X = np.random.default_rng(0).normal(size=(300, 12)) + 5
    with pytest.warns(DataWarning, match="no component beyond noise"):
        model = mercer.PCA("auto", missing=method).fit(X)
    assert model.n_components_ == 0
    rows = X[:4].copy()
    rows[1, 3] = np.nan
    filled = model.impute(rows)
    assert filled[1, 3] == pytest.approx(X[:, 3].mean())
    assert model.completion_.noise == pytest.approx(X.var(axis=0, ddof=1).mean())
    assert model.transform(rows).shape == (4, 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("standardize", [False, True])
def test_noise_without_axes_is_filled_by_its_means(method, standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = mercer.PCA(standardize=standardize, missing=method).fit(X)
    assert found.completion_.axes.shape == (5, 0)
    mean = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    np.testing.assert_allclose(found.impute(X), np.where(np.isnan(X), mean, X), atol=1e-12)
    np.testing.assert_allclose(found.mean_, mean[0], rtol=0, atol=1e-12)
