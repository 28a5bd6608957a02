"""Pieces are named by size, isolated points by number."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import one_piece, pieces_of
from mercer.operators.graphs._graph import one_whole


def chains(*lengths):
    blocks = [np.eye(m, k=1) + np.eye(m, k=-1) for m in lengths]
    return scipy.sparse.csr_matrix(scipy.sparse.block_diag(blocks))


def test_the_largest_comes_first():
    found = pieces_of(chains(3, 1, 5, 1))
    assert found.count == 4
    np.testing.assert_array_equal(found.sizes, [5, 3, 1, 1])
    np.testing.assert_array_equal(found.rows(0), np.arange(4, 9))
    np.testing.assert_array_equal(found.isolated, [3, 9])
    assert str(found) == "4 pieces of 5, 3, 1, 1 points; 2 isolated: rows 3, 9"


def test_a_loop_joins_nothing():
    assert pieces_of(chains(2, 1) + scipy.sparse.identity(3)).isolated.tolist() == [2]


def test_pieces_are_refused_with_their_sizes():
    one_piece(pieces_of(chains(4)), "")
    with pytest.raises(InputError, match="3 pieces of 6, 2, 1 points; 1 isolated: rows 2"):
        one_piece(pieces_of(chains(2, 1, 6)), "join them")


def test_one_whole():
    assert str(one_whole(7)) == str(pieces_of(chains(7))) == "one piece of 7 points"
