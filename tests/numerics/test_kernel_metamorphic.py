"""The same data in other clothes: counted, permuted, sparse, framed, narrow."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_fits import (
    FORCED,
    MATRIX,
    PLAIN,
    allowance,
    apart,
    blobs,
    eigenvalues,
    fit,
    matrix,
)

from mercer import KernelPCA
from mercer.errors import InputError
from mercer.kernels import RBF, Polynomial

NAMES = ["rbf", "laplacian", "polynomial", "distance", "sum"]
EVERY = [(path, name) for name in NAMES for path in MATRIX] + [("primal", "polynomial")]
FITTED = ("eigenvalues_", "explained_variance_", "explained_variance_ratio_")


def assert_same_numbers(a, b, rtol=1e-9):
    for name in FITTED:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol)
    assert a.rank_ == b.rank_
    np.testing.assert_allclose(a.effective_rank_, b.effective_rank_, rtol=1e-6)


@pytest.mark.parametrize("path", MATRIX)
def test_fractional_weights(path):
    """D^½(I - 1πᵀ)K(I - π1ᵀ)D^½ by plain algebra, for weights that count no rows."""
    X, w = blobs(50, 3), np.random.default_rng(0).uniform(0.1, 3.0, 50)
    model = fit(path, X, 3, sample_weight=w, kernel=PLAIN["rbf"][0], tol=1e-10)
    wanted = eigenvalues(matrix("rbf", X), w)
    np.testing.assert_allclose(model.eigenvalues_, wanted[:3], rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_, wanted[:3] / (w.sum() - 1), rtol=1e-9)


@pytest.mark.parametrize(("path", "name"), EVERY)
def test_permuted_rows(path, name):
    X, kernel = blobs(80, 4) / 2, PLAIN[name][0]
    order = np.random.default_rng(1).permutation(80)
    options = {"kernel": kernel, "tol": 1e-10}
    one, two = fit(path, X, 3, **options), fit(path, X[order], 3, **options)
    assert_same_numbers(one, two)
    assert apart(one.transform(X), two.transform(X)) <= allowance(one, two)


@pytest.mark.parametrize("name", ["rbf", "matern", "distance", "rational"])
def test_turned_columns(name):
    """Distances do not know the axes."""
    X, kernel = blobs(80, 4) / 2, PLAIN[name][0]
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((4, 4)))[0]
    one, two = fit("lapack", X, 3, kernel=kernel), fit("lapack", X @ turn, 3, kernel=kernel)
    assert_same_numbers(one, two)
    assert apart(one.transform(X), two.transform(X @ turn)) <= 1e-8


@pytest.mark.parametrize("path", MATRIX)
def test_a_constant_added_to_the_kernel_changes_nothing(path):
    X = blobs(80, 4)
    one = fit(path, X, 3, kernel=RBF(2.0), tol=1e-10)
    two = fit(path, X, 3, kernel=RBF(2.0) + 5.0, tol=1e-10)
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-9)
    three = fit(path, X, 3, kernel=4.0 * RBF(2.0), tol=1e-10)
    np.testing.assert_allclose(4 * one.eigenvalues_, three.eigenvalues_, rtol=1e-9)
    assert apart(2 * one.transform(X), three.transform(X)) <= allowance(one, three)


@pytest.mark.parametrize("path", MATRIX)
def test_a_new_row_does_not_know_its_company(path):
    X, new = blobs(90, 3), blobs(1100, 3, 8)
    model = fit(path, X, 4, kernel=RBF(1.5))
    whole = model.transform(new)
    for rows in (slice(0, 1), slice(511, 513), slice(1000, 1100)):
        np.testing.assert_allclose(model.transform(new[rows]), whole[rows], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.transform(new), whole)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly(degree=2)", "cosine", "matern"])
@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_is_dense(kernel, form):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((70, 6)) < 0.4, rng.random((70, 6)), 0.0)
    X[:, 0] += 0.1
    sparse = getattr(scipy.sparse, form)(X)
    one, two = fit("auto", X, 3, kernel=kernel), fit("auto", sparse, 3, kernel=kernel)
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-9)
    assert apart(two.transform(sparse), one.transform(X)) <= 1e-8
    assert apart(two.transform(X), one.transform(X)) <= 1e-8
    back = two.inverse_transform(two.transform(sparse))
    # The decoder solves an ill-posed problem: it magnifies rounding, by 1e6 at most here.
    np.testing.assert_allclose(back, one.inverse_transform(one.transform(X)), rtol=0, atol=1e-4)
    assert two.score(sparse) == pytest.approx(one.score(X), abs=1e-4)


def test_sparse_rows_without_such_a_distance_are_refused():
    with pytest.raises(InputError, match="sparse") as error:
        KernelPCA(2, kernel="laplacian").fit(scipy.sparse.eye_array(9).tocsr())
    assert "toarray" in error.value.fix


def test_frames():
    import pandas as pd
    import polars as pl

    X = blobs(60, 3)
    names = ["a", "b", "c"]
    plain = fit("auto", X, 2)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = fit("auto", frame, 2)
        np.testing.assert_array_equal(model.eigenvalues_, plain.eigenvalues_)
        np.testing.assert_array_equal(model.transform(frame), plain.transform(X))
        assert list(model.feature_names_in_) == names
        assert list(model.get_feature_names_out()) == [
            f"{type(model).__name__.lower()}{i}" for i in range(2)
        ]
    out = KernelPCA(2).set_output(transform="pandas").fit_transform(pd.DataFrame(X))
    assert list(out.columns) == ["kernelpca0", "kernelpca1"]


@pytest.mark.parametrize("order", ["F", "C", "reversed", "integers", "read-only", "list"])
def test_layouts(order):
    X = np.round(blobs(60, 3) * 4)
    made = {
        "F": np.asfortranarray(X),
        "C": X.copy(),
        "reversed": X[::-1][::-1],
        "integers": X.astype(np.int32),
        "read-only": np.array(X),
        "list": X.tolist(),
    }[order]
    if order == "read-only":
        made.flags.writeable = False
    one, two = (fit("auto", Y, 2, kernel=RBF(6.0)) for Y in (X, made))
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(one.transform(X), two.transform(made), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [150, 900])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "distance", "polynomial"])
def test_float32_and_float64(n, name):
    X = blobs(n, 4).astype(np.float32) / 2
    kernel = PLAIN[name][0]
    path = "auto" if n < 200 else "stored"
    narrow, wide = (fit(path, Y, 3, kernel=kernel) for Y in (X, X.astype(np.float64)))
    np.testing.assert_allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-5)
    assert apart(narrow.transform(X), wide.transform(X.astype(np.float64))) <= 1e-4
    for array in (narrow.transform(X), narrow.dual_, narrow.fit_transform(X)):
        assert array.dtype == np.float32
    assert narrow.eigenvalues_.dtype == np.float64


def test_two_calls_are_bit_identical():
    cases = [("lapack", np.float64), ("stored", np.float64), ("stored", np.float32)]
    for path, dtype in cases:
        X = blobs(700, 4, dtype=dtype)
        one, two = fit(path, X, 5), fit(path, X, 5)
        np.testing.assert_array_equal(one.dual_, two.dual_)
        np.testing.assert_array_equal(one.eigenvalues_, two.eigenvalues_)
        np.testing.assert_array_equal(one.transform(X), two.transform(X))


def test_signs_follow_the_samples():
    """The largest entry of every sample vector is positive; a tie goes to the first row."""
    for path in MATRIX:
        model = fit(path, blobs(90, 3), 4, kernel=RBF(1.0))
        largest = np.argmax(np.abs(model.dual_), axis=0)
        assert (model.dual_[largest, np.arange(4)] > 0).all()
    X = blobs(60, 3)
    for model in (
        fit("primal", X, 3, kernel=Polynomial(2)),
        fit("auto", X, 3, kernel="linear"),
    ):
        Z = model.transform(X)
        assert (Z[np.argmax(np.abs(Z), axis=0), np.arange(3)] > 0).all()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(2, 12),
    p=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    name=st.sampled_from(["rbf", "laplacian", "distance", "polynomial", "sum"]),
    spread=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_any_small_table(n, p, seed, name, spread):
    """λ by LAPACK, as many axes as were asked for, training rows where they belong."""
    X = np.random.default_rng(seed).standard_normal((n, p)) * spread
    k = 1 + seed % n
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FORCED["lapack"](k, kernel=PLAIN[name][0])
        Z = model.fit_transform(X)
    K = matrix(name, X)
    wanted = np.maximum(eigenvalues(K)[:k], 0)
    level = 20 * n * np.finfo(float).eps * max(np.abs(K).max(), wanted[0])
    assert model.n_components_ == k == Z.shape[1] == model.dual_.shape[1]
    np.testing.assert_allclose(model.eigenvalues_, wanted, rtol=1e-9, atol=level)
    assert np.isfinite(Z).all()
    # k(x, y) carries rounding, which a projection divides by √λ; nothing else may be lost.
    rounding = level / np.sqrt(np.maximum(model.eigenvalues_, np.finfo(float).tiny))
    wrong = np.abs(model.transform(X) - Z).max(axis=0)
    assert (wrong <= 1e-10 * np.abs(Z).max() + np.where(Z.any(axis=0), rounding, 0)).all()
