"""A column of weights: counts, checked by name and line."""

import numpy as np
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.tables.preparing._unanalysed_columns import weights_of

NONE = np.empty(0, np.int64)


def written(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text("x,w\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    return path


def test_the_numbers_of_the_rows_kept(tmp_path):
    path = written(tmp_path, [1, 2.5, 3, 4, 5])
    assert weights_of(path, "w", {}, out=NONE, stop=None)[0].tolist() == [1, 2.5, 3, 4, 5]
    assert weights_of(path, "w", {}, out=np.array([0, 3]), stop=4)[0].tolist() == [2.5, 3]
    pl.read_csv(path).write_parquet(tmp_path / "a.parquet")
    again = weights_of(tmp_path / "a.parquet", "w", {}, out=np.array([1]), stop=None)[0]
    assert again.tolist() == [1, 3, 4, 5]


def test_zeros_are_said_by_their_number_in_the_file(tmp_path):
    weights, said = weights_of(
        written(tmp_path, [1, 0, 3, 0, 5]), "w", {}, out=np.array([0]), stop=None
    )
    assert weights.tolist() == [0, 3, 0, 5]
    assert said == ["2 of 4 rows weigh 0 and do not count: rows 2, 4 (counted from 1)"]


@pytest.mark.parametrize(
    ("cell", "shown"), [(-1, "-1"), ("inf", "inf"), ("NA", "a missing cell")]
)
def test_bad_cells_are_named_by_line(tmp_path, cell, shown):
    with pytest.raises(InputError, match="--weights") as caught:
        weights_of(written(tmp_path, [1, 2, cell, 4]), "w", {}, out=np.array([0]), stop=None)
    assert caught.value.got == f"{shown} at a.csv, line 4, column 'w'"


def test_a_bad_cell_in_a_row_left_out_does_no_harm(tmp_path):
    path = written(tmp_path, [1, -2, 3])
    assert weights_of(path, "w", {}, out=np.array([1]), stop=None)[0].tolist() == [1, 3]


def test_all_zero_is_refused(tmp_path):
    with pytest.raises(InputError, match="all rows weigh 0"):
        weights_of(written(tmp_path, [0, 0, 0]), "w", {}, out=NONE, stop=None)
