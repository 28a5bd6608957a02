"""A row of weight w is a row that stands w times, on every path of kernel PCA."""

import warnings

import numpy as np
import pytest
from kernel_fits import blobs, eigenvalues, fit, matrix
from weighted import (
    KERNEL,
    KERNEL32,
    assert_same_spectrum,
    counts_of,
    near,
    products,
    quiet,
    written,
)

from mercer import KernelPCA, RandomFeatures
from mercer.errors import DataWarning, InputError
from mercer.kernels import RBF, Function, Linear, Precomputed

TOL = 1e-9
N = 130
IN_BLOCKS = ("stream", "merged streams", "iterator", "function")  # the first settles them


def table(seed=1):
    X, w = blobs(N, 5, seed=seed, far=2.0), counts_of(N, seed)
    return X, w, np.repeat(X, w, axis=0)


def between(X, count=25):
    """Return new rows among those of a table."""
    return (0.7 * X[:count] + 0.3 * X[count : 2 * count]).astype(X.dtype)


def assert_repeats(one, two, new, tol=TOL, coordinates=TOL):
    assert_same_spectrum(one, two, tol)
    near(one.eigenvalues_, two.eigenvalues_, tol, "eigenvalues")
    near(one.effective_rank_, two.effective_rank_, tol, "effective rank")
    near(one.negative_share_, two.negative_share_, tol, "negative share")
    near(one.captured_share_, two.captured_share_, 1e-6, "captured share")
    # An iteration ends when eigenvalues are found; axes have half their digits, as it says.
    sines = [np.max(model.certificate_.sine, initial=0.0) for model in (one, two)]
    coordinates = max(coordinates, *sines)
    near(products(one, new), products(two, new), coordinates, "coordinates")
    assert one.n_samples_ == N
    assert two.n_samples_ != N


@pytest.mark.parametrize("name", KERNEL)
def test_a_weight_is_a_repeated_row(name, tmp_path):
    X, w, R = table()
    one, two = (KERNEL[name](*given, tmp_path) for given in ((X, w), (R, None)))
    if name != "refined":  # the path is that of the number of rows
        assert one.plan_.chosen.name == two.plan_.chosen.name
    if "median" in name:
        # Columns are standardised by sums of other lengths: the last digit is not theirs.
        assert type(one.kernel_) is type(two.kernel_)
        near(one.kernel_.lengthscale, two.kernel_.lengthscale, 1e-13, "lengthscale")
    assert_repeats(one, two, between(X))
    if two.alignment_ is not None and name not in IN_BLOCKS:
        near(one.alignment_, two.alignment_, TOL, "alignment")


@pytest.mark.parametrize("name", KERNEL)
def test_the_cells_of_rows_of_weight_zero_have_no_say(name, tmp_path):
    X, w, _ = table()
    odd = X.copy()
    odd[w == 0] = 9.96921e36  # netCDF's mark of no value
    odd[N // 2 :, 2][w[N // 2 :] == 0] = -1e200
    one, two = (KERNEL[name](rows, w, tmp_path) for rows in (X, odd))
    assert_same_spectrum(one, two, TOL)
    near(products(one, between(X)), products(two, between(X)), TOL, "coordinates")


@pytest.mark.parametrize("name", KERNEL32)
def test_of_float32_rows(name, tmp_path):
    """Eigenvalues keep the digits that were asked for; coordinates are float32."""
    X, w, R = table()
    one, two = (KERNEL32[name](*given, tmp_path) for given in ((X, w), (R, None)))
    # A cell in 1e8 may be rounded the other way where columns are standardised.
    tol = 1e-8 if "standardised" in name else TOL
    assert_repeats(one, two, between(X.astype(np.float32)), tol, 1e-5)


@pytest.mark.parametrize("name", ["lapack", "tiles", "primal", "landmarks"])
def test_what_is_read_off_a_model(name, tmp_path):
    X, w, R = table(2)
    one, two = (KERNEL[name](*given, tmp_path) for given in ((X, w), (R, None)))
    new = between(X)
    near(one.novelty(new), two.novelty(new), TOL, "novelty")
    for method in ("gradient", "permutation"):
        near(one.attributions(new, method), two.attributions(new, method), TOL, method)
    which, again = one.prototypes(2).largest[:, 0], two.prototypes(2).largest[:, 0]
    np.testing.assert_array_equal(X[which], R[again])


@pytest.mark.parametrize("kernel", [RBF(2.0), Linear(), RBF(4.0)])
def test_the_way_back_learns_from_repeats(kernel):
    """The regression has a penalty, without which its equations lose most of their digits:
    rows with noise that two axes do not hold have one.
    """
    X, w, R = table(3)
    noise = np.random.default_rng(3).standard_normal((N, 5))
    X = X + noise
    R = np.repeat(X, w, axis=0)
    one = KernelPCA(2, kernel=kernel, tol=1e-12).fit(X, sample_weight=w)
    two = KernelPCA(2, kernel=kernel, tol=1e-12).fit(R)
    new = X[w > 0][:30]
    for method in one.preimage_errors_:
        a, b = (m.inverse_transform(m.transform(new), method) for m in (one, two))
        near(a, b, 1e-7 if method in ("ridge", "fixed_point") else TOL, method)
    errors, again = one.preimage_errors_, two.preimage_errors_
    assert errors.keys() == again.keys()
    for method, error in errors.items():
        assert error == pytest.approx(again[method], rel=1e-5), method
    assert one.preimage_ == two.preimage_
    assert one.score(X, sample_weight=w) == pytest.approx(two.score(R), rel=1e-7)


def test_a_given_matrix_a_function_and_random_features():
    X, w, R = table(4)
    k, new = RBF(2.0), between(X)
    one = KernelPCA(4, kernel="precomputed").fit(k(X), sample_weight=w)
    two = KernelPCA(4, kernel=Precomputed()).fit(k(R))
    assert_same_spectrum(one, two)
    z, again = one.transform(k(new, X)), two.transform(k(new, R))
    near(z @ z.T, again @ again.T, TOL, "coordinates")
    kernel = Function(lambda x, y: np.exp(-0.1 * ((x[:, None] - y[None]) ** 2).sum(axis=2)))
    one = quiet(KernelPCA(3, kernel=kernel).fit, X, sample_weight=w)
    assert_same_spectrum(one, quiet(KernelPCA(3, kernel=kernel).fit, R))
    one, two = RandomFeatures(50).fit(X, sample_weight=w), RandomFeatures(50).fit(R)
    assert one.kernel_.lengthscale == pytest.approx(two.kernel_.lengthscale, rel=TOL)
    near(one.transform(X[:5]), two.transform(X[:5]), TOL, "features")


def assert_bounds(model, exact):
    assert np.all(model.certificate_.lower <= exact * (1 + TOL))
    assert np.all(exact <= model.certificate_.upper * (1 + TOL))


@pytest.mark.parametrize("landmarks", [30, "pivoted", "uniform", "kmeans++"])
@pytest.mark.parametrize("streamed", [False, True])
def test_landmarks_that_are_drawn_bound_the_repeated_rows(landmarks, streamed):
    """Which rows are drawn is chance; that the interval holds is not."""
    X, w, R = table(5)
    exact = eigenvalues(matrix("rbf", R))[:3]
    model = KernelPCA(3, kernel=RBF(1.5), landmarks=landmarks)
    if streamed:
        for part in (slice(0, 50), slice(50, N)):
            quiet(model.partial_fit, X[part], sample_weight=w[part])
        assert_bounds(model, exact)
        return
    assert_bounds(quiet(model.fit, X, sample_weight=w), exact)
    quiet(model.refine, X, passes=1, sample_weight=w)
    assert_bounds(model, exact)
    quick, whole = (
        KernelPCA(3, kernel=RBF(1.5), tol_transform=tol).fit(X, sample_weight=w)
        for tol in (np.inf, None)
    )
    new = between(X)
    apart = np.abs(quick.transform(new) - whole.transform(new))
    assert np.all(apart <= quick.transform_bound(new) * (1 + 1e-6) + 1e-9)


@pytest.mark.parametrize("path", ["lapack", "stored", "tiles"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights_of_any_size(path, dtype, tmp_path):
    X = blobs(N, 5, seed=8).astype(dtype)
    w = 10.0 ** np.random.default_rng(8).uniform(-12, 12, N)
    model = (KERNEL if dtype is np.float64 else KERNEL32)[path](X, w, tmp_path)
    exact = eigenvalues(RBF(2.0)(X.astype(np.float64)), w)[:4]
    near(model.eigenvalues_, exact, TOL, path)
    assert_bounds(model, exact)


def test_float32_tiles_with_heavy_rows_are_certified():
    """What float32 costs is measured on random rows: a heavy one must not be missed."""
    X = blobs(700, 5, seed=9).astype(np.float32)
    w = np.ones(700)
    w[[3, 400]] = 1e4, 3e5
    exact = eigenvalues(RBF(2.0)(X.astype(np.float64)), w)[:4]
    for path in ("stored", "tiles"):
        bounds = fit(path, X, 4, kernel=RBF(2.0), sample_weight=w).certificate_
        assert np.all(bounds.lower <= exact)
        assert np.all(exact <= bounds.upper)


def test_rows_that_count_little_settle_the_lengthscale_too():
    X = table(10)[0]
    usual = KernelPCA(2).fit(X).kernel_.lengthscale
    few = KernelPCA(2).fit(X, sample_weight=np.full(N, 2.5 / N)).kernel_.lengthscale
    assert few == pytest.approx(usual, rel=0.05)


def test_the_rank_is_judged_by_repeats():
    X = np.random.default_rng(0).standard_normal((80, 20))
    with pytest.warns(DataWarning, match="effective rank"):
        KernelPCA(2, kernel=RBF(0.5)).fit(X, sample_weight=np.ones(80))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        KernelPCA(2, kernel=RBF(0.5)).fit(X, sample_weight=np.full(80, 9.0))


@pytest.mark.parametrize("change", [-1, 1])
def test_weights_of_a_file_are_one_for_every_row(change, tmp_path):
    X = table()[0]
    model = KernelPCA(2, kernel=RBF(4.0), landmarks=X[:20])
    with pytest.raises(InputError, match="one number per row"):
        model.fit(written(X, tmp_path / "x.npy"), sample_weight=np.ones(N + change))
    assert not hasattr(model, "eigenvalues_")
