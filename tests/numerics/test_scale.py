"""X·2^e: the same axes and ratios, nothing that is not a number, a word where variances end."""

import functools
import warnings

import dask.array
import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, existing, fit, gapped, holed
from jacobi import WIDE, reference, sine
from relations import ARRAYS

import mercer
from mercer import PCA, RobustPCA
from mercer.errors import AccuracyWarning, DataWarning, InputError

K = 3
SHAPES = {"tall": (60, 24), "wide": (30, 100)}
each_fit = pytest.mark.parametrize(("kind", "path"), existing(SHAPES, K))


@functools.cache
def table(kind, dtype, offset=0.0):
    n, p = SHAPES[kind]
    return (gapped(n, p, 1, K, noise=0.1) + offset).astype(dtype)


@functools.cache
def unscaled(kind, dtype, path, offset=0.0):
    return fit(path, table(kind, dtype, offset), K)


def scaled_fit(path, X, k=K):
    """Return the model and the words of its data warnings; any other warning is an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("always", DataWarning)
        found = FORCED[path](k).fit(X)
    return found, [str(w.message) for w in caught]


def no_nan(found):
    for name in (*ARRAYS, "noise_variance_"):
        assert not np.isnan(getattr(found, name)).any(), name
    for name in ("lower", "upper", "residual", "gap", "sine", "reached", "zero_level"):
        assert not np.isnan(getattr(found.certificate_, name)).any(), f"certificate_.{name}"


def check_same(found, plain, dtype):
    tight = 1e-12 if dtype is np.float64 else 1e-6
    ratios = plain.explained_variance_ratio_
    np.testing.assert_allclose(found.explained_variance_ratio_, ratios, rtol=tight)
    assert sine(found.components_, plain.components_.T.astype(WIDE)) <= tight
    assert found.rank_ == plain.rank_
    no_nan(found)


# 2^-83 is 1e-25 and 2^66 is 7e19: their squares leave float32.
POWERS = [
    *((np.float64, e) for e in (-500, -300, -241, -240, -100, 100, 239, 240, 300, 500)),
    *((np.float32, e) for e in (-83, -40, -29, 27, 28, 40, 66)),
]


@each_fit
@pytest.mark.parametrize(("dtype", "exponent"), POWERS)
def test_powers_of_two(dtype, exponent, kind, path):
    X, plain = table(kind, dtype), unscaled(kind, dtype, path)
    found, words = scaled_fit(path, np.ldexp(X, exponent))
    assert not words
    check_same(found, plain, dtype)
    variances = np.ldexp(plain.explained_variance_, 2 * exponent)
    tight = 1e-12 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(found.explained_variance_, variances, rtol=tight)
    if dtype is np.float64:
        spectrum = np.ldexp(plain.singular_values_, exponent)
        np.testing.assert_allclose(found.singular_values_, spectrum, rtol=1e-12)
        noise = np.ldexp(plain.noise_variance_, 2 * exponent)
        assert found.noise_variance_ == pytest.approx(noise, rel=1e-9)
        scores = np.ldexp(found.transform(np.ldexp(X, exponent)), -exponent)
        np.testing.assert_allclose(scores, plain.transform(X), rtol=0, atol=1e-11)


@each_fit
@pytest.mark.parametrize("factor", [1e160, 1e200, 1e300, 1e-165, 1e-200, 1e-300, 1e-307])
def test_variances_beyond_float64_are_said_to_be(factor, kind, path):
    X = table(kind, np.float64) * factor
    found, words = scaled_fit(path, X)
    check_same(found, unscaled(kind, np.float64, path), np.float64)
    assert len(words) == 1
    assert "variances leave the range of float64" in words[0]
    assert words[0].count("\n") == 2
    assert np.isfinite(found.singular_values_).all()
    if 1e-300 <= factor <= 1e300:
        scores = found.transform(X) / factor
        plain = unscaled(kind, np.float64, path).transform(table(kind, np.float64))
        np.testing.assert_allclose(scores, plain, rtol=0, atol=1e-11)


@each_fit
@pytest.mark.parametrize("exponent", [-1070, -1060, -1040, -1025])
def test_subnormal_numbers(exponent, kind, path):
    """The stored values have few bits left: what they are is still analysed exactly."""
    X = np.ldexp(table(kind, np.float64), exponent)
    found, words = scaled_fit(path, X)
    truth = reference(np.ldexp(X, 1000))
    ratios = (truth.values[:K] / truth.total).astype(float)
    loose = 1e-10 if path != "krylov" else 2e-6
    np.testing.assert_allclose(found.explained_variance_ratio_, ratios, rtol=loose)
    assert len(words) == 1
    no_nan(found)


@pytest.mark.parametrize(("kind", "path"), existing(SHAPES, K, ("svd", "gram", "dual")))
@pytest.mark.parametrize("exponent", [-1030, -600, 530, 1000])
def test_every_component_beyond_float64_and_no_nan(exponent, kind, path):
    X = np.ldexp(table(kind, np.float64), exponent)
    found, words = scaled_fit(path, X, None)
    no_nan(found)
    assert len(words) == 1
    assert found.rank_ == (24 if kind == "tall" else 29)


@each_fit
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("exponent", [-700, -500, 40, 500, 700])
def test_sparse(exponent, offset, kind, path):
    X = holed(table(kind, np.float64, offset), 0.3, 2)
    scaled = X.copy()
    scaled.data = np.ldexp(X.data, exponent)
    found, words = scaled_fit(path, scaled)
    plain = fit(path, X, K)
    assert len(words) == (abs(exponent) > 510)
    np.testing.assert_allclose(
        found.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-10
    )
    if offset == 0:  # at 1000 the holes make a flat spectrum, and no axis is determined
        assert sine(found.components_, plain.components_.T.astype(WIDE)) <= 1e-10
    no_nan(found)


@pytest.mark.parametrize(
    "exponent", [-1000, 1000, *(pytest.param(e, marks=pytest.mark.slow) for e in (-500, 500))]
)
def test_an_outlier_that_no_sample_sees(exponent):
    """The unit is guessed on a sample; one row of another order must not break the sums."""
    X = gapped(9001, 24, 1, K)
    X[4501] = np.ldexp(1.0, exponent)
    for path in ("svd", "gram", "krylov"):
        with np.errstate(all="raise", under="ignore"):
            found, _ = scaled_fit(path, X, 1)
        no_nan(found)
        truth = reference(X) if exponent < 0 else None
        if truth is None:
            np.testing.assert_allclose(found.components_[0], np.full(24, 24**-0.5), rtol=1e-10)
            assert found.explained_variance_ratio_[0] == pytest.approx(1.0)
        else:
            ratio = float(truth.values[0] / truth.total)
            assert found.explained_variance_ratio_[0] == pytest.approx(ratio, rel=2e-6)


@pytest.mark.parametrize("path", ["svd", "gram", "krylov", "auto"])
def test_columns_of_very_different_scale(path):
    """Standardised, a column of 1e-60 counts as much as one of 1e60."""
    X = table("tall", np.float64)
    factor = 10.0 ** np.linspace(-60, 60, X.shape[1])
    found, _ = scaled_fit(path, X * factor)
    no_nan(found)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AccuracyWarning)
        plain = FORCED[path](K, standardize=True).fit(X)
        wild = FORCED[path](K, standardize=True).fit(X * factor)
    np.testing.assert_allclose(wild.explained_variance_, plain.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(wild.scale_, plain.scale_ * factor, rtol=1e-12)


@pytest.mark.parametrize("power", [-600, -500, -240, 241, 500, 600])
@pytest.mark.parametrize("kind", [PCA, RobustPCA])
def test_standardised_rows_have_no_unit(kind, power):
    X = table("tall", np.float64)
    for options in ({"standardize": True}, {"whiten": True}, {"whiten": "zca"}):
        if kind is RobustPCA and (abs(power) > 500 or "whiten" in options):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # variances leave the range
            plain, other = (kind(K, **options).fit(Y) for Y in (X, np.ldexp(X, power)))
            found = other.transform(np.ldexp(X, power))
            back = np.ldexp(other.inverse_transform(found), -power)
        wanted = plain.transform(X)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11)
        np.testing.assert_allclose(back, plain.inverse_transform(wanted), rtol=0, atol=1e-11)
        if "standardize" in options:
            ends = (model.certificate_.upper for model in (other, plain))
            np.testing.assert_allclose(*ends, 1e-12)
            np.testing.assert_allclose(np.ldexp(other.scale_, -power), plain.scale_, 1e-12)


WILD = np.array([1.0, 1e200, 1e-200, 1e100, 1.0, 1e-100, 1.0, 1.0])


def wild(n=60, p=24, cell=False):
    """Return rows, and the same with columns 400 decades apart, or with one cell of 1e300."""
    plain = gapped(n, p, 5, K, noise=0.3)
    factor = np.resize(WILD, p)
    if cell:
        plain[3, 1] = 1e30  # far enough: the column is that cell
        factor = np.where(np.arange(p) == 1, 1e270, 1.0)
    return plain, plain * factor, factor


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("path", ["svd", "gram", "dual", "auto"])
def test_standardised_columns_far_apart(path, form, cell):
    """Each in units of its own: the fit of the same columns at one size."""
    plain, X, factor = wild(*((12, 30) if path == "dual" else (60, 24)), cell)
    weights = (np.arange(len(X)) + 1) % 3.0
    for w in (None, weights):
        one, other = (
            FORCED[path](K, standardize=True).fit(form(rows), sample_weight=w)
            for rows in (plain, X)
        )
        ratios = one.explained_variance_ratio_
        np.testing.assert_allclose(other.explained_variance_ratio_, ratios, rtol=1e-10)
        np.testing.assert_allclose(other.scale_, one.scale_ * factor, rtol=1e-10)
        wanted = one.transform(form(plain))
        np.testing.assert_allclose(other.transform(form(X)), wanted, rtol=0, atol=1e-8)
        back = other.inverse_transform(wanted) / other.scale_
        whole = one.inverse_transform(wanted) / one.scale_
        np.testing.assert_allclose(back, whole, rtol=1e-8, atol=1e-8)


SCALING = {
    "PPCA": lambda: mercer.ProbabilisticPCA(K, standardize=True),
    "robust": lambda: RobustPCA(K, standardize=True),
    "spherical": lambda: RobustPCA(K, standardize=True, method="spherical"),
    "kernel": lambda: mercer.KernelPCA(K, standardize=True),
    "linear kernel": lambda: mercer.KernelPCA(K, kernel="linear", standardize=True),
    "FAMD": lambda: mercer.FAMD(K),
    "MFA": lambda: mercer.MFA({"a": range(12), "b": range(12, 24)}, K),
    "LDA": lambda: mercer.LinearDiscriminantAnalysis(),
    "shrunk LDA": lambda: mercer.LinearDiscriminantAnalysis(shrinkage="auto"),
}


@pytest.mark.parametrize("cell", [False, True])
@pytest.mark.parametrize("name", SCALING)
def test_every_method_that_scales_takes_columns_far_apart(name, cell):
    plain, X, _ = wild(cell=cell)
    y = np.arange(len(X)) % 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)  # of a short lengthscale
        one, other = (SCALING[name]().fit(rows, y) for rows in (plain, X))
    ratios = one.explained_variance_ratio_
    np.testing.assert_allclose(other.explained_variance_ratio_, ratios, rtol=1e-8)
    found, wanted = other.transform(X), one.transform(plain)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


def halves(model, X):
    """Return a model after two batches, looked at."""
    model = model.partial_fit(X[:30]).partial_fit(X[30:])
    assert model.components_ is not None


@pytest.mark.parametrize("cell", [False, True])
def test_sums_of_columns_far_apart_are_refused(tmp_path, cell):
    """Blocks that are read once have one unit for all columns: a word, and no numbers."""
    _, X, _ = wild(cell=cell)
    np.save(tmp_path / "x.npy", X)
    empty = X.copy()
    empty[0, 0] = np.nan
    refused = [
        (PCA(K, standardize=True).fit, tmp_path / "x.npy"),
        (PCA(K, standardize=True).fit, iter(np.array_split(X, 7))),
        (PCA(K, standardize=True).fit, dask.array.from_array(X, (20, 24))),
        (PCA(K, standardize=True, missing="em").fit, empty),
        (PCA(K, standardize=True, missing="ppca").fit, empty),
        (lambda rows: halves(PCA(K, standardize=True), rows), X),
    ]
    if not cell:  # robust scales do not see one
        refused.append((RobustPCA(K, standardize=True).fit, tmp_path / "x.npy"))
    for act, given in refused:
        with pytest.raises(InputError, match="differ too much in size") as caught:
            act(given)
        assert str(caught.value).count("\n") == 2
    one = X[:, [0]] * np.ones(3)  # columns of one size are taken in any order of blocks
    assert np.isfinite(PCA(1, standardize=True).fit(iter([one[:30], one[30:]])).scale_).all()


def test_what_comes_after_a_fit_of_columns_far_apart():
    """Densities follow; covariances and tests that have no numbers there are refused."""
    plain, X, _ = wild()
    one, model = (PCA(K, standardize=True).fit(rows) for rows in (plain, X))
    assert model.score(X) == pytest.approx(one.score(plain), rel=1e-9)
    for act in (model.get_covariance, lambda: mercer.drift(model, X[:30])):
        with pytest.raises(InputError) as caught:
            act()
        assert str(caught.value).count("\n") == 2


def test_one_cell_that_no_sample_sees_is_standardised():
    X = gapped(9001, 6, 1, K)
    X[4501, 2] = 1e300
    near = X.copy()
    near[4501, 2] = 1e30
    found, wanted = (PCA(K, standardize=True).fit(rows) for rows in (X, near))
    ratios = wanted.explained_variance_ratio_
    np.testing.assert_allclose(found.explained_variance_ratio_, ratios, rtol=1e-10)


def test_constant_columns_beside_columns_far_apart():
    _, X, _ = wild()
    X[:, [4, 6]] = [7.0, 1e-250]
    with pytest.warns(DataWarning, match=r"2 such columns: 4, 6"):
        PCA(K, standardize=True).fit(X)
