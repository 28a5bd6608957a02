"""Chunks become parts by their lengths alone: small neighbours together, long ones cut."""

import numpy as np
import pytest

from mercer.sources.parts import _dask_chunks as _dask_layout
from mercer.sources.parts._dask_chunks import cut_anew, delayed_parts, grouped, known

da = pytest.importorskip("dask.array")


def test_small_neighbours_go_together_and_large_ones_stay_alone():
    # 8 MB is the least for few columns: three chunks of 3 MB are too many.
    groups = grouped((3, 3, 3, 9, 1, 1, *(9,) * 20), 1e6, 10)
    assert groups[:5] == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 6), slice(6, 7)]


def test_every_chunk_is_in_one_group_and_empty_ones_cost_nothing():
    lengths = (0, 0, 5, 0, 7, 0)
    groups = grouped(lengths, 1.0, 3)
    assert groups == [slice(0, 4), slice(4, 6)]
    assert grouped((0, 0, 0), 8.0, 3) == [slice(0, 3)]
    assert grouped((0,), 8.0, 1) == [slice(0, 1)]


def test_a_task_takes_no_more_than_some_hundred_chunks():
    groups = grouped((1,) * 10_000, 8.0, 1)
    assert max(group.stop - group.start for group in groups) == 256
    assert sum(group.stop - group.start for group in groups) == 10_000


def test_wide_rows_make_larger_parts():
    narrow = grouped((100,) * 400, 8.0 * 100, 100)
    wide = grouped((100,) * 400, 8.0 * 2000, 2000)
    rows = wide[0].stop * 100
    assert rows >= 1900  # about p rows, since a part costs p² numbers
    assert len(narrow) < len(wide)


@pytest.mark.parametrize(("sizes", "said"), [((1, 2), True), ((1, np.nan), False), ((), True)])
def test_unknown_sizes_are_nan(sizes, said):
    assert known(sizes) is said


def test_long_chunks_of_few_columns_are_cut_into_rows(caplog):
    X = da.zeros((2_000_000, 20), chunks=(2_000_000, 10))  # 320 MB side by side
    with caplog.at_level("INFO", logger="mercer"):
        cut = cut_anew(X)
    assert cut.numblocks[1] == 1
    assert max(cut.chunks[0]) * 20 * 8 <= 64e6
    assert "cut anew" in caplog.text


@pytest.mark.parametrize("chunks", [(2_000_000, 20), (500_000, 10)])
def test_other_chunks_stay_as_they_are(chunks):
    X = da.zeros((2_000_000, 20), chunks=chunks)
    assert cut_anew(X) is X


def test_rows_of_unknown_length_cannot_be_cut(monkeypatch):
    monkeypatch.setattr(_dask_layout, "_WIDE", 1.0)
    X = da.zeros((100, 4), chunks=(100, 2))
    X = X[X[:, 0] >= 0]
    assert cut_anew(X) is X


def test_rows_that_were_cut_anew_are_the_same_rows(monkeypatch, rng):
    monkeypatch.setattr(_dask_layout, "_WIDE", 100.0)
    monkeypatch.setattr(_dask_layout, "_CUT", 7 * 4 * 8.0)
    X = rng.standard_normal((30, 4))
    cut = cut_anew(da.from_array(X, chunks=(30, 1)))
    assert cut.chunks == ((7, 7, 7, 7, 2), (4,))
    np.testing.assert_array_equal(cut.compute(scheduler="sync"), X)


@pytest.mark.parametrize("optimised", [True, False])
def test_a_part_is_rows_of_chunks_below_each_other(optimised):
    x = np.arange(24.0).reshape(6, 4)
    data = da.from_array(x, chunks=(2, 3))
    first, second = delayed_parts(data, [slice(0, 2), slice(2, 3)], optimised=optimised)
    assert [len(row) for row in first] == [2, 2]
    assert [len(row) for row in second] == [2]
    np.testing.assert_array_equal(first[1][1].compute(scheduler="sync"), x[2:4, 3:])
