import numpy as np
import polars as pl
import pytest
from tests.tables.table_files import written

from mercer.errors import BudgetError, InputError
from mercer.tables import Asked, Recipe, look, prepared, prepared_again
from mercer.tables.preparing._count_tables import is_margin

CELLS = np.array([[3.0, 4, 5], [6, 1, 0], [2, 2, 9]])


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
    made = made_of(written(tmp_path, ["r,a,b,Total", "N,3,4,9", "S,6,1,9", "Total,9,5,18"]))
    assert made.shape == (2, 3)


def test_columns_without_a_count_are_out_and_too_little_is_refused(tmp_path):
    path = written(tmp_path, ["r,a,b,z", "N,3,4,0", "S,6,1,0", "W,1,1,0"])
    assert made_of(path).recipe.names == ("a", "b")
    path = written(tmp_path, ["r,a,b", "N,3,4", "S,6,-1"])
    with pytest.raises(InputError, match="not negative") as refused:
        made_of(path)
    assert "'b' holds -1" in refused.value.got
    with pytest.raises(InputError, match="two rows and two columns"):
        made_of(written(tmp_path, ["r,a,b", "N,3,4", "S,0,0"]))


def test_new_rows_and_large_tables(tmp_path, monkeypatch):
    recipe = made_of(written(tmp_path, ["r,a,b", "N,3,4", "S,6,1"])).recipe
    again = prepared_again(
        written(tmp_path, ["b,r,a", "0,x,0", "2,y,1"], "new.csv"), Recipe.of(recipe.plain())
    )
    assert again.rows.to_numpy().tolist() == [[1.0, 2.0]]
    assert again.labels().tolist() == ["y"]
    assert "row 1 (counted from 1)" in again.said[0]
    with pytest.raises(InputError, match="no row has a count"):
        prepared_again(written(tmp_path, ["a,b,r", "0,0,x", "0,0,z"], "no.csv"), recipe)
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


def crossed_of(path, memory=None, **asked):
    given = {"table": "counts", "rows_by": "a", "columns_by": "b"} | asked
    return prepared(look(path, Asked(**given)), memory=memory)


CROSSED = ["a,b,m", "x,u,3", "y,v,2", "x,v,1", ",u,5", "x,u,4", "z,NA,1", "y,w,0"]


def test_lines_are_counted(tmp_path):
    made = crossed_of(written(tmp_path, CROSSED))
    assert made.row_names == ("x", "y")
    assert made.recipe.names == ("u", "v", "w")
    assert made.rows.to_numpy().tolist() == [[2, 1, 0], [0, 1, 1]]
    assert made.labels().tolist() == ["x", "y"]
    assert "2 lines lack a value" in made.said[1]
    made = crossed_of(written(tmp_path, CROSSED), count="m")
    assert made.recipe.names == ("u", "v")  # w was counted zero times
    assert made.rows.to_numpy().tolist() == [[7, 1], [0, 2]]
    assert "'m' says" in made.said[0]
    made = crossed_of(written(tmp_path, CROSSED))
    with pytest.raises(InputError, match="counted"):
        made.beside(("m",), 5)


def test_random_lines_are_counted_as_polars_does(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 30, 4000), "b": rng.choice(list("uvwxyz"), 4000)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    made = crossed_of(tmp_path / "t.parquet")
    wide = frame.pivot("b", index="a", values="b", aggregate_function=pl.len()).fill_null(0)
    wide = wide.select("a", *made.recipe.names)
    there = {str(row[0]): row[1:] for row in wide.iter_rows()}
    for name, row in zip(made.row_names, made.rows.iter_rows(), strict=True):
        assert row == there[name]


def test_another_file_gives_the_same_columns(tmp_path):
    recipe = Recipe.of(crossed_of(written(tmp_path, CROSSED)).recipe.plain())
    new = written(tmp_path, ["b,a,n", "w,q,1", "u,q,1", "w,x,1"], "new.csv")
    again = prepared_again(new, recipe)
    assert again.rows.columns == ["u", "v", "w"]
    assert again.rows.to_numpy().tolist() == [[1, 0, 1], [0, 0, 1]]
    assert again.row_names == ("q", "x")
    with pytest.raises(InputError, match="did not have") as refused:
        prepared_again(written(tmp_path, ["a,b,n", "x,k,1", "x,u,1"], "odd.csv"), recipe)
    assert "'k'" in refused.value.got


def test_what_cannot_be_counted_is_refused(tmp_path):
    path = written(tmp_path, ["a,b,n,t", "x,u,3,p", "y,v,-2,q"])
    with pytest.raises(InputError, match="not negative") as refused:
        crossed_of(path, count="n")
    assert "row 2" in refused.value.got
    with pytest.raises(InputError, match="counts are numbers"):
        crossed_of(path, count="t")
    with pytest.raises(InputError, match="two rows and two columns"):
        crossed_of(written(tmp_path, ["a,b,n", "x,u,1", "x,v,2"]))
    with pytest.raises(InputError, match="two columns are counted"):
        crossed_of(path, columns_by=None)
    with pytest.raises(InputError, match="one use, not two"):
        crossed_of(path, columns_by="a")
    with pytest.raises(BudgetError, match="would not fit"):
        crossed_of(path, memory=10.0)
