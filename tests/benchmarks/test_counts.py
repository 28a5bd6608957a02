import numpy as np
from benchmarks.counts import Counts


def test_counts_are_as_full_as_stated():
    x = Counts(4_000, 500, 0.05).load()
    assert x.shape == (4_000, 500)
    assert abs(x.nnz / (4_000 * 500) - 0.05) < 0.003


def test_counts_are_whole_positive_and_uneven():
    x = Counts(3_000, 400, 0.05, "float32").load()
    assert x.dtype == np.float32
    assert x.data.min() >= 1
    assert np.array_equal(x.data, np.round(x.data))
    columns = np.asarray(x.mean(axis=0)).ravel()
    assert columns.max() > 20 * np.median(columns)


def test_counts_are_a_function_of_the_seed():
    first, second = Counts(2_500, 50).load(), Counts(2_500, 50).load()
    assert (first != second).nnz == 0
    assert (first != Counts(2_500, 50, seed=1).load()).nnz > 0


def test_clusters_stand_out_of_the_poisson_noise():
    x = Counts(2_000, 200, 0.2).load().toarray()
    values = np.linalg.eigvalsh(np.corrcoef(x[:, x.std(axis=0) > 0], rowvar=False))[::-1]
    edge = (1 + np.sqrt(200 / 2_000)) ** 2
    assert np.sum(values > edge) >= 5


def test_logged_counts_are_counts_of_rows_of_one_depth():
    counts, logged = Counts(2_500, 300, 0.1), Counts(2_500, 300, 0.1, "float32", logged=True)
    x, y = counts.load(), logged.load()
    np.testing.assert_array_equal(x.indices, y.indices)
    back = y.astype(np.float64)
    back.data = np.expm1(back.data)
    totals = np.asarray(back.sum(axis=1)).ravel()
    held = np.diff(y.indptr) > 0
    level = counts.rates().mean(axis=0).sum()
    np.testing.assert_allclose(totals[held], level, rtol=1e-5)
    assert y.dtype == np.float32
    assert not np.array_equal(y.data, np.round(y.data))
