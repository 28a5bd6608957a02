import numpy as np
import polars as pl
import pytest
from tests.tables.table_files import written

from mercer.errors import BudgetError, InputError
from mercer.tables import Asked, Recipe, look, prepared, prepared_again

LINES = [
    "id,sex,rate,size,age,ok",
    "p1,m,1,0.5,40,true",
    "p2,f,2,1.5,51,false",
    "p3,f,,2.5,62,true",
    "p4,,1,3.5,70,false",
    "p5,m,2,,33,true",
]
WAYS = ("passive", "fill", "level")


def made_of(path, table, fills=WAYS, memory=None, **asked):
    return prepared(look(path, Asked(table=table, **asked)), fills=fills, memory=memory)


def test_categories_are_text_or_whole_numbers(tmp_path):
    made = made_of(written(tmp_path, LINES), "categories", missing="passive")
    assert made.rows.schema == {
        "sex": pl.String,
        "rate": pl.Int64,
        "age": pl.Int64,
        "ok": pl.String,
    }
    assert made.rows["rate"].to_list() == [1, 2, None, 1, 2]
    assert made.rows["ok"].to_list() == ["true", "false", "true", "false", "true"]
    assert made.labels().tolist() == ["p1", "p2", "p3", "p4", "p5"]
    assert (made.missing, made.n_missing) == ("passive", 2)
    assert made.recipe.categories["rate"] == "whole"


def test_groups_rows_and_weights_are_kept(tmp_path):
    made = made_of(written(tmp_path, LINES), "mixed", missing="fill", category=("rate",))
    kinds = dict(made.rows.schema)
    assert kinds.pop("sex") == pl.String
    assert kinds.pop("rate") == pl.Int64
    assert set(kinds.values()) == {pl.Float64}
    assert np.isnan(made.rows["size"][4])
    groups = (("a", ("sex", "ok")), ("b", ("size-age",)))
    made = made_of(written(tmp_path, LINES), "mixed", missing="fill", groups=groups)
    assert made.groups == {"a": ["sex", "ok"], "b": ["size", "age"]}
    assert set(made.recipe.names) == {"sex", "ok", "size", "age"}
    lines = ["a,b,w", "x,u,1", "y,v,2", "x,v,3", "y,v,9"]
    made = made_of(written(tmp_path, lines), "categories", rows=3, weights="w")
    assert made.rows["a"].to_list() == ["x", "y", "x"]
    assert made.weights.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("table", ["categories", "mixed"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_recipe_makes_the_same_of_the_file(tmp_path, table, suffix):
    path = written(tmp_path, LINES)
    if suffix == ".parquet":
        pl.read_csv(path).write_parquet(tmp_path / "t.parquet")
        path = tmp_path / "t.parquet"
    made = made_of(path, table, missing="passive")
    again = prepared_again(path, Recipe.of(made.recipe.plain()), missing="passive")
    assert again.rows.equals(made.rows)
    assert "count nowhere" in "\n".join(again.said)


def test_missing_cells_are_settled_as_asked(tmp_path):
    path = written(tmp_path, LINES)
    assert made_of(path, "categories").missing == "passive"
    rows = made_of(path, "categories", missing="rows")
    assert rows.kept.tolist() == [0, 1, 4]
    assert rows.rows.null_count().sum_horizontal()[0] == 0
    columns = made_of(path, "mixed", missing="columns")
    assert columns.recipe.names == ("age", "ok")
    assert prepared_again(path, columns.recipe).rows.columns == ["age", "ok"]
    with pytest.raises(InputError, match="does not fill missing cells"):
        made_of(path, "categories", fills=())
    with pytest.raises(InputError, match="fills none") as refused:
        prepared_again(path, rows.recipe)
    assert "row 3" in refused.value.got
    again = prepared_again(path, rows.recipe, missing="rows")
    assert again.rows.equals(rows.rows)
    assert again.labels().tolist() == ["p1", "p2", "p5"]


def test_few_missing_cells_and_new_kinds(tmp_path):
    lines = ["a,b", *["x,u", "y,v"] * 20, "x,"]
    made = made_of(written(tmp_path, lines), "categories")
    assert made.missing == "passive"
    assert "1 of 82 cells is missing (1.2 %): they count nowhere" in made.said[0]
    assert made_of(written(tmp_path, lines), "categories", fills=True).missing == "passive"
    filled = made_of(written(tmp_path, lines), "mixed", fills=True)
    assert filled.missing == "fill"
    recipe = made_of(written(tmp_path, LINES), "categories", missing="passive").recipe
    swapped = [line.replace(",1,", ",high,") for line in LINES]
    with pytest.raises(InputError, match="held numbers") as refused:
        prepared_again(written(tmp_path, swapped, "new.csv"), recipe, missing="passive")
    assert "'rate' holds text" in refused.value.got
    halves = [line.replace(",1,", ",1.5,") for line in LINES]
    with pytest.raises(InputError, match="whole number") as refused:
        prepared_again(written(tmp_path, halves, "new.csv"), recipe, missing="passive")
    assert "1.5 in 'rate', row 1" in refused.value.got
    fewer = [line.rpartition(",")[0] for line in LINES]
    with pytest.raises(InputError, match="lacks 1 of the 4 columns"):
        prepared_again(written(tmp_path, fewer, "new.csv"), recipe, missing="passive")


def test_what_is_no_category(tmp_path):
    with pytest.raises(BudgetError, match="needs all rows in memory"):
        made_of(written(tmp_path, LINES), "categories", missing="passive", memory=100.0)
    lines = ["a,b,d", "x,u,2024-01-01", "y,v,2024-02-02", "x,u,2024-02-03"]
    assert made_of(written(tmp_path, lines), "categories").recipe.names == ("a", "b")
    with pytest.raises(InputError, match="neither") as refused:
        made_of(written(tmp_path, lines), "mixed", dates="number")
    assert "'d'" in refused.value.got
    lines = ["a,b,w", "x,u,1.5", "y,v,2.5", "z,v,1.0"]
    with pytest.raises(InputError, match="one is there"):
        made_of(written(tmp_path, lines), "categories")
    made = made_of(written(tmp_path, lines), "categories", columns=("a", "b"))
    assert made.recipe.names == ("a", "b")


GROUPED = ["g,x,y", "a,1.5,2", "b,2.5,3", ",3.5,4", "a,4.5,", "NA,5.5,6", "b,6.5,1"]


def grouped_of(path, **asked):
    given = {"table": "groups", "target": "g", "missing": "rows"} | asked
    return prepared(look(path, Asked(**given)), fills=(), scales="none")


def test_rows_without_a_group_or_a_cell_are_set_aside(tmp_path):
    made = grouped_of(written(tmp_path, GROUPED))
    assert made.y.tolist() == ["a", "b", "b"]
    assert made.rows["x"].to_list() == [1.5, 2.5, 6.5]
    assert made.kept.tolist() == [0, 1, 5]
    assert made.target == "g"
    assert made.color == ("g",)
    said = "\n".join(made.said)
    assert "2 of 6 rows have no group in 'g' and are left out: rows 3, 5" in said
    assert "2 groups in 'g': a 1, b 2" in said
    assert made.labels("g").tolist() == ["a", "b", "b"]


def test_groups_of_codes_and_of_the_first_rows(tmp_path):
    path = written(tmp_path, ["g,x", "1,0.5", "2,1.5", "1,2.5", "9,3.5"])
    assert grouped_of(path).y.tolist() == ["1", "2", "1", "9"]
    made = grouped_of(path, reading={"na": ("", "9")})
    assert made.y.tolist() == ["1", "2", "1"]
    path = written(tmp_path, ["g,x,y", "a,1.5,1", "a,2.5,2", "b,,3"])
    with pytest.raises(InputError, match="two groups are needed") as refused:
        grouped_of(path)
    assert "'g' has 1" in refused.value.got
    made = grouped_of(written(tmp_path, GROUPED), rows=4, missing="columns")
    assert np.array_equal(made.y, ["a", "b", "a"])
