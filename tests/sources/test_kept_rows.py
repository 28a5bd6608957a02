"""Rows left out of a source: the others are the same, and stand where they stood."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.errors import InputError
from mercer.sources import KeptRows, scan

X = np.arange(90.0).reshape(30, 3)


def rows_of(source, length=4, start=0):
    blocks = list(source.blocks(length, start))
    assert all(len(block) == length for block in blocks[:-1])
    return np.concatenate(blocks) if blocks else np.empty((0, source.shape[1]))


@pytest.mark.parametrize("length", [1, 4, 7, 50])
@pytest.mark.parametrize("piece", [1, 5, 30])
@pytest.mark.parametrize(
    ("out", "stop"),
    [((), None), ((0,), None), ((29,), None), ((0, 1, 2, 15, 28, 29), None), ((3, 4, 20), 12)],
)
def test_the_rows_are_those_of_a_deletion(length, piece, out, stop):
    source = KeptRows(Pieces(X, piece), out, stop)
    inside = [row for row in out if stop is None or row < stop]
    expected = np.delete(X[:stop], inside, axis=0)
    assert source.shape == expected.shape
    assert np.array_equal(rows_of(source, length), expected)
    start = length * (len(expected) // (2 * length))
    assert np.array_equal(rows_of(source, length, start), expected[start:])


def test_all_rows_may_go():
    assert list(KeptRows(Pieces(X), range(30)).blocks(4)) == []


def test_places_are_those_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i},{-i}\n" for i in range(10)))
    source = KeptRows(scan(path), (0, 1, 5))
    assert [source.place(row, 1) for row in (0, 2, 3)] == [
        "a.csv, line 4, column 'y'",
        "a.csv, line 6, column 'y'",
        "a.csv, line 8, column 'y'",
    ]
    assert source.rows_there([0, 2, 3, 6]).tolist() == [2, 4, 6, 9]


def test_what_is_known_of_the_source_stays():
    inner = Pieces(X, forecast=17, passes=2, names=("a", "b", "c"))
    source = KeptRows(inner, (4,))
    assert (source.names, source.counted, source.max_passes) == (("a", "b", "c"), False, 2)
    rows_of(source)
    assert (source.shape, source.counted) == ((29, 3), True)
    rows_of(source)
    with pytest.raises(InputError, match="only once"):
        rows_of(source)
    assert KeptRows(inner, (4,), rows=30).shape == (29, 3)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n2\n3\n")
    source = KeptRows(scan(path), (1,))
    assert rows_of(source).tolist() == [[1.0], [3.0]]
    path.write_text("x\n1\n2\n3\n4\n")
    with pytest.raises(InputError, match="changed since"):
        rows_of(source)


def test_the_print_tells_which_rows_are_left_out():
    inner = Pieces(X)
    marks = [inner.fingerprint()]
    marks += [
        KeptRows(inner, out, stop).fingerprint()
        for out, stop in [((1,), None), ((2,), None), ((), 9)]
    ]
    assert len(set(marks)) == 4
    assert KeptRows(inner, (1,)).fingerprint() == marks[1]


def test_sparse_rows():
    Y = scipy.sparse.csr_array(np.where(X % 3 == 0, X, 0))
    source = KeptRows(Pieces(Y), (0, 7), 20)
    blocks = [block.toarray() for block in source.blocks(4)]
    assert np.array_equal(np.concatenate(blocks), np.delete(Y.toarray()[:20], (0, 7), axis=0))
    assert 0 < source.nnz < Y.nnz
