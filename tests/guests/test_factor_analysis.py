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
    np.testing.assert_allclose(found.get_covariance(), other.get_covariance(), atol=0.02)
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
    np.testing.assert_allclose(scaled.loadings_, found.loadings_, atol=1e-4)


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
