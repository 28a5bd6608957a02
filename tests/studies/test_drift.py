import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from tests.studies.drift_tables import tables

import mercer
from mercer.errors import InputError, NotSupportedError
from mercer.studies import Drift, drift


def found(result, what):
    return next(one for one in result.comparisons if one.what == what)


def chances(result):
    return {one.what: one.chance for one in result.comparisons}


def test_nothing_changed_is_said_in_four_words():
    X, Y, _ = tables(300, 200)
    result = drift(mercer.PCA(2).fit(X), Y)
    assert result.verdict == "no change beyond chance"
    assert not result.changed
    assert result.rows, result.fitted_rows == (200, 300)
    assert str(result).splitlines()[1] == "no change beyond chance"


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


def test_a_shift_along_an_axis_is_in_the_plane_and_one_across_is_outside():
    X, Y, axes = tables(300, 200)
    model = mercer.PCA(2).fit(X)
    along = drift(model, Y + 3 * axes[:, 0])
    assert found(along, "mean within the plane").changed
    assert not found(along, "mean outside the plane").changed
    across = drift(model, Y + axes[:, 4])
    assert found(across, "mean outside the plane").changed
    assert not found(across, "mean within the plane").changed


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


def test_whitening_and_saving_make_no_difference(tmp_path):
    X, Y, _ = tables(300, 200)
    model = mercer.PCA(2).fit(X)
    mercer.save(model, tmp_path / "a.mercer")
    plain = chances(drift(model, Y))
    assert chances(drift(mercer.load(tmp_path / "a.mercer"), Y)) == plain
    assert chances(drift(mercer.PCA(2, whiten=True).fit(X), Y)) == pytest.approx(plain)


def test_repeat_counts_of_the_fit_count_as_rows():
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


def test_as_many_axes_as_rows_say_nothing_of_variances():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 300)), rng.standard_normal((30, 300))
    result = drift(mercer.PCA().fit(X), Y)
    assert not result.changed
    assert chances(result)["variances along the axes"] == 1.0


def test_rare_counts_that_are_absent_are_no_change():
    rng = np.random.default_rng(0)
    X, Y = (rng.uniform(size=(n, 60)) for n in (200, 60))
    X, Y = (np.where(part < 0.02, 50 * part, 0.0) for part in (X, Y))
    result = drift(mercer.PCA(2).fit(X), Y)
    assert np.any(Y.max(axis=0) == 0)
    assert np.isfinite(result.columns.shift_se).all()
    assert not found(result, "means of the columns").changed


def test_deviations_of_a_spherical_fit_are_not_taken_for_variances():
    X, Y, _ = tables(300, 200)
    result = drift(mercer.RobustPCA(2, method="spherical").fit(X), Y)
    assert not result.changed
    assert "total variance" not in chances(result)
    assert any("spherical" in note for note in result.notes)


def test_columns_that_were_or_became_constant():
    X, Y, _ = tables(100, 80)
    X[:, 0], Y[:, 0] = 3.0, 3.0
    assert not drift(mercer.PCA(2).fit(X), Y).changed
    Y[:, 0] = 4.0
    moved = drift(mercer.PCA(2).fit(X), Y)
    assert "column 0" in found(moved, "means of the columns").says
    json.dumps(moved.document())


def test_the_document_is_plain_and_whole():
    X, Y, _ = tables(100, 80)
    document = drift(mercer.PCA(2).fit(X), Y + 1, reference=X).document()
    text = json.loads(json.dumps(document))
    assert text["changed"] is True
    assert len(text["columns"]["shift_sd"]) == 6
    assert {
        "rows",
        "fitted_rows",
        "comparisons",
        "captured",
        "turns",
        "limits",
        "notes",
    } <= text.keys()


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


def test_the_result_is_of_the_public_class():
    X, Y, _ = tables(100, 80)
    assert isinstance(mercer.drift(mercer.PCA(2).fit(X), Y), Drift)
