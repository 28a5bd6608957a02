"""How many axes, and axes turned."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import mercer
from mercer import PCA, KernelPCA
from mercer.errors import InputError
from mercer.studies import _how_many as study
from mercer.studies import how_many


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
    assert len(rules) == 12
    for name in ("parallel, normal", "parallel, shuffled", "parallel, signs"):
        assert rules[name].k in (3, 4)
    assert choice.rules[0].name == "bi-cross-validation"


def test_noise_is_an_answer_and_no_warning():
    choice = how_many(np.random.default_rng(2).standard_normal((150, 20)))
    assert choice.k == 0
    assert choice.reason.startswith("No component beyond noise")


def test_shuffles_say_which_part_they_saw(monkeypatch):
    monkeypatch.setattr(study, "_ROWS", 100)
    monkeypatch.setattr(study, "_COLUMNS", 20)
    X = table()
    assert "100 rows, 20 columns" in by_name(how_many(X))["parallel, signs"].about
    dense = how_many(X[:100, :20])
    sparse = how_many(scipy.sparse.csr_array(X[:100, :20]))
    assert [r.k for r in sparse.rules] == [r.k for r in dense.rules]


def test_files_are_not_shuffled(tmp_path):
    np.save(tmp_path / "x.npy", table())
    choice = how_many(tmp_path / "x.npy")
    assert choice.k == 3
    assert by_name(choice)["parallel, signs"].k is None


def test_the_same_seed_gives_the_same_answer():
    X = table(80, 12, 1)
    assert str(how_many(X, random_state=4)) == str(how_many(X, random_state=4))


def test_blocks_that_are_read_once_are_not_shuffled():
    X = table()
    choice = how_many(iter([X[:90], X[90:]]))
    assert choice.rules[1].about == "needs a table in memory"


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2)], ids=["PCA", "KernelPCA"])
def test_a_model_is_no_table(model):
    with pytest.raises(InputError, match="asked of a table, not of a model"):
        how_many(model.fit(table()))


def test_axes_of_a_kernel():
    X = table(150, 8)
    choice = how_many(X, kernel="rbf")
    fitted = KernelPCA("auto").fit(X)
    assert str(choice) == str(fitted.choice_)
    assert how_many(X, kernel="linear").rules[0].name == "bi-cross-validation"
    blocks = how_many(iter([X[:70], X[70:]]), kernel="rbf")
    assert abs(blocks.k - choice.k) <= 1
    noise = np.random.default_rng(1).standard_normal((100, 6))
    assert how_many(noise, kernel="rbf", standardize=True).k == 0


def test_a_constant_column_is_left_at_zero_when_columns_are_standardised():
    """A mean may be off by a rounding, which a division would blow up to variance one."""
    flat = np.column_stack([table(60, 4), np.full(60, 0.3)])
    found = study._analysed(flat, True)
    np.testing.assert_array_equal(found[:, 4], 0)
    np.testing.assert_allclose(found[:, :4].std(axis=0, ddof=1), 1)


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


def test_promax_scores_have_the_correlations_it_says():
    mixed = ROWS @ (np.eye(9) + 0.1)
    model = mercer.PCA(3).fit(mixed)
    found = mercer.rotate(model, method="promax")
    np.testing.assert_allclose(
        np.cov(found.transform(mixed).T), found.correlations, rtol=0, atol=1e-9
    )
    rebuilt = found.transform(mixed) @ found.loadings.T + mixed.mean(axis=0)
    np.testing.assert_allclose(rebuilt, model.inverse_transform(model.transform(mixed)))


def test_names_and_words():
    frame = pl.from_numpy(ROWS, [f"c{j}" for j in range(9)])
    found = mercer.rotate(mercer.PCA(3).fit(frame))
    assert found.names[0] == "c0"
    assert str(found).count("of the variance") == 3


def test_what_cannot_be_rotated_is_refused():
    model = mercer.PCA(2).fit(ROWS)
    with pytest.raises(InputError, match="two axes or more"):
        mercer.rotate(model, 3)
    with pytest.raises(InputError, match="no such rotation"):
        mercer.rotate(model, method="oblimin")
    with pytest.raises(InputError, match="only axes of columns"):
        mercer.rotate(mercer.KernelPCA(2).fit(ROWS[:40]))
