"""Row blocks share the memory of the matrix they are cut from."""

import numpy as np
import scipy.sparse

from mercer.operators._csr import row_view, sparse_tiles


def test_a_view_shares_its_cells():
    csr = scipy.sparse.csr_array(np.arange(40.0).reshape(10, 4))
    view = row_view(csr, slice(3, 7))
    np.testing.assert_array_equal(view.toarray(), csr.toarray()[3:7])
    assert np.shares_memory(view.data, csr.data)


def test_tiles_cover_all_rows():
    csr = scipy.sparse.csr_array(np.eye(100))
    tiles = sparse_tiles(csr)
    assert [i for t in range(len(tiles)) for i in range(100)[tiles[t]]] == list(range(100))
