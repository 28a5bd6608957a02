"""Streams of blocks: nothing is lost, whatever the lengths of the blocks."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import walked

from mercer.errors import DataWarning, InputError
from mercer.sources import scan
from mercer.sources._stream_source import ArrayForm, FrameForm, form_of

X = np.random.default_rng(3).standard_normal((40, 3))
KINDS = {
    "array": np.array,
    "sparse": scipy.sparse.csr_array,
    "csc matrix": scipy.sparse.csc_matrix,
    "pandas": lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
    "polars": lambda x: pl.DataFrame(x, schema=["a", "b", "c"]),
    "record batch": lambda x: pa.record_batch(dict(zip("abc", x.T, strict=True))),
}


def cut(lengths, kind="array"):
    """Yield X in blocks of these lengths, then the rest in one."""
    at = 0
    for length in lengths:
        yield KINDS[kind](X[at : at + length])
        at = min(len(X), at + length)
    yield KINDS[kind](X[at:])


@settings(deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(0, 15), max_size=8),
    rows=st.integers(1, 50),
    kind=st.sampled_from(list(KINDS)),
)
def test_any_lengths_give_the_same_rows(lengths, rows, kind):
    source = scan(cut(lengths, kind))
    assert source.max_passes == 1
    assert not source.counted
    assert np.array_equal(walked(source, rows), X)
    assert source.counted
    assert source.shape == X.shape


@settings(deadline=None, derandomize=True)
@given(lengths=st.lists(st.integers(0, 15), max_size=8), late=st.integers(0, 4))
def test_a_function_makes_any_number_of_walks(lengths, late):
    source = scan(lambda: cut(lengths))
    for _ in range(3):
        assert np.array_equal(walked(source, 10), X)
    blocks = list(source.blocks(10, 10 * late))
    assert np.array_equal(np.concatenate([X[:0], *blocks]), X[10 * late :])
    assert source.max_passes == float("inf")


def test_walks_that_cannot_be_made_are_refused():
    source = scan(cut([5, 5]))
    walked(source, 7)
    with pytest.raises(InputError, match="only once"):
        walked(source, 7)
    lengths = iter([3, 3, 4])
    source = scan(lambda: iter([X] * next(lengths)))
    walked(source, 9)
    with pytest.raises(InputError, match="160 rows, and 120 before"):
        walked(source, 9)
    blocks = iter([X, X])
    with pytest.raises(InputError, match="the same iterator"):
        walked(scan(lambda: blocks), 9)


def test_blocks_are_made_when_they_are_needed():
    made = []

    def blocks():
        for number in range(100):
            made.append(number)
            yield X

    walking = scan(blocks()).blocks(40)
    assert made == [0]
    next(walking)
    next(walking)
    assert made == [0, 1]

    def blocks():
        buffer = np.empty((4, 3))
        for at in range(0, 40, 4):
            buffer[:] = X[at : at + 4]
            yield buffer

    source = scan(blocks)
    for rows in (1, 3, 8, 40):
        parts = [block.copy() for block in source.blocks(rows)]
        assert np.array_equal(np.concatenate(parts), X)


def test_the_length_is_a_forecast():
    assert scan(iter([X, X, X])).shape == (120, 3)
    unknown = scan(x for x in [X])
    assert unknown.shape[0] > 40
    assert "about" in repr(unknown)
    assert unknown.nbytes == unknown.shape[0] * 24
    sparse = scan(iter([scipy.sparse.eye_array(4), scipy.sparse.eye_array(4)]))
    assert sparse.nnz == 8
    assert 0 < sparse.nbytes < 8 * 4 * 8
    assert scan(cut([5])).fingerprint() != scan(cut([5])).fingerprint()
    mark = scan(lambda: cut([5])).fingerprint()
    assert scan(lambda: cut([5])).fingerprint() == mark
    assert scan(lambda: cut([6])).fingerprint() != mark
    assert scan(lambda: cut([5], "sparse")).fingerprint() != mark
    assert scan(lambda: cut([5], "pandas")).fingerprint() != mark


@pytest.mark.parametrize("kind", ["array", "sparse"])
def test_columns_by_place(kind):
    source = scan(cut([5], kind), columns=[2, 0])
    assert source.names == ("2", "0")
    assert np.array_equal(walked(source, 9), X[:, [2, 0]])


def test_columns_by_name():
    source = scan(cut([5], "polars"), drop="b")
    assert source.names == ("a", "c")
    assert np.array_equal(walked(source, 9), X[:, [0, 2]])
    assert source.place(3, 1) == "a stream of blocks, row 3, column 1 ('c')"
    table = pa.table(dict(zip("abc", X.T, strict=True)))
    source = scan(table.to_reader(max_chunksize=7))
    assert source.names == ("a", "b", "c")
    assert np.array_equal(walked(source, 9), X)
    source = scan(lambda: [X[:9], X[9:]])
    assert np.array_equal(walked(source, 4), X)
    assert np.array_equal(walked(source, 4), X)


def test_faults_of_the_program_are_its_own():
    def blocks():
        yield X
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        walked(scan(blocks()), 9)


# The first block settles kind, width and type; what fits is taken as floats.


def form(first, columns=None, drop=None):
    return form_of(first, columns, drop, "s")


@pytest.mark.parametrize(
    ("first", "dtype"),
    [
        ("float64", np.float64),
        ("float32", np.float32),
        ("int8", np.float64),
        ("uint64", np.float64),
        ("bool", np.float64),
    ],
)
@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_types_of_blocks(first, dtype, make):
    block = make(np.ones((2, 3), first))
    found = form(block)
    assert found.dtype == dtype
    assert found.block(block, 0).dtype == dtype


@pytest.mark.parametrize(
    ("first", "later", "fits"),
    [
        ("float64", "int64", True),
        ("int64", "float64", True),
        ("float64", "float32", True),
        ("float32", "float64", False),
        ("float32", "int32", False),
        ("float32", "int16", True),
        ("float64", "complex128", False),
        ("float64", "object", False),
        ("float64", "longdouble", False),
        ("float64", "U3", False),
        ("float64", "M8[s]", False),
    ],
)
def test_later_types(first, later, fits):
    found, block = form(np.ones((2, 3), first)), np.zeros((2, 3), later)
    if fits:
        assert found.block(block, 4).dtype == found.dtype
    else:
        with pytest.raises(InputError, match="block 4 of the stream has a type"):
            found.block(block, 4)


def test_blocks_of_other_forms_become_floats():
    block = np.array([[1.5, 2]], np.float16)
    found = form(block).block(block, 0)
    assert found.dtype == np.float32
    assert found.tolist() == [[1.5, 2]]
    block = np.ones((2, 3))
    assert form(block).block(block, 0) is block
    block = np.arange(12.0).reshape(3, 4).T[::-1].astype(">f8")
    found = form(block).block(block, 0)
    assert found.dtype == np.dtype("=f8")
    assert np.array_equal(found, block)
    block = scipy.sparse.coo_matrix(np.eye(3))
    found = form(block, columns=[2, 0]).block(block, 0)
    assert found.format == "csr"
    assert np.array_equal(found.toarray(), np.eye(3)[:, [2, 0]])


def test_long_integers_are_said_once():
    found, block = form(np.ones((1, 1), int)), np.array([[2**60]])
    with pytest.warns(DataWarning, match="beyond 2\\^53"):
        found.block(block, 1)
    found.block(block, 2)
    low = scipy.sparse.csr_array(np.array([[-(2**62)]]))
    with pytest.warns(DataWarning, match="beyond 2\\^53"):
        form(low).block(low, 0)


def test_blocks_that_do_not_fit_are_refused():
    first = pd.DataFrame({"a": [1], "t": ["x"]})
    found = form(first, columns="a")
    assert isinstance(found, FrameForm)
    assert found.block(pd.DataFrame({"a": [1.5], "t": [None]}), 1).tolist() == [[1.5]]
    short = form(pd.DataFrame({"a": np.float32([1])}))
    with pytest.raises(InputError, match="column 'a' holds Int64, not float32"):
        short.block(pd.DataFrame({"a": [1]}), 3)
    late = pytest.importorskip("dask.array").ones((3, 2))
    with pytest.raises(InputError, match="block 4 is a Dask array"):
        form(np.ones((3, 2))).block(late, 4)
    with pytest.raises(InputError, match="block 0 is a Dask array"):
        form(late)
    block = np.ones((2, 3))
    assert isinstance(form(block), ArrayForm)
    assert form(block).names is None
    assert form(block, drop=[0]).names == ("1", "2")
    with pytest.raises(InputError, match="no column number 7"):
        form(block, columns=[7])
