"""Degenerate data: rank and zero variance are named; never NaN, never an invented axis."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, fit, gapped
from jacobi import reference

from mercer import PCA
from mercer.errors import DataWarning, InputError

RNG = np.random.default_rng(0)
DENSE = ["svd", "gram", "auto"]


def finite(found):
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "mean_"):
        assert np.isfinite(getattr(found, name)).all(), name
    assert np.isfinite(found.singular_values_).all()
    assert np.isfinite(found.noise_variance_)
    assert found.noise_variance_ >= 0


def low_rank(n, p, rank, seed=1, offset=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) + offset


NOTHING = {
    "constant": np.full((20, 4), 3.7),
    "zero": np.zeros((20, 4)),
    "one third": np.full((7, 3), 1 / 3),
    "constant float32": np.full((20, 4), 0.1, np.float32),
    "constant far": np.full((20, 4), 1e300),
    "columns differ": np.tile([0.1, 1e8, -3.3, 0.0], (20, 1)),
    "whole numbers": np.full((20, 4), 7),
    "one column": np.full((20, 1), 0.3),
    "wide": np.full((4, 20), 0.7),
    "sparse": scipy.sparse.csr_array((20, 4)),
    "sparse constant": scipy.sparse.csr_array(np.full((20, 4), 0.7)),
}


@pytest.mark.parametrize("k", [1, 2, None, 0.95, "mle"])
@pytest.mark.parametrize("name", NOTHING)
def test_data_without_variance_is_refused(name, k):
    X = NOTHING[name]
    if isinstance(k, int) and k > min(X.shape):
        k = 1
    if k == "mle" and X.shape[0] < X.shape[1]:
        k = None
    for whiten in (False, True):
        with pytest.raises(InputError, match="no variance"):
            PCA(k, whiten=whiten).fit(X)


@pytest.mark.parametrize("path", ["svd", "gram", "dual", "krylov"])
def test_no_path_invents_variance(path):
    X = np.tile(RNG.standard_normal(100), (30, 1))
    for table in (np.full((100, 30), 0.1),) if path == "gram" else (X, X + 1e9):
        with pytest.raises(InputError, match="no variance"):
            fit(path, table, 3)


@pytest.mark.parametrize("whiten", [False, True, "zca"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("path", FORCED)
def test_more_components_than_rank(path, offset, whiten):
    shape, k = {"dual": ((30, 80), 9), "krylov": ((60, 40), 9)}.get(path, ((60, 12), 9))
    X = low_rank(*shape, 3, offset=offset)
    found = fit(path, X, k, whiten=whiten)
    finite(found)
    assert found.rank_ == 3
    assert not found.components_[3:].any()
    assert found.n_components_ == k
    assert found.components_.shape == (k, shape[1])
    tiny = 1e-9 * found.explained_variance_[0]
    assert np.all(found.explained_variance_[3:] <= tiny)
    Z = found.transform(X)
    noisy = found.transform(X + 1e-8 * RNG.standard_normal(X.shape))
    assert np.isfinite(Z).all()
    if whiten != "zca":
        assert not Z[:, 3:].any()
    assert np.abs(noisy - Z).max() <= 1e-4
    np.testing.assert_allclose(found.inverse_transform(Z), X, rtol=0, atol=1e-6 + 1e-9 * offset)


def test_two_rows():
    X = np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 1.0]])
    for path in ("svd", "gram", "dual", "auto"):
        found = fit(path, X, 2)
        assert found.rank_ == 1
        np.testing.assert_allclose(
            found.components_, [[0.6, 0.8, 0.0], [0, 0, 0]], rtol=0, atol=1e-15
        )
        np.testing.assert_allclose(found.explained_variance_, [12.5, 0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.explained_variance_ratio_, [1, 0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("path", ["svd", "dual", "gram", "auto"])
def test_as_many_components_as_rows(path):
    X = gapped(12, 40, 3)
    found = fit(path, X, 12)
    assert found.rank_ == 11
    assert not found.components_[11].any()
    assert found.explained_variance_[11] <= 1e-12 * found.explained_variance_[0]


@pytest.mark.parametrize("path", DENSE)
def test_graded_spectrum(path):
    """Deviations 1 … 1e-7: the certificate says which digits of the small ones are right."""
    rng = np.random.default_rng(6)
    left = np.linalg.qr(rng.standard_normal((400, 9)) @ np.eye(9))[0]
    left = np.linalg.qr(left - left.mean(axis=0))[0][:, :8]
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    X = left * 10.0 ** -np.arange(8) @ turn
    truth = reference(X)
    found = fit(path, X, None)
    finite(found)
    alive = found.rank_
    assert alive == 8 or path == "gram"
    error = np.abs(found.explained_variance_[:alive] - truth.values[:alive]).astype(float)
    width = found.certificate_.upper - found.certificate_.lower
    assert np.all(error <= width[:alive])
    if path != "gram":
        assert np.all(error <= 1e-6 * truth.values[:alive].astype(float))


def test_gram_path_hands_graded_data_to_svd():
    """An axis that the squared path cannot see is looked for without squaring."""
    X = np.random.default_rng(7).standard_normal((20_000, 90)) * 10.0 ** -np.linspace(
        0, 8.5, 90
    )
    found = fit("auto", X, None)
    assert found.rank_ == 90
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 19_999
    np.testing.assert_allclose(found.explained_variance_, truth, rtol=1e-5)
    assert fit("gram", X, None).rank_ < 90


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999999])
def test_share_of_low_rank_data_keeps_no_empty_axis(share):
    X = low_rank(60, 10, 3)
    found = PCA("mle").fit(X + 1e-3 * RNG.standard_normal((60, 10)))
    assert found.n_components_ == 3
    found = PCA(share).fit(np.c_[X, np.zeros((60, 2)), X[:, :1]])
    assert found.n_components_ <= 3
    assert found.explained_variance_ratio_.sum() >= share * (1 - 1e-12)


def test_constant_columns_are_named_when_standardised():
    X = np.c_[gapped(40, 4, 8), np.full((40, 2), 2.5)]
    with pytest.warns(DataWarning, match="constant") as caught:
        found = PCA(standardize=True).fit(X)
    assert "4, 5" in str(caught[0].message)
    assert found.rank_ == 4
    assert not found.components_[:4, 4:].any()
    np.testing.assert_array_equal(found.scale_[4:], 1.0)
    finite(found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = PCA().fit(X)
    assert plain.rank_ == 4


@pytest.mark.parametrize("path", ["svd", "gram", "dual", "krylov"])
def test_weights_that_leave_one_row(path):
    X = gapped(40, 60, 9) if path != "gram" else gapped(60, 40, 9)
    weights = np.zeros(len(X))
    weights[3] = 5
    with pytest.raises(InputError, match="no variance"):
        fit(path, X, 2, sample_weight=weights)
    weights[7] = 1
    found = fit(path, X, 2, sample_weight=weights)
    assert found.rank_ == 1
    finite(found)


def test_outlier_beyond_the_digits_of_the_rest():
    """One cell of 1e20: the first axis is that cell, the others are what storage left."""
    X = gapped(50, 5, 10)
    X[7, 2] = 1e20
    for path in DENSE:
        found = fit(path, X, None)
        finite(found)
        np.testing.assert_allclose(found.components_[0], [0, 0, 1, 0, 0], rtol=0, atol=1e-15)
        assert found.explained_variance_[0] == pytest.approx(1e40 / 50, rel=1e-12)
