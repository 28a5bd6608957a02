import numpy as np
import pandas as pd
import pytest
import scipy.special

import mercer
from mercer import PCA
from mercer.errors import DataWarning, InputError
from mercer.estimators.missing import _imputation as _imputations


def _population(seed, n=300, p=8, k=2, share=0.2):
    """Return axes (p, k), centred complete rows, complete rows, and rows with gaps."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((p, k)))
    centred = rng.standard_normal((n, k)) * [3.0, 1.8] @ axes.T
    centred += 0.5 * rng.standard_normal((n, p))
    values = centred + 3 * rng.standard_normal(p)
    gaps = rng.random((n, p)) < share
    gaps[gaps.all(axis=1)] = False
    return axes, centred, values, np.where(gaps, np.nan, values)


def _held(seed, method, draws=20):
    """Return how many intervals hold: coordinates on the axes of the population, and cells."""
    axes, centred, values, x = _population(seed)
    pca = PCA(2, missing=method).fit(x)
    found = mercer.multiple_imputation(pca, x, draws=draws, random_state=seed)
    left, _, right = np.linalg.svd(axes.T @ pca.components_.T)
    true = centred @ axes @ (left @ right)
    low, high = found.interval(0.95)
    gaps = np.isnan(x)
    tables = np.stack(list(found.tables()))
    middle, spread = tables.mean(axis=0), tables.std(axis=0, ddof=1)
    reach = scipy.special.stdtrit(draws - 1, 0.975) * spread * np.sqrt(1 + 1 / draws)
    some = gaps.any(axis=1)
    inside = (low <= true) & (true <= high)
    cells = (np.abs(middle - values) <= reach)[gaps]
    return np.mean(inside[some]), np.mean(inside[~some]), np.mean(cells)


def test_intervals_hold_what_they_promise():
    some, complete, cells = np.mean([_held(seed, "em") for seed in range(30)], axis=0)
    assert 0.93 < some < 0.97
    # What is off in complete rows is off in all rows of a table: 30 tables tell less of it.
    assert 0.91 < complete < 0.98
    assert 0.93 < cells < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "ppca"])
def test_intervals_hold_over_many_tables(method):
    some, complete, cells = np.mean([_held(seed, method) for seed in range(200)], axis=0)
    assert 0.935 < some < 0.965
    assert 0.92 < complete < 0.97
    assert 0.94 < cells < 0.96


def test_what_is_known_has_no_spread_within():
    _, _, _, x = _population(1)
    pca = PCA(2, missing="em").fit(x)
    found = mercer.multiple_imputation(pca, x, draws=4)
    whole = ~np.isnan(x).any(axis=1)
    assert not found.within[whole].any()
    assert np.all(found.within[~whole] > 0)
    assert np.all(found.between > 0)
    np.testing.assert_allclose(found.total, found.within + 1.25 * found.between)
    # The draws are turned to the fitted axes: their mean is near the fitted coordinates.
    gap = np.abs(found.scores - pca.transform(x))
    assert np.mean(gap) < 0.1 * np.sqrt(pca.explained_variance_[1])


def test_the_same_seed_gives_the_same_tables_one_at_a_time(monkeypatch):
    _, _, _, x = _population(2)
    pca = PCA(2, missing="ppca").fit(x)
    one = mercer.multiple_imputation(pca, x, draws=3, random_state=7)
    other = mercer.multiple_imputation(pca, x, draws=3, random_state=7)
    np.testing.assert_array_equal(one.total, other.total)
    tables = list(one.tables())
    assert len(tables) == 3
    for mine, again, third in zip(tables, one.tables(), other.tables(), strict=True):
        np.testing.assert_array_equal(mine, again)
        np.testing.assert_array_equal(mine, third)
        np.testing.assert_array_equal(mine[~np.isnan(x)], x[~np.isnan(x)])
        assert np.isfinite(mine).all()
    assert not np.array_equal(tables[0], tables[1])
    third = mercer.multiple_imputation(pca, x, draws=3, random_state=8)
    assert not np.array_equal(one.between, third.between)
    made = []
    draw = _imputations.drawn
    monkeypatch.setattr(_imputations, "drawn", lambda *a: made.append(1) or draw(*a))
    walk = one.tables()
    assert made == []
    next(walk)
    assert made == [1]


def test_weights_are_rows_that_stand_more_than_once():
    """Resampling counts rows, so that zero weight is absence."""
    _, _, _, x = _population(3, n=150)
    counts = np.ones(150)
    counts[100:] = 0
    few = PCA(2, missing="ppca").fit(x[:100])
    all_ = PCA(2, missing="ppca").fit(x, sample_weight=counts)
    one = mercer.multiple_imputation(few, x[:100], draws=30)
    other = mercer.multiple_imputation(all_, x, draws=30, sample_weight=counts)
    ratio = np.mean(other.between[:100]) / np.mean(one.between)
    assert 0.6 < ratio < 1.6
    np.testing.assert_allclose(other.within[:100], one.within, rtol=0.2)
    # Four times the rows: a quarter of the variance that parameters have.
    heavy = PCA(2, missing="ppca").fit(x, sample_weight=4 * counts)
    third = mercer.multiple_imputation(heavy, x, draws=30, sample_weight=4 * counts)
    assert 0.15 < np.mean(third.between[:100]) / np.mean(one.between) < 0.4


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_the_unit_does_not_matter(unit):
    _, _, _, x = _population(4, n=80)
    plain = mercer.multiple_imputation(PCA(2, missing="em").fit(x), x, draws=3)
    scaled = mercer.multiple_imputation(PCA(2, missing="em").fit(x * unit), x * unit, draws=3)
    np.testing.assert_allclose(scaled.scores / unit, plain.scores, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(scaled.total / unit**2, plain.total, rtol=1e-2, atol=1e-4)


def test_standardised_columns_and_frames():
    _, _, _, x = _population(5, n=100)
    frame = pd.DataFrame(x * np.logspace(0, 4, 8), columns=list("abcdefgh"))
    pca = PCA(2, missing="em", standardize=True).fit(frame)
    found = mercer.multiple_imputation(pca, frame, draws=3)
    gap = np.abs(found.scores - pca.transform(frame))
    assert np.mean(gap) < 0.15 * np.sqrt(pca.explained_variance_[1])
    table = next(found.tables())
    assert list(table.columns) == list("abcdefgh")
    assert not table.isna().any(axis=None)


@pytest.mark.parametrize("unit", [1e-200, 1e100])
def test_standardised_coordinates_have_no_unit(unit):
    _, _, _, x = _population(5)
    found = [
        mercer.multiple_imputation(
            PCA(2, missing="em", standardize=True).fit(rows), rows, draws=3
        )
        for rows in (x, x * unit)
    ]
    for name in ("scores", "within", "between"):
        one, other = (getattr(each, name) for each in found)
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-7 * np.abs(one).max())


def test_only_axes_of_the_completion_are_told_of():
    _, _, _, x = _population(6, n=100)
    pca = PCA(missing="em").fit(x)
    found = mercer.multiple_imputation(pca, x, draws=3)
    assert found.scores.shape == (100, pca.completion_.axes.shape[1])


def test_refusals():
    _, _, values, x = _population(7, n=60)
    pca = PCA(2, missing="em").fit(x)
    with pytest.raises(InputError, match="at least two draws"):
        mercer.multiple_imputation(pca, x, draws=1)
    with pytest.raises(InputError, match="rows of the fit"):
        mercer.multiple_imputation(pca, x[:50])
    with pytest.raises(InputError, match="fills missing cells"):
        mercer.multiple_imputation(PCA(2).fit(values), values)
    with pytest.raises(InputError, match="between 0 and 1"):
        mercer.multiple_imputation(pca, x, draws=2).interval(95)
    with pytest.warns(DataWarning, match="variances leave the range"):
        far = PCA(2, missing="em").fit(x * 1e200)
    with pytest.raises(InputError, match="range of float64"):
        mercer.multiple_imputation(far, x * 1e200)


def test_a_row_with_nothing_observed_is_as_open_as_the_population():
    _, _, _, x = _population(8, n=200)
    x[5] = np.nan
    with pytest.warns(DataWarning, match="nothing observed"):
        pca = PCA(2, missing="ppca").fit(x)
    with pytest.warns(DataWarning, match="nothing observed"):
        found = mercer.multiple_imputation(pca, x, draws=4)
    np.testing.assert_allclose(found.scores[5], 0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.within[5], pca.explained_variance_, rtol=0.2)
    low, high = found.interval()
    assert np.isfinite(high - low).all()


@pytest.mark.parametrize("whiten", [True, "zca"])
def test_whitened_coordinates_are_refused(whiten):
    x = _population(0, n=60)[3]
    pca = PCA(2, missing="ppca", whiten=whiten).fit(x)
    with pytest.raises(InputError, match="a whitened model are not drawn"):
        mercer.multiple_imputation(pca, x, draws=2)
