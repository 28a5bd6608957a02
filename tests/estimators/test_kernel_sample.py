"""Rows that settle a kernel: drawn by weight, and never hidden by one heavy row."""

import numpy as np
import pytest
import scipy.sparse

from mercer import KernelPCA, RandomFeatures
from mercer.errors import InputError
from mercer.estimators.kernel._kernel_rows import spread_evenly
from mercer.estimators.kernel._kernel_sample import stand_ins

X = np.random.default_rng(0).normal(size=(180, 5))
HEAVY = (1e4, 1e5, 1e6, 1e12)


def counts(heavy):
    return np.r_[np.ones(90), heavy, np.ones(89)]


@pytest.mark.parametrize("weights", [None, np.random.default_rng(1).integers(0, 40, 180) * 1.0])
@pytest.mark.parametrize("most", [50, 1000])
def test_rows_without_a_heavy_one_are_evenly_spaced(weights, most):
    at, found = stand_ins(X, weights, most)
    np.testing.assert_array_equal(at, spread_evenly(180, weights, most))
    assert found is None


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("heavy", HEAVY)
def test_a_heavy_row_stands_once_beside_the_others(form, heavy):
    at, found = stand_ins(form(X), counts(heavy), 1000)
    np.testing.assert_array_equal(np.sort(at), np.arange(180))
    assert at[0] == 90
    np.testing.assert_allclose(found, np.r_[heavy, np.ones(179)])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("others", [1, 7])
def test_repeats_give_what_weights_give(form, others):
    table = np.round(X[:60] * (np.random.default_rng(2).random((60, 5)) < 0.5), 1)
    w = np.r_[np.full(30, others), 40_000, np.full(29, others)]
    again = np.repeat(table, w, axis=0)
    one, two = stand_ins(form(table), w * 1.0, 100), stand_ins(form(again), None, 100)
    np.testing.assert_array_equal(table[one[0]], again[two[0]])
    np.testing.assert_allclose(one[1], two[1], rtol=1e-14)
    assert len(one[0]) <= 100


def test_light_rows_are_drawn_by_weight():
    at, found = stand_ins(X, np.r_[2.0, np.full(99, 1e-9), np.full(80, 1e-20)], 100)
    assert set(at) <= set(range(101))
    assert len(set(at)) >= 99
    np.testing.assert_allclose(found[0] / found[1:].sum(), 2.0 / 99e-9, rtol=1e-6)


@pytest.mark.parametrize("heavy", HEAVY)
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_default_lengthscale_is_that_of_pairs_of_repeated_rows(heavy):
    """Most pairs are of the heavy row with itself: the mean of the others' squares is left."""
    w = counts(heavy)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    pairs = np.triu(np.outer(w, w), 1)
    mean = np.sum(pairs * squares) / np.sum(pairs)
    for model in (KernelPCA(2), RandomFeatures(8)):
        found = model.fit(X, sample_weight=w).kernel_.lengthscale
        assert found == pytest.approx(np.sqrt(0.5 * mean), rel=1e-12)


def test_repeated_rows_have_the_same_model():
    w = counts(60_000).astype(int)
    weighted = KernelPCA(2, landmarks=X, tol=1.0).fit(X, sample_weight=w)
    repeated = KernelPCA(2, landmarks=X, tol=1.0).fit(np.repeat(X, w, axis=0))
    assert weighted.kernel_.lengthscale == pytest.approx(
        repeated.kernel_.lengthscale, rel=1e-12
    )
    assert weighted.alignment_ == pytest.approx(repeated.alignment_, rel=1e-12)
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf(lengthscale=2)", "rbf", "laplacian", "polynomial"])
@pytest.mark.parametrize("heavy", HEAVY[2:])
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_one_heavy_row_is_fitted(kernel, heavy):
    model = KernelPCA(2, kernel=kernel).fit(X, sample_weight=counts(heavy))
    assert 0 < model.alignment_ < 1
    assert np.isfinite(model.eigenvalues_).all()


@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_the_way_back_and_the_number_of_axes_see_the_other_rows():
    model = KernelPCA(2, kernel="rbf", landmarks=60).fit(X, sample_weight=counts(1e6))
    assert np.isfinite(model.inverse_transform(model.transform(X))).all()
    lines = np.outer(np.linspace(-1, 1, 180), [3.0, 2.0, 1.0]) + 0.01 * X[:, :3]
    assert KernelPCA("auto").fit(lines, sample_weight=counts(1e6)).n_components_ >= 1


def test_rows_that_are_all_equal_are_refused():
    with pytest.raises(InputError, match="all equal"):
        KernelPCA(2).fit(np.ones((180, 5)), sample_weight=counts(1e6))
