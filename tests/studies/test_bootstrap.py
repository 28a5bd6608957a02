import json

import numpy as np
import pytest
import scipy.sparse
from tests.studies.drift_tables import tables

import mercer
from mercer.errors import BudgetError, InputError, NotSupportedError
from mercer.studies import _bootstrap as study
from mercer.studies import bootstrap
from mercer.studies._resampled_axes import multinomial


def loop(model, X, draws, seed, counts=None):
    """Fits of every draw, one by one."""
    counts = np.ones(len(X)) if counts is None else counts
    for weights in multinomial(counts, draws, seed):
        yield mercer.PCA(**model.get_params()).fit(X, sample_weight=weights.astype(float))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("n", "p"), [(60, 6), (25, 40)])
def test_intervals_are_those_of_a_plain_loop(n, p, standardize):
    X, _, _ = tables(n, 2, p=p, variances=np.r_[90, 9, np.ones(p - 2)])
    model = mercer.PCA(2, standardize=standardize)
    found = bootstrap(model, X, draws=30, seed=3)
    fits = list(loop(model, X, 30, 3))
    fitted = mercer.PCA(2, standardize=standardize).fit(X)
    logs = np.log([fit.explained_variance_ for fit in fits])
    ratio = np.log(found.variances.high / found.variances.value)
    assert np.allclose(ratio / logs.std(axis=0, ddof=1), ratio[0] / logs.std(axis=0, ddof=1)[0])
    first = np.array([fit.components_[0] * fit.explained_variance_[0] ** 0.5 for fit in fits])
    first *= np.sign(first @ fitted.components_[0])[:, None]
    low, high = np.quantile(first, [0.025, 0.975], axis=0, method="weibull")
    assert np.allclose(found.signed.low[:, 0], low)
    assert np.allclose(found.signed.high[:, 0], high)
    cosines = [abs(fit.components_[0] @ fitted.components_[0]) for fit in fits]
    assert found.angles[0] == pytest.approx(np.median(np.degrees(np.arccos(cosines))))
    assert np.allclose(found.loadings.value, found.signed.value)


def test_weights_are_repeated_rows():
    X, _, _ = tables(50, 2)
    counts = np.random.default_rng(0).integers(0, 4, 50).astype(float)
    found = bootstrap(mercer.PCA(2), X, draws=25, sample_weight=counts)
    logs = np.log([fit.explained_variance_ for fit in loop(mercer.PCA(2), X, 25, 0, counts)])
    ratio = np.log(found.variances.high / found.variances.value)
    assert np.allclose(ratio / logs.std(axis=0, ddof=1), ratio[0] / logs.std(axis=0, ddof=1)[0])
    fitted = mercer.PCA(2).fit(X, sample_weight=counts)
    assert np.allclose(found.variances.value, fitted.explained_variance_)


def test_equal_variances_are_named_as_a_plane():
    X, _, _ = tables(150, 2, variances=[30, 8, 8, 1, 1, 1], seed=2)
    found = bootstrap(mercer.PCA(3), X)
    assert [one.axes for one in found.planes] == [(0,), (1, 2)]
    assert found.verdict == (
        "Stable: PC1. Name the plane of PC2 and PC3, not its axes: they turn into each other."
    )
    assert np.isnan(found.signed.low[:, 1:]).all()
    assert np.isfinite(found.signed.low[:, 0]).all()
    assert np.isfinite(found.loadings.low).all()


def test_axes_of_noise_are_said_not_to_be_stable():
    X = np.random.default_rng(0).standard_normal((40, 60))
    found = bootstrap(mercer.PCA(1), X, draws=50)
    assert not found.planes[0].stable
    assert "PC1 is not stable: other rows give others" in str(found)


def test_files_and_sparse_rows_give_the_same(tmp_path):
    X, _, _ = tables(80, 2)
    plain = bootstrap(mercer.PCA(2), X, draws=20)
    np.save(tmp_path / "x.npy", X)
    for rows in (tmp_path / "x.npy", scipy.sparse.csr_array(X), lambda: iter([X[:9], X[9:]])):
        other = bootstrap(mercer.PCA(2), rows, draws=20)
        assert np.allclose(other.variances.high, plain.variances.high)
        assert np.allclose(other.loadings.low, plain.loadings.low)


def test_many_rows_are_counted_by_poisson_and_it_is_said(monkeypatch):
    X, _, _ = tables(3000, 2)
    plain = bootstrap(mercer.PCA(2), X)
    monkeypatch.setattr(study, "_COUNTED", 1000)
    other = bootstrap(mercer.PCA(2), X)
    assert "Poisson" in other.notes[0]
    assert plain.notes == ()
    ratio = np.log(other.variances.high / other.variances.low)
    assert np.allclose(ratio, np.log(plain.variances.high / plain.variances.low), rtol=0.25)
    assert other.rows == 3000


def test_of_tables_that_are_too_large_some_rows_are_resampled(monkeypatch):
    X, _, _ = tables(90, 2, p=120)
    monkeypatch.setattr(study, "_DUAL", 50)
    found = bootstrap(mercer.PCA(2), X, draws=20)
    assert found.rows == 50
    assert found.notes == ("50 of 90 rows were resampled: all of them would move less.",)


def test_units_do_not_matter():
    X, _, _ = tables(60, 2)
    plain = bootstrap(mercer.PCA(2), X, draws=20)
    for unit in (1e-120, 1e120):
        other = bootstrap(mercer.PCA(2), X * unit, draws=20)
        assert np.allclose(other.variances.low / unit / unit, plain.variances.low)
        assert np.allclose(other.loadings.high / unit, plain.loadings.high)
        assert np.allclose(other.angles, plain.angles)
    moved = bootstrap(mercer.PCA(2), X + 1e7, draws=20)
    assert np.allclose(moved.loadings.high, plain.loadings.high, rtol=1e-5, atol=1e-5)


def test_the_model_is_not_changed_and_auto_keeps_its_number():
    X, _, _ = tables(200, 2, p=12)
    model = mercer.PCA("auto")
    found = bootstrap(model, X, draws=20)
    assert len(found.angles) == 2
    assert not hasattr(model, "components_")


def test_filled_cells_are_said():
    X, _, _ = tables(80, 2)
    X[::9, 1] = np.nan
    found = bootstrap(mercer.PCA(2, missing="em"), X, draws=20)
    assert found.notes == ("Missing cells were filled once: intervals do not know of them.",)
    assert np.isfinite(found.loadings.low).all()


def test_no_axis_is_an_answer():
    X = np.random.default_rng(0).standard_normal((200, 10))
    with pytest.warns(mercer.DataWarning):
        found = bootstrap(mercer.PCA("auto"), X, draws=20)
    assert found.verdict == "There is no axis."


def test_the_document_is_plain():
    X, _, _ = tables(60, 2)
    document = json.loads(json.dumps(bootstrap(mercer.PCA(2), X, draws=20).document()))
    assert len(document["loadings"]["low"]) == 6
    assert document["planes"][0]["axes"] == [0]
    assert document["draws"] == 20


def test_what_cannot_be_resampled_is_refused(monkeypatch):
    X, _, _ = tables(60, 2)
    with pytest.raises(NotSupportedError, match="only PCA is resampled"):
        bootstrap(mercer.KernelPCA(2), X)
    with pytest.raises(InputError, match="at least 20 draws"):
        bootstrap(mercer.PCA(2), X, draws=5)
    with pytest.raises(InputError, match="too few rows"):
        bootstrap(mercer.PCA(1), X[:3])
    with pytest.raises(InputError, match="read only once"):
        bootstrap(mercer.PCA(2), iter([X]))
    monkeypatch.setattr(study, "_KEPT", 100)
    with pytest.raises(BudgetError, match="loadings of all draws"):
        bootstrap(mercer.PCA(2), X)


def test_rows_in_parts_are_refused():
    dask_array = pytest.importorskip("dask.array")
    X, _, _ = tables(60, 2)
    with pytest.raises(NotSupportedError, match="rows in parts"):
        bootstrap(mercer.PCA(2), dask_array.from_array(X, chunks=(30, 6)))


def covered(n, repeats, draws, standardize=False):
    """Return how often intervals hold the truth: variances, shares, loadings."""
    rng = np.random.default_rng(7)
    axes = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    covariance = (axes * [25, 9, 3, 1, 0.8, 0.6]) @ axes.T
    if standardize:
        scale = np.sqrt(np.diagonal(covariance))
        covariance = covariance / np.outer(scale, scale)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(covariance))
    root = np.linalg.cholesky(covariance)
    truth = vectors[:, :3] * np.sqrt(values[:3])
    hits, asked = [], []  # axes of planes have no loadings of their own
    for seed in range(repeats):
        X = rng.standard_normal((n, 6)) @ root.T
        found = bootstrap(mercer.PCA(3, standardize=standardize), X, draws=draws, seed=seed)
        signed = truth * np.sign(np.sum(truth * found.signed.value, axis=0))
        shares = values[:3] / values.sum()
        spans = ((found.variances, values[:3]), (found.shares, shares), (found.signed, signed))
        hits.append([np.sum((one.low <= t) & (t <= one.high)) for one, t in spans])
        asked.append([np.sum(np.isfinite(one.low)) for one, _ in spans])
    return np.sum(hits, axis=0) / np.sum(asked, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("n", [200, 500])
def test_intervals_hold_the_truth_in_95_percent(n, standardize):
    assert np.allclose(covered(n, 500, 200, standardize), 0.95, atol=0.03)


def test_intervals_hold_the_truth_in_few_draws():
    assert np.allclose(covered(200, 50, 100), 0.95, atol=0.06)
