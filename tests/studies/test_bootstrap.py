import json

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.stats
from tests.studies.drift_tables import tables

import mercer
from mercer.errors import BudgetError, InputError, NotSupportedError
from mercer.selection import Population
from mercer.studies import _bootstrap as study
from mercer.studies import _resampled_axes as resampled
from mercer.studies import bootstrap
from mercer.studies._resampled_axes import (
    DrawFrame,
    Poisson,
    alike,
    by_columns,
    by_groups,
    by_rows,
    matched,
    multinomial,
    planes,
    rotated,
)


def along(model, X, draws, seed, counts=None):
    """Variances along the axes of all rows, of every draw, from repeated rows."""
    fitted = mercer.PCA(**model.get_params()).fit(X, sample_weight=counts)
    for weights in multinomial(np.ones(len(X)) if counts is None else counts, draws, seed):
        Y = np.repeat(X, weights, axis=0)
        Y = (Y - Y.mean(axis=0)) / (Y.std(axis=0, ddof=1) if model.standardize else 1.0)
        yield np.var(Y @ fitted.components_.T, axis=0, ddof=1)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("n", "p"), [(60, 6), (25, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_a_plain_loop(n, p, standardize, weighted):
    X, _, _ = tables(n, 2, p=p, variances=np.r_[900, 90, np.ones(p - 2)])
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, n).astype(float) if weighted else None
    model = mercer.PCA(2, standardize=standardize)
    found = bootstrap(model, X, draws=30, seed=3, sample_weight=counts)
    fitted = mercer.PCA(2, standardize=standardize).fit(X, sample_weight=counts)
    errors = np.std(np.log(list(along(model, X, 30, 3, counts))), axis=0, ddof=1)
    values, total = fitted.explained_variance_, n if counts is None else counts.sum()
    trace = values[0] / fitted.explained_variance_ratio_[0]
    behind = Population.of(values, trace, total, p)
    t = scipy.stats.t.ppf(0.975, n - 1)
    ends = [behind.interval(*pair, t) for pair in zip(values, errors, strict=True)]
    assert np.allclose(np.transpose([found.variances.low, found.variances.high]), ends)
    assert np.allclose(found.variances.value, values)
    assert np.allclose(found.loadings.value, found.signed.value)


def test_a_sample_variance_is_larger_than_that_of_the_population():
    """Means of 200 samples, and the ends of intervals, against the law itself."""
    rng, n, p = np.random.default_rng(1), 200, 100
    values = []
    for _ in range(200):
        X = rng.standard_normal((n, p)) * np.r_[3.0, np.ones(p - 1)]
        values.append(np.linalg.eigvalsh(np.cov(X.T))[-1])
    model = Population(1, 1.0, p / (n - 1))
    assert np.mean(values) > 9.4
    assert np.mean(model.behind(np.array(values))) == pytest.approx(9, abs=0.15)
    forward = 9 * (1 + model.gamma / 8)
    assert model.behind(np.array([forward]))[0] == pytest.approx(9)
    low, high = model.interval(forward, 0.1, 2.0)
    assert low < 9 < high
    assert model.interval(forward, 1e-9, 2.0) == pytest.approx((9, 9), rel=1e-3)
    edge = (1 + np.sqrt(model.gamma)) ** 2
    low, high = model.interval(edge, 0.1, 2.0)
    assert low == 0
    assert high > 1 + np.sqrt(model.gamma)
    rest = p - 1 - 9 * model.gamma / 8  # what the spike has taken from the noise
    again = Population.of(np.array([forward]), forward + rest, n, p)
    assert (again.spikes, again.noise) == (1, pytest.approx(1, abs=1e-6))


def test_near_noise_there_is_an_upper_limit_only():
    X = np.random.default_rng(0).standard_normal((100, 200))
    X[:, 0] *= 6
    found = bootstrap(mercer.PCA(3), X, draws=30)
    assert found.variances.low[0] > 0
    assert np.all(found.variances.low[1:] == 0)
    assert np.all(found.variances.high[1:] < found.variances.value[1:])
    assert np.isnan(found.loadings.low[:, 1:]).all()
    assert "PC2, PC3 are near the edge of noise" in found.notes[0]
    assert found.edge == pytest.approx((1 + 2**0.5) ** 2, rel=0.1)
    assert str(found).splitlines()[4].split()[2] == "–"
    X = np.exp(2 * np.random.default_rng(0).standard_normal((300, 4))) * [9, 1, 1, 1]
    assert "heavy tails" in bootstrap(mercer.PCA(1), X, draws=50).notes[-1]


def test_groups_are_drawn_together():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 10)
    X = rng.standard_normal((40, 5))[who] * [9, 3, 1, 1, 1] + 0.1 * rng.standard_normal(
        (400, 5)
    )
    alone, together = (bootstrap(mercer.PCA(1), X, groups=g) for g in (None, who))
    ratio = [np.log(one.variances.high / one.variances.low)[0] for one in (alone, together)]
    assert ratio[1] == pytest.approx(10**0.5 * ratio[0], rel=0.3)
    assert "40 groups of rows were resampled as a whole" in together.notes[0]
    counts = by_groups(np.ones(400), who, 5, 0)
    assert np.all(counts.reshape(5, 40, 10) == counts.reshape(5, 40, 10)[:, :, :1])
    assert np.all(counts.sum(axis=1) == 400)
    with pytest.raises(InputError, match="several groups"):
        bootstrap(mercer.PCA(1), X, groups=np.zeros(400))


def test_planes_and_no_axis_are_answers():
    X, _, _ = tables(150, 2, variances=[30, 8, 8, 1, 1, 1], seed=2)
    found = bootstrap(mercer.PCA(3), X)
    assert [one.axes for one in found.planes] == [(0,), (1, 2)]
    assert json.loads(json.dumps(found.document()))["planes"][1]["axes"] == [1, 2]
    assert found.verdict == (
        "Stable: PC1. Name the plane of PC2 and PC3, not its axes: they turn into each other."
    )
    assert np.isnan(found.signed.low[:, 1:]).all()
    assert np.isfinite(found.signed.low[:, 0]).all()
    assert np.isfinite(found.loadings.low).all()
    X = np.random.default_rng(0).standard_normal((40, 60))
    found = bootstrap(mercer.PCA(1), X, draws=50)
    assert not found.planes[0].stable
    assert "PC1 is not stable: other rows give others" in str(found)
    X = np.random.default_rng(0).standard_normal((200, 10))
    with pytest.warns(mercer.DataWarning):
        found = bootstrap(mercer.PCA("auto"), X, draws=20)
    assert found.verdict == "There is no axis."


def test_units_files_and_sparse_rows_do_not_matter(tmp_path):
    X, _, _ = tables(60, 2)
    plain = bootstrap(mercer.PCA(2), X, draws=20)
    for unit in (1e-120, 1e120):
        other = bootstrap(mercer.PCA(2), X * unit, draws=20)
        assert np.allclose(other.variances.low / unit / unit, plain.variances.low)
        assert np.allclose(other.loadings.high / unit, plain.loadings.high, equal_nan=True)
        assert np.allclose(other.angles, plain.angles)
    moved = bootstrap(mercer.PCA(2), X + 1e7, draws=20)
    near = {"rtol": 1e-5, "atol": 1e-5, "equal_nan": True}
    assert np.allclose(moved.loadings.high, plain.loadings.high, **near)
    X, _, _ = tables(80, 2)
    plain = bootstrap(mercer.PCA(2), X, draws=20)
    np.save(tmp_path / "x.npy", X)
    for rows in (tmp_path / "x.npy", scipy.sparse.csr_array(X), lambda: iter([X[:9], X[9:]])):
        other = bootstrap(mercer.PCA(2), rows, draws=20)
        assert np.allclose(other.variances.high, plain.variances.high)
        assert np.allclose(other.loadings.low, plain.loadings.low, equal_nan=True)


def test_draws_are_counted_cut_and_said(monkeypatch):
    X, _, _ = tables(3000, 2)
    plain = bootstrap(mercer.PCA(2), X)
    monkeypatch.setattr(study, "_COUNTED", 1000)
    other = bootstrap(mercer.PCA(2), X)
    assert "Poisson" in other.notes[0]
    assert plain.notes == ()
    ratio = np.log(other.variances.high / other.variances.low)
    assert np.allclose(ratio, np.log(plain.variances.high / plain.variances.low), rtol=0.25)
    assert other.rows == 3000
    X, _, _ = tables(90, 2, p=120)
    monkeypatch.setattr(study, "_DUAL", 50)
    found = bootstrap(mercer.PCA(2), X, draws=20)
    assert found.rows == 50
    assert found.notes == ("50 of 90 rows were resampled: all of them would move less.",)


def test_the_model_is_not_changed_and_filled_cells_are_said():
    X, _, _ = tables(200, 2, p=12)
    model = mercer.PCA("auto")
    found = bootstrap(model, X, draws=20)
    assert len(found.angles) == 2
    assert not hasattr(model, "components_")
    X, _, _ = tables(80, 2)
    X[::9, 1] = np.nan
    found = bootstrap(mercer.PCA(2, missing="em"), X, draws=20)
    assert found.notes == ("Missing cells were filled once: intervals do not know of them.",)
    assert np.isfinite(found.loadings.low).all()


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


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) * np.linspace(4, 1, p) + 0.3


def refits(X, counts, k, **options):
    """A plain loop: every draw is fitted by PCA with its counts."""
    for weights in counts:
        yield mercer.PCA(k, **options).fit(X, sample_weight=weights.astype(float))


def agree(drawn, model):
    assert np.allclose(drawn.variances, model.explained_variance_, rtol=1e-9)
    share = model.explained_variance_ratio_[0]
    assert drawn.total == pytest.approx(model.explained_variance_[0] / share)
    cosines = np.abs(np.sum(drawn.axes * model.components_, axis=1))
    assert np.allclose(cosines, 1, atol=1e-9)


def choices(p):
    weight, axes = np.linspace(1, 3, p), np.eye(3, p)
    return [
        ({}, DrawFrame(False, np.ones(p), axes), 1.0),
        ({"standardize": True}, DrawFrame(True, np.ones(p), axes), 1.0),
        ({"feature_weight": weight}, DrawFrame(False, np.sqrt(weight), axes), np.sqrt(weight)),
        (
            {"standardize": True, "feature_weight": weight},
            DrawFrame(True, np.sqrt(weight), axes),
            1.0,
        ),
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_draws_are_those_of_a_plain_loop_of_fits(n, p, number):
    options, frame, factor = choices(p)[number]
    X = table(n, p)
    counts = multinomial(np.ones(n), 6, seed=4)
    rows = (X - X.mean(axis=0)) * factor
    if n > p:
        halves = iter([rows[:17], rows[17:]])
        found = by_columns(halves, lambda at: counts[:, at], 6, frame)
    else:
        found = by_rows(rows, counts, frame)
    for drawn, model in zip(found, refits(X, counts, 3, **options), strict=True):
        agree(drawn, model)


@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_variances_along_the_axes_of_all_rows_are_those_of_repeated_rows(n, p):
    X = table(n, p)
    axes = np.linalg.qr(np.random.default_rng(2).standard_normal((p, 2)))[0].T
    counts = multinomial(np.ones(n), 2, seed=0)
    frame, rows = DrawFrame(False, np.ones(p), axes), X - X.mean(axis=0)
    plain = by_columns(iter([rows]), lambda at: counts[:, at], 2, frame)
    for one, weights in zip(by_rows(rows, counts, frame), counts, strict=True):
        scores = np.repeat(X, weights, axis=0) @ axes.T
        assert np.allclose(one.along, np.var(scores, axis=0, ddof=1))
        assert np.allclose(next(plain).along, one.along)


def test_many_columns_and_few_rows_are_drawn(monkeypatch):
    X = table(4, 9)
    counts = np.array([[4, 0, 0, 0], [2, 2, 0, 0]], np.uint32)
    found = list(
        by_rows(X - X.mean(axis=0), counts, DrawFrame(False, np.ones(9), np.eye(3, 9)))
    )
    assert np.allclose(found[0].variances, 0)
    assert np.count_nonzero(found[1].variances > 1e-9) == 1
    assert found[1].axes.shape == (3, 9)
    X = table(60, 8)
    counts = multinomial(np.ones(60), 3, seed=0)
    frame = DrawFrame(False, np.ones(8), np.eye(2, 8))
    plain = list(by_columns(iter([X]), lambda at: counts[:, at], 3, frame))
    monkeypatch.setattr(resampled, "_PAIRS", 4)
    monkeypatch.setattr(resampled, "_BYTES", 8 * 8 * 7)
    other = list(by_columns(iter([X]), lambda at: counts[:, at], 3, frame))
    for one, two in zip(plain, other, strict=True):
        assert np.allclose(one.variances, two.variances)


def test_draws_repeat_and_more_of_them_begin_alike():
    counts = multinomial(np.array([1.0, 2.0, 0.0, 5.0]), 30, seed=1)
    assert np.all(counts.sum(axis=1) == 8)
    assert np.all(counts[:, 2] == 0)
    assert counts[:, 3].mean() == pytest.approx(5, abs=0.8)
    assert np.array_equal(multinomial(np.array([1.0, 2.0, 0.0, 5.0]), 3, seed=1), counts[:3])
    assert not np.array_equal(multinomial(np.ones(4), 1, 1), multinomial(np.ones(4), 1, 2))
    whole = Poisson(3, 5)(slice(0, 1000))
    parts = Poisson(3, 5)
    pieces = [parts(slice(a, b)) for a, b in ((0, 1), (1, 400), (400, 1000))]
    assert np.array_equal(np.concatenate(pieces, axis=1), whole)
    assert whole.mean() == pytest.approx(1, abs=0.1)
    assert whole.var() == pytest.approx(1, abs=0.15)
    twice = Poisson(2, 0, np.array([0.0, 4.0]))(slice(0, 2))
    assert np.all(twice[:, 0] == 0)


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.parametrize(("n", "p"), [(40, 8), (30, 90)])
def test_a_rare_value_that_is_not_drawn_leaves_a_constant_column(n, p):
    X = table(n, p)
    X[:, 1], X[0, 1] = 0.1, 1.0
    frame = DrawFrame(True, np.ones(p), np.eye(3, p))
    counts = multinomial(np.ones(n), 12, seed=4)
    assert 0 < np.count_nonzero(counts[:, 0] == 0) < 12
    rows = X - X.mean(axis=0)
    if n > p:
        found = by_columns(iter([rows]), lambda at: counts[:, at], 12, frame)
    else:
        found = by_rows(rows, counts, frame)
    for drawn, model in zip(found, refits(X, counts, 3, standardize=True), strict=True):
        agree(drawn, model)


def turned(angles, k=3, at=(1, 2)):
    """Cosines of draws that turn two axes into each other."""
    found = np.tile(np.eye(k), (len(angles), 1, 1))
    for d, angle in enumerate(np.radians(angles)):
        i, j = at
        found[d][[i, i, j, j], [i, j, i, j]] = [
            np.cos(angle),
            np.sin(angle),
            -np.sin(angle),
            np.cos(angle),
        ]
    return found


def test_axes_that_turn_into_each_other_are_a_plane():
    found = planes(turned(np.linspace(0, 180, 60)))
    assert [one.axes for one in found] == [(0,), (1, 2)]
    assert all(one.stable for one in found)
    assert found[1].angle < 1e-5
    assert found[1].name == "the plane of PC2 and PC3"
    found = planes(turned(np.linspace(-20, 20, 60)))
    assert [one.axes for one in found] == [(0,), (1,), (2,)]
    assert 5 < found[1].angle < 15
    draws = np.stack([scipy.stats.ortho_group.rvs(3, random_state=s) for s in range(80)])
    found = planes(draws)
    assert [one.axes for one in found] == [(0, 1, 2)]
    assert found[0].name == "the space of PC1, PC2 and PC3"
    cosines = np.tile(np.diag([1.0, 1.0, 0.2]), (50, 1, 1))
    found = planes(cosines)
    assert [one.axes for one in found] == [(0,), (1,), (2,)]
    assert [one.stable for one in found] == [True, True, False]
    assert 70 < found[2].angle < 90
    assert planes(np.zeros((20, 0, 0))) == ()
    found = planes(turned(np.zeros(30), k=4), np.array([True, False, True]))
    assert [one.axes for one in found] == [(0, 1), (2, 3)]


def test_axes_are_matched_and_turned():
    cosines = np.array([[0.1, -0.9, 0.2], [0.8, 0.1, 0.0], [0.0, 0.3, 0.95]])
    order, signs = matched(cosines)
    assert order.tolist() == [1, 0, 2]
    assert signs.tolist() == [-1, 1, 1]
    rng = np.random.default_rng(0)
    loadings, target = rng.standard_normal((2, 9, 3))
    turn, _ = scipy.linalg.orthogonal_procrustes(loadings, target)
    assert np.allclose(rotated(loadings, target), loadings @ turn)


def test_equal_variances_are_told_apart_once_in_twenty():
    told = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 3)) * [1, 1, 0.1]
        values, axes = (part[..., ::-1] for part in np.linalg.eigh(np.cov(X.T)))
        weights = rng.multinomial(100, np.full(100, 0.01), size=30)
        scores = (X - X.mean(axis=0)) @ axes
        along = [np.cov(scores.T, fweights=w).diagonal() for w in weights]
        same = alike(values, np.array(along))
        told.append(not same[0])
        assert not same[1]
    assert 0.0 < np.mean(told) < 0.13
