import numpy as np
import polars as pl
import pytest

import mercer
from mercer.errors import InputError

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
