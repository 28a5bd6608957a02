"""CompletedBlocks: a source of completed rows, block by block."""

import numpy as np
import pytest
from tests.operators.test_completion import model, rows_with_gaps

from mercer.operators import CompletedBlocks
from mercer.sources import ArrayBlocks, in_memory


@pytest.mark.parametrize("length", [1, 7, 50])
def test_hands_out_completed_rows(length):
    X = rows_with_gaps()
    source = CompletedBlocks(ArrayBlocks(in_memory(X), list("abcdef")), model(), watch=True)
    found = np.concatenate(list(source.blocks(length)))
    np.testing.assert_allclose(found, model().filled(X), rtol=0, atol=1e-13)
    assert source.empty == [7]
    assert source.first_bad_cell() is None
    assert source.place(3, 1) == "row 3, column 1 ('b')"


def test_begins_anywhere_and_stays_recognisable():
    inner = ArrayBlocks(in_memory(rows_with_gaps()))
    source = CompletedBlocks(inner, model(), watch=True)
    found = np.concatenate(list(source.blocks(5, 5)))
    np.testing.assert_allclose(found, model().filled(rows_with_gaps())[5:], rtol=0, atol=1e-13)
    assert source.empty == [7]
    assert source.fingerprint() == inner.fingerprint()
    assert source.nbytes == inner.nbytes
