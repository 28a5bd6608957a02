"""A row of weight w is a row that stands w times, on every path of PCA."""

import numpy as np
import pytest
from forced import gapped, spread
from weighted import (
    LINEAR,
    LOW,
    WIDE,
    SketchPCA,
    assert_same_spectrum,
    counts_of,
    fitted,
    near,
    products,
    quiet,
)

import mercer
from mercer import PCA
from mercer.arrays import asarray_like
from mercer.errors import InputError
from mercer.operators import Centring, centred, rows_of
from mercer.sources import DenseSource

TOL = 1e-9
CHANGED = ("float32", "standardised", "removed")  # ways that analyse other numbers than X
PLAIN = [name for name in LINEAR if not any(word in name for word in CHANGED)]


def both(way, X, w, folder):
    repeated = np.repeat(X, w, axis=0)
    return fitted(way, X, w, folder), fitted(way, repeated, None, folder)


def assert_repeats(one, two, X):
    assert_same_spectrum(one, two, TOL)
    near(one.mean_, two.mean_, TOL, "mean")
    near(one.singular_values_, two.singular_values_, TOL, "singular values")
    near(one.noise_variance_, two.noise_variance_, TOL, "noise")
    if two.scale_ is not None:
        near(one.scale_, two.scale_, TOL, "scale")
    new = np.asarray(X[:20], np.float64) + 0.1
    near(products(one, new), products(two, new), TOL, "coordinates")
    near(one.components_.T @ one.components_, two.components_.T @ two.components_, TOL, "axes")


def assert_same_density(one, two, X, w):
    near(quiet(one.score_samples, X), quiet(two.score_samples, X), TOL, "density")
    whole = quiet(two.score, np.repeat(X, w, axis=0))
    assert quiet(one.score, X, sample_weight=w) == pytest.approx(whole, rel=TOL)
    near(one.get_covariance(), two.get_covariance(), TOL, "covariance")


@pytest.mark.parametrize("name", LINEAR)
def test_a_weight_is_a_repeated_row(name, tmp_path):
    X = gapped(200, 24, 1) + 3
    w = counts_of(200, 1)
    one, two = both(LINEAR[name], X, w, tmp_path)
    assert one.plan_.chosen.name == two.plan_.chosen.name
    assert_repeats(one, two, X)
    assert_same_density(one, two, X, w)


@pytest.mark.parametrize("name", WIDE)
def test_of_fewer_rows_than_columns(name, tmp_path):
    X, w = gapped(45, 90, 2) + 3, counts_of(45, 2, 3)
    one, two = both(WIDE[name], X, w, tmp_path)
    assert one.plan_.chosen.name == name.split()[0]
    assert_repeats(one, two, X)


@pytest.mark.parametrize("name", LOW)
def test_of_a_few_directions(name, tmp_path):
    X, w = spread(300, 60, [3.0, 2.0, 1.0, 0.5], 3) + 3, counts_of(300, 3)
    one, two = both(LOW[name], X, w, tmp_path)
    assert one.plan_.chosen.name == "sketch"
    assert_repeats(one, two, X)
    X = gapped(300, 90, 4)  # of which a sketch loses something, and says how much
    with pytest.warns(mercer.errors.AccuracyWarning):
        bounds = SketchPCA(3).fit(iter(np.array_split(X, 4)), sample_weight=w).certificate_
    exact = PCA(3).fit(np.repeat(X, w, axis=0)).explained_variance_
    assert np.all((bounds.lower <= exact) & (exact <= bounds.upper))


@pytest.mark.parametrize("wanted", [0.8, "mle", None])
@pytest.mark.parametrize("name", ["table", "stream", "iterator"])
def test_the_number_of_axes_is_that_of_repeated_rows(wanted, name):
    X, w = gapped(60, 8, 5), counts_of(60, 5)

    def fit(X, w):
        model = PCA(wanted)
        if name == "stream":
            return model.partial_fit(X, sample_weight=w)
        return model.fit(X if name == "table" else iter([X[:20], X[20:]]), sample_weight=w)

    assert_same_spectrum(fit(X, w), fit(np.repeat(X, w, axis=0), None))


@pytest.mark.parametrize("name", PLAIN)
def test_weights_of_any_size_and_fractions(name, tmp_path):
    """Σw·x̃x̃ᵀ/(Σw - 1), by the SVD of √w·x̃ about a mean in extended precision."""
    X = gapped(200, 24, 6) + 3
    w = 10.0 ** np.random.default_rng(6).uniform(-12, 12, 200)
    mean = (w.astype(np.longdouble) @ X / w.sum(dtype=np.longdouble)).astype(float)
    s = np.linalg.svd(np.sqrt(w)[:, None] * (X - mean), compute_uv=False)
    model = fitted(LINEAR[name], X, w, tmp_path)
    near(model.explained_variance_, s[:3] ** 2 / (w.sum() - 1), TOL, name)
    near(model.singular_values_, s[:3], TOL, name)
    near(model.mean_, mean, 1e-12, name)


@pytest.mark.parametrize("name", [name for name in LINEAR if name != "rows removed"])
def test_ones_and_nothing_are_the_same(name, tmp_path):
    X = gapped(60, 24, 7)
    one, two = (fitted(LINEAR[name], X, w, tmp_path) for w in (np.ones(60), None))
    assert_repeats(one, two, X)


def test_a_bad_cell_is_bad_whatever_its_weight(tmp_path):
    X, w = gapped(60, 6, 9), np.ones(60)
    X[7, 2], w[7] = np.nan, 0
    np.save(tmp_path / "x.npy", X)
    for rows in (X, tmp_path / "x.npy", iter([X])):
        with pytest.raises(InputError, match=r"row 7\b"):
            PCA(2).fit(rows, sample_weight=w)
    with pytest.raises(InputError, match=r"row 7\b"):
        PCA(2).partial_fit(X, sample_weight=w)


def test_the_plan_knows_the_weights():
    X = gapped(6, 30, 10)
    assert mercer.plan(PCA(), X).problem.components == 6
    w = np.full(6, 4.0)
    made = mercer.plan(PCA(), X, sample_weight=w)
    assert made.problem.components == PCA().fit(X, sample_weight=w).n_components_ == 24
    with pytest.raises(InputError, match="one number per row"):
        mercer.plan(PCA(), X, sample_weight=np.ones(5))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_and_products_in_any_library(xp, dtype):
    """What a device is given: scatter, X̃ᵀX̃V and X̃X̃ᵀ of arrays of other libraries."""
    X, w = (gapped(80, 6, 11) + 3).astype(dtype), counts_of(80, 11)
    V = np.random.default_rng(11).standard_normal((6, 2))
    found = []
    for rows, weights in ((X, w.astype(float)), (np.repeat(X, w, axis=0), None)):
        table = rows_of(DenseSource(xp.asarray(rows)), weights, dtype)
        moments = table.scatter()
        centring = Centring(table.origin, moments.offset, table.exponent, None)
        product = centred(table, centring).gram_matmat(asarray_like(V, table.like, None))
        sums = (np.asarray(xp.numpy(part), float) for part in (moments.scatter, product))
        found.append([moments.total, *(4.0**table.exponent * part for part in sums)])
    tol = TOL if dtype is np.float64 else 1e-5
    for one, two in zip(*found, strict=True):
        near(one, two, tol, "sums")


def test_a_stream_counts_repeats_before_it_has_axes():
    X, w = gapped(3, 6, 12), [3, 1, 2]
    one = PCA(5).partial_fit(X, sample_weight=w)
    two = PCA(5).partial_fit(np.repeat(X, w, axis=0))
    assert_same_spectrum(one, two)
    few = PCA(5).partial_fit(X, sample_weight=[2, 1, 1])
    with pytest.raises(InputError, match="no model yet"):
        few.transform(X)


def _small(seed):
    """Return a table of few rows and columns of very different sizes, far from the origin."""
    rng = np.random.default_rng([13, seed])
    n, p = rng.integers(2, 14), rng.integers(1, 12)
    far = 10.0 ** rng.integers(-2, 6)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p) + far
    w = rng.integers(0, 4, n)
    w[:2] += 1
    dtype = rng.choice([np.float32, np.float64])
    return (np.round(X) if rng.random() < 0.3 else X).astype(dtype), w, rng


@pytest.mark.parametrize("seed", range(60))
def test_small_tables(seed):
    """The same model, or the same refusal."""
    X, w, rng = _small(seed)
    R = np.repeat(X, w, axis=0)
    k, standardize = int(rng.integers(1, min(R.shape) + 1)), bool(rng.random() < 0.4)
    act = "partial_fit" if rng.random() < 0.5 else "fit"
    found = []
    for rows, weights in ((X, w), (R, None)):
        model = PCA(k, standardize=standardize)
        try:
            quiet(getattr(model, act), rows, sample_weight=weights)
            quiet(getattr, model, "components_")
            found.append(model)
        except InputError as error:
            found.append(error.what)
    one, two = found
    if isinstance(one, str) or isinstance(two, str):
        assert one == two
    else:
        assert_same_spectrum(one, two, TOL if X.dtype == np.float64 else 2e-5)
