"""From roles to a recipe, which survives JSON."""

import json

import pytest

from mercer.errors import InputError
from mercer.tables import Asked, Recipe, look
from mercer.tables._recipe import chosen, narrower


# A recipe survives JSON.
def test_json_and_back():
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


def test_what_an_older_recipe_does_not_say_has_a_default():
    assert Recipe.of({"columns": ["a"], "names": ["a"]}) == Recipe(("a",), ("a",))


def test_recipes_of_all_kinds_of_tables_come_back():
    recipe = Recipe(
        ("a", "b"),
        ("a", "b"),
        table="mixed",
        categories={"a": "text"},
        scales={"b": 2.5},
    )
    assert Recipe.of(json.loads(json.dumps(recipe.plain()))) == recipe
    assert recipe.numbers == ("b",)
    crossed = Recipe(("a", "b"), ("u", "v"), table="counts", cross=("a", "b"))
    assert Recipe.of(json.loads(json.dumps(crossed.plain()))) == crossed


def test_a_recipe_of_before_is_one_of_numbers():
    assert Recipe.of({"columns": ["a"], "names": ["a"]}).table == "numbers"


# From roles to a recipe.
TEXT = "what,x,when,y\n" + "".join(
    f"{'abc'[i % 3]},{i % 7},2020-01-{i + 1:02},{i * i}\n" for i in range(20)
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(TEXT)
    return file


def test_numbers_then_dates_then_categories(path):
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


def test_by_default_only_numbers(path):
    recipe, said = chosen(look(path))
    assert (recipe.columns, recipe.names, said) == (("x", "y"), ("x", "y"), {})


def test_dates_that_can_be_read_in_two_ways(path):
    path.write_text("x,when\n1,01/02/2020\n2,03/04/2020\n4,05/06/2021\n")
    with pytest.raises(InputError, match="two ways") as caught:
        chosen(look(path, Asked(dates="number")))
    assert "a.csv: 'when'" in caught.value.got


def test_a_category_called_like_a_column(path):
    path.write_text("a,a=x\n" + "x,1\ny,2\n" * 4)
    with pytest.raises(InputError, match="same name") as caught:
        chosen(look(path, Asked(categorical="encode")))
    assert "'a=x'" in caught.value.got


def test_fewer_columns(path):
    recipe, _ = chosen(look(path, Asked(dates="number", categorical="encode")))
    less = narrower(recipe, {"x", "when"})
    assert (less.columns, less.dates, less.orders) == (("y", "what"), (), {})
    assert less.names == ("y", "what=a", "what=b", "what=c")
    none = narrower(recipe, {"what", "y"})
    assert (none.columns, none.names, none.levels) == (("x", "when"), ("x", "when"), {})
