"""The same rows shifted, scaled, permuted, counted, cut into blocks or merged: one answer."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_fits import FORCED, allowance, apart, blobs
from scale_fits import fitted
from threadpoolctl import threadpool_limits

from mercer import KernelPCA
from mercer.errors import InputError
from mercer.kernels import RBF, Laplacian, Matern, NegativeDistance, Polynomial

STILL = [RBF(2.0), Laplacian(3.0), Matern(2.0), NegativeDistance()]
ANY = [*STILL, Polynomial(3, 0.1, 1.0), RBF(2.0) * Matern(3.0) + Laplacian(2.0)]
WAYS = ["tiles", "pivoted", "uniform", "kmeans++", "given", "stream", "stream given", "once"]


def on_a_grid(X):
    """Return X rounded to multiples of 2^-16, so that a shift is exact."""
    return np.round(X * 2.0**16) / 2.0**16


def assert_same(one, two, rtol=1e-9):
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=rtol)
    np.testing.assert_allclose(two.captured_share_, one.captured_share_, rtol=rtol)
    if hasattr(one, "residual_trace_"):
        tight = 1e-9 * (one.residual_trace_ + one.eigenvalues_[0])
        assert abs(one.residual_trace_ - two.residual_trace_) <= tight
        for end in ("lower", "upper"):
            ends = [getattr(model.certificate_, end) for model in (one, two)]
            np.testing.assert_allclose(ends[1], ends[0], rtol=1e-8, atol=tight)


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("way", WAYS)
def test_a_shift_changes_nothing(way, turn):
    kernel = STILL[(WAYS.index(way) + turn) % len(STILL)]
    X = on_a_grid(blobs(160, 3))
    far = X + 2.0**20
    one, two = (fitted(way, Y, 3, kernel, marks=_marks(way, Y)) for Y in (X, far))
    assert_same(one, two)
    assert apart(two.transform(far), one.transform(X)) <= 1e-7 + _loose(way, one, two)


def _marks(way, X):
    """Return landmarks that move with the rows."""
    return X[::5].copy() if "given" in way else None


def _loose(way, *models):
    return allowance(*models) if way in ("tiles", "once") else 0.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("factor", [2.0**-60, 2.0**60])
def test_the_unit_changes_nothing(way, factor):
    """The default lengthscale follows the rows; distances grow with them."""
    X = blobs(160, 3)
    one, two = (fitted(way, Y, 3, RBF(), marks=_marks(way, Y)) for Y in (X, X * factor))
    assert_same(one, two)
    one, two = (
        fitted(way, Y, 3, NegativeDistance(), marks=_marks(way, Y)) for Y in (X, X * factor)
    )
    np.testing.assert_allclose(two.eigenvalues_, factor * one.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(two.captured_share_, one.captured_share_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ANY, ids=repr)
def test_permuted_rows(kernel):
    X = blobs(200, 3) / 2
    order = np.random.default_rng(1).permutation(200)
    one, two = (FORCED["tiles"](3, kernel=kernel, tol=1e-9).fit(Y) for Y in (X, X[order]))
    np.testing.assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=2e-9)
    assert apart(two.transform(X), one.transform(X)) <= allowance(one, two)
    one, two = (fitted("given", Y, 3, kernel, marks=X[:40]) for Y in (X, X[order]))
    assert_same(one, two)
    np.testing.assert_allclose(two.transform(X), one.transform(X), rtol=0, atol=1e-8)


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
    assert_same(whole, parts)
    assert parts.n_samples_ == 120
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), rtol=0, atol=1e-8)
    assert_same(KernelPCA(3, kernel=kernel, landmarks=marks).fit(X, sample_weight=w), parts)


@pytest.mark.filterwarnings("ignore")
def test_blocks_beyond_the_rows_that_are_kept():
    """What settles the model are the first 10,000 rows, however they come."""
    X = blobs(11_000, 2)
    whole = streamed(X, [], landmarks=15)
    for sizes in ([10_000], [3000, 3000, 3000, 1500], [9999, 1, 1], [9999, 2]):
        parts = streamed(X, sizes, landmarks=15)
        assert parts.kernel_ == whole.kernel_
        np.testing.assert_array_equal(parts.landmarks_, whole.landmarks_)
        assert_same(whole, parts)
    blocks = KernelPCA(3, landmarks=15).fit(iter(np.array_split(X, 7)))
    assert_same(whole, blocks)


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
        assert_same(whole, merged)
    left, right = part(0).merge(part(3)), part(2)
    before = right.eigenvalues_.copy()
    left.merge(right).partial_fit(X[cuts[1]])
    assert_same(whole, left)
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
        assert_same(
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_two_calls_are_bit_identical(way):
    X = blobs(300, 3)
    kept = X.copy()
    one, two = (fitted(way, X, 3, RBF(2.0)) for _ in range(2))
    np.testing.assert_array_equal(one.eigenvalues_, two.eigenvalues_)
    np.testing.assert_array_equal(one.certificate_.upper, two.certificate_.upper)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))
    np.testing.assert_array_equal(X, kept)
