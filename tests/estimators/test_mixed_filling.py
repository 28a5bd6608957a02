import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed_frame, with_gaps

from mercer import FAMD
from mercer.errors import AccuracyWarning
from mercer.estimators.mixed import _mixed_filling, _mixed_frame
from mercer.estimators.mixed._mixed_filling import filling_rank, noise


def long_way(T, numbers, rank, free, steps=1000):
    """Regularised iterative FAMD of a table with NaN by plain substitution, as published.

    The first `numbers` columns are numbers, the others indicators; `free` columns can vary.
    """
    gaps, levels = np.isnan(T), np.arange(T.shape[1]) >= numbers
    filled = np.where(gaps, np.nanmean(T, axis=0), T)
    n = len(T)
    for _ in range(steps):
        mean = filled.mean(axis=0)
        scale = np.where(levels, np.sqrt(np.abs(mean)), filled.std(axis=0))
        u, s, vt = np.linalg.svd((filled - mean) / scale / np.sqrt(n), full_matrices=False)
        left = np.sum(s[rank:] ** 2)
        cells = (n - 1) * free - (n - 1) * rank - free * rank + rank**2
        s2 = min(n * free / min(free, n - 1) * left / cells, s[rank] ** 2)
        shrunk = (s[:rank] ** 2 - s2) / s[:rank]
        fit = np.sqrt(n) * (u[:, :rank] * shrunk) @ vt[:rank]
        filled = np.where(gaps, fit * scale + mean, T)
    return filled


def test_numbers_are_filled_as_the_published_iteration_does(rng):
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(60, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    found = FAMD(2, missing="fill").fit(X).impute(X)
    np.testing.assert_allclose(found, long_way(X, 6, 2, 6), rtol=0, atol=1e-5)


def test_categories_are_filled_as_the_published_iteration_does():
    holed = with_gaps(mixed_frame(80))[0][["a", "d", "size", "mood"]].dropna(how="all")
    indicator = pd.get_dummies(holed[["size", "mood"]]).to_numpy(float)
    indicator[holed["size"].isna(), :3] = np.nan
    indicator[holed["mood"].isna(), 3:] = np.nan
    expected = long_way(np.column_stack([holed[["a", "d"]], indicator]), 2, 2, 2 + 2 + 1)
    found = FAMD(2, missing="fill").fit(holed).impute(holed)
    np.testing.assert_allclose(found[["a", "d"]], expected[:, :2], atol=1e-5)
    sizes = np.array(["l", "m", "s"])[np.argmax(expected[:, 2:5], axis=1)]
    assert found["size"].tolist() == sizes.tolist()
    moods = np.array(["glad", "sad"])[np.argmax(expected[:, 5:], axis=1)]
    assert found["mood"].tolist() == moods.tolist()


@pytest.mark.parametrize("missing", [0.05, 0.3])
def test_sparse_and_dense_tables_are_filled_alike(monkeypatch, missing):
    holed, _ = with_gaps(mixed_frame(), missing)
    found = []
    for stored in (None, 1):
        monkeypatch.setattr(_mixed_frame, "stored_cells", lambda *_, s=stored: s)
        model = FAMD(2, missing="fill").fit(holed)
        found.append((model.eigenvalues_, model.row_coordinates_, model.n_iter_))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-7)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=0, atol=1e-6)
    assert 1 < found[0][2] < 500


def test_weights_count_rows_while_filling():
    holed, _ = with_gaps(mixed_frame(60))
    w = np.arange(60) % 3
    weighted = FAMD(2, missing="fill").fit(holed, sample_weight=w)
    repeated = holed.iloc[np.repeat(np.arange(60), w)]
    again = FAMD(2, missing="fill").fit(repeated)
    np.testing.assert_allclose(weighted.eigenvalues_, again.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        weighted.transform(holed), again.transform(holed), rtol=0, atol=1e-5
    )


def test_steps_that_do_not_settle_are_said(monkeypatch):
    monkeypatch.setattr(_mixed_filling, "_STEPS", 1)
    with pytest.warns(AccuracyWarning, match="still moved after 1 steps"):
        FAMD(2, missing="fill").fit(with_gaps(mixed_frame())[0])


def test_noise_of_pure_noise_is_its_variance(rng):
    X = rng.normal(size=(5000, 6))
    values = np.linalg.svd(X - X.mean(0), compute_uv=False) ** 2 / 5000
    assert noise(values, values.sum(), 2, 5000, 6) == pytest.approx(1, abs=0.05)
    assert noise(values[:2], values.sum(), 2, 5000, 6) == pytest.approx(1, abs=0.05)
    assert noise(values, values.sum(), 6, 5000, 6) == 0.0


def test_the_rank_leaves_something_to_tell_from():
    assert filling_rank(5, 100, 4) == 3
    assert filling_rank(5, 4, 10) == 2
    assert filling_rank(2, 2, 1) == 0
