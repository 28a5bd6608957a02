import functools
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse

from mercer.operators import (
    Centring,
    CompletedParts,
    Completion,
    CompletionSums,
    CompletionSumsOfParts,
    SpreadRows,
)
from mercer.sources import PartBlocks, scan

da = pytest.importorskip("dask.array")


def gappy(n=300, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, p)) + 5
    X += 0.1 * rng.standard_normal((n, p))
    X[rng.random((n, p)) < 0.2] = np.nan
    X[[7, 200]] = np.nan
    return X


def completion(p=6, k=2):
    rng = np.random.default_rng(3)
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0]
    centring = Centring(np.full(p, 5.0), 0.1 * rng.standard_normal(p), 0)
    return Completion(centring, axes, np.array([3.0, 1.5]), 0.2)


@pytest.mark.parametrize("expected", [False, True])
@pytest.mark.parametrize("width", [None, 3])
def test_sums_of_parts_are_those_of_all_rows_that_have_a_cell(expected, width):
    X, model = gappy(), completion()
    rng = np.random.default_rng(1)
    basis = None if width is None else np.linalg.qr(rng.standard_normal((6, width)))[0]
    weights = rng.integers(1, 4, len(X)) * 1.0
    there = ~np.isnan(X).all(axis=1)
    whole = CompletionSums(model, basis, expected=expected).add(X[there], weights[there])
    sums = CompletionSums(model, basis, expected=expected)
    work = pickle.loads(pickle.dumps(CompletionSumsOfParts.of(sums, 1e3)))
    edges = [0, 0, 90, 91, 300]
    found = [
        work.part(PartBlocks(X[a:b], i, a, None), weights[a:b])
        for i, (a, b) in enumerate(itertools.pairwise(edges))
    ]
    assert len(pickle.dumps(CompletionSumsOfParts.of(whole, 1e6))) < 2500  # no rows, no space
    narrow = CompletionSums(model, basis, expected=expected, dtype=np.float32)
    short = CompletionSumsOfParts.of(narrow, 1e6)
    assert short.dtype == np.float32  # the precision of a pass goes with the work
    one, other = (
        each.part(PartBlocks(X, 0, 0, None), None)["second"] for each in (short, work)
    )
    assert 0 < np.abs(one - other).max() < 1e-3 * np.abs(other).max()
    sums.restore(functools.reduce(work.merge, found))
    assert sums.total == whole.total
    for name in ("first", "second", "squares", "likelihood"):
        one, other = getattr(sums, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-9, err_msg=name)


@pytest.mark.usefixtures("every_chunk")
@pytest.mark.parametrize("sparse", [False, True])
def test_moments_of_completed_parts(sparse):
    X, model = gappy(), completion()
    d = da.from_array(X, chunks=(70, 6))
    if sparse:
        d = d.map_blocks(scipy.sparse.csr_array, meta=scipy.sparse.csr_array((0, 0)))
    source = CompletedParts(scan(d), model, 2, 298.0)
    assert source.shape == (298, 6)
    rows = SpreadRows(source)
    moments = rows.scatter()
    there = model.filled(X)[~np.isnan(X).all(axis=1)]
    np.testing.assert_allclose(moments.scatter, 297 * np.cov(there.T), rtol=1e-9, atol=1e-9)
    assert rows.counted_rows == 298
    assert source.weighed == 298
    assert source.walks == source.source.walks == 1


class Ending:
    def part(self, rows, weights):
        return float(rows.held.sum())

    def merge(self, one, other):
        return one + other

    def finish(self, found):
        return ("all", found)


@pytest.mark.usefixtures("every_chunk")
def test_completed_rows_may_be_mapped_and_sampled():
    X, model = gappy(), completion()
    X[70:140] = np.nan_to_num(X[70:140], nan=5.0)  # a part without gaps is handed on
    d = da.from_array(X, chunks=(70, 6))
    source = CompletedParts(scan(d), model, 2, 298.0)
    back = source.mapped(lambda rows: rows.held, 6, np.float64)
    np.testing.assert_array_equal(back.compute(), model.filled(X))
    assert np.isfinite(source.sample(50)).all()
    assert source.first_bad_cell() is None
    assert source.weights_of(None) is None
    assert source.workers() == scan(d).workers()
    word, total = source.reduce(Ending())
    assert word == "all"  # work that ends with a task still does
    assert total == pytest.approx(model.filled(X).sum())
