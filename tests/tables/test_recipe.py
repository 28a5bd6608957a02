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
