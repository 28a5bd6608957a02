"""Numbers of a file, held where they are few."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.errors import InputError
from mercer.sources import KeptRows
from mercer.tables._table_reading import (
    allowed_bytes,
    as_frame,
    held_rows,
    names_of,
    opened,
    print_of,
    size_of,
)


def test_all_columns_in_order_are_read_without_a_choice(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0).reshape(2, 3))
    whole = opened(path, ("0", "1", "2"), {})
    assert whole.at is None
    assert names_of(whole) == ("0", "1", "2")
    assert held_rows(opened(path, ("2", "0", "1"), {})).tolist() == [[2, 0, 1], [5, 3, 4]]


def test_what_is_large_is_not_held(monkeypatch):
    X = np.arange(30.0).reshape(10, 3)
    assert held_rows(Pieces(X), most=240).tolist() == X.tolist()
    assert held_rows(Pieces(X), most=239) is None
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 100)
    assert held_rows(Pieces(X)) is None
    assert held_rows(Pieces(X, forecast=1)) is None  # found out on the way
    assert held_rows(Pieces(scipy.sparse.csr_array(X)), most=1e9) is None


def test_an_infinite_cell_is_named_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,-inf\n")
    with pytest.raises(InputError) as caught:
        held_rows(opened(path, ("a", "b"), {}))
    assert caught.value.got == "-infinity at a.csv, line 3, column 'b'"


def test_a_square_frame_keeps_its_rows():
    frame = as_frame(np.array([[1.0, 2.0], [3.0, 4.0]]), ["^a.*$", "b"])
    assert frame.rows() == [(1.0, 2.0), (3.0, 4.0)]
    assert frame.columns == ["^a.*$", "b"]


def test_size_and_print_of_files_and_folders(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(2):
        pl.DataFrame({"a": [i]}).write_parquet(folder / f"{i}.parquet")
    one = folder / "0.parquet"
    assert size_of(one) == one.stat().st_size
    assert size_of(folder) == size_of(folder / "*.parquet") > size_of(one)
    assert len({print_of(p) for p in (one, folder, folder / "*.parquet")}) == 3


def test_sparse_columns_are_chosen_after_reading(tmp_path):
    X = scipy.sparse.csr_array(np.array([[0, 1, 0, 2], [3, 0, 0, 0.0]]))
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, X)
    block = next(opened(path, ("3", "0"), {}).blocks(9))
    assert block.toarray().tolist() == [[2, 0], [0, 3]]
    assert opened(path, ("0", "1", "2", "3"), {}).nnz == 3


def test_memory_says_what_is_held():
    X = np.arange(30.0).reshape(10, 3)
    assert held_rows(Pieces(X), memory=960) is not None
    assert held_rows(Pieces(X), memory=959) is None
    assert allowed_bytes(5e6) == 5e6
    assert 0 < allowed_bytes(None) < 1e15


@pytest.mark.parametrize("rows", [9, 11])
def test_rows_that_came_or_went_since_they_were_counted(rows):
    with pytest.raises(InputError, match="changed since it was looked at") as caught:
        held_rows(KeptRows(Pieces(np.zeros((10, 2))), rows=rows))
    assert caught.value.got == f"pieces: 10 rows, and {rows} before"
