"""The same data in other clothes: counted, permuted, sparse, framed, narrow."""

import itertools
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
from scale_fits import WAYS, assert_same_model, fitted
from threadpoolctl import threadpool_limits

from mercer import KernelPCA
from mercer.errors import InputError
from mercer.kernels import RBF, Laplacian, Matern, NegativeDistance, Polynomial

NAMES = ["rbf", "laplacian", "polynomial", "distance", "sum"]
EVERY = [(path, name) for name in NAMES for path in (*MATRIX, "tiles")]
EVERY += [("primal", "polynomial")]
STILL = [RBF(2.0), Laplacian(3.0), Matern(2.0), NegativeDistance()]
ANY = [*STILL, Polynomial(3, 0.1, 1.0), RBF(2.0) * Matern(3.0) + Laplacian(2.0)]
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
    if name in ("rbf", "distance"):  # distances do not know the axes
        turn = np.linalg.qr(np.random.default_rng(4).standard_normal((4, 4)))[0]
        two = fit(path, X @ turn, 3, **options)
        assert_same_numbers(one, two)
        assert apart(one.transform(X), two.transform(X @ turn)) <= allowance(one, two)
    if path == "lapack":
        one, two = (fitted("given", Y, 3, kernel, marks=X[:20]) for Y in (X, X[order]))
        assert_same_model(one, two)
        np.testing.assert_allclose(two.transform(X), one.transform(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("path", MATRIX)
def test_a_constant_added_to_the_kernel_changes_nothing(path):
    X = blobs(80, 4)
    one = fit(path, X, 3, kernel=RBF(2.0), tol=1e-10)
    two = fit(path, X, 3, kernel=RBF(2.0) + 5.0, tol=1e-10)
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-9)
    three = fit(path, X, 3, kernel=4.0 * RBF(2.0), tol=1e-10)
    np.testing.assert_allclose(4 * one.eigenvalues_, three.eigenvalues_, rtol=1e-9)
    assert apart(2 * one.transform(X), three.transform(X)) <= allowance(one, three)


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


@pytest.mark.parametrize("way", [way for way in WAYS if way != "primal"])
def test_two_calls_are_bit_identical(way):
    n, k, weighted = (700, 5, 0) if way.startswith("stored") else (300, 3, "weighted" in way)
    X = blobs(n, 4, dtype="float32" if way.endswith("32") else "float64")
    kept, w = X.copy(), np.arange(n) % 3 if weighted else None
    one, two = (fitted(way, X, k, RBF(2.0), w) for _ in range(2))
    np.testing.assert_array_equal(one.eigenvalues_, two.eigenvalues_)
    np.testing.assert_array_equal(one.certificate_.upper, two.certificate_.upper)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(X, kept)


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


def streamed(X, sizes, weights=None, **options):
    """Return a stream after blocks of these sizes, the last one as large as it takes."""
    model, start = KernelPCA(3, **options), 0
    for stop in [*np.cumsum(sizes), len(X)]:
        part = slice(start, min(stop, len(X)))
        if part.stop > part.start:
            some = None if weights is None else weights[part]
            model.partial_fit(X[part], sample_weight=some)
            start = part.stop
    return model


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    first=st.integers(3, 40),
    sizes=st.lists(st.one_of(st.just(1), st.integers(1, 50)), max_size=12),
    kernel=st.sampled_from(ANY),
    fixed=st.booleans(),
    counted=st.booleans(),
)
@pytest.mark.filterwarnings("ignore")
def test_blocks_of_any_size(first, sizes, kernel, fixed, counted):
    """A block may have one row; landmarks may be settled before, or among the rows."""
    X = blobs(120, 3) / 2
    w = np.random.default_rng(2).integers(1, 4, 120).astype(float) if counted else None
    marks = X[::6] if fixed else 20
    whole = streamed(X, [], w, kernel=kernel, landmarks=marks)
    parts = streamed(X, [first, *sizes], w, kernel=kernel, landmarks=marks)
    assert_same_model(whole, parts)
    assert parts.n_samples_ == 120
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), rtol=0, atol=1e-8)
    assert_same_model(
        KernelPCA(3, kernel=kernel, landmarks=marks).fit(X, sample_weight=w), parts
    )


@pytest.mark.filterwarnings("ignore")
def test_blocks_beyond_the_rows_that_are_kept():
    """What settles the model are the first 10,000 rows, however they come."""
    X = blobs(11_000, 2)
    whole = streamed(X, [], landmarks=15)
    for sizes in ([10_000], [3000, 3000, 3000, 1500], [9999, 1, 1], [9999, 2]):
        parts = streamed(X, sizes, landmarks=15)
        assert parts.kernel_ == whole.kernel_
        np.testing.assert_array_equal(parts.landmarks_, whole.landmarks_)
        assert_same_model(whole, parts)
    blocks = KernelPCA(3, landmarks=15).fit(iter(np.array_split(X, 7)))
    assert_same_model(whole, blocks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kernel", ANY, ids=repr)
def test_merged_in_any_order(kernel):
    X = blobs(150, 3) / 2 + 100 * (kernel in STILL)
    options = {"kernel": kernel, "landmarks": X[::7]}
    whole = streamed(X, [], **options)
    cuts = [slice(0, 5), slice(5, 6), slice(6, 90), slice(90, 150)]

    def part(number):
        rows = X[cuts[number]]
        if len(rows) == 1:  # a stream does not begin with one row
            rows, w = np.repeat(rows, 2, axis=0), [1.0, 0.0]
            return KernelPCA(1, **options).partial_fit(rows, sample_weight=w)
        return KernelPCA(3, **options).partial_fit(rows)

    for order in itertools.permutations((0, 2, 3)):
        merged = part(order[0])
        for number in order[1:]:
            merged.merge(part(number))
        merged.partial_fit(X[cuts[1]])
        assert_same_model(whole, merged)
    left, right = part(0).merge(part(3)), part(2)
    before = right.eigenvalues_.copy()
    left.merge(right).partial_fit(X[cuts[1]])
    assert_same_model(whole, left)
    np.testing.assert_array_equal(right.eigenvalues_, before)
    assert left.n_samples_ == 150


@pytest.mark.filterwarnings("ignore")
def test_a_block_that_is_refused_leaves_the_stream_as_it_was():
    X = blobs(100, 3)
    for marks in (X[::5], 12):
        model = KernelPCA(2, kernel=RBF(2.0), landmarks=marks).partial_fit(X[:60])
        before, Z = model.eigenvalues_.copy(), model.transform(X)
        bad = X[60:].copy()
        bad[3, 1] = np.nan
        with pytest.raises(InputError):
            model.partial_fit(bad)
        with pytest.raises(InputError):
            model.partial_fit(X[60:, :2])
        np.testing.assert_array_equal(model.eigenvalues_, before)
        np.testing.assert_array_equal(model.transform(X), Z)
        assert model.n_samples_ == 60
        assert_same_model(
            KernelPCA(2, kernel=RBF(2.0), landmarks=marks).partial_fit(X),
            model.partial_fit(X[60:]),
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_threads(dtype):
    """Sums over tiles and blocks come in another order, and nothing else changes."""
    X = blobs(1000, 3, dtype=dtype)
    for make in (
        lambda: FORCED["tiles"](3, kernel=Laplacian(3.0)),
        lambda: KernelPCA(3, kernel=Laplacian(3.0), landmarks=200),
    ):
        with threadpool_limits(1, user_api="blas"):
            one = make().fit(X)
        with threadpool_limits(2, user_api="blas"):
            two = make().fit(X)
        np.testing.assert_allclose(
            two.eigenvalues_, one.eigenvalues_, rtol=1e-10 if dtype == "float64" else 1e-6
        )
        assert apart(two.transform(X), one.transform(X)) <= 1e-6 + allowance(one, two)


@pytest.mark.parametrize("path", MATRIX)
def test_a_new_row_does_not_know_its_company(path):
    model, new = fit(path, blobs(90, 3), 4, kernel=RBF(1.5)), blobs(1100, 3, 8)
    whole = model.transform(new)
    for rows in (slice(0, 1), slice(511, 513), slice(1000, 1100)):
        np.testing.assert_allclose(model.transform(new[rows]), whole[rows], rtol=0, atol=1e-12)
