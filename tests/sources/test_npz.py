"""A .npz archive gives the rows of the matrix that was saved."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.sources import scan
from mercer.sources.files._npz import HeldTable, PackedRows, PackedTable


def made(dtype="f8", n=103, p=11):
    rng = np.random.default_rng(3)
    X = rng.integers(1, 50, (n, p)) * (rng.random((n, p)) < 0.3)
    X[20:40] = 0  # whole blocks without a cell
    return X.astype(dtype)


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert [b.shape[0] for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    assert all(b.dtype == source.dtype for b in blocks)
    return np.concatenate([b.toarray() if scipy.sparse.issparse(b) else b for b in blocks])


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?", ">f4", "f2"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_rows_are_those_saved(tmp_path, kind, dtype, packed):
    X = made(dtype)
    plain = scipy.sparse.csr_array(X.astype("f8"))
    matrix = plain.asformat(kind)
    matrix.data = matrix.data.astype(dtype)
    scipy.sparse.save_npz(tmp_path / "x.npz", matrix, compressed=packed)
    source = scan(tmp_path / "x.npz")
    assert source.shape == X.shape
    assert source.dtype == ("f4" if dtype in {"f4", ">f4", "f2"} else "f8")
    assert source.nnz == plain.nnz
    assert source.label == "x.npz"
    for rows in (1, 10, 103, 500):
        for start in {0, rows, 100 // rows * rows}:
            if start < 103:
                np.testing.assert_array_equal(whole(source, rows, start), X[start:])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [">f8", "f2", "u1", "?"])
def test_dense_tables(tmp_path, dtype, order, save):
    X = np.asarray(made(dtype), order=order)
    save(tmp_path / "x.npz", X)
    source = scan(tmp_path / "x.npz")
    assert isinstance(source, PackedTable if order == "C" else HeldTable)
    assert source.shape == X.shape
    for rows, start in ((1, 0), (10, 50), (200, 0)):
        np.testing.assert_array_equal(whole(source, rows, start), X[start:])
    few = scan(tmp_path / "x.npz", columns=[3, 1])
    np.testing.assert_array_equal(whole(few, 10), X[:, [3, 1]])


def test_one_of_several_is_named(tmp_path):
    np.savez(tmp_path / "x.npz", a=made(), b=np.arange(4))
    with pytest.raises(InputError, match="'a', 'b'"):
        scan(tmp_path / "x.npz")
    source = scan(tmp_path / "x.npz", key="a")
    assert source.place(2, 1) == "x.npz, array 'a', row 2, column 1"
    np.testing.assert_array_equal(whole(source, 30), made())


def test_packed_rows_hold_no_cells(tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.csr_array(made()))
    source = scan(tmp_path / "x.npz")
    assert isinstance(source, PackedRows)
    held = [v.nbytes for v in vars(source).values() if isinstance(v, np.ndarray)]
    assert held == [104 * 8]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_is_told(tmp_path, save):
    """Flip single bytes anywhere: the numbers are right, or the file is refused."""
    whole_file, path = tmp_path / "whole.npz", tmp_path / "x.npz"
    X = np.random.default_rng(0).integers(0, 9, (40, 5)).astype(float)
    save(whole_file, X=X)
    good = whole_file.read_bytes()
    rng, refused = np.random.default_rng(1), list[str]()
    for at in rng.integers(0, len(good), 300):
        bad = bytearray(good)
        bad[at] ^= 1 << rng.integers(8)
        path.write_bytes(bad)
        try:
            found = whole(scan(path), 64)
        except InputError as error:
            refused.append(error.got)
        else:
            np.testing.assert_array_equal(found, X)
    assert len(refused) > 100
    assert all("x.npz" in got for got in refused)
