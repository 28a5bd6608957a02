"""From roles to a recipe."""

import pytest

from mercer.errors import InputError
from mercer.tables import Asked, look
from mercer.tables._recipe import chosen, narrower

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
