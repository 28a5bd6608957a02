"""Certificates hold with weights, standardised columns and sparse data, far from the origin."""

import functools
import warnings

import numpy as np
import pytest
import scipy.sparse
import threadpoolctl
from forced import existing, factors, fit, gapped
from jacobi import reference
from relations import assert_same_values

from mercer import PCA
from mercer.errors import DataWarning, InputError

K = 4
SHAPES = {"tall": (400, 30), "wide": (40, 100)}
each_fit = pytest.mark.parametrize(("kind", "path"), existing(SHAPES, K))


@functools.cache
def table(kind, sparse):
    """Columns of all sizes, up to 1e8 deviations from the origin; sparse: 30 % holes."""
    n, p = SHAPES[kind]
    rng = np.random.default_rng(5)
    X = gapped(n, p, 5) * 10.0 ** rng.uniform(-3, 3, p)
    X = X + X.std(axis=0) * 10.0 ** rng.uniform(-2, 8, p)
    return np.where(rng.random((n, p)) < 0.3, 0.0, X) if sparse else X


def weights(kind, name):
    rng = np.random.default_rng(6)
    n = SHAPES[kind][0]
    return {
        "none": None,
        "whole": rng.integers(0, 4, n),
        "wild": 10.0 ** rng.uniform(-6, 6, n),
    }[name]


@functools.cache
def truth(kind, sparse, counts, standardize):
    return reference(table(kind, sparse), weights(kind, counts), "std" if standardize else None)


@each_fit
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("counts", ["none", "whole", "wild"])
@pytest.mark.parametrize("sparse", [False, True])
def test_intervals(kind, sparse, counts, standardize, path):
    X = table(kind, sparse)
    X = scipy.sparse.csr_array(X) if sparse else X
    found = fit(path, X, K, sample_weight=weights(kind, counts), standardize=standardize)
    exact, certificate = truth(kind, sparse, counts, standardize), found.certificate_
    for i in range(K):
        low, high = exact.interval(i)
        assert certificate.lower[i] <= high
        assert certificate.upper[i] >= low


BIG = factors(20_000, 250, 7, 10).astype(np.float32)


def awkward(name):
    """float32 tables in which some columns are exact and others are not."""
    rng = np.random.default_rng(8)
    X = BIG.copy()
    if name == "one huge exact column":
        X[:, 0] = np.where(rng.random(len(X)) < 0.5, 2.0**20, -(2.0**20))
    elif name == "every eighth column exact":
        X *= np.float32(1e-3)
        X[:, ::8] = np.where(rng.random(X[:, ::8].shape) < 0.5, 1, -1)
    return X


@pytest.mark.parametrize("path", ["gram", "krylov"])
@pytest.mark.parametrize("name", ["even", "one huge exact column", "every eighth column exact"])
def test_standardised_float32_products(name, path):
    X = awkward(name)
    wide = X.astype(np.float64)
    wide -= wide.mean(axis=0)
    wide /= np.sqrt((wide**2).sum(axis=0) / (len(X) - 1))
    exact = np.linalg.eigvalsh(wide.T @ wide)[::-1][:10] / (len(X) - 1)
    c = fit(path, X, 10, standardize=True).certificate_
    assert np.all(c.lower <= exact * (1 + 1e-13))
    assert np.all(c.upper >= exact * (1 - 1e-13))


@pytest.mark.parametrize("path", ["gram", "krylov", "svd", "dual"])
def test_one_thread_or_two(path):
    """Beyond one machine and one thread count, results agree within 1e-10."""
    X = factors(300, 2500, 9) if path == "dual" else factors(9000, 90, 9)
    many = fit(path, X, 3)
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        one = fit(path, X, 3)
    assert_same_values(one, many, tight=1e-10)


B = gapped(60, 8, 1)


@pytest.mark.parametrize("whiten", [True, "zca"])
@pytest.mark.parametrize("exponent", [-1060, -1025, 1015])
def test_whitening_at_the_ends_of_the_range(exponent, whiten):
    X = np.ldexp(B, exponent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        model = PCA(3, whiten=whiten).fit(X)
        Z = model.transform(X)
        back = model.inverse_transform(Z)
    assert np.isfinite(Z).all()
    assert np.isfinite(back).all()
    if whiten is True:
        np.testing.assert_allclose(Z.std(axis=0, ddof=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("exponent", [-540, 540])
@pytest.mark.parametrize("method", ["score", "get_covariance", "get_precision"])
def test_density_beyond_the_range_is_right_or_refused(exponent, method):
    X = np.ldexp(B, exponent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        model = PCA(3).fit(X)
        arguments = (X,) if method == "score" else ()
        try:
            result = getattr(model, method)(*arguments)
        except InputError as refusal:
            assert "range" in str(refusal)  # noqa: PT017
            return
    assert not np.isnan(result).any()
    if method == "score":
        wanted = PCA(3).fit(B).score(B) - 8 * exponent * np.log(2)
        assert result == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e16, 1e150, 1e200, 1e300, 1e308])
@pytest.mark.parametrize("of", ["rows", "columns"])
def test_extreme_weights_are_weights_or_refused(size, of):
    plain = PCA(3).fit(B)
    try:
        if of == "rows" and size > 1:
            found = PCA(3).fit(B, sample_weight=np.full(60, size))
            wanted = plain.explained_variance_ * 59 / 60
            np.testing.assert_allclose(found.explained_variance_, wanted, rtol=1e-9)
        found = PCA(3, feature_weight=np.full(8, size)).fit(B)
    except InputError as refusal:
        assert ("weight" if of == "rows" else "feature_weight") in str(refusal)  # noqa: PT017
        return
    ratios = plain.explained_variance_ratio_
    np.testing.assert_allclose(found.explained_variance_ratio_, ratios, rtol=1e-9)
