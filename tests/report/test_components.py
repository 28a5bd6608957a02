"""Components: variances and shares against numpy.linalg, the band against drawn noise."""

import warnings

import numpy as np
import pytest
import scipy.sparse

import mercer
from mercer.diagnostics import Finding
from mercer.report.facts._linear_summary import row_weights, seen_from, widened
from mercer.report.pages._axes_page import verdict
from mercer.report.panels._axes_panels import components_section
from mercer.report.panels._rows_panels import extremes_of
from mercer.selection import Choice, Rule

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


def test_counts_and_rules_stand_in_the_tables():
    counts = RNG.integers(0, 5, len(X))
    model = mercer.PCA(1).fit(X, sample_weight=counts)
    rows = section_of(model, X, sample_weight=counts).parts[1].rows
    assert np.allclose([row[1] for row in rows], spectrum_of(X, fweights=counts))
    model = mercer.PCA("auto").fit(X)
    table = section_of(model, X).parts[2]
    assert len(table.rows) == len(model.choice_.rules) > 5
    assert table.rows[0][1] == model.n_components_ == 2
    assert table.chosen == (0,)


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


# Further axes: orthonormal, those of the spectrum, the model's own untouched.


MADE = np.random.default_rng(18)
GRADED = MADE.normal(size=(90, 7)) * [9, 8, 5, 4, 3, 2, 1] + 100


def pairs(rows):
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    return values[::-1], vectors[:, ::-1].T


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("standardize", [False, True])
def test_all_axes_are_those_of_the_covariance(k, standardize):
    wide = widened(mercer.PCA(k, standardize=standardize).fit(GRADED), GRADED)
    values, axes = pairs(GRADED / GRADED.std(axis=0, ddof=1) if standardize else GRADED)
    assert np.allclose(wide.explained_variance_, values)
    assert np.allclose(np.abs(np.sum(wide.components_ * axes, axis=1)), 1)
    assert np.allclose(wide.components_ @ wide.components_.T, np.eye(7))
    assert np.sum(wide.explained_variance_ratio_) == pytest.approx(1)
    assert np.all((wide.lower <= values * (1 + 1e-12)) & (values <= wide.upper * (1 + 1e-12)))


def test_outlying_and_sparse_rows_are_widened():
    rows = GRADED.copy()
    rows[3] += 1e4
    model = mercer.RobustPCA(2).fit(rows)
    weights = row_weights(model, None)
    assert weights[3] == 0
    assert weights.sum() == 90 - len(model.outliers_)
    assert widened(model, rows, weights).explained_variance_.max() < 200
    given = np.full(90, 2)
    assert row_weights(model, given).sum() == 2 * (90 - len(model.outliers_))
    assert given.sum() == 180
    assert row_weights(mercer.PCA(1).fit(GRADED), None) is None
    rows = scipy.sparse.random_array((200, 60), density=0.2, random_state=MADE, format="csr")
    wide = widened(mercer.PCA(2).fit(rows), rows)
    values, _ = pairs(rows.toarray())
    assert len(wide.components_) == 30
    assert np.allclose(wide.explained_variance_, values[:30])


DRAWS = np.random.default_rng(5)


def said(X, **options):
    model = mercer.PCA("auto").fit(X)
    seen = seen_from(model, X, **options)
    return " ".join(verdict(seen, extremes_of(seen)))


def test_noise_and_outlying_rows_are_named():
    X = DRAWS.normal(size=(200, 10))
    with pytest.warns(mercer.DataWarning):
        assert said(X).startswith("No component is beyond noise")
    X = DRAWS.normal(size=(200, 2)) @ DRAWS.normal(size=(2, 10)) * 3 + DRAWS.normal(
        size=(200, 10)
    )
    X[31] += 40 * DRAWS.normal(size=10)
    assert "normal rows reach: row 32" in said(X)
    X = DRAWS.normal(size=(200, 2)) @ DRAWS.normal(size=(2, 10)) * 3 + DRAWS.normal(
        size=(200, 10)
    )
    X[31] += 40 * DRAWS.normal(size=10)
    names = [str(1000 + i) for i in range(200)]
    seen = seen_from(mercer.PCA(2).fit(X), X, row_names=names)
    assert "named 1031" in " ".join(verdict(seen, extremes_of(seen)))


def test_groups_and_shares_are_those_of_the_fit():
    X = DRAWS.normal(size=(200, 2)) @ DRAWS.normal(size=(2, 10)) * 3 + DRAWS.normal(
        size=(200, 10)
    )
    random = DRAWS.choice(["a", "b"], 200)
    assert "do not lie apart on the map beyond chance" in said(X, colours={"g": random})
    X[:100] += 20
    real = np.repeat(["a", "b"], 100)
    assert "The 2 groups of g lie far apart" in said(X, colours={"g": real})
    X = DRAWS.normal(size=(300, 1)) * 5 @ DRAWS.normal(size=(1, 6)) + DRAWS.normal(
        size=(300, 6)
    )
    share = 100 * mercer.PCA(1).fit(X).explained_variance_ratio_[0]
    assert said(X).startswith(f"1 component carries more than noise, and {share:.1f} %")


@pytest.mark.parametrize(
    ("first", "k", "others", "words"),
    [
        ("stepwise edge", 4, (1, 2), ["Up to 4 components", "say 1 to 2: take PC3 and PC4"]),
        ("stepwise edge", 4, (3, 3), ["say 3: take PC4 with care"]),
        ("stepwise edge", 2, (4, 5), ["2 components carry", "By size there are 4 to 5"]),
        ("stepwise edge", 3, (1, 20), ["3 components carry", "from 1 to 20"]),
    ],
    ids=["fewer", "one fewer", "more", "anything"],
)
def test_rules_that_differ_are_told(first, k, others, words):
    X = DRAWS.normal(size=(100, 12))
    model = mercer.PCA(5).fit(X)
    names = ("parallel, normal", "Gavish-Donoho")
    rules = [
        Rule(first, k, ""),
        *(Rule(*pair, "") for pair in zip(names, others, strict=False)),
    ]
    seen = seen_from(model, X, choice=Choice(k, tuple(rules), np.ones(9), "all rows"))
    text = " ".join(verdict(seen, extremes_of(seen)))
    assert all(word in text for word in words), text


def test_what_asks_for_care_is_in_the_verdict():
    X = DRAWS.normal(size=(20, 1)) * 5 @ DRAWS.normal(size=(1, 6)) + DRAWS.normal(size=(20, 6))
    seen = seen_from(mercer.PCA(2).fit(X), X)
    near = Finding("M106", "PC2 and PC3: read the plane, not the axes", "", "")
    far = Finding("M106", "PC4 and what follows cannot be told apart", "", "")
    text = " ".join(verdict(seen, extremes_of(seen), (near, far), ["year has few values"]))
    assert "Read with care: there are only 20 rows; PC2 and PC3" in text
    assert "(M106); year has few values." in text
    assert "PC4 and what follows" not in text
