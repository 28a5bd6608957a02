"""Robust PCA of rows chosen to hurt: at one point, mirrored, sparse and far, hard to judge."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from robust_data import sine, table

import mercer

METHODS = ["reweighted", "spherical"]
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize("share", [0.3, 0.45, 0.52, 0.8])
def test_rows_at_the_middle_hide_no_spread_of_the_others(share):
    X = np.random.default_rng(0).normal(size=(1000, 6)) * [6, 4, 1, 1, 1, 1]
    at = int(share * 1000)
    X[:at] = 0
    for method in METHODS:
        model = mercer.RobustPCA(2, method=method).fit(X)
        assert len(model.outliers_) < 0.05 * (1000 - at)
        np.testing.assert_allclose(model.explained_variance_, [36, 16], rtol=0.3)
        np.testing.assert_array_equal(np.flatnonzero(model.is_outlier(X)), model.outliers_)


def test_rows_that_change_sides_to_the_end_are_warned_of():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6)) * 2 + rng.normal(size=(1000, 6))
    X[:, 5] = rng.random(1000) < 0.1  # most cells are equal: there is no spread to judge by
    model = mercer.RobustPCA(2, standardize=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X)
    named, counted = model.is_outlier(X), model.weights_ > 0
    np.testing.assert_array_equal(np.flatnonzero(named), model.outliers_)
    told = [str(one.message) for one in said if "change sides" in str(one.message)]
    assert len(told) == (np.sum(named == counted) > 10)
    assert told
    assert f"got: {np.sum(named == counted)} of 1,000 rows" in told[0]


@each_method
@pytest.mark.parametrize("standardize", [False, True])
def test_mirrored_rows_change_nothing(method, standardize):
    X, _, _ = table(20, 40, 5, 0.15, "leverage")
    model = mercer.RobustPCA(2, method=method, standardize=standardize).fit(X)
    mirrored = mercer.RobustPCA(2, method=method, standardize=standardize).fit(-X)
    assert sine(mirrored.components_, model.components_) < 1e-8
    np.testing.assert_array_equal(mirrored.outliers_, model.outliers_)


@each_method
def test_weights_of_columns_are_columns_that_stand_so_often(method):
    X, _, _ = table(21, 120, 4, 0.1, "radial")
    counts = np.array([1, 2, 3, 1])
    once = mercer.RobustPCA(2, method=method, standardize=True, feature_weight=counts).fit(X)
    often = mercer.RobustPCA(2, method=method, standardize=True)
    often.fit(np.repeat(X, counts, axis=1))
    np.testing.assert_allclose(once.explained_variance_, often.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(once.orthogonal_cutoff_, often.orthogonal_cutoff_, rtol=1e-8)
    np.testing.assert_array_equal(once.outliers_, often.outliers_)


def test_a_far_row_among_sparse_ones():
    X, _, _ = table(22, 240, 6, 0.0, "cluster")
    model = mercer.RobustPCA(2).fit(X[1:])
    X[0] = 1e160
    other = mercer.RobustPCA(2).fit(scipy.sparse.csr_array(X))
    assert 0 in other.outliers_
    assert sine(other.components_, model.components_) < 1e-3
