"""Columns that are not analysed stay beside the rows: labels, weights, supplementary ones."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from pieces import Pieces

from mercer.errors import InputError
from mercer.sources import KeptRows
from mercer.tables import Asked, look, prepared, supplementary
from mercer.tables._table_reading import (
    allowed_bytes,
    held_rows,
    names_of,
    opened,
    print_of,
    size_of,
)
from mercer.tables.preparing._unanalysed_columns import coded, kept_frames, texts, weights_of

# Other columns stay beside the rows that were kept.
NAMES = [f"n{i}" for i in range(23)]


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path):
    frame = pl.DataFrame({"x": range(23), "name": NAMES, "y": [0.5] * 23})
    file = tmp_path / f"a.{request.param}"
    getattr(frame, f"write_{request.param}")(file)
    return file


def test_names_come_as_they_are_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,x\nNA,1\nDE,2\n007,3\n,4\n")
    frames = kept_frames(path, ["code"], 9, {}, out=np.empty(0, np.int64), stop=None)
    assert texts(next(frames), "code") == ["NA", "DE", "007", ""]
    cells = ["b", None, "a", "b", "é", "", "a"]
    frames = [pl.DataFrame({"c": cells[:3]}), pl.DataFrame({"c": cells[3:]})]
    at, levels = coded(frames, "c")
    assert levels[at].tolist() == [cell or "" for cell in cells]
    assert len(levels) == 4
    assert coded([], "c")[0].shape == (0,)


# A column of weights: counts, checked by name and line.
NONE = np.empty(0, np.int64)


def written(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text("x,w\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    return path


def test_zeros_are_said_by_their_number_in_the_file(tmp_path):
    weights, said = weights_of(
        written(tmp_path, [1, 0, 3, 0, 5]), "w", {}, out=np.array([0]), stop=None
    )
    assert weights.tolist() == [0, 3, 0, 5]
    assert said == ["2 of 4 rows weigh 0 and do not count: rows 2, 4 (counted from 1)"]
    path = written(tmp_path, [1, -2, 3])
    assert weights_of(path, "w", {}, out=np.array([1]), stop=None)[0].tolist() == [1, 3]
    with pytest.raises(InputError, match="all rows weigh 0"):
        weights_of(written(tmp_path, [0, 0, 0]), "w", {}, out=NONE, stop=None)


@pytest.mark.parametrize(
    ("cell", "shown"), [(-1, "-1"), ("inf", "inf"), ("NA", "a missing cell")]
)
def test_bad_cells_are_named_by_line(tmp_path, cell, shown):
    with pytest.raises(InputError, match="--weights") as caught:
        weights_of(written(tmp_path, [1, 2, cell, 4]), "w", {}, out=np.array([0]), stop=None)
    assert caught.value.got == f"{shown} at a.csv, line 4, column 'w'"


# Supplementary columns, beside the rows that are fitted.
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("most", [256e6, 8])
def test_numbers_and_labels(tmp_path, monkeypatch, kind, most):
    monkeypatch.setattr("mercer.tables._table_reading.HELD", most)
    frame = pl.DataFrame(
        {
            "x": [1.0, None, 3.0, 4.5, 5.0],
            "y": [2.0, None, 1.0, 7.0, 3.0],
            "age": [30, 40, None, 60, 70],
            "sex": ["f", "m", "f", None, "m"],
        }
    )
    path = tmp_path / f"a.{kind}"
    getattr(frame, f"write_{kind}")(path)
    found = supplementary(prepared(look(path, Asked(sup=("age", "sex"), rows=4))))
    assert found.names == ("age",)
    assert np.array_equal(found.numbers, [[30], [np.nan], [60]], equal_nan=True)
    assert {name: cells.tolist() for name, cells in found.labels.items()} == {
        "sex": ["f", "f", ""]
    }


def test_none_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,5\n3,9\n")
    found = supplementary(prepared(look(tmp_path / "a.csv")))
    assert (found.names, found.numbers.shape, found.labels) == ((), (3, 0), {})


# Numbers of a file, held where they are few.


def test_columns_are_chosen_where_they_are_read(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0).reshape(2, 3))
    whole = opened(path, ("0", "1", "2"), {})
    assert whole.at is None
    assert names_of(whole) == ("0", "1", "2")
    assert held_rows(opened(path, ("2", "0", "1"), {})).tolist() == [[2, 0, 1], [5, 3, 4]]
    X = scipy.sparse.csr_array(np.array([[0, 1, 0, 2], [3, 0, 0, 0.0]]))
    path = tmp_path / "a.npz"
    scipy.sparse.save_npz(path, X)
    block = next(opened(path, ("3", "0"), {}).blocks(9))
    assert block.toarray().tolist() == [[2, 0], [0, 3]]
    assert opened(path, ("0", "1", "2", "3"), {}).nnz == 3


def test_what_is_large_is_not_held(monkeypatch):
    X = np.arange(30.0).reshape(10, 3)
    assert held_rows(Pieces(X), memory=960) is not None
    assert held_rows(Pieces(X), memory=959) is None
    assert allowed_bytes(5e6) == 5e6
    assert 0 < allowed_bytes(None) < 1e15
    X = np.arange(30.0).reshape(10, 3)
    assert held_rows(Pieces(X), most=240).tolist() == X.tolist()
    assert held_rows(Pieces(X), most=239) is None
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 100)
    assert held_rows(Pieces(X)) is None
    assert held_rows(Pieces(X, forecast=1)) is None  # found out on the way
    assert held_rows(Pieces(scipy.sparse.csr_array(X)), most=1e9) is None


def test_infinite_cells_and_sizes_of_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,-inf\n")
    with pytest.raises(InputError) as caught:
        held_rows(opened(path, ("a", "b"), {}))
    assert caught.value.got == "-infinity at a.csv, line 3, column 'b'"
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(2):
        pl.DataFrame({"a": [i]}).write_parquet(folder / f"{i}.parquet")
    one = folder / "0.parquet"
    assert size_of(one) == one.stat().st_size
    assert size_of(folder) == size_of(folder / "*.parquet") > size_of(one)
    assert len({print_of(p) for p in (one, folder, folder / "*.parquet")}) == 3


@pytest.mark.parametrize("rows", [9, 11])
def test_rows_that_came_or_went_since_they_were_counted(rows):
    with pytest.raises(InputError, match="changed since it was looked at") as caught:
        held_rows(KeptRows(Pieces(np.zeros((10, 2))), rows=rows))
    assert caught.value.got == f"pieces: 10 rows, and {rows} before"
