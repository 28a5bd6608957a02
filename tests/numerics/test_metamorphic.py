"""Relations that hold whatever the data: what must not matter does not, on every path.

Exact float64 paths at 1e-8, float32 at 1e-5, the iterative path within its certified bound.
"""

import functools
import warnings
from pathlib import Path

import numpy as np
import pytest
from forced import FORCED, fit, gapped, suits
from relations import (
    TIGHT,
    allowance,
    assert_identical,
    assert_same,
    assert_same_axes,
    assert_same_values,
    iterated,
)

from mercer import PCA
from mercer.errors import DataWarning

DATA = Path(__file__).resolve().parents[1] / "data"


def read(name, columns):
    return np.genfromtxt(DATA / name, delimiter=",", skip_header=1, usecols=columns)


SETS = {
    "arrests": read("USArrests.csv", range(1, 5)),
    "iris": read("iris.csv", range(1, 5)),
    "decathlon": read("decathlon.csv", range(1, 11)),
    "tall": gapped(150, 40, 1, 5) + 3.0,
    "wide": gapped(40, 90, 2, 5, noise=0.05) - 2.0,
    "counts": np.random.default_rng(3).poisson(3.0, (120, 25)).astype(np.float64),
}
# Every path and type meets half of the sets, the narrow paths all of them.
CASES = [
    (name, path, dtype)
    for i, (name, X) in enumerate(SETS.items())
    for j, path in enumerate(FORCED)
    for dtype in (np.float64, np.float32)
    if suits(path, *X.shape, 4)
    and (path in ("dual", "krylov") or (i + j + (dtype is np.float32)) % 2)
]
relation = pytest.mark.parametrize(("name", "path", "dtype"), CASES)
K = 4


@functools.cache
def plain(name, path, dtype, **parameters):
    return fit(path, table(name, dtype), K, **parameters)


def table(name, dtype):
    return SETS[name].astype(dtype)


@relation
def test_order_of_rows(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    for order in (np.random.default_rng(0).permutation(len(X)), np.arange(len(X))[::-1]):
        b = fit(path, X[order], K)
        assert_same(a, b)
        if dtype is np.float64 and not iterated(a):
            np.testing.assert_allclose(b.explained_variance_, a.explained_variance_, rtol=1e-12)


@relation
def test_order_of_columns(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    order = np.random.default_rng(1).permutation(X.shape[1])
    b = fit(path, X[:, order], K)
    assert_same_values(a, b)
    assert_same_axes(a, b, a.components_[:, order])


@relation
def test_turned_space(name, path, dtype):
    X = table(name, dtype)
    if dtype is np.float32:
        turn = np.eye(X.shape[1])[np.random.default_rng(3).permutation(X.shape[1])]
        turn = (turn * np.where(np.arange(X.shape[1]) % 2, 1, -1)).astype(dtype)  # exact
    else:
        turn = np.linalg.qr(np.random.default_rng(3).standard_normal((X.shape[1],) * 2))[0]
    a, b = plain(name, path, dtype), fit(path, X @ turn, K)
    assert_same_values(a, b)
    assert_same_axes(a, b, a.components_ @ turn)


@relation
def test_units_of_columns_when_standardised(name, path, dtype):
    X = table(name, dtype)
    factor = (2.0 ** np.random.default_rng(4).integers(-12, 12, X.shape[1])).astype(dtype)
    a = fit(path, X, K, standardize=True)
    assert_same(a, fit(path, X * factor, K, standardize=True))
    if dtype is np.float64:
        odd = 1.0 + np.arange(X.shape[1]) * 7.3
        assert_same(a, fit(path, X * odd, K, standardize=True))
        np.testing.assert_allclose(a.scale_, X.std(axis=0, ddof=1), rtol=1e-12)


@relation
def test_feature_weights_are_scaled_columns(name, path, dtype):
    X = table(name, dtype)
    weights = 4.0 ** np.random.default_rng(5).integers(-3, 4, X.shape[1])
    a = fit(path, X, K, feature_weight=weights)
    b = fit(path, (X * np.sqrt(weights)).astype(dtype), K)
    assert_same(a, b)


@relation
def test_shift(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    if dtype is np.float32:  # exactly representable after the shift
        X = np.round(X * 64).astype(dtype) / 64
        a = fit(path, X, K)
    shift = np.where(np.arange(X.shape[1]) % 2, 4096.0, -1024.0).astype(dtype)
    assert_same(a, fit(path, X + shift, K))


@relation
def test_constant_column(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    for value in (0.0, 0.1, -7.3e3):
        b = fit(path, np.c_[X, np.full(len(X), value, dtype)], K)
        assert_same_values(a, b)
        # The iteration starts with random numbers in every column, and ends within its bound.
        rest = b.certificate_.sine if iterated(b) else 0.0
        assert np.all(np.abs(b.components_[:, -1]) <= rest)
        assert b.mean_[-1] == np.asarray(value, dtype)


@relation
def test_sign_and_scale_of_everything(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    assert_same(a, fit(path, -X, K))
    assert_same_values(a, fit(path, X * dtype(0.25), K), 1 / 16)


@relation
def test_memory_order(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    frozen = X.copy()
    frozen.flags.writeable = False
    loose = np.zeros((2 * len(X), 3 * X.shape[1]), dtype)[::2, ::3]
    loose[...] = X
    assert_identical(a, fit(path, X.copy(), K))
    again = fit(path, frozen, K)
    assert_identical(a, again)
    np.testing.assert_array_equal(a.transform(X), again.transform(X))
    assert_identical(a, again.fit(X))  # a model that has been fitted before
    for same in (
        np.asfortranarray(X),
        loose,
        np.ascontiguousarray(X[::-1])[::-1],
        np.ascontiguousarray(X[:, ::-1])[:, ::-1],
        X.astype(X.dtype.newbyteorder(">")),
        np.broadcast_to(X, (1, *X.shape))[0],
    ):
        np.testing.assert_array_equal(same, X)
        assert_same(a, fit(path, same, K))


@relation
def test_fit_transform_is_transform(name, path, dtype):
    X, a = table(name, dtype), plain(name, path, dtype)
    for whiten in (False, True, "zca"):
        model = FORCED[path](K, whiten=whiten)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = model.fit_transform(X)
        np.testing.assert_allclose(scores, model.transform(X), rtol=0, atol=1e-10)
        some = model.transform(X[3:17])
        loose = 1e-10 if dtype is np.float64 else 1e-5 * np.abs(scores).max()
        np.testing.assert_allclose(some, scores[3:17], rtol=0, atol=loose)
    assert a.transform(X).dtype == dtype


@relation
def test_variance_identity(name, path, dtype):
    """Coordinates have the covariance Λ: variance kept is the sum of the eigenvalues."""
    X, a = table(name, dtype), plain(name, path, dtype)
    Z = a.transform(X).astype(np.float64)
    top = a.explained_variance_[0]
    loose = TIGHT[np.dtype(dtype)] * top
    np.testing.assert_allclose(Z.mean(axis=0), 0, rtol=0, atol=loose / top**0.5)
    covariance = np.cov(Z, rowvar=False)
    if iterated(a):
        loose += a.certificate_.residual.max()
    np.testing.assert_allclose(covariance, np.diag(a.explained_variance_), rtol=0, atol=loose)
    total = X.astype(np.float64).var(axis=0, ddof=1).sum()
    ratio = a.explained_variance_ / total
    np.testing.assert_allclose(a.explained_variance_ratio_, ratio, rtol=TIGHT[np.dtype(dtype)])


@relation
def test_reconstruction_identity(name, path, dtype):
    """What is lost in the analysed space is the sum of the eigenvalues left out."""
    X = table(name, dtype)
    for standardize in (False, True):
        a = fit(path, X, K, standardize=standardize)
        back = a.inverse_transform(a.transform(X)).astype(np.float64)
        lost = (X - back) / (1.0 if a.scale_ is None else a.scale_)
        total = a.explained_variance_[0] / a.explained_variance_ratio_[0]
        wanted = total - a.explained_variance_.sum()
        loose = TIGHT[np.dtype(dtype)] + (a.certificate_.reached if iterated(a) else 0)
        measured = (lost**2).sum() / (len(X) - 1)
        assert measured == pytest.approx(wanted, abs=loose * total)
        left = min(X.shape) - K
        assert a.noise_variance_ * left == pytest.approx(wanted, abs=loose * total)


@relation
def test_whitened_coordinates_have_unit_variance(name, path, dtype):
    X, bare = table(name, dtype), plain(name, path, dtype)
    a = fit(path, X, K, whiten=True)
    Z = a.transform(X).astype(np.float64)
    loose = TIGHT[np.dtype(dtype)] * a.explained_variance_[0] / a.explained_variance_[-1]
    if iterated(a):
        loose += a.certificate_.residual.max() / a.explained_variance_[-1]
    np.testing.assert_allclose(np.cov(Z, rowvar=False), np.eye(K), rtol=0, atol=loose)
    back, wanted = (
        a.inverse_transform(Z.astype(dtype)),
        bare.inverse_transform(bare.transform(X)),
    )
    np.testing.assert_allclose(back, wanted, rtol=0, atol=loose * np.abs(X).max())


@relation
def test_axes_are_orthonormal_and_signed(name, path, dtype):
    a = plain(name, path, dtype)
    v = a.components_.astype(np.float64)
    near = 1e-12 if dtype is np.float64 else 1e-6
    np.testing.assert_allclose(v @ v.T, np.eye(K), rtol=0, atol=near)
    for axis in v:
        largest = np.abs(axis) >= (1 - 1e-6) * np.abs(axis).max()
        assert axis[np.argmax(largest)] > 0
    assert np.all(np.diff(a.explained_variance_) <= 0)
    assert a.components_.dtype == dtype
    assert a.mean_.dtype == a.explained_variance_.dtype == np.float64


@relation
def test_fewer_components_are_the_first_of_more(name, path, dtype):
    a, b = plain(name, path, dtype), fit(path, table(name, dtype), 2)
    everything = fit("svd", table(name, dtype), None)
    found, all_values = a.explained_variance_, everything.explained_variance_
    np.testing.assert_allclose(b.explained_variance_, found[:2], rtol=allowance(a, b))
    near = allowance(a, everything) * found[0]
    np.testing.assert_allclose(found, all_values[:K], rtol=0, atol=near)
    assert everything.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_column_constant_up_to_rounding_is_only_centred():
    X = SETS["tall"].copy()
    X[:, 4] = 1e8
    X[7, 4] = np.nextafter(1e8, 2e8)
    with pytest.warns(DataWarning, match="constant"):
        a = PCA(K, standardize=True).fit(X)
    b = PCA(K, standardize=True).fit(np.delete(X, 4, axis=1))
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-8)


@pytest.mark.parametrize(("dtype", "value"), [(np.float64, 1e13), (np.float32, 1e5)])
def test_a_large_constant_column_hides_nothing(dtype, value):
    X = (SETS["tall"] - 3) * 1e-3
    both = np.c_[X, np.full(len(X), value)].astype(dtype)
    assert_same_values(PCA(K).fit(X.astype(dtype)), PCA(K).fit(both))
