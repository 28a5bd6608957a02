"""How many axes, and axes turned."""

import dataclasses
import tracemalloc

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as Rival

import mercer
from mercer import PCA, KernelPCA
from mercer.errors import InputError
from mercer.kernels import RBF, ChiSquared, Linear
from mercer.studies import Candidate, how_many
from mercer.studies import _how_many as study
from mercer.studies.tuning._parallel_analysis import analyse, doubt, permuted, profile, reason


def table(n=200, p=30, k=3, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) * 2
    return signal + rng.standard_normal((n, p))


def by_name(choice):
    return {rule.name: rule for rule in choice.rules}


@pytest.mark.parametrize("standardize", [False, True])
def test_every_rule_is_there_and_those_that_see_noise_agree(standardize):
    choice = how_many(table() + 1e4, standardize=standardize)
    assert choice.k == 3
    rules = by_name(choice)
    assert len(rules) == 14
    for name in ("parallel, normal", "parallel, shuffled", "parallel, signs"):
        assert rules[name].k in (3, 4)
    assert [rule.name for rule in choice.rules[:2]] == ["stepwise edge", "bi-cross-validation"]


def test_noise_is_an_answer_and_the_same_every_time():
    choice = how_many(np.random.default_rng(2).standard_normal((150, 20)))
    assert choice.k == 0
    assert choice.reason.startswith("No component beyond noise")
    X = table(80, 12, 1)
    assert str(how_many(X, random_state=4)) == str(how_many(X, random_state=4))


def test_shuffles_say_which_part_they_saw(monkeypatch):
    monkeypatch.setattr(study, "_ROWS", 100)
    monkeypatch.setattr(study, "_COLUMNS", 20)
    X = table()
    assert "100 rows, 20 columns" in by_name(how_many(X))["parallel, signs"].about
    dense = how_many(X[:100, :20])
    sparse = how_many(scipy.sparse.csr_array(X[:100, :20]))
    assert [r.k for r in sparse.rules] == [r.k for r in dense.rules]


def test_blocks_of_a_table_are_enough(tmp_path):
    np.save(tmp_path / "x.npy", table())
    choice = how_many(tmp_path / "x.npy")
    assert choice.k == 3
    assert by_name(choice)["parallel, signs"].k is None
    X = table()
    choice = how_many(iter([X[:90], X[90:]]))
    assert choice.rules[2].about == "needs a table in memory"
    flat = np.column_stack([table(60, 4), np.full(60, 0.3)])
    found = study._analysed(flat, True)
    np.testing.assert_array_equal(found[:, 4], 0)
    np.testing.assert_allclose(found[:, :4].std(axis=0, ddof=1), 1)


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2)], ids=["PCA", "KernelPCA"])
def test_a_model_is_no_table(model):
    with pytest.raises(InputError, match="asked of a table, not of a model"):
        how_many(model.fit(table()))


def test_axes_of_a_kernel():
    X = table(150, 8)
    choice = how_many(X, kernel="rbf")
    fitted = KernelPCA("auto").fit(X)
    assert str(choice) == str(fitted.choice_)
    assert how_many(X, kernel="linear").rules[0].name == "stepwise edge"
    blocks = how_many(iter([X[:70], X[70:]]), kernel="rbf")
    assert abs(blocks.k - choice.k) <= 1
    noise = np.random.default_rng(1).standard_normal((100, 6))
    assert how_many(noise, kernel="rbf", standardize=True).k == 0


RNG = np.random.default_rng(0)


FACTORS = RNG.standard_normal((300, 3))


ROWS = np.repeat(FACTORS, 3, axis=1)


ROWS = ROWS + 0.3 * RNG.standard_normal(ROWS.shape) + 50


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_orthogonal_rotations_keep_the_variance_and_their_scores_are_uncorrelated(method):
    model = mercer.PCA(3, standardize=True).fit(ROWS)
    found = mercer.rotate(model, method=method)
    assert found.converged
    assert found.variances.sum() == pytest.approx(model.explained_variance_.sum())
    assert found.ratio.sum() == pytest.approx(model.explained_variance_ratio_.sum())
    scores = found.transform(ROWS)
    np.testing.assert_allclose(np.cov(scores.T), np.eye(3), rtol=0, atol=1e-10)
    columns = (ROWS - ROWS.mean(axis=0)) / ROWS.std(axis=0, ddof=1)
    correlations = columns.T @ scores / (len(ROWS) - 1)
    np.testing.assert_allclose(found.loadings, correlations, rtol=0, atol=1e-10)
    assert np.all(np.sort(np.abs(found.loadings), axis=1)[:, :2] < 0.15)


@pytest.mark.parametrize("method", ["promax", "oblimin"])
def test_oblique_scores_have_the_correlations_they_say(method):
    mixed = ROWS @ (np.eye(9) + 0.1)
    model = mercer.PCA(3).fit(mixed)
    found = mercer.rotate(model, method=method)
    np.testing.assert_allclose(
        np.cov(found.transform(mixed).T), found.correlations, rtol=0, atol=1e-9
    )
    rebuilt = found.transform(mixed) @ found.loadings.T + mixed.mean(axis=0)
    np.testing.assert_allclose(rebuilt, model.inverse_transform(model.transform(mixed)))


def test_rotations_have_names_and_refusals():
    frame = pl.from_numpy(ROWS, [f"c{j}" for j in range(9)])
    found = mercer.rotate(mercer.PCA(3).fit(frame))
    assert found.names[0] == "c0"
    assert str(found).count("of the variance") == 3
    model = mercer.PCA(2).fit(ROWS)
    with pytest.raises(InputError, match="two axes or more"):
        mercer.rotate(model, 3)
    with pytest.raises(InputError, match="no such rotation"):
        mercer.rotate(model, method="equamax")
    with pytest.raises(InputError, match="only axes of columns"):
        mercer.rotate(mercer.KernelPCA(2).fit(ROWS[:40]))


def trial(*lengths):
    return [Candidate(Linear(), 2.0), *(Candidate(RBF(length), 5.0) for length in lengths)]


def rings(n=150, seed=0):
    return make_circles(n, factor=0.3, noise=0.05, random_state=seed)[0]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_shares_are_those_of_scikit_learns_eigenvalues(rng, offset):
    rows = rng.normal(size=(40, 3))
    rival = Rival(None, kernel="rbf", gamma=0.5).fit(rows)
    expected = rival.eigenvalues_[:3] / np.sum(rival.eigenvalues_)
    found = profile(RBF(1.0), rows + offset, 3)
    np.testing.assert_allclose(found[:3], expected, rtol=1e-7)
    whole = np.sum(rival.eigenvalues_**2) / np.sum(rival.eigenvalues_) ** 2
    assert found[3] == pytest.approx(whole, rel=1e-7)


def test_shares_of_the_linear_kernel_are_those_of_the_variance(rng):
    rows = rng.normal(size=(40, 3)) + 1e6
    variance = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    expected = variance / variance.sum()
    np.testing.assert_allclose(profile(Linear(), rows, 3)[:3], expected, rtol=1e-6)
    np.testing.assert_array_equal(profile(RBF(1.0), np.ones((5, 2)), 2), np.zeros(3))


def test_permuted_rows_keep_what_they_should(rng):
    rows = np.repeat(rng.normal(size=(200, 1)), 2, axis=1)
    table, _ = permuted(rows, 1, rng)
    np.testing.assert_array_equal(np.sort(table, axis=0), np.sort(rows, axis=0))
    assert abs(np.corrcoef(table.T)[0, 1]) < 0.25
    rows = rng.normal(size=(4000, 3)) @ rng.normal(size=(3, 3)) + 5.0
    _, table = permuted(rows, 1, rng)
    np.testing.assert_allclose(table.mean(axis=0), rows.mean(axis=0), rtol=1e-10)
    size = np.linalg.norm(np.cov(rows.T))
    assert np.linalg.norm(np.cov(table.T) - np.cov(rows.T)) < 0.05 * size
    _, axes = np.linalg.eigh(np.cov(rows.T))
    there, back = (np.sort(x @ axes - x.mean(0) @ axes, axis=0) for x in (rows, table))
    np.testing.assert_allclose(there, back, rtol=0, atol=1e-8)
    assert not np.allclose(table, rows)


def test_rings_are_seen_and_the_input_is_not_changed():
    rows = rings()
    before = rows.copy()
    found = analyse(trial(0.8, 0.2), rows, 2, 0)
    assert found.chosen is not None
    assert found.chosen.excess == max(one.excess for one in found.curve)
    assert found.draws == 99
    np.testing.assert_array_equal(rows, before)
    assert found.chosen.evidence > 10
    assert "99 with the same covariance" in reason(found, 2, 2)


@pytest.mark.parametrize("seed", range(3))
def test_a_gaussian_table_is_linear_even_where_its_columns_are_not_independent(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 3))
    found = analyse(trial(4.0, 2.0, 1.0), rows, 3, seed)
    assert found.chosen is None
    assert not found.structured
    assert "No kernel sees structure" in reason(found, 3, 3)


def test_nothing_is_seen_where_nothing_is(rng):
    rows = np.column_stack([rng.exponential(size=150), rng.uniform(size=150)])
    assert analyse(trial(2.0, 1.0, 0.5), rows, 2, 0).chosen is None
    found = analyse(trial(1.0, 0.2), rng.exponential(size=(80, 1)), 1, 0)
    assert found.chosen is None
    assert all(one.excess < 1e-9 for one in found.curve)


def test_evidence_depends_on_the_seed_and_on_both_kinds_of_draws():
    one, two = (analyse(trial(0.5), rings(60), 2, 3) for _ in range(2))
    assert one == two
    assert analyse(trial(0.5), rings(60), 2, 4).curve[1].evidence != one.curve[1].evidence
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 2)) @ [[1.0, 0.9], [0.0, 0.5]]
    one = analyse(trial(1.0), rows, 2, 0).curve[1]
    assert one.evidence < 4  # though its columns are far from independent


def test_candidates_that_are_out_stay_out(rng):
    out = Candidate(RBF(0.3), 5.0, verdict="no")
    found = analyse([Candidate(Linear(), 2.0), out], rings(), 2, 0)
    assert found.curve[1] is out
    assert found.chosen is None
    rows = rng.poisson(1.0, size=(60, 3)).astype(float)
    found = analyse(
        [Candidate(Linear(), 2.0), Candidate(ChiSquared(gamma=1.0), 2.0)], rows, 2, 0
    )
    assert found.curve[1].verdict.startswith("not defined on permuted rows")


def test_structure_beyond_the_leading_axes_is_said():
    outside = Candidate(RBF(0.3), 5.0)
    turned = analyse([Candidate(Linear(), 2.0), outside], rings(), 2, 0)
    found = dataclasses.replace(turned, chosen=None)
    assert found.structured
    assert "ask for more components" in reason(found, 1, 1)
    found = analyse(trial(0.2), rings(), 0, 0)
    assert found.structured
    assert found.chosen is None
    assert found.curve[1].excess is None
    assert "99 with the same covariance" in doubt(found)


def test_wide_rows_are_drawn_one_table_at_a_time(rng):
    rows = rng.normal(size=(20, 20_000))  # 3 MB a table; all at once would be 122 MB
    tracemalloc.start()
    analyse(trial(100.0), rows, 1, 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * rows.nbytes
