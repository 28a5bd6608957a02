"""A recipe survives JSON."""

import json

from mercer.tables import Recipe


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
