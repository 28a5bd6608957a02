"""The rows of another file, made as those of the fit were."""

import json

import numpy as np
import polars as pl
import pytest
from tests.tables.table_files import rows_of

from mercer.errors import DataWarning, InputError
from mercer.sources import BlockSource
from mercer.tables import Asked, Recipe, look, prepared, prepared_again
from mercer.tables._recipe import chosen, narrower


def table(rows=40):
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "id": [f"r{i:03}" for i in range(rows)],
            "kind": [["red", "green", "blue"][i % 3] for i in range(rows)],
            "x": rng.normal(size=rows).round(4),
            "y": rng.normal(size=rows).round(4),
            "when": [f"{1 + i % 28}.{1 + i % 12}.2020" for i in range(rows)],
        }
    )


ASKED = {
    "numbers": Asked(),
    "encoded": Asked(categorical="encode", dates="number"),
    "semicolons": Asked(categorical="encode", reading={"delimiter": ";"}),
    "only text": Asked(categorical="encode", columns=("kind",)),
}


@pytest.fixture(params=[True, False], ids=["held", "read"])
def held(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr("mercer.tables._table_reading.HELD", 8)
    return request.param


def written(frame, path, delimiter=","):
    if path.suffix == ".csv":
        frame.write_csv(path, separator=delimiter, null_value="NA")
    else:
        frame.write_parquet(path)
    return path


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.usefixtures("held")
def test_the_same_file_gives_the_same_rows_in_any_order(name, tmp_path):
    mark = ASKED[name].reading.get("delimiter", ",")
    path = written(table(), tmp_path / "a.csv", mark)
    made = prepared(look(path, ASKED[name]))
    recipe = Recipe.of(made.recipe.plain())
    again = prepared_again(path, recipe)
    assert np.array_equal(rows_of(made), rows_of(again))
    assert again.labels().tolist() == table()["id"].to_list()
    moved = table().select("y", "when", pl.lit(1).alias("extra"), "kind", "id", "x")
    other = prepared_again(written(moved, tmp_path / "b.csv", mark), recipe)
    assert np.array_equal(rows_of(made), rows_of(other))
    assert other.shape == made.shape == rows_of(made).shape
    assert other.said == ()


def test_another_kind_of_file_is_read_in_its_own_way(tmp_path):
    path = written(table(), tmp_path / "a.csv", ";")
    made = prepared(look(path, ASKED["semicolons"]))
    other = prepared_again(written(table(), tmp_path / "b.parquet"), made.recipe)
    assert other.rows.equals(made.rows)
    commas = written(table(), tmp_path / "c.csv")
    with pytest.raises(InputError):
        prepared_again(commas, made.recipe)
    third = prepared_again(commas, made.recipe, reading={"delimiter": ","})
    assert third.rows.equals(made.rows)
    assert third.labels().tolist() == made.labels().tolist()


@pytest.mark.usefixtures("held")
def test_categories_that_the_fit_did_not_have(tmp_path):
    made = prepared(look(written(table(), tmp_path / "a.csv"), ASKED["encoded"]))
    frame = table(6).with_columns(kind=pl.Series(["red", "pink", None, "teal", "pink", "blue"]))
    again = prepared_again(written(frame, tmp_path / "b.csv"), made.recipe)
    at = [made.recipe.names.index(f"kind={c}") for c in ("blue", "green", "red")]
    expected = [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert rows_of(again)[:, at].tolist() == expected
    assert again.said == (
        "'kind': 3 cells hold categories that the fit did not have, 0 in all columns:"
        " 'pink', 'teal'",
        "'kind': 1 missing cell is 0 in all its columns",
    )


def test_columns_that_are_not_there_are_named_with_the_nearest(tmp_path):
    made = prepared(look(written(table(), tmp_path / "a.csv"), ASKED["encoded"]))
    frame = table().rename({"x": "X", "kind": "kinds"}).drop("y")
    path = written(frame, tmp_path / "b.csv")
    with pytest.raises(InputError) as caught:
        prepared_again(path, made.recipe)
    assert str(caught.value).splitlines() == [
        "the file lacks 3 of the 4 columns of the model",
        "  got: b.csv: no column 'x' (nearest: 'X'), 'y', 'kind' (nearest: 'kinds')",
        "  fix: rename the columns as in the table of the fit, or pass another file",
    ]


@pytest.mark.usefixtures("held")
def test_text_in_a_column_of_numbers(tmp_path):
    made = prepared(look(written(table(), tmp_path / "a.csv")))
    path = written(table().with_columns(x=pl.lit("many")), tmp_path / "b.csv")
    with pytest.raises(InputError, match="must hold numbers") as caught:
        prepared_again(path, made.recipe)
    assert "'x' holds text" in caught.value.got


@pytest.mark.usefixtures("held")
def test_missing_cells_are_allowed_where_the_model_fills(tmp_path):
    made = prepared(look(written(table(), tmp_path / "a.csv")))
    frame = table(9).with_columns(
        x=pl.Series([1.0, None, None, 4, 5, 6, 7, 8, 9.5]),
        y=pl.Series([1.0, 2, None, 4, None, 6, 7, 8, 9.5]),
    )
    path = written(frame, tmp_path / "b.csv")
    with pytest.raises(InputError) as caught:
        prepared_again(path, made.recipe)
    assert caught.value.got == (
        "b.csv: 2 of 16 cells are missing (12.5 %), most in 'x' 1, 'y' 1; the first at b.csv,"
        " line 3, column 'x'"
    )
    again = prepared_again(path, made.recipe, missing="em")
    assert (again.shape, again.n_missing, again.missing) == ((8, 2), 2, "em")
    assert again.kept.tolist() == [0, 1, 3, 4, 5, 6, 7, 8]
    assert len(again.labels()) == 8
    assert again.said[0].endswith("left out: row 3 (counted from 1)")
    assert again.said[1].endswith("filled by the model")


def test_rows_that_are_empty_or_beyond_the_first(tmp_path, held):
    made = prepared(look(written(table(), tmp_path / "a.csv")))
    frame = table(5).with_columns(
        pl.when(pl.col("id") == "r002").then(None).otherwise(pl.col("x", "y")).name.keep()
    )
    again = prepared_again(written(frame, tmp_path / "b.csv"), made.recipe)
    assert again.kept.tolist() == [0, 1, 3, 4]
    assert isinstance(again.rows, BlockSource) is not held
    assert np.array_equal(rows_of(again), table(5).select("x", "y").to_numpy()[again.kept])
    path = written(table(), tmp_path / "a.csv")
    recipe = prepared(look(path, ASKED["encoded"])).recipe
    some = prepared_again(path, recipe, rows=11)
    assert some.shape == (11, 6)
    assert isinstance(some.rows, BlockSource) is not held
    assert np.array_equal(rows_of(some), rows_of(prepared_again(path, recipe))[:11])
    assert len(some.labels()) == 11


def test_rows_without_names_and_rows_of_nothing(tmp_path):
    made = prepared(look(written(table(), tmp_path / "a.csv")))
    again = prepared_again(written(table().drop("id"), tmp_path / "b.csv"), made.recipe)
    assert again.said == ("no column 'id' names the rows: they are numbered",)
    assert again.labels() is None
    made = prepared(look(written(table(), tmp_path / "a.csv")))
    (tmp_path / "b.csv").write_text("x,y,z\nNA,NA,1\nNA,NA,2\n")
    with pytest.raises(InputError, match="no row has a cell"):
        prepared_again(tmp_path / "b.csv", made.recipe)


def test_a_warning_about_the_data_is_heard_once(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,kind,w\n1,a,1\n2,b,1\n4,a,2")
    made = prepared(look(path, Asked(categorical="encode", weights="w")))
    assert made.labels("kind").tolist() == ["a", "b", "a"]
    with pytest.warns(DataWarning, match="may be cut") as caught:
        prepared_again(path, made.recipe)
    assert len(caught) == 1


# A recipe survives JSON.
def test_recipes_of_all_kinds_of_tables_come_back():
    assert Recipe.of({"columns": ["a"], "names": ["a"]}) == Recipe(("a",), ("a",))
    recipe = Recipe(
        ("a", "b"), ("a", "b"), table="mixed", categories={"a": "text"}, scales={"b": 2.5}
    )
    assert Recipe.of(json.loads(json.dumps(recipe.plain()))) == recipe
    assert recipe.numbers == ("b",)
    crossed = Recipe(("a", "b"), ("u", "v"), table="counts", cross=("a", "b"))
    assert Recipe.of(json.loads(json.dumps(crossed.plain()))) == crossed
    recipe = Recipe(
        columns=("a", "when", "what"),
        names=("a", "when", "what=x", "what=y"),
        id="id",
        dates=("when",),
        orders={"when": "day"},
        levels={"what": ("x", "y")},
        reading={"delimiter": ";", "na": ("-", "?")},
    )
    again = Recipe.of(json.loads(json.dumps(recipe.plain())))
    assert again.names == recipe.names
    assert again.levels == recipe.levels
    assert again.numbers == ("a",)
    assert Recipe.of(again.plain()) == again


# From roles to a recipe.
TEXT = "what,x,when,y\n" + "".join(
    f"{'abc'[i % 3]},{i % 7},2020-01-{i + 1:02},{i * i}\n" for i in range(20)
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(TEXT)
    return file


def test_recipes_have_numbers_first_and_may_be_narrower(path):
    asked = Asked(dates="number", categorical="encode")
    recipe, said = chosen(look(path, asked))
    assert recipe.columns == ("x", "y", "when", "what")
    assert recipe.names == ("x", "y", "when", "what=a", "what=b", "what=c")
    assert recipe.numbers == ("x", "y")
    assert recipe.orders == {"when": "iso"}
    assert said == {
        "when": "'when' counts in days since 1970-01-01 (--dates number)",
        "what": "'what': 3 categories, a column of 0 and 1 for each (--categorical encode)",
    }
    recipe, _ = chosen(look(path, Asked(dates="number", categorical="encode")))
    less = narrower(recipe, {"x", "when"})
    assert (less.columns, less.dates, less.orders) == (("y", "what"), (), {})
    assert less.names == ("y", "what=a", "what=b", "what=c")
    none = narrower(recipe, {"what", "y"})
    assert (none.columns, none.names, none.levels) == (("x", "when"), ("x", "when"), {})


def test_what_no_recipe_can_say_is_refused(path):
    path.write_text("x,when\n1,01/02/2020\n2,03/04/2020\n4,05/06/2021\n")
    with pytest.raises(InputError, match="two ways") as caught:
        chosen(look(path, Asked(dates="number")))
    assert "a.csv: 'when'" in caught.value.got
    path.write_text("a,a=x\n" + "x,1\ny,2\n" * 4)
    with pytest.raises(InputError, match="same name") as caught:
        chosen(look(path, Asked(categorical="encode")))
    assert "'a=x'" in caught.value.got
