import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from mercer.arrays import as_numpy
from mercer.sources import scan


def test_a_dense_source_says_what_there_is(xp):
    source = scan(xp.asarray(np.ones((5, 3), np.float32)))
    assert (source.shape, source.dtype, source.nbytes) == ((5, 3), np.float32, 60)
    assert source.nnz is None


def test_a_sparse_source_says_what_there_is():
    source = scan(scipy.sparse.csr_array(np.eye(4)))
    assert (source.shape, source.dtype, source.nnz) == ((4, 4), np.float64, 4)
    assert source.nbytes == 4 * 8 + 4 * 4 + 5 * 4


def test_nothing_is_copied():
    array = np.ones((5, 3))
    assert scan(array).array is array
    csr = scipy.sparse.csr_array(array)
    assert scan(csr).array is csr


@given(st.integers(1, 300), st.integers(1, 400))
def test_a_sample_is_spread_evenly(n, count):
    data = np.arange(n, dtype=float)[:, None]
    for source in (scan(data), scan(scipy.sparse.csr_array(data))):
        rows = source.sample(count)[:, 0]
        assert 1 <= len(rows) <= count
        assert rows[0] == 0
        steps = np.unique(np.diff(rows))
        assert steps.size <= 1
        assert len(rows) >= min(n, count) / 2


def test_a_sample_is_made_of_floats_of_the_library(xp):
    data = np.arange(12).reshape(6, 2)
    sample = scan(xp.asarray(data.astype(np.float32))).sample(3)
    np.testing.assert_array_equal(as_numpy(sample), data[::2].astype(np.float32))
    assert scan(data).sample(3).dtype == np.float64
    assert scan(scipy.sparse.csr_array(data.astype(bool))).sample(3).dtype == np.float64


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (7, 2), (4999, 1), (4096, 0)])
def test_the_first_bad_cell_is_named(xp, value, place):
    data = np.ones((5000, 3))
    data[place] = value
    data[4999, 2] = np.nan
    for source in (scan(xp.asarray(data)), scan(scipy.sparse.csr_array(data))):
        row, column, found = source.first_bad_cell()
        assert (row, column) == place
        np.testing.assert_equal(found, value)


def test_sound_data_has_no_bad_cell(xp):
    assert scan(xp.asarray(np.ones((5, 3)))).first_bad_cell() is None
    assert scan(np.ones((5, 3), int)).first_bad_cell() is None
    assert scan(scipy.sparse.csr_array((5, 3))).first_bad_cell() is None


def test_bad_cells_are_found_between_empty_rows():
    csr = scipy.sparse.csr_array(([1.0, np.nan], ([1, 4], [0, 2])), shape=(6, 3))
    assert scan(csr).first_bad_cell()[:2] == (4, 2)


def test_integers_in_a_sparse_matrix_are_never_bad():
    assert scan(scipy.sparse.csr_array(np.eye(3, dtype=int))).first_bad_cell() is None
