"""Chunks of every kind become the rows of a part, or are refused with their part."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sparse
from narwhals.stable.v2 import from_native

from mercer.errors import InputError
from mercer.sources.frames._numeric_columns import Cells, stored_types
from mercer.sources.parts._dask_parts import Reader, Step

X = np.arange(12.0).reshape(3, 4)


def reader(dtype="f8", columns=4, sparse=False):
    return Reader(np.dtype(dtype), None, (), "rows", columns, sparse)


def frame_reader(frame):
    cells = Cells(from_native(frame).schema, stored_types(frame), None, None, "frame").silent()
    found = tuple(map(str, frame.columns))
    return Reader(cells.dtype, cells.names, (), "frame", len(cells.at), False, cells, found)


def test_one_chunk_is_not_copied():
    assert reader().part(0, 0, [[X]]).held is X


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_sparse_chunks_become_csr(form):
    made = getattr(scipy.sparse, form)
    rows = reader(sparse=True).part(0, 0, [[made(X[:, :2]), made(X[:, 2:])]])
    assert rows.nnz == 11
    assert rows.held.format == "csr"
    np.testing.assert_array_equal(rows.held.toarray(), X)


def test_chunks_of_the_library_sparse_are_taken():
    rows = reader(sparse=True).part(0, 0, [[sparse.COO.from_numpy(X)]])
    np.testing.assert_array_equal(rows.held.toarray(), X)


def test_a_sparse_chunk_among_dense_ones_is_read_as_dense():
    rows = reader().part(0, 0, [[scipy.sparse.csr_array(X)]])
    assert rows.nnz is None
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks(2))), X)


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


def test_a_partition_of_float64_where_float32_was_announced_is_refused():
    with pytest.raises(InputError, match="not float32"):
        frame_reader(FRAME.astype("f4")).part(0, None, [[FRAME]])


def test_an_empty_partition_may_hold_anything():
    rows = frame_reader(FRAME).part(0, None, [[FRAME[:0].astype(object)]])
    assert rows.shape == (0, 2)


def test_missing_cells_of_nullable_columns_are_nan():
    frame = FRAME.assign(b=pd.array([1, None], dtype="Int64"))
    assert np.isnan(frame_reader(frame).part(0, None, [[frame]]).held[1, 1])


class Sum:
    def part(self, rows, weights):
        held = rows.held.sum(axis=0)
        return held if weights is None else weights @ rows.held

    def merge(self, one, other):
        return one + other


def test_weights_come_in_pieces():
    told = Step(Sum(), reader()).part(0, 0, [[X]], [np.array([1.0, 0.0]), np.array([2.0])])
    np.testing.assert_array_equal(told.result, X[0] + 2 * X[2])


def test_a_short_chunk_among_others_is_named_before_they_are_joined():
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
