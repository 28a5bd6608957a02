import functools
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import PartsSurvey, Survey, SurveyOfParts
from mercer.operators.completion._gap_survey import observed_weights, parted
from mercer.sources import PartBlocks


def gappy(n=500, p=5, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, p)) * [1, 10, 0.1, 1, 3][:p] + 7).astype(dtype)
    X[rng.random((n, p)) < 0.2] = np.nan
    X[3::97] = np.nan  # rows with nothing observed
    return X


def cut(X, cuts, known=True):
    edges = [0, *cuts, len(X)]
    return [
        PartBlocks(X[a:b], number, a if known else None, None)
        for number, (a, b) in enumerate(itertools.pairwise(edges))
    ]


def joined(parts, work, weights=None):
    found, start = [], 0
    for part in parts:
        own = None if weights is None else weights[start : start + part.shape[0]]
        found.append(work.part(part, own))
        start += part.shape[0]
    return functools.reduce(work.merge, found)


@pytest.mark.parametrize("cuts", [[], [100], [0, 1, 17, 17, 499]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_tell_what_all_rows_tell(cuts, weighted):
    X = gappy()
    weights = np.random.default_rng(1).integers(0, 4, len(X)) * 1.0 if weighted else None
    survey = Survey(5, 10_000)
    survey.add(X, weights)
    found = joined(cut(X, cuts), SurveyOfParts(10_000, 2e3), weights)
    assert found.rows == survey.rows == 500
    np.testing.assert_array_equal(found.counts, np.isnan(X).sum(axis=0))
    np.testing.assert_allclose(found.weighed, survey.weighed, rtol=1e-14)
    held = np.ones(len(X), bool) if weights is None else weights > 0
    np.testing.assert_array_equal(found.kept, X[held])  # all that count fit
    empty = np.isnan(X).all(axis=1)
    assert found.left_out == survey.left_out == empty.sum() > 5
    seen = np.where(empty, 0.0, 1.0 if weights is None else weights)
    np.testing.assert_array_equal(found.kept_weights, seen[held])
    assert found.total == seen.sum()
    origin, unit = found.origin(np.float64)
    np.testing.assert_allclose(origin, np.nanmean(X[held], axis=0), rtol=1e-13)
    assert unit == 0


def test_rows_with_nothing_observed_are_named_up_to_a_few():
    X = gappy()
    known = joined(cut(X, [100, 300]), SurveyOfParts(64, 1e6))
    assert known.named == ("row 3", "row 100", "row 197", "row 294", "row 391")
    unknown = joined(cut(X, [100, 300], known=False), SurveyOfParts(64, 1e6))
    assert unknown.named[:2] == ("part 0, row 3", "part 1, row 0")
    assert known.left_out == unknown.left_out == 6


@pytest.mark.parametrize("size", [7, 64])
def test_samples_stay_small_and_spread_over_all_parts(size):
    X = np.arange(5000.0)[:, None] + [0, 0.5]
    work = SurveyOfParts(100, 1e6)
    found = joined(cut(X, [1, 2, 3, *range(size, 5000, size)]), work)
    assert 20 <= len(found.kept) <= 100
    assert len(found.kept) == len(found.kept_weights)
    assert found.kept[0, 0] < 500
    assert found.kept[-1, 0] > 4000
    np.testing.assert_array_equal(found.at, found.kept[:, 0])
    gaps = np.diff(found.at)
    assert gaps.min() > 0
    assert gaps.max() <= 2 * found.step <= 256


def in_a_tree(parts, work):
    """Join neighbours, then neighbours of these, as a cluster does."""
    found = [work.part(part, None) for part in parts]
    while len(found) > 1:
        found = [
            functools.reduce(work.merge, found[i : i + 2]) for i in range(0, len(found), 2)
        ]
    return found[0]


@pytest.mark.parametrize("size", [7, 64, 501, 2000])
def test_the_sample_does_not_depend_on_parts_whose_places_are_known(size):
    X = np.arange(5000.0)[:, None] + [0, 0.5]
    whole = Survey(2, 100)
    whole.add(X)
    found = in_a_tree(cut(X, [1, *range(size, 5000, size)]), SurveyOfParts(100, 1e6))
    np.testing.assert_array_equal(found.kept, whole.sample[1])
    np.testing.assert_array_equal(found.at, whole.sample[0])
    assert found.step == whole.step == 64


def test_the_origin_outlives_the_rows():
    X = gappy(dtype=np.float32)
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, np.float32(1e-3))
    found = joined(cut(X, [200]), SurveyOfParts(64, 1e6))
    light = found.without_rows()
    assert light.kept.shape == (1, 5)
    assert isinstance(light, PartsSurvey)
    one, other = found.origin(np.float32), light.origin(np.float32)
    np.testing.assert_array_equal(one[0], other[0])
    assert one[1] == other[1]
    np.testing.assert_array_equal(light.constant, [False, False, True, False, False])
    assert len(pickle.dumps(light)) < 2000


@pytest.mark.parametrize("sparse", [False, True])
def test_an_infinite_cell_is_refused_where_it_lies(sparse):
    X = gappy(60)
    X[41, 2] = -np.inf
    held = scipy.sparse.csr_array(X) if sparse else X
    part = PartBlocks(held, 2, 1000, tuple("abcde"))
    with pytest.raises(InputError, match=r"-infinity at row 1041, column 2 \('c'\)"):
        SurveyOfParts(64, 500.0).part(part, None)


def test_sparse_parts_count_stored_gaps_alone():
    X = gappy(80) - 7
    X[np.abs(X) < 0.5] = 0.0
    work = SurveyOfParts(1000, 1e3)
    dense = work.part(PartBlocks(X, 0, 0, None), None)
    sparse = work.part(PartBlocks(scipy.sparse.csr_array(X), 0, 0, None), None)
    np.testing.assert_array_equal(dense.counts, sparse.counts)
    np.testing.assert_array_equal(dense.kept, sparse.kept)
    assert dense.named == sparse.named


def test_a_part_without_rows_tells_nothing():
    work = SurveyOfParts(16, 1e6)
    none = work.part(PartBlocks(np.empty((0, 5)), 0, 0, None), None)
    assert (none.rows, none.left_out, none.total, none.kept.shape) == (0, 0, 0.0, (0, 5))
    some = work.part(PartBlocks(gappy(12), 1, 0, None), None)
    both = work.merge(none, some)
    np.testing.assert_array_equal(both.low, some.low)
    np.testing.assert_array_equal(both.kept, some.kept)
    assert list(parted(PartBlocks(np.empty((0, 5)), 0, 0, None), 1e6)) == []


def test_weights_become_zero_where_nothing_is_observed_and_are_not_written_to():
    X = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    given = np.array([3.0, 4.0, 5.0])
    np.testing.assert_array_equal(observed_weights(X, given), [3, 0, 5])
    np.testing.assert_array_equal(observed_weights(X, None), [1, 0, 1])
    np.testing.assert_array_equal(given, [3, 4, 5])
    assert observed_weights(X[[0, 2]], None) is None
