"""Neighbours are those of an exhaustive search, wherever the rows lie."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist

from mercer.errors import InputError, MissingExtraError
from mercer.operators import Searcher, neighbours


def rows(n=120, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def exhaustive(x, k):
    d = cdist(x, x)
    np.fill_diagonal(d, -1.0)
    return np.sort(d, axis=1)[:, 1 : k + 1]


@pytest.mark.parametrize("p", [1, 3, 15, 16, 40])
def test_distances_are_those_of_all_pairs(p):
    x = rows(p=p)
    found = neighbours(x, 6)
    np.testing.assert_allclose(found.distances, exhaustive(x, 6), rtol=1e-12)
    assert not np.any(found.indices == np.arange(len(x))[:, None])
    apart = np.linalg.norm(x[:, None] - x[found.indices], axis=2)
    np.testing.assert_allclose(found.distances, apart, rtol=1e-12)


@pytest.mark.parametrize("p", [3, 30])
@pytest.mark.parametrize(("factor", "offset"), [(1.0, 1e8), (1e-150, 0.0), (1e200, 0.0)])
def test_place_and_unit_do_not_matter(p, factor, offset):
    x = np.round(rows(p=p), 3)  # coarse enough to survive the offset
    near, far = neighbours(x, 5), neighbours(x * factor + offset, 5)
    np.testing.assert_array_equal(near.indices, far.indices)
    np.testing.assert_allclose(far.distances / factor, near.distances, rtol=1e-6)


@pytest.mark.parametrize("p", [2, 20])
def test_rows_that_stand_many_times(p):
    x = np.repeat(rows(30, p), 4, axis=0)
    found = neighbours(x, 3)
    assert found.duplicates == len(x)
    assert np.all(found.distances == 0)
    assert not np.any(found.indices == np.arange(len(x))[:, None])
    own = neighbours(x, 4, include_self=True)
    np.testing.assert_array_equal(own.indices[:, 0], np.arange(len(x)))
    for n in (2, 3, 5):  # more neighbours than rows are cut
        assert neighbours(x[:n], 10).indices.shape == (n, n - 1)
        assert neighbours(x[:n], 10, include_self=True).indices.shape == (n, n)


@pytest.mark.parametrize("p", [3, 20])
def test_radius_is_that_of_all_pairs(p):
    x = rows(p=p)
    radius = 1.0 if p == 3 else 5.0
    found = Searcher(x).within(None, radius)
    d = cdist(x, x)
    np.testing.assert_array_equal(np.diff(found.indptr), (d <= radius).sum(axis=1))
    np.testing.assert_allclose(found.toarray(), np.where(d <= radius, d, 0), rtol=0, atol=1e-12)


def test_sparse_rows_and_other_metrics():
    x = np.maximum(rows(p=8), 0)
    dense = neighbours(x, 4)
    sparse = neighbours(scipy.sparse.csr_array(x), 4)
    np.testing.assert_allclose(sparse.distances, dense.distances, rtol=0, atol=1e-7)
    d = cdist(x, x, "cityblock")
    np.fill_diagonal(d, np.inf)
    taxi = neighbours(x, 1, metric="manhattan")
    np.testing.assert_allclose(taxi.distances[:, 0], d.min(axis=1), rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_all_distances(metric):
    x, new = rows(), rows(7, seed=1)
    searcher = Searcher(x, metric=metric)
    (part, found), *more = searcher.distances(new)
    assert part == slice(0, 7)
    assert not more
    name = "cityblock" if metric == "manhattan" else metric
    np.testing.assert_allclose(found, cdist(new, x, name), rtol=1e-12)
    assert len(searcher.sampled_distances(10)) == 45
    again = Searcher.of_parts(searcher.parts()).query(new, 3)
    np.testing.assert_array_equal(again.distances, searcher.query(new, 3).distances)


def test_faiss_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match="faiss"):
        neighbours(rows(), 3, search="faiss")
    with pytest.raises(InputError, match="one of two ways"):
        neighbours(rows(), 3, search="guess")


class Flat:
    """What is used of faiss.IndexFlatL2, by all pairs."""

    def __init__(self, columns):
        self.rows = np.zeros((0, columns), np.float32)

    def add(self, rows):
        self.rows = rows

    def search(self, points, k):
        d = cdist(points, self.rows, "sqeuclidean")
        at = np.argsort(d, axis=1)[:, :k]
        return np.take_along_axis(d, at, 1).astype(np.float32), at


def test_distances_from_faiss_are_taken_again(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", types.SimpleNamespace(IndexFlatL2=Flat))
    x = rows(p=20) + 1e6
    found = neighbours(x, 5, search="faiss")
    np.testing.assert_allclose(found.distances, exhaustive(x, 5), rtol=1e-9)
    near = Searcher(x, search="faiss").within(x[:3], 5.0)
    np.testing.assert_array_equal(np.diff(near.indptr), (cdist(x[:3], x) <= 5).sum(axis=1))
    with pytest.raises(InputError, match="dense rows by Euclidean"):
        neighbours(x, 5, search="faiss", metric="manhattan")
