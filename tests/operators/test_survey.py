"""Survey: counts, ranges and the sample, however the rows are cut."""

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


def surveyed(X, length, most=10, weights=None):
    survey = Survey(X.shape[1], most)
    for start in range(0, X.shape[0], length):
        part = slice(start, start + length)
        survey.add(X[part], None if weights is None else weights[part])
    return survey


@pytest.fixture
def gaps():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((97, 5)) + 3
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.where(np.isnan(X[:, 3]), np.nan, 0.1)  # a constant that sums round
    X[11], X[96] = np.nan, np.nan
    return X


@pytest.mark.parametrize("length", [1, 8, 97])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_counts_whatever_the_blocks(gaps, length, form):
    found = surveyed(form(gaps), length)
    np.testing.assert_array_equal(found.counts, np.isnan(gaps).sum(axis=0))
    assert found.empty == np.flatnonzero(np.isnan(gaps).all(axis=1)).tolist()
    origin, unit = found.origin(np.float64)
    np.testing.assert_allclose(origin, np.nanmean(gaps[::16], axis=0), rtol=1e-12)
    assert origin[3] == 0.1
    assert found.constant.tolist() == [False, False, False, True, False]
    assert unit == 0
    at, rows = found.sample
    np.testing.assert_array_equal(at, np.arange(0, 97, 16))
    np.testing.assert_array_equal(rows, gaps[::16])


@pytest.mark.parametrize("length", [1, 8, 150])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_rows_of_weight_zero_may_hold_anything(gaps, length, form):
    rng = np.random.default_rng(1)
    held = np.sort(rng.permutation(150)[:97])
    X, w = rng.choice([1e-300, 5.0, 1e36, 1e300, np.nan], (150, 5)), np.zeros(150)
    X[held], w[held] = gaps, rng.integers(1, 4, 97)
    found, bare = surveyed(form(X), length, weights=w), surveyed(gaps, 97)
    assert found.finite
    np.testing.assert_array_equal(found.constant, bare.constant)
    np.testing.assert_array_equal(found.sample[0], held[bare.sample[0]])
    np.testing.assert_array_equal(found.sample[1], bare.sample[1])
    np.testing.assert_array_equal(found.origin(np.float64)[0], bare.origin(np.float64)[0])
    assert found.origin(np.float64)[1] == 0
    np.testing.assert_array_equal(found.counts, np.isnan(X).sum(axis=0))
    np.testing.assert_allclose(found.weighed, w @ ~np.isnan(X))
    again = Survey(5, 10)
    again.restore(surveyed(X[:80], length, weights=w[:80]).keep())
    again.add(X[80:], w[80:])
    np.testing.assert_array_equal(again.sample[0], found.sample[0])
    X[np.flatnonzero(w == 0)[-1], 2] = np.inf  # but no number is no number
    assert not surveyed(form(X), length, weights=w).finite


@pytest.mark.parametrize("where", [0, 50, 96])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_seen_anywhere(gaps, where, value):
    assert surveyed(gaps, 97).finite
    gaps[where, 2] = value
    assert not surveyed(gaps, 97).finite


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_the_unit_brings_extremes_near_one(gaps, scale):
    _, unit = surveyed(gaps * scale, 97).origin(np.float64)
    assert abs(np.log2(scale) - unit) < 6
    gaps[95, 1] = 1e250  # one huge value late in the rows
    assert surveyed(gaps, 97).origin(np.float64)[1] > 800
    found = surveyed(np.arange(12).reshape(6, 2), 4)  # which have no missing cells
    assert found.counts.tolist() == [0, 0]
    assert found.origin(np.int64)[0].tolist() == [5.0, 6.0]


def test_sums_that_overflow_still_have_a_middle():
    X = np.full((40, 2), 1.7e308)
    X[::2, 1] = np.nan
    origin, _ = surveyed(X, 40).origin(np.float64)
    np.testing.assert_array_equal(origin, [1.7e308, 1.7e308])


def test_comes_back_from_a_checkpoint(gaps):
    half, whole = surveyed(gaps[:48], 16), surveyed(gaps, 16)
    again = Survey(5, 10)
    assert again.restore(half.keep())
    for start in range(48, 97, 16):
        again.add(gaps[start : start + 16])
    for name, value in whole.keep().items():
        np.testing.assert_array_equal(again.keep()[name], value)


def test_rows_that_last_are_not_copied(gaps):
    for lasting in (False, True):
        survey = Survey(gaps.shape[1], 10, lasting=lasting)
        survey.add(gaps)
        at, rows = survey.sample
        np.testing.assert_array_equal(rows, gaps[at])
        assert np.shares_memory(rows, gaps) == lasting


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
    X = gappy(80) - 7
    X[np.abs(X) < 0.5] = 0.0  # zeros are values, and stored gaps alone are gaps
    work = SurveyOfParts(1000, 1e3)
    held = (X, scipy.sparse.csr_array(X) if sparse else X)
    one, two = (work.part(PartBlocks(rows, 0, 0, None), None) for rows in held)
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_array_equal(one.kept, two.kept)
    assert one.named == two.named
    X = gappy(60)
    X[41, 2] = -np.inf
    held = scipy.sparse.csr_array(X) if sparse else X
    part = PartBlocks(held, 2, 1000, tuple("abcde"))
    with pytest.raises(InputError, match=r"-infinity at row 1041, column 2 \('c'\)"):
        SurveyOfParts(64, 500.0).part(part, None)


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
