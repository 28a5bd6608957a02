"""PCA by its definition: the SVD of the centred rows, and what follows from it."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from forced import FORCED
from sklearn.exceptions import NotFittedError
from tests.claims import agree, hold, hushed, refuses

from mercer import PCA, dropin
from mercer.errors import AccuracyWarning, DataWarning, InputError


def reference(x):
    """Return mean, variances, axes and total variance by a plain SVD."""
    mean = x.mean(axis=0)
    _, s, vt = np.linalg.svd(x - mean, full_matrices=False)
    variances = s**2 / (len(x) - 1)
    return mean, variances, vt, float(variances.sum())


def test_attributes_are_those_of_the_svd(table):
    mean, variances, axes, total = reference(table)
    model = PCA().fit(table)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
    np.testing.assert_allclose(model.explained_variance_, variances, rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_, variances / total, rtol=1e-9)
    np.testing.assert_allclose(model.singular_values_, np.sqrt(119 * variances), rtol=1e-9)
    cosines = np.abs(np.sum(model.components_ * axes, axis=1))
    agree(cosines, 1, 1e-8)
    assert model.n_components_ == model.n_features_in_ == model.rank_ == 8
    assert model.n_samples_ == 120
    assert model.scale_ is None
    np.testing.assert_allclose(model.inertia_, variances * 119 / 120)  # divided by n


def test_noise_is_the_mean_of_what_is_left_out(table):
    variances = reference(table)[1]
    for k in (1, 3, 7):
        assert PCA(k).fit(table).noise_variance_ == pytest.approx(variances[k:].mean())
    assert PCA(8).fit(table).noise_variance_ == 0
    wide = table[:6]
    left = reference(wide)[1]
    assert PCA(2).fit(wide).noise_variance_ == pytest.approx(left[2:6].sum() / 4)


def test_new_rows_take_the_training_mean_and_a_number_is_that_many(table):
    model = PCA(2).fit(table)
    new = table[:5] + 7
    truth = (new - table.mean(axis=0)) @ model.components_.T
    agree(model.transform(new), truth, 1e-10)
    agree(model.transform(new[:1]), truth[:1], 1e-10)
    assert PCA().fit(table).n_components_ == 8
    assert PCA().fit(table[:5]).n_components_ == 5
    for k in (1, 5, 8, np.int64(3)):
        assert PCA(k).fit(table).n_components_ == k


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.99999, np.float64(0.5)])
def test_a_share(table, share):
    ratios = PCA().fit(table).explained_variance_ratio_
    model = PCA(share).fit(table)
    k = model.n_components_
    assert model.explained_variance_ratio_.sum() >= share * (1 - 1e-9)
    assert k == 1 or ratios[: k - 1].sum() < share
    assert model.components_.shape == (k, 8)
    assert len(model.certificate_.lower) == k


def test_more_than_there_can_be_and_mle(rng, table):
    x = rng.standard_normal((500, 3)) @ rng.standard_normal((3, 9)) * 3
    assert PCA("mle").fit(x + 0.1 * rng.standard_normal((500, 9))).n_components_ == 3
    for x, most in ((table, 8), (table[:5], 5)):
        with pytest.raises(InputError, match="must be between 1 and") as caught:
            PCA(9).fit(x)
        assert f"at most {most}" in caught.value.fix


def test_zca_is_the_whitening_nearest_to_the_data(table):
    model = PCA(whiten="zca").fit(table)
    z = model.transform(table)
    assert z.shape == table.shape
    agree(np.cov(z.T), np.eye(8), 1e-9)
    values, vectors = np.linalg.eigh(np.cov(table.T))
    root = (vectors / np.sqrt(values)) @ vectors.T
    agree(z, (table - table.mean(axis=0)) @ root, 1e-8)
    names = model.get_feature_names_out()
    assert names.tolist() == [f"x{i}" for i in range(8)]


@pytest.mark.parametrize("whiten", [True, "zca"])
@pytest.mark.parametrize("k", [3, 8])
def test_the_inverse_undoes_whitening(table, whiten, k):
    plain, model = PCA(k).fit(table), PCA(k, whiten=whiten).fit(table)
    z = model.transform(table)
    if whiten is True:
        agree(np.cov(z.T), np.eye(k), 1e-10)
    truth = plain.inverse_transform(plain.transform(table))
    agree(model.inverse_transform(z), truth, 1e-9)


def test_standardising_is_dividing_first_and_multiplying_last(table):
    z = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    model, plain = PCA(3, standardize=True).fit(table), PCA(3).fit(z)
    np.testing.assert_allclose(model.explained_variance_, plain.explained_variance_)
    np.testing.assert_allclose(model.scale_, table.std(axis=0, ddof=1))
    agree(model.transform(table), plain.transform(z), 1e-10)
    model = PCA(standardize=True, feature_weight=np.arange(1.0, 9.0)).fit(table)
    back = model.inverse_transform(model.transform(table))
    agree(back, table, 1e-10)


def test_remarks_on_the_data_point_at_the_call(table):
    x = np.hstack([table, np.full((120, 2), 3.3)])
    with pytest.warns(DataWarning, match="8, 9") as caught:
        PCA(3, standardize=True).fit(x)
    assert caught[0].filename == __file__
    with pytest.warns(DataWarning, match="leave the range") as caught:
        PCA(3).fit(np.ldexp(table, 700))
    assert caught[0].filename == __file__
    whole = np.arange(150).reshape(50, 3) ** 2 * 2**50
    whole[:, 1] = np.arange(50) % 10
    with pytest.warns(DataWarning, match="2\\^53") as caught:
        PCA(2).fit(whole)
    assert "2 such columns: 0, 2" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_the_largest_numbers_give_no_nan():
    x = np.array([[1.7e308, 1.0], [-1.7e308, 2.0], [1e308, 5.0], [0.0, -3.0]])
    try:
        model = PCA(1).fit(x)
    except InputError:
        return  # refused in three lines, which is an answer too
    agree(np.abs(model.components_), [[1, 0]], 1e-12)
    np.testing.assert_allclose(model.mean_ / 2.5e307, [1, 1.25 / 2.5e307], rtol=1e-12)
    assert np.isfinite(model.explained_variance_ratio_).all()
    assert not np.isnan(model.transform(x)).any()


def test_nothing_is_answered_before_fit(table):
    model = PCA()
    for call in (
        lambda: model.transform(table),
        lambda: model.inverse_transform(table),
        lambda: model.score(table),
        model.get_covariance,
        model.get_feature_names_out,
    ):
        refuses(None, call, kind=NotFittedError)


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"whiten": True}])
def test_axes_point_as_factominer_has_them(rng, options):
    X = rng.normal(size=(60, 5)) * [5, 4, 3, 2, 1]
    plain, turned = PCA(4, **options).fit(X), PCA(4, sign="factominer", **options).fit(X)
    assert np.all(turned.components_.sum(axis=1) > 0)
    signs = np.sign(np.sum(plain.components_ * turned.components_, axis=1))
    np.testing.assert_allclose(turned.components_, plain.components_ * signs[:, None])
    z, wanted = turned.transform(X), plain.transform(X) * signs
    agree(z, wanted, 1e-12)
    back = plain.inverse_transform(plain.transform(X))[0]
    np.testing.assert_allclose(turned.inverse_transform(z)[0], back)


NAMES = [f"column {i}" for i in range(8)]


FRAMES = {
    "pandas": lambda table: pd.DataFrame(table, columns=NAMES),
    "polars": lambda table: pl.DataFrame(dict(zip(NAMES, table.T, strict=True))),
    "pyarrow": lambda table: pa.table(dict(zip(NAMES, table.T, strict=True))),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_names_are_kept_and_others_refused(table, kind):
    frame = FRAMES[kind](table)
    model = PCA(3).fit(frame)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]
    names = PCA(3, whiten="zca").fit(frame).get_feature_names_out()
    assert names.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[NAMES[::-1]] if kind == "pandas" else frame.select(NAMES[::-1]))


def test_mixed_numbers_and_files_of_frames(table, tmp_path):
    x = np.round(table)
    mixed = pd.DataFrame(x, columns=NAMES)
    mixed[NAMES[0]] = mixed[NAMES[0]].astype("int32")
    mixed[NAMES[1]] = mixed[NAMES[1]].astype("float32")
    mixed[NAMES[2]] = mixed[NAMES[2]] > 0
    x[:, 2] = x[:, 2] > 0
    found, wanted = PCA(3).fit(mixed).components_, PCA(3).fit(x).components_
    agree(found, wanted, 1e-10)
    model = PCA(2).set_output(transform="pandas").fit(table)
    path = model.transform(table, out=tmp_path / "z.npy")
    assert path == tmp_path / "z.npy"
    np.testing.assert_array_equal(np.load(path), model.transform(table))


class _Own(PCA):
    """Says itself how rows are projected, as a user may."""

    def transform(self, X):
        return np.abs(np.asarray(super().transform(X)))


class _Plain(PCA):
    """Changes nothing."""


@pytest.mark.parametrize("kind", [PCA, _Plain, _Own, dropin.PCA, dropin.IncrementalPCA])
def test_every_face_and_heir_gives_frames(table, kind):
    frame = pd.DataFrame(table, index=range(120, 0, -1)).add_prefix("x")
    model, axes = (
        kind(2).set_output(transform="pandas"),
        [f"{kind.__name__.lower()}{i}" for i in (0, 1)],
    )
    for found in (model.fit_transform(frame), model.fit(frame).transform(frame)):
        assert isinstance(found, pd.DataFrame)
        assert found.index.tolist() == frame.index.tolist()
        assert found.columns.tolist() == axes
    assert isinstance(model.set_output(transform="default").transform(frame), np.ndarray)


def test_sparse_rows_are_never_densified_whole(rng, monkeypatch):
    x = scipy.sparse.random_array((5000, 300), density=0.02, random_state=rng, format="csr")
    largest = []
    dense = scipy.sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(self.shape[0] * self.shape[1])
        return dense(self, *args, **kwargs)

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", watched)
    PCA(3, tol=1e-3).fit(x).transform(x)
    assert all(cells < 0.5 * 5000 * 300 for cells in largest)


def test_float32_stays_and_large_integers_are_not_rounded(table, rng):
    x = table.astype(np.float32)
    for whiten in (False, True, "zca"):
        model = PCA(3, whiten=whiten, standardize=True).fit(x)
        z = model.transform(x)
        narrow = (model.components_, z, model.inverse_transform(z))
        assert all(array.dtype == np.float32 for array in narrow)
        wide = (model.mean_, model.explained_variance_, model.scale_)
        assert all(array.dtype == np.float64 for array in wide)
    x = rng.integers(-50, 50, (100, 4)) + 2**52
    truth = PCA(3).fit((x - 2**52).astype(float)).explained_variance_
    np.testing.assert_allclose(PCA(3).fit(x).explained_variance_, truth, rtol=1e-12)


def sine(a, b):
    """Return the largest sine between the row spaces of a and b."""
    return float(np.linalg.norm(b - (b @ a.T) @ a, 2))


def assert_certified(model, centred, truth, axes):
    """Intervals, residuals and sines hold, measured in extended precision."""
    c, k = model.certificate_, len(truth)
    hold(c, truth)
    covariance = centred.T.astype(np.longdouble) @ centred / (len(centred) - 1)
    v = model.components_.T.astype(np.longdouble)
    residual = np.sqrt(np.sum((covariance @ v - v * model.explained_variance_) ** 2, axis=0))
    assert np.all(residual <= c.residual)
    true = axes[:k].T.astype(np.longdouble)
    true = true / np.sqrt(np.sum(true**2, axis=0))
    sines = np.sqrt(np.sum((v - true * np.sum(true * v, axis=0)) ** 2, axis=0))
    assert np.all(sines <= c.sine)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_path_finds_the_exact_components_and_certifies_them(form, exact_data, sparse):
    kind, shape = form
    rows, mean, s, axes = exact_data(shape)
    k = 5 if kind is FORCED["krylov"] else min(shape[0] - 1, shape[1])
    model = kind(k, random_state=1).fit(scipy.sparse.csr_array(rows) if sparse else rows)
    loose = 1e-6 if kind is FORCED["krylov"] else 1e-8
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-14)
    np.testing.assert_allclose(
        model.singular_values_, s[:k], rtol=1e-6 if loose == 1e-6 else 1e-9
    )
    truth = s[:k].astype(np.longdouble) ** 2 / (shape[0] - 1)
    np.testing.assert_allclose(model.explained_variance_, truth.astype(float), rtol=loose)
    shares = s[:k] ** 2 / np.sum(s**2)
    np.testing.assert_allclose(model.explained_variance_ratio_, shares, rtol=loose)
    cosines = np.abs(np.sum(model.components_ * axes[:k], axis=1))
    assert np.all(cosines > 1 - (1e-6 if loose == 1e-6 else 1e-10))
    assert model.plan_.chosen.name in kind.__name__.lower()
    assert model.rank_ == k
    c = model.certificate_
    assert (c.met, c.tol, c.groups) == (True, 1e-6, ())
    assert_certified(model, rows - mean, truth, axes)


def test_axes_far_below_the_first_stay_orthonormal():
    """On the side of the samples axes are v = X̃ᵀu/‖X̃ᵀu‖."""
    rng = np.random.default_rng(1)
    u, v = (np.linalg.qr(rng.standard_normal((n, 4)))[0] for n in (10, 60))
    X = (u * [1.0, 1e-2, 1e-4, 1e-5]) @ v.T
    axes = hushed(FORCED["dual"](3).fit, X, kind=AccuracyWarning).components_
    assert np.linalg.norm(axes @ axes.T - np.eye(3)) < 1e-12


def test_graded_spectra_are_certified_or_warned_of(form, exact_data):
    kind, shape = form
    values = 2.0 ** -np.arange(0, 24, 2.0)  # variances over seven decades
    x, mean, s, axes = exact_data(shape, values)
    model = kind(6).fit(x - mean)
    truth = s[:6].astype(np.longdouble) ** 2 / (shape[0] - 1)
    assert_certified(model, x - mean, truth, axes)


def test_equal_axes_are_named_on_every_path(form, exact_data):
    kind, shape = form
    x, _, _, axes = exact_data(shape, [9.0, 5.0, 5.0, 5.0, 2.0, 1.0])
    assert kind(5).fit(x).certificate_.groups == ((1, 2, 3),)
    assert kind(2).fit(x).certificate_.groups == ((1, 2),)
    assert sine(axes[:4], kind(4).fit(x).components_) < 1e-3


def moments(x):
    return np.cov(x, rowvar=False), x.mean(axis=0), len(x)


@pytest.mark.parametrize("wanted", [None, 1, 3, 0.9, "mle"])
@pytest.mark.parametrize(
    "options",
    [{}, {"standardize": True}, {"whiten": True}, {"feature_weight": np.linspace(0.5, 2, 8)}],
)
def test_it_is_the_model_of_the_data(table, wanted, options):
    model = PCA.from_covariance(*moments(table), n_components=wanted, **options)
    fitted = PCA(wanted, **options).fit(table)
    assert model.n_components_ == fitted.n_components_
    for name in (
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
    ):
        np.testing.assert_allclose(getattr(model, name), getattr(fitted, name), rtol=1e-8)
    agree(model.components_, fitted.components_, 1e-7)
    agree(model.transform(table), fitted.transform(table), 1e-6)
    np.testing.assert_allclose(model.noise_variance_, fitted.noise_variance_, rtol=1e-7)
    agree(model.get_covariance(), fitted.get_covariance(), 1e-7)
    assert model.rank_ == fitted.rank_
    assert model.n_samples_ == 120
    assert model.n_features_in_ == 8


def test_a_model_of_moments_is_certified_and_answers_like_any(table):
    covariance, mean, n = moments(table)
    model = PCA.from_covariance(covariance, mean, n)
    truth = np.linalg.eigvalsh(covariance)[::-1]
    c = model.certificate_
    hold(c, truth)
    assert c.met
    model = PCA.from_covariance(*moments(table), n_components=3)
    z = model.transform(table)
    agree(model.inverse_transform(z), PCA(3).fit(table).inverse_transform(z), 1e-7)
    assert np.isfinite(model.score(table))
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.transform(table), z)
    assert model.fit(table[:, :4]).n_features_in_ == 4


def test_moments_of_few_rows_of_one_feature_and_wrong_ones(rng):
    x = rng.standard_normal((4, 9))
    model, fitted = PCA.from_covariance(*moments(x)), PCA().fit(x)
    assert model.n_components_ == fitted.n_components_ == 4
    assert model.rank_ == fitted.rank_ == 3
    np.testing.assert_allclose(model.explained_variance_[:3], fitted.explained_variance_[:3])
    model = PCA.from_covariance([[4.0]], [1.0], 10)
    assert model.explained_variance_.tolist() == [4.0]
    np.testing.assert_allclose(model.transform([[3.0]]), [[2.0]])
    refuses("n_components", PCA.from_covariance, C, [0, 0], 5, n_components=3)
    refuses("tol", PCA.from_covariance, C, [0, 0], 5, tol=-1)
    refuses(None, PCA.from_covariance, C, [0, 0], 5, unknown=1, kind=TypeError)


C = np.array([[2.0, 1.0], [1.0, 2.0]])


def test_inertia_of_standardised_columns_is_that_of_factominer():
    rows = np.loadtxt(
        Path(__file__).parents[1] / "data" / "decathlon.csv",
        delimiter=",",
        skiprows=1,
        usecols=range(1, 11),
    )
    model = PCA(3, standardize=True).fit(rows)
    np.testing.assert_allclose(model.inertia_, [3.2719, 1.7371, 1.4049], atol=1e-4)
    np.testing.assert_allclose(model.inertia_, model.explained_variance_, rtol=1e-12)
