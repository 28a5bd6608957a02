import numpy as np
import polars as pl
import pytest
import sklearn.decomposition
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import FactorAnalysis
from mercer.errors import DataWarning, InputError

RNG = np.random.default_rng(0)
FACTORS = RNG.standard_normal((400, 2))
LOADINGS = np.array([[2.0, 0], [1.5, 0], [1, 0], [0, 3], [0, 1], [0, 1.2], [0.5, 0.5]])
ROWS = FACTORS @ LOADINGS.T + RNG.standard_normal((400, 7)) * RNG.uniform(0.5, 1.5, 7) + 1e3


@pytest.mark.parametrize("rotation", [None, "varimax", "quartimax", "promax"])
def test_likelihood_and_covariance_are_scikit_learns(rotation):
    found = FactorAnalysis(2, rotation=rotation, standardize=False, tol=1e-10).fit(ROWS)
    other = sklearn.decomposition.FactorAnalysis(2, tol=1e-8, max_iter=5000).fit(ROWS)
    np.testing.assert_allclose(
        found.get_covariance(), other.get_covariance(), rtol=0, atol=0.02
    )
    assert found.log_likelihood_ == pytest.approx(400 * other.score(ROWS), rel=1e-5)
    np.testing.assert_allclose(
        found.communalities_, 1 - found.noise_variance_ / ROWS.var(axis=0)
    )


def test_regression_scores_are_scikit_learns_and_bartletts_are_not_shrunk():
    plain = FactorAnalysis(2, rotation=None, standardize=False).fit(ROWS)
    other = sklearn.decomposition.FactorAnalysis(2, tol=1e-6, max_iter=5000).fit(ROWS)
    Z, W = plain.transform(ROWS), other.transform(ROWS)
    np.testing.assert_allclose(np.abs(np.sum(Z * W, axis=0)), np.sum(W**2, axis=0), rtol=1e-2)
    again = FactorAnalysis(2, rotation=None, standardize=False, scores="bartlett").fit(ROWS)
    assert np.all(again.transform(ROWS).var(axis=0) > Z.var(axis=0))


def test_simple_structure_and_units():
    found = FactorAnalysis(2).fit(ROWS)
    large = np.abs(found.loadings_) > 0.4
    truth = np.abs(LOADINGS) > 0
    order = [0, 1] if np.array_equal(large[:6, 0], truth[:6, 0]) else [1, 0]
    np.testing.assert_array_equal(large[:6][:, order], truth[:6])
    scaled = FactorAnalysis(2).fit(ROWS * 1e6 - 5e11)
    np.testing.assert_allclose(scaled.loadings_, found.loadings_, rtol=0, atol=1e-4)


def test_promax_scores_and_correlations_and_saved_models(tmp_path):
    mixed = ROWS + np.outer(FACTORS[:, 0], LOADINGS[:, 1])
    found = FactorAnalysis(2, rotation="promax").fit(mixed)
    assert abs(found.correlations_[0, 1]) > 0.1
    mercer.save(found, tmp_path / "f.mercer")
    again = mercer.load(tmp_path / "f.mercer")
    np.testing.assert_array_equal(again.transform(mixed), found.transform(mixed))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_evidence_finds_the_number_of_factors(k):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((500, k)) @ rng.standard_normal((k, 9)) * 2
    X += rng.standard_normal(X.shape)
    assert FactorAnalysis("evidence").fit(X).n_components_ == k


def test_names_are_kept_and_names_of_scores_too():
    frame = pl.from_numpy(ROWS, [f"c{j}" for j in range(7)])
    found = FactorAnalysis(2).set_output(transform="polars").fit(frame)
    assert found.transform(frame).columns == ["factoranalysis0", "factoranalysis1"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.c_[ROWS, np.ones(400)], "does not vary"),
        (np.where(ROWS[3, 2] == ROWS, np.nan, ROWS), "row 3, column 2"),
        (ROWS[:, :1], "at most"),
    ],
)
def test_what_has_no_factors_is_refused(rows, words):
    with pytest.raises(InputError, match=words):
        FactorAnalysis(2).fit(rows)


def test_a_copy_of_a_column_is_a_heywood_case():
    X = np.c_[ROWS, ROWS[:, 0]]
    with pytest.warns(DataWarning, match="Heywood"):
        found = FactorAnalysis(3, max_iter=50_000, tol=1e-10).fit(X)
    assert {0, 7} & set(found.heywood_.tolist())


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_it_keeps_scikit_learns_contract():
    done = check_estimator(FactorAnalysis(1), on_skip=None, on_fail=None)
    assert not {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert sum(r["status"] == "passed" for r in done) >= 40


def test_no_factor_is_said_where_the_evidence_is_for_none():
    noise = np.random.default_rng(0).standard_normal((300, 8))
    with pytest.warns(DataWarning, match="no factor at all"):
        assert FactorAnalysis("evidence").fit(noise).n_components_ == 1


@pytest.mark.parametrize("rotation", ["varimax", "promax"])
def test_scores_do_not_depend_on_the_order_of_rows(rotation):
    rng = np.random.default_rng(4)
    factors = rng.standard_normal((200, 2))
    rows = np.repeat(factors, 3, axis=1) + rng.standard_normal((200, 6)) * np.tile(
        [0.3, 0.3, 1.0], 2
    )
    found = FactorAnalysis(2, rotation=rotation).fit(rows).transform(rows)
    other = FactorAnalysis(2, rotation=rotation).fit(rows[::-1]).transform(rows)
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-305, 1e-200, 1e200, 1e305, [1e300, 1e-300, 1, 1, 1, 9, 7]])
def test_units_are_no_matter_however_large(unit):
    rows = ROWS - 1e3
    found = FactorAnalysis(2).fit(rows * unit).transform(rows * unit)
    np.testing.assert_allclose(
        found, FactorAnalysis(2).fit(rows).transform(rows), rtol=0, atol=1e-9
    )


def test_variances_beyond_the_numbers_are_refused_unless_standardised():
    with pytest.raises(InputError, match="leave the range of float64"):
        FactorAnalysis(1, standardize=False).fit(ROWS * 1e160)
