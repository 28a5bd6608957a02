import json
import math

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import scipy.stats
from tests.studies.drift_tables import tables

import mercer
from mercer.diagnostics import held_out
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import Linear
from mercer.sources import scan
from mercer.studies import drift
from mercer.studies.drifting import _drift_laws as laws
from mercer.studies.drifting._drift_kernel import left_out, seen
from mercer.studies.drifting._drift_limits import kept_limits, lawful, reference_of, tail
from mercer.studies.drifting._rows_after import after
from mercer.studies.drifting._rows_before import before


def found(result, what):
    return next(one for one in result.comparisons if one.what == what)


def chances(result):
    return {one.what: one.chance for one in result.comparisons}


def test_nothing_changed_and_shifts_along_and_across():
    X, Y, _ = tables(300, 200)
    result = drift(mercer.PCA(2).fit(X), Y)
    assert result.verdict == "no change beyond chance"
    assert not result.changed
    assert result.rows, result.fitted_rows == (200, 300)
    assert str(result).splitlines()[1] == "no change beyond chance"
    X, Y, axes = tables(300, 200)
    model = mercer.PCA(2).fit(X)
    along = drift(model, Y + 3 * axes[:, 0])
    assert found(along, "mean within the plane").changed
    assert not found(along, "mean outside the plane").changed
    across = drift(model, Y + axes[:, 4])
    assert found(across, "mean outside the plane").changed
    assert not found(across, "mean within the plane").changed


def test_a_shifted_column_is_named_with_its_size():
    X, Y, _ = tables(300, 200)
    frame = [pl.DataFrame(part, schema=list("abcdef")) for part in (X, Y)]
    size = 0.6 * Y[:, 3].std(ddof=1)
    moved = frame[1].with_columns(pl.col("d") + size)
    result = drift(mercer.PCA(2).fit(frame[0]), moved)
    said = found(result, "means of the columns")
    assert said.changed
    assert said.says.startswith("The mean has moved of d by +")
    at = list(result.columns.names).index("d")
    before = drift(mercer.PCA(2).fit(frame[0]), frame[1]).columns.shift_sd[at]
    assert result.columns.shift_sd[at] - before == pytest.approx(0.6)


def test_a_turned_axis_is_named_with_its_angle():
    X, Y, axes = tables(2000, 2000, variances=[40, 12, 1, 1, 1, 1])
    turn = np.eye(6)
    angle = np.radians(20)
    turn[[1, 1, 3, 3], [1, 3, 1, 3]] = [
        np.cos(angle),
        -np.sin(angle),
        np.sin(angle),
        np.cos(angle),
    ]
    middle = X.mean(axis=0)
    turned = (Y - middle) @ axes @ turn.T @ axes.T + middle
    result = drift(mercer.PCA(2).fit(X), turned)
    said = found(result, "directions of the axes")
    assert said.changed
    assert "PC2" in said.says
    assert "PC1 " not in said.says
    first, second = result.turns
    assert second.angle == pytest.approx(20, abs=2)
    assert first.angle < 3
    assert second.expected < 3
    assert result.angles[-1] == pytest.approx(second.angle, abs=1)


def test_exchanged_variances_and_lost_structure_are_found():
    X, Y, axes = tables(500, 500)
    model = mercer.PCA(2).fit(X)
    middle = X.mean(axis=0)
    swapped = (Y - middle) @ axes[:, [1, 0, 2, 3, 4, 5]] @ axes.T + middle
    assert found(drift(model, swapped), "variances along the axes").changed
    rng = np.random.default_rng(1)
    noise = rng.standard_normal(Y.shape) * np.sqrt(np.var(X, axis=0).mean()) + middle
    lost = drift(model, noise)
    assert found(lost, "variance captured").changed
    assert lost.captured.now < 0.6 < lost.captured.expected <= lost.captured.fit


def test_single_rows_far_off_raise_alarms():
    X, Y, axes = tables(500, 300)
    Y[:45] += 12 * axes[:, 5] * np.where(np.arange(45) % 2, 1, -1)[:, None]
    result = drift(mercer.PCA(2).fit(X), Y)
    said = found(result, "rows above the Q limit")
    assert said.changed
    assert result.q.count >= 45
    assert f"{result.q.count} of 300 rows" in said.says
    assert not found(result, "rows above the T² limit").changed


def test_deviations_are_tested_where_they_are_known():
    X, Y, _ = tables(400, 300)
    Y[:, 5] = (Y[:, 5] - Y[:, 5].mean()) * 1.5 + Y[:, 5].mean()
    plain = drift(mercer.PCA(2).fit(X), Y)
    assert plain.columns.ratio_chance is None
    assert any("known only nearly" in note for note in plain.notes)
    true = Y.std(axis=0, ddof=1) / X.std(axis=0, ddof=1)
    assert np.allclose(plain.columns.ratio, true, rtol=0.15)
    for result in (
        drift(mercer.PCA(2, standardize=True).fit(X), Y),
        drift(mercer.PCA(2).fit(X), Y, reference=X),
        drift(mercer.PCA().fit(X), Y),
    ):
        said = found(result, "deviations of the columns")
        assert said.changed
        assert "column 5" in said.says
        assert np.allclose(result.columns.ratio, true, rtol=1e-6)


def test_limits_are_taken_from_the_model_then_the_reference_then_laws():
    X, Y, _ = tables(400, 300)
    model = mercer.PCA(2).fit(X)
    assert drift(model, Y).limits.source == "from laws of normal rows"
    by_rows = drift(model, Y, reference=X)
    assert by_rows.limits.source.startswith("from 400 rows of the reference")
    model.notes_ = {"limits": {"0.95": [5.0, 9.0]}}
    kept = drift(model, Y, reference=X)
    assert (kept.limits.t2, kept.limits.q) == (5.0, 9.0)
    scores = model.transform(Y)
    far = np.sum(scores**2 / model.explained_variance_, axis=1)
    assert kept.t2.count == np.count_nonzero(far > 5.0)
    away = np.sum((Y - model.inverse_transform(scores)) ** 2, axis=1)
    assert kept.q.count == np.count_nonzero(away > 9.0)


def test_order_blocks_and_forms_of_the_rows_do_not_matter(tmp_path):
    X, Y, _ = tables(300, 400)
    Y = Y + 0.3
    model = mercer.PCA(2).fit(X)
    plain = drift(model, Y)
    path = tmp_path / "new.npy"
    np.save(path, Y)
    forms = {
        "order": Y[np.random.default_rng(0).permutation(400)],
        "file": path,
        "blocks": lambda: iter(np.array_split(Y, 7)),
        "sparse": scipy.sparse.csr_array(Y),
    }
    for rows in forms.values():
        other = chances(drift(model, rows))
        assert other.keys() == chances(plain).keys()
        for what, chance in chances(plain).items():
            assert other[what] == pytest.approx(chance, rel=1e-6, abs=1e-9)


def test_shift_scale_and_rotation_of_both_leave_the_verdict():
    X, Y, _ = tables(300, 200)
    Y = Y + 0.25
    plain = drift(mercer.PCA(2).fit(X), Y)
    turn = np.linalg.qr(np.random.default_rng(5).standard_normal((6, 6)))[0]
    for change in (
        lambda A: A + 1e6,
        lambda A: A * 1e-90,
        lambda A: A * 1e150,
        lambda A: A @ turn,
    ):
        other = drift(mercer.PCA(2).fit(change(X)), change(Y))
        theirs = chances(other)
        for what, chance in chances(plain).items():
            if (
                what != "means of the columns"
                or change(np.eye(6))[0, 1] == change(np.eye(6))[0, 2]
            ):
                assert theirs[what] == pytest.approx(chance, rel=1e-4, abs=1e-9)
        assert np.allclose(other.angles, plain.angles, atol=1e-3)


def test_whitening_saving_and_counts_make_no_difference(tmp_path):
    X, Y, _ = tables(300, 200)
    model = mercer.PCA(2).fit(X)
    mercer.save(model, tmp_path / "a.mercer")
    plain = chances(drift(model, Y))
    assert chances(drift(mercer.load(tmp_path / "a.mercer"), Y)) == plain
    assert chances(drift(mercer.PCA(2, whiten=True).fit(X), Y)) == pytest.approx(plain)
    X, Y, _ = tables(100, 200)
    twice = drift(mercer.PCA(2).fit(np.repeat(X, 2, axis=0)), Y)
    counted = drift(mercer.PCA(2).fit(X, sample_weight=np.full(100, 2.0)), Y)
    assert counted.fitted_rows == 200
    assert chances(counted) == pytest.approx(chances(twice), rel=1e-6)


def test_missing_cells_are_filled_by_a_model_that_fills_and_refused_by_one_that_does_not():
    X, Y, _ = tables(300, 200)
    Y[::7, 2] = np.nan
    filled = drift(mercer.PCA(2, missing="em").fit(X), Y)
    assert not filled.changed
    assert any("filled" in note for note in filled.notes)
    with pytest.raises(InputError):
        drift(mercer.PCA(2).fit(X), Y)


def test_outlying_rows_do_not_count_for_a_robust_model():
    X, Y, _ = tables(300, 200)
    X[:20] += 80
    Y[:10] += 80
    result = drift(mercer.RobustPCA(2).fit(X), Y)
    assert not result.changed
    assert result.rows <= 190
    assert any("lie apart" in note for note in result.notes)
    moved = drift(mercer.RobustPCA(2).fit(X), Y + 3)
    assert found(moved, "mean outside the plane").changed
    assert found(moved, "outlying rows").changed


def test_models_without_axes_or_with_all_of_them_are_compared_too():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((300, 5)), rng.standard_normal((200, 5))
    with pytest.warns(mercer.DataWarning):
        none = mercer.PCA("auto").fit(X)
    result = drift(none, Y)
    assert not result.changed
    assert result.turns == ()
    assert "mean within the plane" not in chances(result)
    assert drift(none, Y + 0.5).changed
    whole = drift(mercer.PCA().fit(X), Y)
    assert not whole.changed
    assert whole.captured is None
    assert whole.q.limit is None


def test_no_law_is_asked_where_none_holds():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 300)), rng.standard_normal((30, 300))
    result = drift(mercer.PCA().fit(X), Y)
    assert not result.changed
    assert chances(result)["variances along the axes"] == 1.0
    X, Y, _ = tables(300, 200)
    result = drift(mercer.RobustPCA(2, method="spherical").fit(X), Y)
    assert not result.changed
    assert "total variance" not in chances(result)
    assert any("spherical" in note for note in result.notes)


def test_rare_and_constant_columns():
    rng = np.random.default_rng(0)
    X, Y = (rng.uniform(size=(n, 60)) for n in (200, 60))
    X, Y = (np.where(part < 0.02, 50 * part, 0.0) for part in (X, Y))
    result = drift(mercer.PCA(2).fit(X), Y)
    assert np.any(Y.max(axis=0) == 0)
    assert np.isfinite(result.columns.shift_se).all()
    assert not found(result, "means of the columns").changed
    X, Y, _ = tables(100, 80)
    X[:, 0], Y[:, 0] = 3.0, 3.0
    assert not drift(mercer.PCA(2).fit(X), Y).changed
    Y[:, 0] = 4.0
    moved = drift(mercer.PCA(2).fit(X), Y)
    assert "column 0" in found(moved, "means of the columns").says
    json.dumps(moved.document())


def test_what_cannot_be_compared_is_refused_in_three_lines():
    X, Y, _ = tables(100, 80)
    model = mercer.PCA(2).fit(X)
    with pytest.raises(InputError, match="too few rows to speak of change"):
        drift(model, Y[:4])
    with pytest.raises(InputError, match="too few rows for a reference"):
        drift(model, Y, reference=X[:4])
    with pytest.raises(InputError, match="level of a test"):
        drift(model, Y, level=1.5)
    with pytest.raises(InputError, match="drift needs a fitted"):
        drift(mercer.LandmarkFeatures(), Y)
    with pytest.raises(InputError, match="read only once"):
        drift(model, iter([Y]))
    with pytest.raises(InputError, match="features"):
        drift(model, Y[:, :5])
    model.notes_ = {"limits": {"0.95": ["high", 3]}}
    with pytest.raises(InputError, match="limits kept with the model"):
        drift(model, Y)


def test_rows_in_parts_are_refused():
    dask_array = pytest.importorskip("dask.array")
    X, Y, _ = tables(100, 80)
    with pytest.raises(NotSupportedError, match="rows in parts"):
        drift(mercer.PCA(2).fit(X), dask_array.from_array(Y, chunks=(40, 6)))


SHAPES = [(p, n, m) for p in (5, 20, 100) for n in (100, 1000) for m in (30, 300)]


def false_alarms(p, n, m, draws, **options):
    standard = options.pop("standardize", False)
    count = 0
    for seed in range(draws):
        X, Y, _ = tables(n, m, p=p, k=3, seed=seed, **options)
        model = mercer.PCA(3, standardize=standard).fit(X)
        count += drift(model, Y).changed
    return count / draws


@pytest.mark.slow
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_false_alarms_are_rare(shape, standardize):
    assert false_alarms(*shape, 500, standardize=standardize) <= 0.07


@pytest.mark.parametrize("shape", SHAPES[::3], ids=str)
def test_false_alarms_are_rare_in_few_draws(shape):
    assert false_alarms(*shape, 50) <= 0.14  # 0.05 would give more once in 200 runs


def test_axes_that_are_noise_raise_no_alarm():
    rates = [false_alarms(p, 100, 300, 40, variances=np.ones(p)) for p in (5, 20)]
    assert max(rates) <= 0.14


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.choice([1.0, 3.0], n)
    circle = np.c_[np.cos(angle), np.sin(angle)]
    return radius[:, None] * circle + 0.15 * rng.standard_normal((n, 2))


def model(n=150, **options):
    return mercer.KernelPCA(3, kernel="rbf(lengthscale=1)", **options).fit(rings(n))


def test_distances_from_the_axes_of_a_kernel():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 5)) * [5, 3, 1, 1, 1], rng.standard_normal((20, 5))
    kernel, plain = mercer.KernelPCA(2, kernel=Linear()).fit(X), mercer.PCA(2).fit(X)
    found = seen(kernel, kernel._admit(Y, reset=False))
    away = np.sum((Y - plain.inverse_transform(plain.transform(Y))) ** 2, axis=1)
    assert np.allclose(found.rest, away)
    far = np.sum(plain.transform(Y) ** 2 / plain.explained_variance_, axis=1)
    assert np.allclose(found.t2, far)
    fitted = model(100)
    inside = seen(fitted, fitted._admit(rings(100), reset=False))
    without = left_out(fitted, fitted.X_fit_)
    assert len(without.t2) == 100
    assert without.rest.mean() > inside.rest.mean()
    assert left_out(fitted, rings(20)) is None


def test_rows_of_a_kernel_that_are_like_the_fit_or_not():
    fitted = model()
    verdicts = [mercer.drift(fitted, rings(120, seed)).changed for seed in range(1, 9)]
    assert sum(verdicts) <= 2
    result = mercer.drift(fitted, rings(120, 1))
    assert result.columns is None
    assert result.turns == ()
    assert result.captured.expected < result.captured.fit
    assert json.loads(json.dumps(result.document()))["columns"] is None
    fitted = model()
    wider = mercer.drift(fitted, 1.5 * rings(120, 1))
    assert wider.changed
    assert "Q limit" in wider.verdict
    moved = rings(120, 1)
    moved[:, 0] = np.abs(moved[:, 0])
    half = mercer.drift(fitted, moved)
    assert "mean within the plane" in {one.what for one in half.comparisons if one.changed}


def test_references_of_standardised_rows_and_landmarks():
    fitted = model(standardize=True)
    result = mercer.drift(fitted, rings(100, 1), reference=rings(150))
    assert not result.changed
    assert result.limits.source.startswith("from 150 rows of the reference")
    with pytest.warns(mercer.AccuracyWarning):
        fitted = model(300, landmarks=20)
    result = mercer.drift(fitted, rings(100, 1))
    assert result.t2.limit is None
    assert result.q.limit is None
    assert result.limits.source == "none; a reference gives them"
    given = mercer.drift(fitted, rings(100, 1), reference=rings(200))
    assert given.t2.limit is not None
    assert given.q.limit is None


def test_kernels_that_cannot_be_compared_are_refused():
    fitted = model()
    with pytest.raises(InputError, match="too few rows"):
        mercer.drift(fitted, rings(4))
    X = rings(40)
    given = mercer.KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(NotSupportedError, match="rows of numbers"):
        mercer.drift(given, X @ X.T)
    X = np.random.default_rng(0).normal(size=(9, 4))
    with pytest.warns(mercer.DataWarning):
        bare = mercer.KernelPCA("auto").fit(X)
    assert bare.n_components_ == 0
    with pytest.raises(InputError, match="without an axis"):
        mercer.drift(bare, X)


@pytest.mark.parametrize(("n", "p"), [(60, 6), (100, 100), (1000, 20)])
def test_limits_by_law_are_exceeded_as_often_as_they_say(n, p):
    rates = []
    for seed in range(40):
        X, Y, _ = tables(n, 200, p=p, seed=seed)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 200)
        expected, least, _ = known.expected(new.rest_squares)
        limits = lawful(known, new, expected, least, 0.95)
        rates.append([np.mean(new.t2 > limits.t2), np.mean(new.q > limits.q)])
    assert np.allclose(np.mean(rates, axis=0), 0.05, atol=0.015)


def test_references_give_limits_and_deviations():
    X, _, _ = tables(200, 2, heavy=4)
    known = before(mercer.PCA(2).fit(X))
    found = reference_of(known, X - known.mean, 0.9)
    assert (found.limits.t2, found.limits.q) == held_out(X - known.mean, 2).limits(0.9)
    assert np.allclose(found.deviations, X.std(axis=0, ddof=1))
    assert 0.5 < found.inside < 1 - known.rest / known.total
    X, _, _ = tables(200, 2)
    known = before(mercer.PCA(5).fit(X))
    found = reference_of(known, (X - known.mean)[:6], 0.95)
    assert found.limits is None
    assert found.inside is None
    assert found.deviations.shape == (6,)


def test_limits_of_the_model_are_read_and_checked():
    X, _, _ = tables(50, 2)
    model = mercer.PCA(2).fit(X)
    known = before(model)
    assert kept_limits(model, known, 0.95) is None
    for notes in ({"recipe": {}}, {"limits": None}, {"limits": {"0.9": [1, 2]}}):
        model.notes_ = notes
        assert kept_limits(model, known, 0.95) is None
    model.notes_ = {"limits": {"0.95": [7, None]}}
    found = kept_limits(model, known, 0.95)
    assert (found.t2, found.q, found.level, found.rows) == (7.0, math.inf, 0.95, 50.0)
    for wrong in ("high", [1], ["a", 2], 3):
        model.notes_ = {"limits": {"0.95": wrong}}
        with pytest.raises(InputError, match="are not understood"):
            kept_limits(model, known, 0.95)


def test_tails_are_read_from_quartiles():
    rng = np.random.default_rng(0)
    heavy = rng.f(10, 5, size=20_000)
    assert tail(heavy, 10) == pytest.approx(5, rel=0.1)
    normal = rng.chisquare(10, size=20_000)
    assert tail(normal, 10) > 200
    normal[:1000] *= 100  # rows far off are not tails
    assert tail(normal, 10) > 30
    assert tail(np.zeros(9), 10) > 1e6
    rates = []
    for seed in range(30):
        X, Y, _ = tables(500, 300, p=12, seed=seed, heavy=6)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 300)
        expected, least, _ = known.expected(new.rest_squares)
        limits = lawful(known, new, expected, least, 0.95)
        rates.append([np.mean(new.t2 > limits.t2), np.mean(new.q > limits.q)])
    assert np.all(np.mean(rates, axis=0) < 0.08)


def pair(n=100, m=60, **options):
    X, Y, _ = tables(n, m, **options)
    known = before(mercer.PCA(2).fit(X))
    return known, after(known, scan(Y), Y.mean(axis=0), m), Y


def test_chances_are_corrected_and_follow_student():
    p = np.random.default_rng(0).uniform(size=20) ** 3
    found = laws.holm(p)
    assert np.all(found >= p)
    assert np.all(found <= np.minimum(20 * p, 1))
    assert np.array_equal(np.argsort(found, kind="stable"), np.argsort(found, kind="stable"))
    assert found.min() == pytest.approx(min(1, 20 * p.min()))
    known, new, Y = pair(n=10**5, m=30)
    _, t, chance = laws.column_shifts(known, new)
    other = scipy.stats.ttest_1samp(Y, known.mean)
    assert np.allclose(t, other.statistic, rtol=3e-2)
    assert np.allclose(chance, other.pvalue, rtol=3e-2)


def test_the_plane_follows_hotelling():
    known, new, Y = pair()
    z = (Y - known.mean) @ known.axes.T
    d = z.mean(axis=0)
    statistic = d @ np.linalg.solve(np.cov(z.T), d) / (1 / 100 + 1 / 60)
    found, chance, k = laws.plane_shift(known, new)
    assert k == 2
    assert found == pytest.approx(statistic)
    assert chance == pytest.approx(scipy.stats.f.sf(statistic * 58 / (2 * 59), 2, 58))
    X, Y, _ = tables(100, 6, k=4)
    known = before(mercer.PCA(4).fit(X))
    new = after(known, scan(Y), Y.mean(axis=0), 6)
    assert laws.plane_shift(known, new)[2] == 3


def test_ratios_and_counts_follow_their_laws(monkeypatch):
    known, new, Y = pair()
    deviations = np.std(Y, axis=0, ddof=1) * 1.4
    found = laws.column_spreads(new, deviations, 100)
    worth = 2 / (new.fourth - 1)
    law = scipy.stats.f(worth * 59, worth * 99)
    assert np.allclose(found, 2 * law.cdf(1 / 1.4**2))
    assert new.fourth == 3.0 or worth < 1
    assert known.k == 2
    exact = laws.alarms_chance(5100, 100_000, 0.05, 50_000)
    monkeypatch.setattr(laws, "_MANY", 10)
    assert laws.alarms_chance(5100, 100_000, 0.05, 50_000) == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("count", [1, 4, 9, 30])
def test_counts_of_alarms_are_beta_binomial(count):
    law = scipy.stats.betabinom(60, 101 * 0.05, 101 * 0.95)
    assert laws.alarms_chance(count, 60, 0.05, 100) == pytest.approx(law.sf(count - 1))
    assert laws.alarms_chance(0, 60, 0.05, 100) == 1.0


def test_chances_are_spread_evenly_where_nothing_changed():
    found = {name: [] for name in ("outside", "turn", "twist", "total")}
    for seed in range(150):
        X, Y, _ = tables(60, 50, p=8, seed=seed)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 50)
        found["outside"].append(laws.outside_shift(known, new)[1])
        found["turn"].append(laws.turns(known, new)[0])
        found["twist"].append(laws.twists(known, new)[0, 1])
        found["total"].append(laws.total_change(known, new, 1.0)[1])
    for values in found.values():
        # Chances may be too large, as where an axis is close to its neighbour, never too small.
        assert np.mean(np.array(values) < 0.05) <= 0.09
    assert scipy.stats.kstest(found["outside"], "uniform").pvalue > 0.01


def test_shares_and_variances_are_compared_within_their_range():
    _, new, _ = pair()
    now = 1 - new.rest / new.total
    assert laws.captured_change(new, now - 0.1, now + 0.1, 100) == pytest.approx(1.0)
    less = laws.captured_change(new, now + 0.05, now + 0.1, 100)
    more = laws.captured_change(new, now - 0.2, now - 0.1, 100)
    assert less < 0.3
    assert more < 0.2
    assert laws.captured_change(new, 0.0, 1.0, 100) == 1.0
    known, new, _ = pair()
    now = np.diagonal(new.along)
    groups = [(0,), (1,)]
    ratios, chances = laws.axis_spreads(known, new, groups, (now * 0.9, now * 1.1), 1.0)
    assert np.allclose(ratios, 1)
    ratios, chances = laws.axis_spreads(known, new, groups, (now * 3, now * 4), 1.0)
    assert np.allclose(ratios, 1 / 3)
    assert np.all(chances < 0.01)
    joined, _ = laws.axis_spreads(known, new, [(0, 1)], (now / 2, now / 2), 1.0)
    assert joined == pytest.approx([2.0])
