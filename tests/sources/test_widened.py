"""Columns of several sources side by side."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.errors import InputError
from mercer.sources import WidenedSource, scan

X, Y = np.arange(60.0).reshape(20, 3), -np.arange(40.0).reshape(20, 2)
NAMES = ("a", "b", "c"), ("d", "e")


@pytest.mark.parametrize("length", [1, 6, 40])
@pytest.mark.parametrize("pieces", [(7, 3), (20, 1)])
def test_blocks_are_side_by_side(length, pieces):
    parts = [Pieces(X, pieces[0], names=NAMES[0]), Pieces(Y, pieces[1], names=NAMES[1])]
    source = WidenedSource(parts)
    assert (source.shape, source.names) == ((20, 5), ("a", "b", "c", "d", "e"))
    assert np.array_equal(np.concatenate(list(source.blocks(length))), np.hstack([X, Y]))
    start = 6 if length == 6 else length * (20 // length // 2)
    rest = list(source.blocks(length, start))
    assert np.array_equal(np.concatenate(rest), np.hstack([X, Y])[start:])


def test_types_join():
    short = [
        Pieces(X.astype(np.float32), names=NAMES[0]),
        Pieces(Y.astype(np.float32), names=NAMES[1]),
    ]
    assert WidenedSource(short).dtype == np.float32
    mixed = WidenedSource([Pieces(X.astype(np.int8), names=NAMES[0]), short[1]])
    assert mixed.dtype == np.float64
    assert next(mixed.blocks(5)).dtype == np.float64


def test_what_one_part_knows_counts():
    one = Pieces(X, forecast=90, names=NAMES[0], passes=3)
    source = WidenedSource([one, Pieces(Y, names=NAMES[1])])
    assert (source.shape, source.counted, source.max_passes) == ((20, 5), True, 3)
    one.rate = 1e6
    assert 1e6 < WidenedSource([one, Pieces(Y, names=NAMES[1])]).rate < 1e7
    assert (
        source.fingerprint()
        != WidenedSource([one, Pieces(2 * Y, names=NAMES[1])]).fingerprint()
    )


def test_another_number_of_rows_is_refused():
    source = WidenedSource([Pieces(X, names=NAMES[0]), Pieces(Y[:17], names=NAMES[1])])
    with pytest.raises(InputError, match="same number of rows") as caught:
        list(source.blocks(5))
    assert "pieces" in caught.value.got


def test_places_are_those_of_the_parts(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = WidenedSource([scan(path), Pieces(Y[:2], names=NAMES[1])])
    assert source.place(1, 1) == "a.csv, line 3, column 'y'"
    assert source.place(1, 2) == "pieces, row 1, column 0 ('d')"
    assert source._files() == (path,)


def test_sparse_rows_are_refused():
    sparse = Pieces(scipy.sparse.csr_array(X), names=NAMES[0])
    with pytest.raises(InputError, match="beside sparse"):
        WidenedSource([sparse, Pieces(Y, names=NAMES[1])])
