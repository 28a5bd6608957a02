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
