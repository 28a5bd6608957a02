"""Columns chosen after they are read."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.sources import KeptColumns, scan

X = np.arange(60.0).reshape(12, 5)
SPARSE = scipy.sparse.csr_array(np.where(X % 3 == 0, X, 0))


@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("at", [(0,), (4, 0, 2), (0, 1, 2, 3, 4)])
def test_the_columns_in_their_order(rows, at):
    source = KeptColumns(Pieces(rows, 5, names=tuple("abcde")), at)
    blocks = [block if rows is X else block.toarray() for block in source.blocks(4)]
    dense = rows if rows is X else rows.toarray()
    assert np.array_equal(np.concatenate(blocks), dense[:, at])
    assert source.names == tuple("abcde"[i] for i in at)
    assert [name for name, _ in source.dropped] == [c for c in "abcde" if c not in source.names]
    assert source.shape == (12, len(at))
    assert (source.nnz is None) is (rows is X)


def test_places_and_prints(tmp_path):
    np.save(tmp_path / "a.npy", X)
    whole = scan(tmp_path / "a.npy")
    source = KeptColumns(whole, (3, 1))
    assert source.names == ("3", "1")
    assert source.place(2, 0) == whole.place(2, 3)
    marks = {
        whole.fingerprint(),
        source.fingerprint(),
        KeptColumns(whole, (1, 3)).fingerprint(),
    }
    assert len(marks) == 3
    assert source._files() == (tmp_path / "a.npy",)
