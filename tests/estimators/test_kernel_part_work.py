"""What is done in a part for kernel PCA: samples that merge, and sums that merge."""

import itertools

import dask_rows
import numpy as np
import pytest
import scipy.sparse

from mercer import KernelPCA
from mercer.errors import InputError
from mercer.estimators.kernel._kernel_parts import (
    LandmarksOfParts,
    Sample,
    SumsOfParts,
    refuse_few,
)
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.kernels import RBF
from mercer.operators import Landmarks, LandmarkSums
from mercer.sources import PartBlocks, scan

pytestmark = pytest.mark.filterwarnings("ignore::mercer.errors.AccuracyWarning")

X = dask_rows.table(1000)


def part(start, stop, first=True, number=0):
    return PartBlocks(X[start:stop], number, start if first else None, None)


def sampled(cuts, most, total, first=True, weights=None):
    work = LandmarksOfParts(None, most, total)
    edges = [0, *cuts, len(X)]
    found = [
        work.part(part(a, b, first), None if weights is None else weights[a:b])
        for a, b in itertools.pairwise(edges)
    ]
    while len(found) > 1:
        found = [work.merge(found[0], found[1]), *found[2:]]
    return found[0]


def test_few_rows_are_all_in_the_sample():
    for total in (1000, None):
        found = sampled([10, 10, 700], 1000, total)
        assert found.whole
        assert found.count == 1000
        np.testing.assert_array_equal(found.rows, X)
        np.testing.assert_array_equal(found.weights, np.ones(1000))


def test_the_sample_of_counted_rows_does_not_depend_on_the_parts():
    found = [sampled(cuts, 97, 1000) for cuts in ([], [1], [500], [3, 3, 640, 999])]
    for other in found[1:]:
        np.testing.assert_array_equal(other.rows, found[0].rows)
    assert len(found[0].rows) == 97
    assert not found[0].whole
    assert found[0].weights.sum() == pytest.approx(1000)
    numbers = np.flatnonzero((X[:, None] == found[0].rows).all(axis=2).any(axis=1))
    assert set(np.diff(numbers)) == {10, 11}


def test_parts_of_unknown_length_are_drawn_from_by_their_weight():
    found = sampled([100], 90, None, first=False)
    assert len(found.rows) <= 90
    assert found.count == 1000
    assert found.weights.sum() == pytest.approx(1000)
    short = (X[:100, None] == found.rows).all(axis=2).any(axis=0)
    assert found.weights[short].sum() == pytest.approx(100, abs=30)


@pytest.mark.parametrize("heavy", [1e5, 1e9, 1e15])
def test_a_heavy_row_leaves_places_for_the_others(heavy):
    w = np.r_[np.ones(400), heavy, heavy / 1e4, np.ones(598)]
    found = sampled([100, 640], 97, None, weights=w)
    assert 90 <= len(found.rows) <= 97
    assert found.weights.sum() == pytest.approx(w.sum())
    assert found.weights[(found.rows == X[400]).all(axis=1)] == pytest.approx([heavy])


def test_a_repeat_count_does_what_repeats_do():
    w = np.random.default_rng(3).integers(0, 5, len(X)).astype(float)
    few = Sample(X, w, len(X)).thinned(200)
    again = Sample(np.repeat(X, w.astype(int), axis=0), np.ones(int(w.sum())), 0).thinned(200)
    rows, at = np.unique(again.rows, axis=0, return_index=True)
    assert few.weights.sum() == pytest.approx(w.sum())
    np.testing.assert_array_equal(np.unique(few.rows, axis=0), rows)
    assert len(at) == len(few.rows)


def test_rows_of_no_weight_are_not_drawn():
    w = np.zeros(len(X))
    w[[3, 400, 990]] = [1, 7, 2]
    found = Sample(X, w, len(X)).thinned(10)
    np.testing.assert_array_equal(found.rows, X[[3, 400, 990]])
    np.testing.assert_allclose(found.weights, [1, 7, 2])
    none = Sample(X, np.zeros(len(X)), len(X)).thinned(10)
    assert none.weights.sum() == 0


def test_sparse_rows_stay_sparse():
    work = LandmarksOfParts(None, 50, None)
    S = scipy.sparse.csr_array(np.where(X > 100, X, 0))
    one = work.part(PartBlocks(S[:700], 0, None, None), None)
    two = work.part(PartBlocks(S[700:], 1, None, None), None)
    assert scipy.sparse.issparse(work.merge(one, two).rows)
    dense = work.part(PartBlocks(S[:700], 0, None, None, dense=True), None)  # announced so
    assert isinstance(dense.rows, np.ndarray)


def test_bad_cells_are_named_wherever_they_stand():
    bad = X.copy()
    bad[700, 2] = np.inf
    work = LandmarksOfParts(None, 10, 1000)
    with pytest.raises(InputError, match="row 700, column 2"):
        work.part(PartBlocks(bad[600:], 1, 600, None), None)
    with pytest.raises(InputError, match="part 1, row 100, column 2"):
        work.part(PartBlocks(bad[600:], 1, None, None), None)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([], "no rows"),
        ([1.0], "one row"),
        ([0.0, 0.0], "zero"),
        ([0.5, 0.25], "exceed 1"),
        ([1e16, 1.0], "cannot be counted"),
    ],
    ids=["none", "one", "zero", "small", "large"],
)
def test_too_little_is_refused(weights, words):
    with pytest.raises(InputError, match=words):
        refuse_few(Sample(X[: len(weights)], np.asarray(weights), len(weights)))


def test_a_sample_settles_kernel_and_landmarks_and_changes_no_model():
    model = KernelPCA(2, landmarks=30)
    model._admit(X, reset=True)
    before = dict(vars(model))
    work = LandmarksOfParts(model, 1000, 1000)
    found = work.finish(work.part(part(0, 1000), None))
    assert vars(model) == before
    whole = KernelPCA(2, landmarks=30).fit(iter([X]))
    np.testing.assert_array_equal(found.landmarks.rows, whole.landmarks_)
    assert found.kernel == whole.kernel_
    assert found.alignment == whole.alignment_
    assert found.frame.weights is None


def test_sums_of_parts_are_those_of_all_rows():
    kernel = RBF(3.0)
    marks, frame = Landmarks.of(kernel, X[:40]), KernelRows(kernel, True, None)
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    work = SumsOfParts(marks, frame)
    edges = [0, 0, 333, 900, 1000]
    found = [work.part(part(a, b), w[a:b]) for a, b in itertools.pairwise(edges)]
    assert all("landmarks" not in bare for bare in found)
    while len(found) > 1:
        found = [*found[:-2], work.merge(*found[-2:])]
    values, _, _, t = LandmarkSums.through(marks, found[0]).pairs()
    expected, left = dask_rows.by_hand(kernel, X, marks.rows, w)
    np.testing.assert_allclose(values[:20], expected[:20], rtol=1e-9)
    assert t == pytest.approx(left, rel=1e-9)


@pytest.mark.usefixtures("every_chunk")
@pytest.mark.parametrize("parts", [1, 5, 9])
def test_what_is_left_to_do_is_done_once_after_the_last_merge(parts):
    da = pytest.importorskip("dask.array")

    class Longest:
        done = 0

        def part(self, rows, weights):
            del weights
            return rows.shape[0]

        def merge(self, one, other):
            return one + other

        def finish(self, found):
            Longest.done += 1
            return f"{found} rows"

    source = scan(da.ones((90, 2), chunks=(90 // parts, 2)))
    assert source.parts == parts
    assert source.reduce(Longest()) == "90 rows"
    assert Longest.done == 1
    assert source.walks == 1
