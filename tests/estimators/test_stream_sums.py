"""Rows of streams as they wait and are summed."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.estimators.linear._batches import ENOUGH, Batches
from mercer.estimators.linear._summed_rows import Summed
from mercer.operators import RunningMoments, RunningSvd, rows_of
from mercer.sources import scan


def taken(stream, X, counts=None):
    n = X.shape[0]
    return stream.with_rows(scan(X), np.ones(n) if counts is None else counts)


def rows(n, p=3, seed=0):
    return np.random.default_rng([seed, n]).standard_normal((n, p))


def scatter(X, w=None):
    w = np.ones(len(X)) if w is None else w
    Y = X - w @ X / w.sum()
    return (Y.T * w) @ Y


def test_few_rows_wait_and_many_do_not():
    stream = Batches(RunningMoments())
    for _ in range(ENOUGH - 1):
        stream = taken(stream, rows(1))
    assert (stream.waiting, stream.sums.rows, stream.rows) == (ENOUGH - 1, 0, ENOUGH - 1)
    stream = taken(stream, rows(1))
    assert (stream.waiting, stream.sums.rows) == (0, ENOUGH)
    stream = taken(taken(stream, rows(2)), rows(300))
    assert (stream.waiting, stream.sums.rows) == (0, ENOUGH + 302)


def test_leading_directions_wait_for_as_many_rows_as_there_are():
    stream = taken(Batches(RunningSvd(400)), rows(300, 500))
    assert stream.waiting == 300
    assert taken(stream, rows(100, 500)).waiting == 0


def test_a_batch_gives_a_new_value():
    X = rows(600)
    one = taken(Batches(RunningMoments()), X[:300])
    before = one.sums.scatter.copy()
    two = taken(one, X[300:])
    two.without(scan(X[:10]), np.ones(10))
    two.merged(one)
    np.testing.assert_array_equal(one.sums.scatter, before)
    np.testing.assert_allclose(two.sums.scatter, scatter(X), rtol=1e-12)


def test_kinds_that_do_not_stack_are_summed_apart():
    X = np.round(10 * rows(40))
    stream = Batches(RunningMoments())
    for part in (X[:5], X[5:9].astype(np.float32), scipy.sparse.csr_array(X[9:20]), X[20:]):
        stream = taken(stream, part)
    assert stream.waiting == 20
    assert stream.sparse
    assert (stream.stored, stream.products) == (np.float32, np.float64)
    np.testing.assert_allclose(stream.summed().sums.scatter, scatter(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("kinds", "stored", "products"),
    [
        ("f4 f4", "f4", "f4"),
        ("f4 f8", "f4", "f8"),
        ("i2 i8", "i8", "f8"),
        ("u1 f4", "f4", "f8"),
        ("? ?", "?", "f8"),
        ("i4 f8", "f8", "f8"),
    ],
)
def test_the_coarsest_type_is_remembered(kinds, stored, products):
    stream = Batches(RunningMoments())
    for kind in kinds.split():
        stream = taken(stream, np.eye(3).astype(kind))
    assert (stream.stored, stream.products) == (np.dtype(stored), np.dtype(products))


def test_what_waits_fades_like_what_is_summed():
    X, f = rows(700), 0.01
    stream = Batches(RunningMoments(), f)
    for start in range(0, 700, 90):
        stream = taken(stream, X[start : start + 90])
    w = (1 - f) ** np.arange(699.0, -1.0, -1.0)
    assert stream.waiting
    assert stream.total == pytest.approx(w.sum(), rel=1e-12)
    found = stream.summed()
    assert found.total == pytest.approx(w.sum(), rel=1e-12)
    np.testing.assert_allclose(found.sums.scatter, scatter(X, w), rtol=1e-9, atol=1e-9)


def test_rows_long_past_leave_nothing_behind():
    stream = taken(taken(Batches(RunningMoments(), 0.9), rows(300) + 1e6), rows(2000))
    assert stream.total == pytest.approx(1 / 0.9)
    assert np.abs(stream.sums.scatter).max() < 1e3


def test_rows_without_weight_are_counted():
    stream = taken(Batches(RunningMoments()), rows(300), np.zeros(300))
    assert (stream.rows, stream.total) == (300, 0.0)
    assert taken(stream, rows(2)).without(scan(rows(300)), np.zeros(300)).rows == 2


def test_sums_and_directions_do_not_mix():
    one, two = Batches(RunningMoments()), Batches(RunningSvd(3))
    with pytest.raises(InputError, match="cannot be merged"):
        taken(one, rows(9)).merged(taken(two, rows(9)))


F8 = np.dtype(np.float64)


def sums(X):
    return RunningMoments().add(rows_of(scan(X)))


def test_sums_speak_for_their_rows_and_stay_as_they_are():
    X = np.random.default_rng(0).standard_normal((50, 4)) + 1e6
    kept = sums(X)
    before, origin = kept.scatter.copy(), kept.origin.copy()
    found = Summed(kept, F8, F8, 50, sparse=False)
    assert (found.shape, found.source, found.nbytes, found.max_passes) == ((50, 4), found, 0, 0)
    found.scatter().scatter[:] = 0
    np.testing.assert_array_equal(kept.scatter, before)
    np.testing.assert_array_equal(kept.origin, origin)
    np.testing.assert_allclose(found.origin, X.mean(0), rtol=1e-12)
    assert found.sample(3).shape == (0, 4)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_origin_of_sparse_rows_is_not_moved(sparse):
    kept = sums(np.ones((3, 2))).merge(sums(np.zeros((9, 2))))
    before = kept.origin.copy()
    found = Summed(kept, F8, F8, 12, sparse)
    np.testing.assert_array_equal(found.origin, before if sparse else [0.25, 0.25])


def test_sums_out_of_range_are_refused():
    with pytest.raises(InputError, match="too far apart"):
        Summed(sums(np.eye(3)), F8, F8, 3, sparse=False).first_bad_cell()
