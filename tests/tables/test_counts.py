import numpy as np
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.tables import Asked, Recipe, look, prepared, prepared_again
from mercer.tables.preparing._count_tables import is_margin

CELLS = np.array([[3.0, 4, 5], [6, 1, 0], [2, 2, 9]])


def written(tmp_path, lines, name="t.csv"):
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / name


def made_of(path, **asked):
    return prepared(look(path, Asked(table="counts", **asked)), fills=())


def test_margins_and_empty_rows_are_left_out_and_said(tmp_path):
    path = written(
        tmp_path,
        [
            "r,a,b,c,Total",
            "N,3,4,5,12",
            "S,6,1,0,7",
            "E,0,0,0,0",
            "W,2,2,9,13",
            "Sum,11,7,14,32",
        ],
    )
    made = made_of(path)
    assert np.array_equal(made.rows.to_numpy(), CELLS)
    assert made.labels().tolist() == ["N", "S", "W"]
    assert made.recipe.names == ("a", "b", "c")
    said = "\n".join(made.said)
    assert "column 'Total' is the sum" in said
    assert "row 5 'Sum' is the sum" in said
    assert "row 3 (counted from 1)" in said
    assert "scale" not in said


def test_what_is_called_total_and_is_no_sum_stays(tmp_path):
    made = made_of(written(tmp_path, ["r,a,b,all", "N,3,4,9", "S,6,1,7", "Total,1,1,1"]))
    assert made.shape == (3, 3)
    said = "\n".join(made.said)
    assert "column 'all' is not the sum" in said
    assert "row 3 'Total' is not the sum" in said


def test_a_row_is_compared_with_the_columns_that_stay(tmp_path):
    """The margin of a table whose column of sums is wrong is still the sum of its rows."""
    made = made_of(written(tmp_path, ["r,a,b,Total", "N,3,4,9", "S,6,1,9", "Total,9,5,18"]))
    assert made.shape == (2, 3)


def test_a_column_without_a_count_is_out_and_negative_ones_are_refused(tmp_path):
    path = written(tmp_path, ["r,a,b,z", "N,3,4,0", "S,6,1,0", "W,1,1,0"])
    assert made_of(path).recipe.names == ("a", "b")
    path = written(tmp_path, ["r,a,b", "N,3,4", "S,6,-1"])
    with pytest.raises(InputError, match="not negative") as refused:
        made_of(path)
    assert "'b' holds -1" in refused.value.got


def test_too_little_is_left(tmp_path):
    with pytest.raises(InputError, match="two rows and two columns"):
        made_of(written(tmp_path, ["r,a,b", "N,3,4", "S,0,0"]))


def test_new_rows_without_a_count_are_set_aside(tmp_path):
    recipe = made_of(written(tmp_path, ["r,a,b", "N,3,4", "S,6,1"])).recipe
    again = prepared_again(
        written(tmp_path, ["b,r,a", "0,x,0", "2,y,1"], "new.csv"), Recipe.of(recipe.plain())
    )
    assert again.rows.to_numpy().tolist() == [[1.0, 2.0]]
    assert again.labels().tolist() == ["y"]
    assert "row 1 (counted from 1)" in again.said[0]
    with pytest.raises(InputError, match="no row has a count"):
        prepared_again(written(tmp_path, ["a,b,r", "0,0,x", "0,0,z"], "no.csv"), recipe)


def test_large_tables_are_read_block_by_block(tmp_path, monkeypatch):
    table = np.random.default_rng(0).poisson(1.0, (500, 4)).astype(float)
    table[7] = 0
    frame = pl.DataFrame(table, schema=list("abcd"))
    frame = frame.with_columns(total=pl.sum_horizontal(pl.all()))
    frame.write_parquet(tmp_path / "t.parquet")
    whole = made_of(tmp_path / "t.parquet")
    monkeypatch.setattr("mercer.tables._table_reading.HELD", 100)
    made = made_of(tmp_path / "t.parquet")
    assert made.shape == whole.shape
    assert 7 not in made.kept
    assert np.array_equal(np.vstack(list(made.rows.blocks(99))), whole.rows.to_numpy())


@pytest.mark.parametrize("name", ["Total", "SUM", "grand total", "All", "Row totals", "Margin"])
def test_names_of_margins(name):
    assert is_margin(name)


@pytest.mark.parametrize("name", ["Allspice", "Total cholesterol", "summer", ""])
def test_names_of_other_columns(name):
    assert not is_margin(name)
