"""Columns and rows left out of a source, and sources side by side."""

import numpy as np
import pytest
import scipy.sparse
from pieces import Pieces, walked

from mercer import PCA
from mercer.errors import InputError
from mercer.kernels import Polynomial
from mercer.sources import KeptColumns, KeptRows, MappedSource, WidenedSource, scan

# Columns chosen after they are read.
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


# Rows left out of a source: the others are the same, and stand where they stood.
ROWS = np.arange(90.0).reshape(30, 3)


@pytest.mark.parametrize("length", [1, 4, 7, 50])
@pytest.mark.parametrize("piece", [1, 5, 30])
@pytest.mark.parametrize(
    ("out", "stop"),
    [((), None), ((0,), None), ((29,), None), ((0, 1, 2, 15, 28, 29), None), ((3, 4, 20), 12)],
)
def test_the_rows_are_those_of_a_deletion(length, piece, out, stop):
    source = KeptRows(Pieces(ROWS, piece), out, stop)
    inside = [row for row in out if stop is None or row < stop]
    expected = np.delete(ROWS[:stop], inside, axis=0)
    assert source.shape == expected.shape
    assert np.array_equal(walked(source, length), expected)
    start = length * (len(expected) // (2 * length))
    assert np.array_equal(walked(source, length, start), expected[start:])


def test_rows_left_out_are_gone_from_all():
    assert list(KeptRows(Pieces(ROWS), range(30)).blocks(4)) == []
    Y = scipy.sparse.csr_array(np.where(ROWS % 3 == 0, ROWS, 0))
    source = KeptRows(Pieces(Y), (0, 7), 20)
    blocks = [block.toarray() for block in source.blocks(4)]
    assert np.array_equal(np.concatenate(blocks), np.delete(Y.toarray()[:20], (0, 7), axis=0))
    assert 0 < source.nnz < Y.nnz
    inner = Pieces(ROWS)
    marks = [inner.fingerprint()]
    marks += [
        KeptRows(inner, out, stop).fingerprint()
        for out, stop in [((1,), None), ((2,), None), ((), 9)]
    ]
    assert len(set(marks)) == 4
    assert KeptRows(inner, (1,)).fingerprint() == marks[1]


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
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = WidenedSource([scan(path), Pieces(Y[:2], names=NAMES[1])])
    assert source.place(1, 1) == "a.csv, line 3, column 'y'"
    assert source.place(1, 2) == "pieces, row 1, column 0 ('d')"
    assert source._files() == (path,)


def test_what_is_known_of_the_source_stays():
    inner = Pieces(ROWS, forecast=17, passes=2, names=("a", "b", "c"))
    source = KeptRows(inner, (4,))
    assert (source.names, source.counted, source.max_passes) == (("a", "b", "c"), False, 2)
    walked(source)
    assert (source.shape, source.counted) == ((29, 3), True)
    walked(source)
    with pytest.raises(InputError, match="only once"):
        walked(source)
    assert KeptRows(inner, (4,), rows=30).shape == (29, 3)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n2\n3\n")
    source = KeptRows(scan(path), (1,))
    assert walked(source).tolist() == [[1.0], [3.0]]
    path.write_text("x\n1\n2\n3\n4\n")
    with pytest.raises(InputError, match="changed since"):
        walked(source)


# Columns of several sources side by side.
WIDE, Y = np.arange(60.0).reshape(20, 3), -np.arange(40.0).reshape(20, 2)


NAMES = ("a", "b", "c"), ("d", "e")


@pytest.mark.parametrize("length", [1, 6, 40])
@pytest.mark.parametrize("pieces", [(7, 3), (20, 1)])
def test_blocks_are_side_by_side(length, pieces):
    parts = [Pieces(WIDE, pieces[0], names=NAMES[0]), Pieces(Y, pieces[1], names=NAMES[1])]
    source = WidenedSource(parts)
    assert (source.shape, source.names) == ((20, 5), ("a", "b", "c", "d", "e"))
    assert np.array_equal(np.concatenate(list(source.blocks(length))), np.hstack([WIDE, Y]))
    start = 6 if length == 6 else length * (20 // length // 2)
    rest = list(source.blocks(length, start))
    assert np.array_equal(np.concatenate(rest), np.hstack([WIDE, Y])[start:])


def test_sources_side_by_side_join_what_they_know():
    short = [
        Pieces(WIDE.astype(np.float32), names=NAMES[0]),
        Pieces(Y.astype(np.float32), names=NAMES[1]),
    ]
    assert WidenedSource(short).dtype == np.float32
    mixed = WidenedSource([Pieces(WIDE.astype(np.int8), names=NAMES[0]), short[1]])
    assert mixed.dtype == np.float64
    assert next(mixed.blocks(5)).dtype == np.float64
    one = Pieces(WIDE, forecast=90, names=NAMES[0], passes=3)
    source = WidenedSource([one, Pieces(Y, names=NAMES[1])])
    assert (source.shape, source.counted, source.max_passes) == ((20, 5), True, 3)
    one.rate = 1e6
    assert 1e6 < WidenedSource([one, Pieces(Y, names=NAMES[1])]).rate < 1e7
    assert (
        source.fingerprint()
        != WidenedSource([one, Pieces(2 * Y, names=NAMES[1])]).fingerprint()
    )


def test_sources_that_do_not_fit_are_refused():
    source = WidenedSource([Pieces(WIDE, names=NAMES[0]), Pieces(Y[:17], names=NAMES[1])])
    with pytest.raises(InputError, match="same number of rows") as caught:
        list(source.blocks(5))
    assert "pieces" in caught.value.got
    sparse = Pieces(scipy.sparse.csr_array(WIDE), names=NAMES[0])
    with pytest.raises(InputError, match="beside sparse"):
        WidenedSource([sparse, Pieces(Y, names=NAMES[1])])


def phi(X):
    with np.errstate(over="ignore"):
        return np.column_stack([X, X**2])


def made(n=3000, dtype=np.float64):
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(dtype)
    return X, MappedSource(phi, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shape_and_type(dtype):
    X, source = made(100, dtype)
    assert source.shape == (100, 6)
    assert source.dtype == dtype
    assert source.nbytes == phi(X).nbytes
    assert source.nnz is None


def test_blocks_and_samples_are_those_of_the_whole():
    X, source = made()
    whole = phi(X)
    for rows in (slice(0, 5), slice(1000, 1003), slice(2990, 3100), np.array([5, 2, 9])):
        np.testing.assert_array_equal(source.array[rows, slice(None)], whole[rows])
    np.testing.assert_array_equal(source.array[slice(0, 4), slice(1, 3)], whole[:4, 1:3])
    X, source = made()
    few = source.sample(50)
    assert 25 <= len(few) <= 50
    assert {tuple(row) for row in few} <= {tuple(row) for row in phi(X)}
    among = np.array([3, 5, 8])
    np.testing.assert_array_equal(source.sample(10, among), phi(X)[among])


@pytest.mark.parametrize("row", [0, 1023, 1024, 2999])
def test_the_first_bad_cell(row):
    X, source = made()
    assert source.first_bad_cell() is None
    X[row, 1] = np.nan
    found = source.first_bad_cell()
    assert found[:2] == (row, 1)
    assert np.isnan(found[2])
    X[row, 1] = 1e200  # its square is not finite
    assert source.first_bad_cell() == (row, 4, np.inf)


def test_pca_of_it_is_pca_of_the_features():
    """φ(X) is made block by block, and the axes are those of the whole table."""
    X, _ = made()
    features = Polynomial(2, 0.5, 1.0).features(3)
    source = MappedSource(features.phi, X)
    lazy = PCA(4)
    vars(lazy).update(lazy._fitted(source, None))
    whole = PCA(4).fit(features.phi(X))
    np.testing.assert_allclose(lazy.explained_variance_, whole.explained_variance_, rtol=1e-12)
    overlap = np.abs(np.sum(lazy.components_ * whole.components_, axis=1))
    np.testing.assert_allclose(overlap, 1, rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(lazy._project(source)),
        np.abs(whole.transform(features.phi(X))),
        rtol=0,
        atol=1e-10,
    )


def test_whole_features_are_never_held():
    asked = []

    def watched(X):
        asked.append(len(X))
        return phi(X)

    X, _ = made(20_000)
    source = MappedSource(watched, X)
    lazy = PCA(2)
    vars(lazy).update(lazy._fitted(source, None))
    assert max(asked) < 20_000
