"""Factor analysis: published fits, other optimisers, the laws of the model, units, refusals."""

import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn.decomposition
from scipy.optimize import approx_fprime, minimize
from scipy.stats import chi2, multivariate_normal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer import FactorAnalysis
from mercer.errors import AccuracyWarning, BudgetError, DataWarning, InputError

DATA = Path(__file__).parents[1] / "data"
RNG = np.random.default_rng(0)
FACTORS = RNG.standard_normal((400, 2))
LOADINGS = np.array([[2.0, 0], [1.5, 0], [1, 0], [0, 3], [0, 1], [0, 1.2], [0.5, 0.5]])
ROWS = FACTORS @ LOADINGS.T + RNG.standard_normal((400, 7)) * RNG.uniform(0.5, 1.5, 7) + 1e3
LEAST = 0.005  # the lower bound of R's factanal


def read(name):
    return pd.read_csv(DATA / name, index_col=0)


def quietly(model, X, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.fit(X, **given)


def sloped(noise, R, k):
    """Return ln|Σ| + tr Σ⁻¹R of the likeliest loadings, and its slope, plainly."""
    root = np.sqrt(noise)
    values, axes = np.linalg.eigh(R / np.outer(root, root))
    L = root[:, None] * axes[:, -k:] * np.sqrt(np.maximum(values[-k:] - 1, 0))
    sigma = L @ L.T + np.diag(noise)
    inverse = np.linalg.inv(sigma)
    slope = np.diagonal(inverse @ (sigma - R) @ inverse)
    return np.linalg.slogdet(sigma)[1] + np.trace(inverse @ R), slope


def deviance(noise, R, k):
    return sloped(noise, R, k)[0]


def of_model(model):
    """Return the covariance of a model among standardised columns."""
    S = model.get_covariance()
    scale = model.scale_
    return S / np.outer(scale, scale)


def reached(model, R):
    sigma = of_model(model)
    return np.linalg.slogdet(sigma)[1] + np.trace(np.linalg.solve(sigma, R))


# -- published ---------------------------------------------------------------------------


def test_ability_and_intelligence_tests_are_rs():
    """factanal(factors = 2, covmat = ability.cov), as R prints it."""
    model = FactorAnalysis.from_covariance(read("ability_cov.csv"), n_samples=112)
    known = [0.455, 0.589, 0.218, 0.769, 0.052, 0.334]
    np.testing.assert_allclose(model.uniquenesses_, known, rtol=0, atol=6e-4)
    turned = [[0.499, 0.543], [0.156, 0.622], [0.206, 0.860], [0.109, 0.468], [0.956, 0.182]]
    np.testing.assert_allclose(model.loadings_[:5], turned, rtol=0, atol=5e-3)
    assert (model.dof_, round(model.chi2_, 2), round(model.p_value_, 3)) == (4, 6.11, 0.191)
    one = FactorAnalysis.from_covariance(read("ability_cov.csv"), None, 112, n_components=1)
    np.testing.assert_allclose(
        one.uniquenesses_, [0.535, 0.853, 0.748, 0.910, 0.232, 0.280], rtol=0, atol=6e-4
    )
    assert (one.dof_, round(one.chi2_, 2)) == (9, 75.18)


def test_swiss_provinces_end_in_the_larger_of_two_maxima():
    swiss = read("swiss.csv")
    model = quietly(FactorAnalysis(2), swiss)
    assert model.log_likelihood_ == pytest.approx(-330.0967, abs=1e-3)  # another is -331.33
    assert model.loglike_ == model.log_likelihood_ == model.maxima_[0]
    assert [swiss.columns[j] for j in model.heywood_] == ["Education"]


# -- other optimisers --------------------------------------------------------------------


def tables():
    yield "iris", load_iris().data
    yield "swiss", read("swiss.csv").to_numpy()
    for seed in (0, 1, 2, 3, 59, 160):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(5, 10))
        mixed = rng.standard_normal((p, p)) * rng.uniform(0.1, 3, p)[:, None]
        yield f"drawn {seed}", rng.standard_normal((int(rng.integers(p + 2, 60)), p)) @ mixed


@pytest.mark.parametrize("X", [pytest.param(X, id=name) for name, X in tables()])
def test_no_other_search_finds_a_larger_likelihood(X):
    R, p = np.corrcoef(X.T), X.shape[1]
    rng = np.random.default_rng(1)
    for k in (1, 2, 3):
        model = quietly(FactorAnalysis(k), X)
        ours = deviance(model.uniquenesses_, R, k)
        for start in rng.uniform(LEAST, 1, (12, p)):
            other = minimize(
                sloped, start, (R, k), "L-BFGS-B", jac=True, bounds=[(LEAST, 1.0)] * p
            )
            assert other.fun >= ours - 1e-9 * p
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            other = sklearn.decomposition.FactorAnalysis(k, tol=1e-6, max_iter=500).fit(
                (X - X.mean(axis=0)) / X.std(axis=0)
            )
        if np.min(other.noise_variance_) >= LEAST:
            assert deviance(other.noise_variance_, R, k) >= ours - 1e-9 * p


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_slope_is_nothing_where_it_may_be_and_upwards_at_the_bound(k):
    X = read("swiss.csv").to_numpy()
    R, model = np.corrcoef(X.T), quietly(FactorAnalysis(k), X)
    slope = approx_fprime(model.uniquenesses_, deviance, 1e-7, R, k)
    held = np.isin(np.arange(6), model.heywood_)
    np.testing.assert_allclose(slope[~held] * model.uniquenesses_[~held], 0, atol=1e-5)
    assert np.all(slope[held] > 0)
    assert model.slope_ < 1e-9
    np.testing.assert_allclose(np.diagonal(of_model(model))[~held], 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rotation", [None, "varimax", "quartimax", "promax", "oblimin"])
def test_likelihood_and_covariance_are_scikit_learns(rotation):
    found = FactorAnalysis(2, rotation=rotation, standardize=False).fit(ROWS)
    other = sklearn.decomposition.FactorAnalysis(2, tol=1e-8, max_iter=5000).fit(ROWS)
    np.testing.assert_allclose(
        found.get_covariance() * 399 / 400, other.get_covariance(), rtol=0, atol=0.01
    )
    assert found.log_likelihood_ == pytest.approx(400 * other.score(ROWS), rel=1e-6)
    assert found.log_likelihood_ >= 400 * other.score(ROWS)
    np.testing.assert_allclose(
        found.communalities_, 1 - found.noise_variance_ / ROWS.var(axis=0, ddof=1)
    )


# -- the model -----------------------------------------------------------------------------


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("rotation", ["varimax", "promax"])
def test_densities_covariance_and_precision_are_in_the_units_of_the_data(standardize, rotation):
    model = FactorAnalysis(2, rotation=rotation, standardize=standardize).fit(ROWS)
    S = model.get_covariance()
    np.testing.assert_allclose(np.diagonal(S), ROWS.var(axis=0, ddof=1), rtol=1e-10)
    np.testing.assert_allclose(model.get_precision() @ S, np.eye(7), rtol=0, atol=1e-10)
    law = multivariate_normal(ROWS.mean(axis=0), S)
    np.testing.assert_allclose(model.score_samples(ROWS), law.logpdf(ROWS), rtol=1e-10)
    assert model.score(ROWS) == pytest.approx(np.mean(law.logpdf(ROWS)))
    scale = 0.0 if model.scale_ is None else np.sum(np.log(model.scale_))
    gone = 400 * (model.score(ROWS) + scale) - model.log_likelihood_
    assert -7 / (3.9 * 400) < gone < 0  # of a covariance that divides by n - 1
    R = np.corrcoef(ROWS.T)
    F = reached(FactorAnalysis(2).fit(ROWS), R) - np.linalg.slogdet(R)[1] - 7
    known = (400 - 1 - 19 / 6 - 4 / 3) * F
    assert (model.dof_, model.chi2_) == (8, pytest.approx(known))
    assert model.p_value_ == pytest.approx(chi2.sf(known, 8))


def test_scores_are_what_the_model_expects_of_the_factors():
    for rotation in (None, "oblimin"):
        plain = FactorAnalysis(2, rotation=rotation, standardize=False).fit(ROWS)
        L, phi, S = plain.loadings_, plain.correlations_, plain.get_covariance()
        gone = ROWS - ROWS.mean(axis=0)
        Z = plain.transform(ROWS)
        np.testing.assert_allclose(Z, gone @ np.linalg.solve(S, L @ phi), rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            FactorAnalysis(2, rotation=rotation).fit(ROWS).transform(ROWS), Z, rtol=0, atol=1e-9
        )
        again = plain.set_params(scores="bartlett").transform(ROWS)
        W = L / plain.noise_variance_[:, None]
        np.testing.assert_allclose(again, gone @ W @ np.linalg.inv(L.T @ W), rtol=0, atol=1e-9)
        assert np.all(again.var(axis=0) > Z.var(axis=0))


def test_simple_structure_and_units():
    found = FactorAnalysis(2).fit(ROWS)
    large = np.abs(found.loadings_) > 0.4
    truth = np.abs(LOADINGS) > 0
    order = [0, 1] if np.array_equal(large[:6, 0], truth[:6, 0]) else [1, 0]
    np.testing.assert_array_equal(large[:6][:, order], truth[:6])
    scaled = FactorAnalysis(2).fit(ROWS * 1e6 - 5e11)
    np.testing.assert_allclose(scaled.loadings_, found.loadings_, rtol=0, atol=1e-4)


def test_promax_and_oblimin_scores_and_correlations_and_saved_models(tmp_path):
    mixed = ROWS + np.outer(FACTORS[:, 0], LOADINGS[:, 1])
    plain = FactorAnalysis(2).fit(mixed).get_covariance()
    for rotation in ("promax", "oblimin"):
        found = FactorAnalysis(2, rotation=rotation).fit(mixed)
        assert abs(found.correlations_[0, 1]) > 0.1
        np.testing.assert_allclose(found.get_covariance(), plain, rtol=1e-9, atol=1e-9)
        mercer.save(found, tmp_path / "f.mercer")
        again = mercer.load(tmp_path / "f.mercer")
        np.testing.assert_array_equal(again.transform(mixed), found.transform(mixed))
        np.testing.assert_array_equal(again.score_samples(mixed), found.score_samples(mixed))
        assert again.plan_.chosen.name == "gram"


def test_models_of_the_guest_are_read():
    """Written while scikit-learn found the loadings; see PROVENANCE.md."""
    model = mercer.load(DATA / "models" / "factor_format_1.mercer")
    X = np.arange(36.0).reshape(9, 4) ** 2 % 23
    kept = np.loadtxt(DATA / "models" / "factor_format_1.csv", ndmin=2)
    np.testing.assert_allclose(model.transform(X), kept, rtol=1e-10)
    assert model.get_covariance().shape == (4, 4)
    assert np.isfinite(model.score(X))
    assert "factor 1" in model.report(X).html


@pytest.mark.parametrize("k", [1, 2, 3])
def test_evidence_finds_the_number_of_factors(k):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((500, k)) @ rng.standard_normal((k, 9)) * 2
    X += rng.standard_normal(X.shape)
    assert FactorAnalysis("evidence").fit(X).n_components_ == k


def test_no_factor_is_said_where_the_evidence_is_for_none():
    noise = np.random.default_rng(0).standard_normal((300, 8))
    with pytest.warns(DataWarning, match="no factor at all"):
        assert FactorAnalysis("evidence").fit(noise).n_components_ == 1


@pytest.mark.parametrize("rotation", ["varimax", "promax", "oblimin"])
def test_scores_do_not_depend_on_the_order_of_rows(rotation):
    rng = np.random.default_rng(4)
    factors = rng.standard_normal((200, 2))
    rows = np.repeat(factors, 3, axis=1) + rng.standard_normal((200, 6)) * np.tile(
        [0.3, 0.3, 1.0], 2
    )
    found = FactorAnalysis(2, rotation=rotation).fit(rows).transform(rows)
    other = FactorAnalysis(2, rotation=rotation).fit(rows[::-1]).transform(rows)
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-8)


# -- what comes in ---------------------------------------------------------------------------


def test_files_blocks_sparse_rows_weights_and_frames_are_the_same_rows(tmp_path):
    known = FactorAnalysis(2).fit(ROWS)
    np.save(tmp_path / "rows.npy", ROWS)
    frame = pl.from_numpy(ROWS, [f"c{j}" for j in range(7)])
    frame.write_csv(tmp_path / "rows.csv")
    sources = [
        str(tmp_path / "rows.npy"),
        str(tmp_path / "rows.csv"),
        iter(np.array_split(ROWS, 7)),
        scipy.sparse.csr_array(ROWS),
        frame,
    ]
    for source in sources:
        found = FactorAnalysis(2).fit(source)
        np.testing.assert_allclose(found.loadings_, known.loadings_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.scale_, known.scale_, rtol=1e-12)
    Z = known.transform(ROWS)
    for source in (sources[0], scipy.sparse.csr_array(ROWS)):
        np.testing.assert_allclose(known.transform(source), Z, rtol=0, atol=1e-12)
    counts = np.arange(400) % 3
    weighted = FactorAnalysis(2).fit(ROWS, sample_weight=counts)
    repeated = FactorAnalysis(2).fit(np.repeat(ROWS, counts, axis=0))
    for name in ("loadings_", "chi2_", "log_likelihood_", "bic_", "mean_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-7)
    assert known.set_output(transform="polars").transform(ROWS).columns == [
        "factoranalysis0",
        "factoranalysis1",
    ]


@pytest.mark.parametrize("standardize", [True, False])
def test_a_covariance_matrix_says_all_but_the_means(standardize):
    options = {"n_components": 2, "standardize": standardize}
    known = FactorAnalysis(**options).fit(ROWS)
    C = np.cov(ROWS.T)
    told = FactorAnalysis.from_covariance(C, ROWS.mean(axis=0), 400, **options)
    for name in ("loadings_", "noise_variance_", "log_likelihood_", "chi2_", "aic_"):
        np.testing.assert_allclose(getattr(told, name), getattr(known, name), rtol=1e-7)
    np.testing.assert_allclose(told.transform(ROWS), known.transform(ROWS), atol=1e-7)
    alone = FactorAnalysis.from_covariance(np.corrcoef(ROWS.T), n_components=2)
    assert alone.log_likelihood_ is alone.p_value_ is alone.n_samples_ is None
    np.testing.assert_allclose(alone.uniquenesses_, known.uniquenesses_, rtol=1e-7)
    assert "2 axes" in alone._repr_html_()
    assert "Loadings" in alone.report().html


@pytest.mark.parametrize(
    ("C", "options", "words"),
    [
        (np.diag([1.0, 0, 1]), {}, "does not vary"),
        (np.ones((2, 3)), {}, "must be a"),
        ("correlations", {}, "array of numbers"),
        (np.full((2, 2), np.nan), {}, "must be finite"),
        (np.array([[1.0, 0.2], [0.3, 1]]), {}, "symmetric"),
        (np.array([[1, 0.9, 0.1], [0.9, 1, 0.9], [0.1, 0.9, 1]]), {}, "negative eigenvalue"),
        (np.eye(3), {"n_components": "evidence"}, "number of rows"),
        (np.eye(3), {"n_components": 4}, "at most"),
        (np.diag([1e300, 1.0, 1.0]), {"standardize": False}, "range of float64"),
    ],
)
def test_what_is_no_covariance_is_refused(C, options, words):
    with pytest.raises(InputError, match=words):
        FactorAnalysis.from_covariance(C, **({"n_components": 1} | options))


UNITS = [1e-305, 1e-200, 1e200, 1e305, [1e300, 1e-300, 1, 1, 1, 9, 7]]


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_no_matter_however_large(unit, tmp_path):
    rows = ROWS - 1e3
    known = FactorAnalysis(2).fit(rows)
    found = FactorAnalysis(2).fit(rows * unit)
    np.testing.assert_allclose(
        found.transform(rows * unit), known.transform(rows), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(found.chi2_, known.chi2_, rtol=1e-9)
    np.testing.assert_allclose(
        found.score_samples(rows * unit),
        known.score_samples(rows) - np.sum(np.log(np.broadcast_to(unit, 7))),
        rtol=1e-9,
    )
    np.save(tmp_path / "rows.npy", rows * unit)
    np.testing.assert_allclose(
        FactorAnalysis(2).fit(tmp_path / "rows.npy").loadings_, found.loadings_, atol=1e-9
    )


def test_columns_far_from_the_origin_keep_their_digits():
    far = np.ldexp(np.round(np.ldexp(ROWS - 1e3, 20)), -20)
    known = FactorAnalysis(2).fit(far)
    found = FactorAnalysis(2).fit(far + 2.0**32)
    np.testing.assert_allclose(found.loadings_, known.loadings_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.transform(far + 2.0**32), known.transform(far), atol=1e-9)


def test_variances_beyond_the_numbers_are_refused_unless_standardised():
    with pytest.raises(InputError, match="leave the range of float64"):
        FactorAnalysis(1, standardize=False).fit(ROWS * 1e160)
    with pytest.raises(InputError, match="leave the range of float64"):
        FactorAnalysis(1).fit(ROWS * 1e160).get_covariance()


# -- what is odd -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.c_[ROWS, np.ones(400)], r"does not vary[\s\S]*1 such columns: column 7"),
        (np.c_[ROWS, np.full(400, 0.1)].astype(np.float32), "does not vary"),
        (np.where(ROWS[3, 2] == ROWS, np.nan, ROWS), "row 3, column 2"),
        (np.where(ROWS[3, 2] == ROWS, np.inf, ROWS), "row 3, column 2"),
        (ROWS[:, :1], "at most"),
    ],
)
def test_what_has_no_factors_is_refused_and_nothing_changes(rows, words):
    model = FactorAnalysis(2).fit(ROWS)
    before = model.loadings_
    with pytest.raises(InputError, match=words):
        model.fit(rows)
    assert model.loadings_ is before


def test_a_copy_of_a_column_is_a_heywood_case():
    X = np.c_[ROWS, ROWS[:, 0]]
    with pytest.warns(DataWarning, match="Heywood"):
        found = FactorAnalysis(3).fit(X)
    assert {0, 7} & set(found.heywood_.tolist())
    assert np.all(found.uniquenesses_[found.heywood_] == pytest.approx(LEAST))
    assert found.chi2_ is found.p_value_ is None  # the correlations are singular


def test_fewer_rows_than_columns_have_a_model_and_no_test():
    X = ROWS[:5] + RNG.standard_normal((5, 7))
    found = quietly(FactorAnalysis(1), X)
    assert found.chi2_ is None
    assert np.isfinite(found.score_samples(X)).all()
    np.testing.assert_allclose(
        found.get_precision() @ found.get_covariance(), np.eye(7), rtol=0, atol=1e-9
    )


def test_more_factors_than_columns_can_tell_are_said():
    with pytest.warns(DataWarning, match=r"more factors than[\s\S]*=2, 4 columns: -1 degrees"):
        found = FactorAnalysis(2).fit(load_iris().data)
    assert found.p_value_ is None
    one = FactorAnalysis(1).fit(ROWS[:, :4])
    assert (one.dof_, len(one.heywood_)) == (2, 0)


def test_whole_numbers_that_float64_rounds_are_said():
    X = np.round((ROWS - 1e3) * 1e4).astype(np.int64) + 2**60
    with pytest.warns(DataWarning, match=r"beyond 2\^53"):
        found = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(
        found.loadings_, FactorAnalysis(2).fit(ROWS).loadings_, atol=0.05
    )


def test_a_search_that_is_cut_short_is_said():
    with pytest.warns(AccuracyWarning, match="still growing"):
        FactorAnalysis(2, tol=1e-300).fit(ROWS)


def test_the_plan_holds_what_a_fit_takes():
    X = np.random.default_rng(0).standard_normal((300, 60))
    X += np.random.default_rng(1).standard_normal((300, 1))
    model = FactorAnalysis(1)
    model.fit(ROWS)
    allowed = mercer.plan(model, X).bytes
    tracemalloc.start()
    model.fit(X)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < allowed
    with pytest.raises(BudgetError, match="memory"):
        FactorAnalysis(1, memory=1000).fit(X)


@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
@pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")
def test_it_keeps_scikit_learns_contract():
    done = check_estimator(FactorAnalysis(1), on_skip=None, on_fail=None)
    assert not {r["check_name"]: repr(r["exception"]) for r in done if r["status"] == "failed"}
    assert sum(r["status"] == "passed" for r in done) >= 40
