"""The first block settles kind, width and type; what fits is taken as floats."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer.errors import DataWarning, InputError
from mercer.sources._stream_source import ArrayForm, FrameForm, form_of


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


def test_half_floats_become_float32():
    block = np.array([[1.5, 2]], np.float16)
    found = form(block).block(block, 0)
    assert found.dtype == np.float32
    assert found.tolist() == [[1.5, 2]]


def test_dense_blocks_are_not_copied():
    block = np.ones((2, 3))
    assert form(block).block(block, 0) is block


def test_other_byte_orders_and_strides():
    block = np.arange(12.0).reshape(3, 4).T[::-1].astype(">f8")
    found = form(block).block(block, 0)
    assert found.dtype == np.dtype("=f8")
    assert np.array_equal(found, block)


def test_long_integers_are_said_once():
    found, block = form(np.ones((1, 1), int)), np.array([[2**60]])
    with pytest.warns(DataWarning, match="beyond 2\\^53"):
        found.block(block, 1)
    found.block(block, 2)
    low = scipy.sparse.csr_array(np.array([[-(2**62)]]))
    with pytest.warns(DataWarning, match="beyond 2\\^53"):
        form(low).block(low, 0)


def test_frames_may_widen_but_not_narrow():
    first = pd.DataFrame({"a": [1], "t": ["x"]})
    found = form(first, columns="a")
    assert isinstance(found, FrameForm)
    assert found.block(pd.DataFrame({"a": [1.5], "t": [None]}), 1).tolist() == [[1.5]]
    short = form(pd.DataFrame({"a": np.float32([1])}))
    with pytest.raises(InputError, match="column 'a' holds Int64, not float32"):
        short.block(pd.DataFrame({"a": [1]}), 3)


def test_blocks_of_dask_are_refused():
    late = pytest.importorskip("dask.array").ones((3, 2))
    with pytest.raises(InputError, match="block 4 is a Dask array"):
        form(np.ones((3, 2))).block(late, 4)
    with pytest.raises(InputError, match="block 0 is a Dask array"):
        form(late)


def test_arrays_have_no_names_unless_chosen():
    block = np.ones((2, 3))
    assert isinstance(form(block), ArrayForm)
    assert form(block).names is None
    assert form(block, drop=[0]).names == ("1", "2")
    with pytest.raises(InputError, match="no column number 7"):
        form(block, columns=[7])


def test_sparse_blocks_are_rows():
    block = scipy.sparse.coo_matrix(np.eye(3))
    found = form(block, columns=[2, 0]).block(block, 0)
    assert found.format == "csr"
    assert np.array_equal(found.toarray(), np.eye(3)[:, [2, 0]])
