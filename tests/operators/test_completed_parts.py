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
from mercer.operators.completion._completed_rows import filled_part
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
    sums.restore(functools.reduce(work.merge, found))
    assert sums.total == whole.total
    for name in ("first", "second", "squares", "likelihood"):
        one, other = getattr(sums, name), getattr(whole, name)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-9, err_msg=name)


def test_the_work_carries_the_completion_and_nothing_else():
    sums = CompletionSums(completion())
    sums.add(gappy(2000))  # its space is not sent
    assert len(pickle.dumps(CompletionSumsOfParts.of(sums, 1e6))) < 2500


def test_precision_of_a_pass_goes_with_the_work():
    sums = CompletionSums(completion(), dtype=np.float32)
    work = CompletionSumsOfParts.of(sums, 1e6)
    assert work.dtype == np.float32
    X = gappy()
    short = work.part(PartBlocks(X, 0, 0, None), None)["second"]
    plain = CompletionSumsOfParts.of(CompletionSums(completion()), 1e6)
    long = plain.part(PartBlocks(X, 0, 0, None), None)["second"]
    assert 0 < np.abs(short - long).max() < 1e-3 * np.abs(long).max()


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


@pytest.mark.usefixtures("every_chunk")
def test_completed_rows_may_be_mapped_and_sampled():
    X, model = gappy(), completion()
    d = da.from_array(X, chunks=(70, 6))
    source = CompletedParts(scan(d), model, 2, 298.0)
    back = source.mapped(lambda rows: rows.held, 6, np.float64)
    np.testing.assert_array_equal(back.compute(), model.filled(X))
    assert np.isfinite(source.sample(50)).all()
    assert source.first_bad_cell() is None
    assert source.weights_of(None) is None
    assert source.workers() == scan(d).workers()


@pytest.mark.usefixtures("every_chunk")
def test_work_that_ends_with_a_task_still_does():
    class Ending:
        def part(self, rows, weights):
            return float(rows.held.sum())

        def merge(self, one, other):
            return one + other

        def finish(self, found):
            return ("all", found)

    X, model = gappy(), completion()
    source = CompletedParts(scan(da.from_array(X, chunks=(70, 6))), model, 2, 298.0)
    word, total = source.reduce(Ending())
    assert word == "all"
    assert total == pytest.approx(model.filled(X).sum())


def test_complete_parts_are_handed_on_as_they_are():
    X = np.nan_to_num(gappy())
    part = PartBlocks(X, 0, 0, None)
    assert filled_part(part, completion()) is part
    hidden = PartBlocks(scipy.sparse.csr_array(gappy()), 3, 10, None, dense=True)
    found = filled_part(hidden, completion())
    assert (found.nnz, found.number, found.first) == (None, 3, 10)
