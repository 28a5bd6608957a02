"""Chunks of every kind become the rows of a part, or are refused with their part."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sparse
from narwhals.stable.v2 import from_native

from mercer.errors import InputError
from mercer.sources.frames._numeric_columns import Cells, stored_types
from mercer.sources.parts import _dask_chunks as _dask_layout
from mercer.sources.parts._dask_chunks import (
    PartedWeights,
    cut_anew,
    delayed_parts,
    fitting_weights,
    grouped,
    known,
)
from mercer.sources.parts._dask_parts import Reader, Step

X = np.arange(12.0).reshape(3, 4)


def reader(dtype="f8", columns=4, sparse=False):
    return Reader(np.dtype(dtype), None, (), "rows", columns, sparse)


def frame_reader(frame):
    cells = Cells(from_native(frame).schema, stored_types(frame), None, None, "frame").silent()
    found = tuple(map(str, frame.columns))
    return Reader(cells.dtype, cells.names, (), "frame", len(cells.at), False, cells, found)


def test_dense_and_sparse_chunks_make_rows():
    assert reader().part(0, 0, [[X]]).held is X
    rows = reader(sparse=True).part(0, 0, [[sparse.COO.from_numpy(X)]])
    np.testing.assert_array_equal(rows.held.toarray(), X)
    rows = reader().part(0, 0, [[scipy.sparse.csr_array(X)]])
    assert rows.nnz is None
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks(2))), X)


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_chunks_become_csr(form):
    made = getattr(scipy.sparse, form)
    rows = reader(sparse=True).part(0, 0, [[made(X[:, :2]), made(X[:, 2:])]])
    assert rows.nnz == 11
    assert rows.held.format == "csr"
    np.testing.assert_array_equal(rows.held.toarray(), X)


@pytest.mark.parametrize(
    ("announced", "given", "fine"),
    [("f8", "f4", True), ("f8", "i4", True), ("f4", "f8", False), ("i8", "f8", False)],
)
def test_a_chunk_of_another_type_is_widened_or_refused(announced, given, fine):
    if fine:
        assert reader(announced).part(0, 0, [[X.astype(given)]]).dtype == announced
        return
    with pytest.raises(InputError, match=r"part 3: float64, .* announced"):
        reader(announced).part(3, 0, [[X.astype(given)]])


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        (np.ma.masked_greater(X, 5), "part 7: 6 masked cells"),
        (X[0], "part 7: a chunk of 1 dim"),
        (X[:, :3], "part 7: 3 columns, 4 announced"),
        (X.astype(object), "part 7: object"),
    ],
    ids=["masked", "one dimension", "narrow", "objects"],
)
def test_chunks_that_cannot_be_rows_are_refused(chunk, said):
    with pytest.raises(InputError, match=said):
        reader().part(7, 0, [[chunk]])


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


@pytest.mark.parametrize(
    ("partition", "said"),
    [
        (FRAME[["b", "a"]], r"part 1: 'b', 'a'; 'a', 'b' announced"),
        (FRAME.assign(c=1), "'c'"),
        (FRAME.assign(a=["x", "y"]), "part 1, 'a': text"),
    ],
    ids=["order", "more", "text"],
)
def test_partitions_that_differ_are_refused(partition, said):
    with pytest.raises(InputError, match=said):
        frame_reader(FRAME).part(1, None, [[partition]])


def test_partitions_of_other_types():
    with pytest.raises(InputError, match="not float32"):
        frame_reader(FRAME.astype("f4")).part(0, None, [[FRAME]])
    rows = frame_reader(FRAME).part(0, None, [[FRAME[:0].astype(object)]])
    assert rows.shape == (0, 2)
    frame = FRAME.assign(b=pd.array([1, None], dtype="Int64"))
    assert np.isnan(frame_reader(frame).part(0, None, [[frame]]).held[1, 1])


class Sum:
    def part(self, rows, weights):
        held = rows.held.sum(axis=0)
        return held if weights is None else weights @ rows.held

    def merge(self, one, other):
        return one + other


def test_short_chunks_and_weights_in_pieces():
    told = Step(Sum(), reader()).part(0, 0, [[X]], [np.array([1.0, 0.0]), np.array([2.0])])
    np.testing.assert_array_equal(told.result, X[0] + 2 * X[2])
    with pytest.raises(InputError, match="part 7: 3 columns, 4 announced"):
        reader().part(7, 0, [[X], [X[:, :3]]])
    with pytest.raises(InputError, match="part 7: 3, 2 rows"):
        reader().part(7, 0, [[X[:, :2], X[:2, 2:]]])
    several = dataclasses.replace(reader(), blocks=(0, 5))
    with pytest.raises(InputError, match="block 6: 3 columns, 4 announced"):
        several.part(1, 0, [[X], [X[:, :3]]])


@pytest.mark.parametrize("dtype", ["c16", "O", "U4"])
def test_what_is_no_number_is_to_be_converted_not_announced(dtype):
    with pytest.raises(InputError, match="let every chunk hold numbers"):
        reader().part(0, 0, [[X.astype(dtype)]])


# Chunks become parts by their lengths alone: small neighbours together, long ones cut.


da = pytest.importorskip("dask.array")


def test_chunks_become_parts_by_their_lengths():
    # 8 MB is the least for few columns: three chunks of 3 MB are too many.
    groups = grouped((3, 3, 3, 9, 1, 1, *(9,) * 20), 1e6, 10)
    assert groups[:5] == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 6), slice(6, 7)]
    lengths = (0, 0, 5, 0, 7, 0)
    groups = grouped(lengths, 1.0, 3)
    assert groups == [slice(0, 4), slice(4, 6)]
    assert grouped((0, 0, 0), 8.0, 3) == [slice(0, 3)]
    assert grouped((0,), 8.0, 1) == [slice(0, 1)]
    groups = grouped((1,) * 10_000, 8.0, 1)
    assert max(group.stop - group.start for group in groups) == 256
    assert sum(group.stop - group.start for group in groups) == 10_000
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


@pytest.mark.parametrize("optimised", [True, False])
def test_a_part_is_rows_of_chunks_below_each_other(optimised):
    x = np.arange(24.0).reshape(6, 4)
    data = da.from_array(x, chunks=(2, 3))
    first, second = delayed_parts(data, [slice(0, 2), slice(2, 3)], optimised=optimised)
    assert [len(row) for row in first] == [2, 2]
    assert [len(row) for row in second] == [2]
    np.testing.assert_array_equal(first[1][1].compute(scheduler="sync"), x[2:4, 3:])


# Repeat counts are cut like the rows, or refused in three lines.


dask = pytest.importorskip("dask")
GROUPS, LENGTHS = [slice(0, 2), slice(2, 3)], (5, 3)
W = np.arange(8.0)


def flat(weights, lengths):
    """Return the counts of every part, computed."""
    rows = da.from_array(np.ones((8, 2)), chunks=((2, 3, 3), (2,)))
    source = SimpleNamespace(groups=GROUPS, collection=rows, chunks=rows.to_delayed())
    fitting = fitting_weights(weights, GROUPS, lengths, "rows")
    found = []
    for part in PartedWeights(source, fitting).parts[1]:
        pieces = part if isinstance(part, list) else [part]
        pieces = [p.compute(scheduler="sync") if hasattr(p, "compute") else p for p in pieces]
        found.append(np.concatenate(pieces))
    return found


@pytest.mark.parametrize(
    "weights",
    [W, list(W), da.from_array(W, chunks=3), da.from_array(W, chunks=(5, 3))],
    ids=["array", "list", "other chunks", "same chunks"],
)
def test_known_lengths_take_any_weights(weights):
    first, second = flat(weights, LENGTHS)
    np.testing.assert_array_equal(first, W[:5])
    np.testing.assert_array_equal(second, W[5:])


def test_unknown_lengths_take_weights_with_the_same_pieces():
    weights = da.from_array(W, chunks=((2, 3, 3),))
    first, second = flat(weights[weights >= 0], None)
    np.testing.assert_array_equal(first, W[:5])
    np.testing.assert_array_equal(second, W[5:])


@pytest.mark.parametrize(
    ("weights", "lengths", "said"),
    [
        (W, None, "unknown length"),
        (W[1:], LENGTHS, "one number per row"),
        (da.from_array(W[1:], chunks=3), LENGTHS, "one number per row"),
        (da.from_array(W, chunks=4), None, "2 parts of weights, 3 of rows"),
        (da.ones((8, 1)), LENGTHS, "2 dimensions"),
        (dask.delayed(W), LENGTHS, "delayed object does not say"),
        (dask.delayed(W), None, "delayed object does not say"),
    ],
    ids=[
        "memory",
        "short",
        "short parts",
        "other parts",
        "table",
        "delayed",
        "unknown delayed",
    ],
)
def test_what_does_not_fit_is_refused(weights, lengths, said):
    with pytest.raises(InputError, match=said):
        fitting_weights(weights, GROUPS, lengths, "rows")
