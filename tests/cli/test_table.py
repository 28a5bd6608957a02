import numpy as np
import pytest

from mercer.cli._table import read
from mercer.errors import InputError, NotSupportedError


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_npy_stays_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(3, 2))
    table = read(tmp_path / "x.npy")
    assert isinstance(table.X, np.memmap)
    assert table.left_out == ()


def test_text_columns_are_left_out_and_named(tmp_path):
    path = write(tmp_path, "t.csv", "id,a,yes,b\nx,1,true,0.5\ny,2,false,1.5\n")
    table = read(path)
    assert table.columns == ("a", "yes", "b")
    assert table.left_out == ("id",)
    assert table.X.shape == (2, 3)


def test_a_column_that_turns_to_text_late_is_text(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(5000)) + "1,end\n"
    assert read(write(tmp_path, "t.csv", "a,b\n" + rows)).left_out == ("b",)


def test_tabs_separate_tsv(tmp_path):
    assert read(write(tmp_path, "t.tsv", "a\tb\n1\t2\n3\t4\n")).columns == ("a", "b")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\nx,y\n"),
        ("t.csv", "a,b\n"),
        ("t.csv", ""),
        ("t.csv", "a\n1\n2,3,4\n"),
        ("t.npy", "not an array"),
    ],
)
def test_unreadable_tables_are_refused_with_their_name(tmp_path, name, text):
    with pytest.raises(InputError, match=name):
        read(write(tmp_path, name, text))


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2), complex), np.array([["a"]])])
def test_arrays_that_are_no_table_of_numbers_are_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match="table of numbers"):
        read(tmp_path / "x.npy")


def test_pickled_arrays_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(InputError, match=r"plain \.npy"):
        read(tmp_path / "x.npy")


def test_other_files_and_folders_are_refused(tmp_path):
    with pytest.raises(NotSupportedError, match=r"\.xlsx"):
        read(write(tmp_path, "t.xlsx", "?"))
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path)
