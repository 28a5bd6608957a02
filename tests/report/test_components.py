"""Components: variances and shares against numpy.linalg, the band against drawn noise."""

import warnings

import numpy as np
import pytest

import mercer
from mercer.report.facts._linear_summary import seen_from
from mercer.report.panels._axes_panels import components_section

RNG = np.random.default_rng(12)
X = RNG.normal(size=(80, 2)) @ RNG.normal(size=(2, 7)) * 2 + RNG.normal(size=(80, 7))


def spectrum_of(rows, **options):
    return np.linalg.eigvalsh(np.cov(rows.T, **options))[::-1]


def section_of(model, rows, **options):
    return components_section(seen_from(model, rows, **options))


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_every_variance_lies_in_its_interval(scale, k):
    section = section_of(mercer.PCA(k).fit(X * scale), X * scale)
    table = section.parts[1]
    exact = spectrum_of(X) * scale**2
    found, error, share, total = np.array([row[1:] for row in table.rows]).T
    assert np.allclose(found, exact, rtol=1e-10, atol=0)
    assert np.all(np.abs(found - exact) <= error + 1e-14 * exact)
    assert np.allclose(share, 100 * exact / exact.sum())
    assert np.allclose(total, np.cumsum(share))
    assert total[-1] == pytest.approx(100)
    assert table.chosen == tuple(range(k))


@pytest.mark.parametrize("standardize", [False, True])
def test_shares_with_weighted_columns_sum_to_a_hundred(standardize):
    weights = np.array([9.0, 1.0, 0.1, 4.0, 1.0, 25.0, 1.0])
    model = mercer.PCA(2, standardize=standardize, feature_weight=weights).fit(X)
    table = section_of(model, X).parts[1]
    scaled = X / X.std(axis=0, ddof=1) if standardize else X
    exact = spectrum_of(scaled * np.sqrt(weights))
    assert np.allclose([row[1] for row in table.rows], exact)
    assert table.rows[-1][-1] == pytest.approx(100)


def test_rows_that_count_often_are_those_that_are_repeated():
    counts = RNG.integers(0, 5, len(X))
    model = mercer.PCA(1).fit(X, sample_weight=counts)
    rows = section_of(model, X, sample_weight=counts).parts[1].rows
    assert np.allclose([row[1] for row in rows], spectrum_of(X, fweights=counts))


def test_a_robust_fit_goes_on_without_its_outliers():
    rows = X.copy()
    rows[:4] += 500 * RNG.normal(size=(4, 7))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.RobustPCA(2, standardize=True).fit(rows)
    table = section_of(model, rows).parts[1]
    assert set(range(4)) <= set(model.outliers_)
    found = np.array([row[1] for row in table.rows])
    assert np.all(np.diff(found[2:]) <= 1e-12)
    clean = np.delete(rows, model.outliers_, axis=0) / model.scale_
    assert np.all(found < 2 * spectrum_of(clean) * getattr(model, "consistency_", 1.0))


def test_the_band_is_that_of_drawn_noise():
    noise = RNG.normal(size=(60, 4)) * [1, 2, 3, 4]
    with pytest.warns(mercer.DataWarning):
        model = mercer.PCA("auto").fit(noise)
    section = section_of(model, noise)
    band = next(m for m in section.parts[0].panel.marks if type(m).__name__ == "Band")
    unit = 100 / np.sum(np.var(noise, axis=0, ddof=1))
    columns = np.var(noise, axis=0, ddof=1)
    drawn = [spectrum_of(RNG.normal(size=(60, 4)) * np.sqrt(columns)) for _ in range(400)]
    low, high = unit * np.quantile(drawn, [0.05, 0.95], axis=0)
    assert np.allclose(band.lower, low, rtol=0.2)
    assert np.allclose(band.upper, high, rtol=0.2)


def test_all_rules_stand_beside_each_other():
    model = mercer.PCA("auto").fit(X)
    table = section_of(model, X).parts[2]
    assert len(table.rows) == len(model.choice_.rules) > 5
    assert table.rows[0][1] == model.n_components_ == 2
    assert table.chosen == (0,)


@pytest.mark.parametrize("rows", [X[:2], X[:3], X[:, :1]], ids=["two", "three", "column"])
def test_small_tables_have_a_spectrum(rows):
    table = section_of(mercer.PCA(1).fit(rows), rows).parts[1]
    exact = np.atleast_1d(np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)) ** 2
    assert table.rows[0][1] == pytest.approx(exact[0] / (len(rows) - 1))


@pytest.mark.parametrize("scale", [1e-160, 1e155])
def test_squares_beyond_all_numbers_are_refused(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mercer.PCA(2).fit(X * scale)
        with pytest.raises(mercer.errors.InputError, match="standardize=True") as refused:
            seen_from(model, X * scale)
    assert len(str(refused.value).splitlines()) == 3
