"""Row blocks share the memory of the matrix they are cut from."""

import numpy as np
import pytest
import scipy.sparse

from mercer.operators.sparse import _csr_blocks as _csr
from mercer.operators.sparse._csr_blocks import (
    columns_from,
    parted,
    row_view,
    sparse_tiles,
    stacked,
)


def test_a_view_shares_its_cells():
    csr = scipy.sparse.csr_array(np.arange(40.0).reshape(10, 4))
    view = row_view(csr, slice(3, 7))
    np.testing.assert_array_equal(view.toarray(), csr.toarray()[3:7])
    assert np.shares_memory(view.data, csr.data)


def test_tiles_cover_all_rows():
    csr = scipy.sparse.csr_array(np.eye(100))
    tiles = sparse_tiles(csr)
    assert [i for t in range(len(tiles)) for i in range(100)[tiles[t]]] == list(range(100))


def holed(dtype=np.float64):
    """Return a table with empty rows, first and last among them, and an empty column."""
    rng = np.random.default_rng(0)
    table = rng.integers(1, 9, (12, 7)) * (rng.random((12, 7)) < 0.5)
    table[[0, 4, 5, 11]] = 0
    table[:, 2] = 0
    return scipy.sparse.csr_array(table.astype(dtype))


@pytest.mark.parametrize("heavy", [0, 3, 7])
@pytest.mark.parametrize("rows", [slice(0, 12), slice(4, 6), slice(3, 12)])
def test_columns_are_parted_by_rank(heavy, rows):
    csr, rank = holed(np.float32), np.random.default_rng(1).permutation(7).astype(np.int32)
    full, light = parted(csr, rows, rank, heavy)
    ranked = csr.toarray()[rows][:, np.argsort(rank)]
    np.testing.assert_array_equal(full.toarray(), ranked[:, :heavy])
    np.testing.assert_array_equal(light.toarray(), ranked[:, heavy:])
    assert full.indptr.dtype == full.indices.dtype == csr.indices.dtype
    assert full.dtype == light.dtype == np.float32


@pytest.mark.parametrize("start", [0, 2, 7])
def test_the_last_columns(start):
    csr = holed()
    np.testing.assert_array_equal(columns_from(csr, start).toarray(), csr.toarray()[:, start:])


def test_blocks_are_stacked_in_float64():
    csr = holed(np.float32)
    blocks = [
        row_view(csr, slice(0, 5)),
        row_view(csr, slice(5, 6)),
        row_view(csr, slice(6, 12)),
    ]
    whole = stacked(blocks)
    np.testing.assert_array_equal(whole.toarray(), csr.toarray())
    assert whole.dtype == np.float64
    assert not blocks


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_are_added_to_what_is_there(rng, monkeypatch, public, index):
    if public:  # as on a SciPy without the functions that add in place
        monkeypatch.setattr(_csr, "csr_matvecs", None)
        monkeypatch.setattr(_csr, "csc_matvecs", None)
    csr = scipy.sparse.random_array((50, 20), density=0.2, random_state=rng, format="csr")
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    part = _csr.row_view(csr, slice(7, 31))
    v, u = rng.standard_normal((20, 3)), rng.standard_normal((24, 3))
    out, back = np.ones((24, 3)), np.ones((20, 3))
    _csr.add_product(part, v, out)
    _csr.add_transposed(part, u, back)
    exact = csr.toarray()[7:31]
    np.testing.assert_allclose(out, 1 + exact @ v)
    np.testing.assert_allclose(back, 1 + exact.T @ u)
