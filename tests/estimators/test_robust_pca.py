"""Robust PCA: outlying rows are named and do not turn the axes; variances stay unbiased."""

import dataclasses
import logging
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from robust_data import DESIGNS, plain_axes, sine, table
from scipy import integrate, stats
from tests.claims import agree, refuses, warned

import mercer
from mercer.errors import MercerError, NotSupportedError
from mercer.estimators import PCA
from mercer.estimators.linear._robust_rounds import (
    Judged,
    Orthogonal,
    RobustTable,
    axes_wanted,
    median_and_deviation,
    medians,
    score_consistency,
    score_cutoff,
    shortest_half,
    sphere,
    upper_median,
)
from mercer.sources import in_memory, scan

SHAPES = [(1000, 10), (200, 50), (60, 300)]
METHODS = ["reweighted", "spherical"]
each_method = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_ten_per_cent_of_gross_outliers_do_not_turn_the_axes(n, p, design):
    """Within twice the error of the clean rows, where plain PCA is off by more than 30°."""
    for seed in range(3):
        X, truth, clean = table(seed, n, p, 0.1, design)
        error = sine(plain_axes(X[clean], 2), truth)
        assert sine(plain_axes(X, 2), truth) > 0.5
        model = mercer.RobustPCA(2).fit(X)
        assert sine(model.components_, truth) <= 2 * error
        assert set(np.flatnonzero(~clean)) <= set(model.outliers_)
        assert np.mean(model.weights_[clean]) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_ten_per_cent_over_many_seeds(n, p, design):
    for seed in range(100, 140):
        X, truth, clean = table(seed, n, p, 0.1, design)
        error = sine(plain_axes(X[clean], 2), truth)
        assert sine(mercer.RobustPCA(2).fit(X).components_, truth) <= 2 * error


@pytest.mark.parametrize("design", ["cluster", "radial", "leverage"])
@pytest.mark.parametrize(("n", "p"), [*SHAPES, (50, 500)])
def test_forty_per_cent_do_not_either(n, p, design):
    X, truth, clean = table(1, n, p, 0.4, design)
    error = sine(plain_axes(X[clean], 2), truth)
    model = mercer.RobustPCA(2).fit(X)
    assert sine(plain_axes(X, 2), truth) > 0.5
    assert sine(model.components_, truth) <= 2 * error
    assert set(np.flatnonzero(~clean)) <= set(model.outliers_)


@pytest.mark.parametrize("away", [6, 8, 10, 12])
def test_a_quarter_in_a_cluster_near_by_is_named(away):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 6)) * [6, 4, 1, 1, 1, 1]
        X[:50, 5] = away + 0.1 * rng.normal(size=50)
        model = mercer.RobustPCA(2).fit(X)
        assert set(range(50)) <= set(model.outliers_)
        assert np.mean(model.weights_[50:]) > 0.85


def test_rows_on_a_plane_and_far_ones_among_sparse():
    C = np.random.default_rng(0).normal(size=(120, 5)) * [6, 4, 1, 1, 1]
    C[:12, 4] += 40
    C[12:, 2:] = 0
    for model in (mercer.RobustPCA(3), mercer.RobustPCA(2, method="spherical")):
        model.fit(C)
        assert model.rank_ == 2
        assert set(range(12)) <= set(model.outliers_)
    X, _, _ = table(22, 240, 6, 0.0, "cluster")
    model = mercer.RobustPCA(2).fit(X[1:])
    X[0] = 1e160
    other = mercer.RobustPCA(2).fit(scipy.sparse.csr_array(X))
    assert 0 in other.outliers_
    assert sine(other.components_, model.components_) < 1e-3


def test_clean_normal_rows_lose_little():
    """The squared error of the axes is at most 1/0.85 of that of plain PCA."""
    robust, plain = [], []
    for seed in range(60):
        X, truth, _ = table(seed, 200, 10, 0.0, "cluster")
        robust.append(sine(mercer.RobustPCA(2).fit(X).components_, truth))
        plain.append(sine(plain_axes(X, 2), truth))
    assert np.mean(np.square(plain)) / np.mean(np.square(robust)) >= 0.85


@each_method
def test_the_model_moves_with_the_rows(method):
    X, _, _ = table(5, 120, 6, 0.15, "radial")
    model = mercer.RobustPCA(2, method=method).fit(X)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    order = rng.permutation(120)
    for Y, turned, unit in [
        (X @ turn, turn, 1.0),
        (X[order], np.eye(6), 1.0),
        (X * 1e3 - 5e3, np.eye(6), 1e3),
        (X * 1e-150, np.eye(6), 1e-150),
        (X * 1e150, np.eye(6), 1e150),
    ]:
        with np.errstate(all="ignore"):
            other = mercer.RobustPCA(2, method=method).fit(Y)
        assert sine(other.components_, model.components_ @ turned) < 1e-8
        np.testing.assert_allclose(
            np.sqrt(other.explained_variance_ / model.explained_variance_), unit, rtol=1e-7
        )
        same = order if unit == 1 and turned is not turn else slice(None)
        np.testing.assert_array_equal(other.weights_, model.weights_[same])
        np.testing.assert_allclose(
            other.score_distance_, model.score_distance_[same], rtol=1e-6
        )


@each_method
@pytest.mark.parametrize("standardize", [False, True])
def test_mirrored_rows_and_rows_that_stand_often(method, standardize):
    X, _, _ = table(6, 90, 5, 0.15, "leverage")
    counts = np.random.default_rng(0).integers(0, 4, 90)
    once = mercer.RobustPCA(2, method=method, standardize=standardize)
    often = mercer.RobustPCA(2, method=method, standardize=standardize)
    once.fit(X, sample_weight=counts)
    often.fit(np.repeat(X, counts, axis=0))
    agree(once.components_, often.components_, 1e-9)
    np.testing.assert_allclose(once.mean_, often.mean_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(once.explained_variance_, often.explained_variance_, rtol=1e-8)
    np.testing.assert_array_equal(np.repeat(once.weights_, counts), often.weights_)
    X, _, _ = table(20, 40, 5, 0.15, "leverage")
    model = mercer.RobustPCA(2, method=method, standardize=standardize).fit(X)
    mirrored = mercer.RobustPCA(2, method=method, standardize=standardize).fit(-X)
    assert sine(mirrored.components_, model.components_) < 1e-8
    np.testing.assert_array_equal(mirrored.outliers_, model.outliers_)


@each_method
@pytest.mark.parametrize(
    ("offset", "dtype"), [(1e8, float), (0, np.float32), (1e3, np.float32)]
)
def test_far_from_zero_and_in_float32(method, offset, dtype):
    X, _, _ = table(7, 150, 6, 0.1, "cluster")
    X = np.round(X * 64) / 64  # exact at 1e8 too
    model = mercer.RobustPCA(2, method=method).fit(X)
    other = mercer.RobustPCA(2, method=method).fit((X + offset).astype(dtype))
    assert other.components_.dtype == dtype
    tolerance = 1e-9 if dtype is float else 1e-4
    assert sine(other.components_, model.components_) < tolerance
    np.testing.assert_array_equal(other.weights_, model.weights_)
    np.testing.assert_allclose(
        other.explained_variance_, model.explained_variance_, rtol=10 * tolerance
    )


@each_method
def test_a_row_beyond_all_measure_and_columns_of_none(method):
    X, truth, _ = table(8, 100, 5, 0.0, "cluster")
    clean = sine(mercer.RobustPCA(2, method=method).fit(X[1:]).components_, truth)
    X[0] = [1e200, -1e200, 1e150, 0, 0]
    model = mercer.RobustPCA(2, method=method).fit(X)
    assert sine(model.components_, truth) < 1.5 * clean
    assert 0 in model.outliers_
    X = np.random.default_rng(19).normal(size=(50, 3)) * [3, 1, 0] + 2
    with pytest.warns(mercer.DataWarning, match=r"constant columns(.|\n)*columns: 2"):
        model = mercer.RobustPCA(2, method=method, standardize=True).fit(X)
    assert model.components_[:, 2].tolist() == [0, 0]
    assert np.isfinite(model.scale_).all()


def test_files_frames_and_sparse_rows_give_the_same_model(tmp_path):
    X, _, _ = table(9, 200, 5, 0.1, "radial")
    X = np.round(X * 8) / 8
    X[np.abs(X) < 1] = 0
    model = mercer.RobustPCA(2).fit(X)
    np.save(tmp_path / "x.npy", X)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    forms = [tmp_path / "x.npy", tmp_path / "x.csv", frame, scipy.sparse.csr_array(X)]
    for form in forms:
        other = mercer.RobustPCA(2).fit(form)
        assert sine(other.components_, model.components_) < 1e-8
        np.testing.assert_array_equal(other.outliers_, model.outliers_)
        np.testing.assert_allclose(other.distances(form), model.distances(X), rtol=1e-8)
    assert list(other.get_feature_names_out()) == ["robustpca0", "robustpca1"]
    source = scan(tmp_path / "x.npy")
    mercer.RobustPCA(2).fit(source)
    assert source.walks <= 40
    blocks = mercer.RobustPCA(2, memory="10MB").fit(scan(tmp_path / "x.npy"))
    assert blocks.transform(tmp_path / "x.npy").shape == (200, 2)
    assert blocks.n_samples_ == 200


@each_method
def test_new_rows_are_judged_as_those_of_the_fit(method):
    X, _, _ = table(10, 150, 6, 0.1, "cluster")
    model = mercer.RobustPCA(2, method=method, standardize=True, whiten=True).fit(X)
    score, orthogonal = model.distances(X)
    np.testing.assert_allclose(score, model.score_distance_, rtol=1e-9)
    np.testing.assert_allclose(orthogonal, model.orthogonal_distance_, rtol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(model.is_outlier(X)), model.outliers_)
    np.testing.assert_allclose(score, np.linalg.norm(model.transform(X), axis=1), rtol=1e-8)
    far = model.mean_ + 1e3 * model.scale_
    assert model.is_outlier(far[None]).all()
    assert not model.is_outlier(model.mean_[None]).any()
    bad = np.array([[1, np.nan, 1, 1, 1, 1]])
    refuses("row 0, column 1", model.distances, bad)
    streamed = model.distances(iter([X[:70], X[70:]]))
    np.testing.assert_allclose(streamed, model.distances(X), rtol=1e-12)
    refuses("infinity in row 150 of a stream", model.distances, iter([X, bad]))


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_rows_off_a_plane_that_holds_the_others(shift):
    rng = np.random.default_rng(11)
    plane = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    X = rng.normal(size=(100, 2)) * [3, 2] @ plane + shift
    X[:30] += rng.normal(size=(30, 6)) * 5
    for k in (1, 2, 4):
        model = mercer.RobustPCA(k).fit(X)
        assert model.rank_ == min(k, 2)
        if k >= 2:
            assert sine(model.components_[:2], plane) < 1e-10
            assert set(range(30)) <= set(model.outliers_)
            assert np.mean(model.weights_[30:]) > 0.9
            assert model.noise_variance_ == pytest.approx(0, abs=1e-12)


def test_equal_rows_constant_columns_and_zero_medians():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(100, 4)) * [5, 2, 1, 0] + 7
    X[:45] = X[0]
    model = mercer.RobustPCA(2).fit(X)
    assert model.components_[:, 3].tolist() == [0, 0]
    X[:70] = X[0]
    X[-3:, 2] += 500
    model = mercer.RobustPCA(2).fit(X)
    assert set(model.outliers_) >= {97, 98, 99}
    assert not set(model.outliers_) & set(range(70))
    assert model.explained_variance_[0] > 0.1
    counts = np.random.default_rng(0).poisson(0.05, (300, 8))  # most rows are zero
    assert np.isfinite(mercer.RobustPCA(2).fit(counts).explained_variance_).all()


@pytest.mark.parametrize("standardize", [False, True])
def test_nothing_but_outliers_in_a_column(standardize):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(100, 3)) * [3, 1, 0]
    X[:8, 2] = 50
    model = mercer.RobustPCA(1, standardize=standardize)
    if standardize:
        warned("constant columns", model.fit, X)
    else:
        model.fit(X)
    assert set(range(8)) <= set(model.outliers_)
    assert model.components_[0, 2] == 0


def test_how_many_axes():
    rng = np.random.default_rng(14)
    X = rng.normal(size=(400, 6)) * [8, 6, 1, 1, 1, 1]
    X[:40, 5] += 100
    model = mercer.RobustPCA(0.9).fit(X)
    assert model.n_components_ == model.n_judging_ == 2
    assert mercer.RobustPCA(0.9, method="spherical").fit(X).n_components_ == 2
    everything = mercer.RobustPCA().fit(X)
    assert everything.n_components_ == 6
    assert everything.n_judging_ == 2
    assert set(range(40)) <= set(everything.outliers_)
    wide = mercer.RobustPCA(20).fit(X.reshape(60, 40))
    assert wide.n_judging_ == 15
    bad = rng.normal(size=(20, 30))
    bad[:8] *= 1e3
    refuses("fewer rows count than components", mercer.RobustPCA(18).fit, bad)


@each_method
@pytest.mark.parametrize("wanted", [0.9, 0.99, None])
@pytest.mark.parametrize(("n", "p"), [(30, 200), (40, 20), (100, 50), (300, 30)])
def test_of_clean_rows_few_are_named_however_many_axes_a_share_takes(n, p, wanted, method):
    named = list[float]()
    for seed in range(8):
        X = np.random.default_rng(seed).normal(size=(n, p)) * np.linspace(5, 1, p)
        model = mercer.RobustPCA(wanted, method=method).fit(X)
        named.append(len(model.outliers_) / n)
        assert model.n_judging_ <= n // 10
        if wanted is not None and n >= 2 * p:  # the share does not wait for the judges
            assert model.explained_variance_ratio_.sum() > wanted - 0.08
    assert np.mean(named) < 0.06


def test_outlying_rows_are_named(caplog):
    X, _, clean = table(15, 100, 5, 0.2, "cluster")
    with caplog.at_level(logging.INFO, "mercer"):
        model = mercer.RobustPCA(2).fit(X)
    assert 2 <= model.n_iter_ <= 10
    assert model.outliers_.dtype.kind == "i"
    assert np.all(np.diff(model.outliers_) > 0)
    assert np.all(model.weights_[model.outliers_] == 0)
    assert model.weights_.sum() == 100 - len(model.outliers_)
    told = [r.getMessage() for r in caplog.records if "are outlying" in r.getMessage()]
    first = ", ".join(map(str, model.outliers_[:10]))
    assert told == [
        f"robust: {len(model.outliers_)} of 100 rows are outlying: {first}"
        f" and {len(model.outliers_) - 10} more"
    ]
    assert len(model.outliers_) >= np.sum(~clean)


def test_what_is_refused():
    X = np.random.default_rng(16).normal(size=(30, 3))
    refuses("read many times", mercer.RobustPCA(1).fit, iter([X, X]))
    with pytest.raises(NotSupportedError, match="checkpoint"):
        mercer.RobustPCA(1).fit(X, checkpoint="fit.mercer")
    with pytest.raises(NotSupportedError, match="rows themselves"):
        mercer.RobustPCA.from_covariance(np.eye(2), np.zeros(2), 9)
    refuses("no variance", mercer.RobustPCA(1).fit, np.ones((9, 3)), kind=MercerError)
    for bad in ({"method": "median"}, {"level": 0.4}, {"level": 1.0}, {"n_components": "mle"}):
        refuses(None, mercer.RobustPCA(**bad).fit, X)
    assert not hasattr(mercer.RobustPCA(), "partial_fit")
    refuses("must be between 1 and", mercer.RobustPCA(5).fit, X)
    X[4, 1] = np.inf
    refuses("row 4, column 1", mercer.RobustPCA(1).fit, X)


def test_rows_in_parts_are_refused_and_projected():
    dask = pytest.importorskip("dask.array")
    X, _, _ = table(17, 60, 4, 0.1, "radial")
    model = mercer.RobustPCA(2).fit(X)
    parts = dask.from_array(X, chunks=(20, 4))
    with pytest.raises(NotSupportedError, match="rows in parts are not judged"):
        mercer.RobustPCA(2).fit(parts)
    refuses("rows in parts are not judged", model.distances, parts, kind=NotSupportedError)
    np.testing.assert_allclose(model.transform(parts), model.transform(X), rtol=1e-9)


@pytest.mark.parametrize("share", [0.3, 0.45, 0.52, 0.8])
def test_rows_at_the_middle_hide_no_spread_of_the_others(share):
    X = np.random.default_rng(0).normal(size=(1000, 6)) * [6, 4, 1, 1, 1, 1]
    at = int(share * 1000)
    X[:at] = 0
    for method in METHODS:
        model = mercer.RobustPCA(2, method=method).fit(X)
        assert len(model.outliers_) < 0.05 * (1000 - at)
        np.testing.assert_allclose(model.explained_variance_, [36, 16], rtol=0.3)
        np.testing.assert_array_equal(np.flatnonzero(model.is_outlier(X)), model.outliers_)


def test_rows_that_change_sides_to_the_end_are_warned_of():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 6)) * 2 + rng.normal(size=(1000, 6))
    X[:, 5] = rng.random(1000) < 0.1  # most cells are equal: there is no spread to judge by
    model = mercer.RobustPCA(2, standardize=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X)
    score, orthogonal = model.distances(X)
    named = (score > model.score_cutoff_) | (orthogonal > model.orthogonal_cutoff_)
    counted = model.weights_ > 0
    np.testing.assert_array_equal(np.flatnonzero(named), model.outliers_)
    told = [str(one.message) for one in said if "change sides" in str(one.message)]
    assert len(told) == (np.sum(named == counted) > 10)
    assert told
    assert f"got: {np.sum(named == counted)} of 1,000 rows" in told[0]


@each_method
def test_weights_of_columns_are_columns_that_stand_so_often(method):
    X, _, _ = table(21, 120, 4, 0.1, "radial")
    counts = np.array([1, 2, 3, 1])
    once = mercer.RobustPCA(2, method=method, standardize=True, feature_weight=counts).fit(X)
    often = mercer.RobustPCA(2, method=method, standardize=True)
    often.fit(np.repeat(X, counts, axis=1))
    np.testing.assert_allclose(once.explained_variance_, often.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(once.orthogonal_cutoff_, often.orthogonal_cutoff_, rtol=1e-8)
    np.testing.assert_array_equal(once.outliers_, often.outliers_)


DEVIATIONS = np.array([5.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0])


def average(model, n=400, repeats=15):
    """Return mean variances, noise and shares of fits to clean normal rows."""
    found = []
    for seed in range(repeats):
        X = np.random.default_rng(seed).normal(size=(n, 8)) * DEVIATIONS + 4
        model.fit(X)
        shares = model.explained_variance_ratio_
        found.append([*model.explained_variance_, model.noise_variance_, *shares])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    "model",
    [
        mercer.RobustPCA(2),
        mercer.RobustPCA(2, level=0.95),
        mercer.RobustPCA(2, method="spherical"),
    ],
    ids=repr,
)
def test_variances_of_clean_normal_rows_are_not_biased(model):
    found = average(model)
    share = DEVIATIONS[:2] ** 2 / np.sum(DEVIATIONS**2)
    np.testing.assert_allclose(found[[0, 1, 3, 4]], [25, 9, *share], rtol=0.04)
    np.testing.assert_allclose(found[2], 9 / 6, rtol=0.08)


def test_variances_of_all_axes_and_of_rows_that_are_cut():
    model = mercer.RobustPCA()
    found = average(model, n=1000, repeats=10)
    np.testing.assert_allclose(found[:3], [25, 9, 4], rtol=0.06)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert model.n_components_ == 8
    assert model.n_judging_ in (2, 3)  # 2 explain 79 %, 3 explain 88 %
    X = np.random.default_rng(0).normal(size=(20_000, 3)) * [4, 2, 1]
    model = mercer.RobustPCA(3, level=0.9).fit(X)
    kept = X[model.weights_ > 0].var(axis=0)
    np.testing.assert_allclose(kept * model.consistency_, [16, 4, 1], rtol=0.03)
    assert model.consistency_ > 1.2


@pytest.mark.parametrize("method", ["reweighted", "spherical"])
def test_standardised_columns_have_robust_deviations(method):
    rng = np.random.default_rng(1)
    scales = np.array([1e-3, 1.0, 20.0, 1e5])
    mixed = rng.normal(size=(2000, 4)) @ np.array(
        [[1, 0.6, 0, 0], [0, 0.8, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]
    )
    X = mixed * scales + 1e3 * scales
    X[:200] += 1e3 * scales
    model = mercer.RobustPCA(2, method=method, standardize=True).fit(X)
    # A tenth of the rows widens a MAD by a seventh; the rounds leave them out.
    tolerance = 0.05 if method == "reweighted" else 0.2
    np.testing.assert_allclose(model.scale_, scales, rtol=tolerance)
    np.testing.assert_allclose(model.explained_variance_[0], 1.6, rtol=0.1)
    ratio = model.explained_variance_[0] / model.explained_variance_ratio_[0]
    np.testing.assert_allclose(ratio, 4, rtol=1e-6)  # the total is that of the columns
    assert np.abs(model.components_[0, :2]).min() > 0.6
    assert set(range(200)) <= set(model.outliers_.tolist())
    white = mercer.RobustPCA(2, method=method, standardize=True, whiten=True).fit(X)
    deviation = white.transform(X[200:]).std(axis=0)
    np.testing.assert_allclose(deviation, 1, rtol=tolerance)


def test_axes_of_the_signs_come_by_their_robust_variance():
    X, _, _ = table(3, 300, 6, 0.2, "cluster", k=3)
    model = mercer.RobustPCA(method="spherical").fit(X)
    assert np.all(np.diff(model.explained_variance_) <= 0)
    Z = np.abs(model.transform(X) - np.median(model.transform(X), axis=0))
    expected = (1.482602218505602 * np.median(Z, axis=0)) ** 2
    np.testing.assert_allclose(model.explained_variance_, expected, rtol=1e-9)
    agree(model.components_ @ model.components_.T, np.eye(6), 1e-12)
    rows = np.arange(6)
    assert np.all(model.components_[rows, np.abs(model.components_).argmax(axis=1)] > 0)
    assert model.certificate_.upper.sum() == pytest.approx(1, rel=0.02)  # of the signs
    assert model.consistency_ == 1
    assert model.n_iter_ == 0


def cut(od, level):
    """The quantile of d^(2/3) as normal: by the shortest half where it finds many outliers."""
    y, n = np.sort(od ** (2 / 3)), len(od)
    h = n // 2 + 1
    i = int(np.argmin(y[h - 1 :] - y[: n - h + 1]))
    z = stats.norm.ppf(level)
    half = (y[i + h - 1] - y[i]) / 2 / stats.norm.ppf(0.75)
    short = ((y[i] + y[i + h - 1]) / 2 + half * z) ** 1.5
    if np.mean(od > short) > 0.25:
        return short
    return (np.median(y) + z * stats.median_abs_deviation(y, scale="normal")) ** 1.5


def naive(X, k, level=0.99):
    """The definition: signs, the closer half, then PCA of the rows within both cut-offs."""
    m = np.median(X, axis=0)
    for _ in range(2000):
        r = np.linalg.norm(X - m, axis=1)
        m = (X / r[:, None]).sum(axis=0) / (1 / r).sum()
    u = (X - m) / np.linalg.norm(X - m, axis=1)[:, None]
    V = np.linalg.svd(u, full_matrices=False)[2][:k]
    chi = np.sqrt(stats.chi2.ppf(level, k))
    grow = level / stats.chi2.cdf(chi**2, k + 2)

    def excess(m, V, deviation=None):
        T = (X - m) @ V.T
        od = np.linalg.norm(X - m - T @ V, axis=1)
        middle = 0
        if deviation is None:
            middle = np.median(T, axis=0)
            deviation = stats.median_abs_deviation(T, axis=0, scale="normal")
        sd = np.linalg.norm((T - middle) / deviation, axis=1)
        return np.maximum(sd / chi, od / cut(od, level))

    found = excess(m, V)
    keep, seen = found <= np.sort(found)[len(X) // 2], []
    for number in range(20):
        seen.append(keep)
        m = X[keep].mean(axis=0)
        _, s, V = np.linalg.svd(X[keep] - m, full_matrices=False)
        V, values = V[:k], grow * s[:k] ** 2 / (keep.sum() - 1)
        found = excess(m, V, None if number == 0 else np.sqrt(values))
        new = found <= max(1, np.sort(found)[len(X) // 2])
        if any(np.array_equal(new, old) for old in seen):
            return new, u
        keep = new
    return keep, u


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("n", "p", "share"), [(120, 6, 0.1), (81, 12, 0.35), (40, 90, 0.1)])
def test_the_definition_in_forty_lines(design, n, p, share):
    X, _, _ = table(n + p, n, p, share, design)
    keep, u = naive(X, 2)
    model = mercer.RobustPCA(2).fit(X)
    np.testing.assert_array_equal(model.weights_ > 0, keep)
    kept = X[keep]
    s, V = np.linalg.svd(kept - kept.mean(axis=0), full_matrices=False)[1:]
    assert sine(model.components_, V[:2]) < 1e-8
    np.testing.assert_allclose(model.mean_, kept.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(
        model.explained_variance_,
        s[:2] ** 2 / (len(kept) - 1) * model.consistency_,
        rtol=1e-8,
    )
    signs = np.linalg.svd(u, full_matrices=False)[2][:2]
    assert sine(mercer.RobustPCA(2, method="spherical").fit(X).components_, signs) < 1e-7


def test_the_axes_and_the_half_that_judge():
    assert (score_cutoff(0, 0.99), score_consistency(0, 0.99)) == (0, 1)  # no axes cut nothing
    assert axes_wanted(3, (100, 10)) == (3, 3)
    assert axes_wanted(30, (40, 50)) == (10, 10)  # a quarter of the rows
    assert axes_wanted(None, (1000, 50)) == (10, 10)
    assert axes_wanted(None, (3, 50)) == (1, 1)
    assert axes_wanted(None, (60, 50)) == (6, 6)  # a tenth of the rows
    assert axes_wanted(0.9, (100, 20)) == (20, 10)
    assert axes_wanted(0.9, (30, 20)) == (15, 3)
    assert axes_wanted(0.9, (5, 20)) == (2, 1)
    law = Orthogonal(1.0, 0.0, 0.99, 0.0)
    judged = Judged(np.full(6, 9.0), np.arange(6.0), 3.0, law)
    rows = RobustTable(in_memory(np.eye(6)), None, 0.99, 0.0, 1e9)
    np.testing.assert_array_equal(rows.clean(judged), [1, 1, 1, 1, 0, 0])
    heavy = dataclasses.replace(rows, weights=np.array([1.0, 1, 1, 1, 9, 1]))
    np.testing.assert_array_equal(heavy.clean(judged), [1, 1, 1, 1, 1, 0])
    quiet = dataclasses.replace(rows, quiet=np.arange(6) > 1)
    np.testing.assert_array_equal(quiet.clean(judged), [1, 1, 1, 1, 1, 1])


def test_medians_of_coordinates_need_no_more_memory_than_allowed():
    X, _, _ = table(1, 100, 6, 0.1, "radial")
    few, many = (RobustTable(in_memory(X), None, 0.99, 0.0, memory) for memory in (1.0, 1e9))
    begun = sphere(many, PCA(5), False, None, warns=True)
    by_one, at_once = (one.spread(begun.centring, begun.axes) for one in (few, many))
    np.testing.assert_allclose(by_one, at_once, rtol=1e-10, atol=1e-12)


def test_rows_equal_to_most_others_say_nothing_of_the_spread():
    rng = np.random.default_rng(2)
    X = np.r_[np.zeros((60, 3)), rng.normal(size=(40, 3)) * [5, 1, 0.1]]
    begun = sphere(
        RobustTable(in_memory(X), None, 0.99, 0.0, 1e9), PCA(3), False, None, warns=True
    )
    assert begun.table.quiet.sum() == 60
    np.testing.assert_allclose(begun.deviation, [5, 1, 0.1], rtol=0.4)
    still = RobustTable(in_memory(np.ones((9, 2))), None, 0.99, 0.0, 1e9)
    refuses("the data has no variance\n", sphere, still, PCA(1), False, None, warns=True)


@pytest.fixture(params=range(6))
def counted(request):
    rng = np.random.default_rng(request.param)
    n = int(rng.integers(2, 40))
    values = np.round(rng.normal(size=(n, 3)) * 4)  # ties
    return values, rng.integers(0, 4, n) + (np.arange(n) == 0)


def test_medians_and_shortest_halves_are_those_of_repeated_rows(counted):
    values, counts = counted
    often = np.repeat(values, counts, axis=0)
    np.testing.assert_allclose(medians(values, counts.astype(float)), np.median(often, axis=0))
    _, deviation = median_and_deviation(values, counts.astype(float))
    expected = stats.median_abs_deviation(often, axis=0, scale="normal")
    np.testing.assert_allclose(deviation, expected, rtol=1e-12)
    middle = np.sort(often[:, 0])[len(often) // 2]
    assert upper_median(values[:, 0], counts.astype(float)) == middle
    values, counts = counted
    often = np.sort(np.repeat(values[:, 0], counts))
    h = len(often) // 2 + 1
    lengths = [often[i + h - 1] - often[i] for i in range(len(often) - h + 1)]
    middle, spread = shortest_half(values[:, 0], counts.astype(float))
    assert spread == pytest.approx(min(lengths) / 2 * 1.482602218505602)
    at = int(np.argmin(lengths))
    assert middle == pytest.approx((often[at] + often[at + h - 1]) / 2)


@pytest.mark.parametrize("unit", [0.1, 0.3, 1 / 3, 7.0, 1e100])
def test_counts_in_another_unit_change_nothing(counted, unit):
    values, counts = counted
    whole, parts = counts.astype(float), counts * unit
    np.testing.assert_array_equal(medians(values, parts), medians(values, whole))
    assert shortest_half(values[:, 0], parts) == shortest_half(values[:, 0], whole)
    assert upper_median(values[:, 0], parts) == upper_median(values[:, 0], whole)


@pytest.mark.parametrize("axes", [1, 2, 5, 30])
@pytest.mark.parametrize("level", [0.9, 0.975, 0.99])
def test_cut_normal_rows_have_the_variance_that_is_said(axes, level):
    cut = score_cutoff(axes, level) ** 2
    assert stats.chi2.cdf(cut, axes) == pytest.approx(level)
    inside = integrate.quad(lambda x: x * stats.chi2.pdf(x, axes), 0, cut)[0] / level
    assert score_consistency(axes, level) == pytest.approx(axes / inside, rel=1e-6)


@pytest.mark.parametrize("freedom", [3, 10, 200])
def test_the_law_of_orthogonal_distances(freedom):
    rng = np.random.default_rng(freedom)
    d = np.sqrt(rng.chisquare(freedom, 200_000))
    law = Orthogonal.of(d, np.ones(len(d)), 0.99, 0.0)
    assert np.mean(d <= law.cutoff) == pytest.approx(0.99, abs=0.003)
    assert law.square == pytest.approx(freedom, rel=0.02)
    kept = np.mean(d[d <= law.cutoff] ** 2)
    assert law.consistency * kept == pytest.approx(freedom, rel=0.02)


def test_distances_of_rounding_are_none():
    law = Orthogonal.of(np.r_[np.zeros(70), np.ones(30)], np.ones(100), 0.99, 1e-9)
    assert law.cutoff == 1e-9
    assert law.square == 0
    assert law.consistency == 1


@pytest.mark.parametrize("method", ["reweighted", "spherical"])
@pytest.mark.parametrize(("n", "p"), [(40, 4), (40, 30), (100, 20), (300, 6)])
def test_two_of_a_hundred_clean_new_rows_are_named(method, n, p):
    found = []
    for seed in range(12):
        rng = np.random.default_rng([seed, n, p])
        X, new = rng.normal(size=(n, p)), rng.normal(size=(500, p))
        X[:, :2] *= [5, 3]
        new[:, :2] *= [5, 3]
        found.append(np.mean(mercer.RobustPCA(2, method=method).fit(X).is_outlier(new)))
    assert 0.008 <= np.mean(found) <= 0.035  # 2 %, and three standard errors of so few tables


def test_clean_rows_are_judged_alike_in_other_units_and_as_sparse_rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5)) * [5, 3, 1, 1, 1]
    new = rng.normal(size=(200, 5)) * [5, 3, 1, 1, 1]
    named = mercer.RobustPCA(2).fit(X).is_outlier(new)
    for unit in (1e-120, 1e120):
        again = mercer.RobustPCA(2).fit(X * unit).is_outlier(new * unit)
        np.testing.assert_array_equal(again, named)
    again = mercer.RobustPCA(2).fit(scipy.sparse.csr_array(X)).is_outlier(new)
    np.testing.assert_array_equal(again, named)
