import numpy as np
import polars as pl
import pytest

from mercer.errors import BudgetError, InputError
from mercer.tables import Asked, Recipe, look, prepared, prepared_again


def written(tmp_path, lines, name="t.csv"):
    (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / name


def made_of(path, memory=None, **asked):
    given = {"table": "counts", "rows_by": "a", "columns_by": "b"} | asked
    return prepared(look(path, Asked(**given)), memory=memory)


LINES = ["a,b,n", "x,u,3", "y,v,2", "x,v,1", ",u,5", "x,u,4", "z,NA,1", "y,w,0"]


def test_lines_are_counted(tmp_path):
    made = made_of(written(tmp_path, LINES))
    assert made.row_names == ("x", "y")
    assert made.recipe.names == ("u", "v", "w")
    assert made.rows.to_numpy().tolist() == [[2, 1, 0], [0, 1, 1]]
    assert made.labels().tolist() == ["x", "y"]
    assert "2 lines lack a value" in made.said[1]


def test_a_column_can_say_how_often(tmp_path):
    made = made_of(written(tmp_path, LINES), count="n")
    assert made.recipe.names == ("u", "v")  # w was counted zero times
    assert made.rows.to_numpy().tolist() == [[7, 1], [0, 2]]
    assert "'n' says" in made.said[0]


def test_random_lines_are_counted_as_polars_does(tmp_path):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 30, 4000), "b": rng.choice(list("uvwxyz"), 4000)}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    made = made_of(tmp_path / "t.parquet")
    wide = frame.pivot("b", index="a", values="b", aggregate_function=pl.len()).fill_null(0)
    wide = wide.select("a", *made.recipe.names)
    there = {str(row[0]): row[1:] for row in wide.iter_rows()}
    for name, row in zip(made.row_names, made.rows.iter_rows(), strict=True):
        assert row == there[name]


def test_another_file_gives_the_same_columns(tmp_path):
    recipe = Recipe.of(made_of(written(tmp_path, LINES)).recipe.plain())
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
        made_of(path, count="n")
    assert "row 2" in refused.value.got
    with pytest.raises(InputError, match="counts are numbers"):
        made_of(path, count="t")
    with pytest.raises(InputError, match="two rows and two columns"):
        made_of(written(tmp_path, ["a,b,n", "x,u,1", "x,v,2"]))
    with pytest.raises(InputError, match="two columns are counted"):
        made_of(path, columns_by=None)
    with pytest.raises(InputError, match="one use, not two"):
        made_of(path, columns_by="a")
    with pytest.raises(BudgetError, match="would not fit"):
        made_of(path, memory=10.0)


def test_no_column_stands_beside_what_was_counted(tmp_path):
    made = made_of(written(tmp_path, LINES))
    with pytest.raises(InputError, match="counted"):
        made.beside(("n",), 5)
