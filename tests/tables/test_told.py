"""The user's word: what counts where two options name one column, and what is refused."""

import pytest

from mercer.errors import InputError
from mercer.tables import Asked
from mercer.tables.looking._column_facts import Facts
from mercer.tables.looking._column_roles import told

COLUMNS = [
    Facts("name", "text", distinct=50, unique=True),
    Facts("w", "integer", low=1.0, high=4.0),
    Facts("x", "number", low=-1.0, high=1.0),
    Facts("day", "date", "iso"),
    Facts("gap", "number", missing=2, low=0.0, high=1.0),
    Facts("e", "empty"),
    Facts("l", "other", "lists"),
    Facts("c", "text", "with decimal commas"),
]


def said(**asked):
    return told(COLUMNS, Asked(**asked), "t.csv")


def test_nothing_said():
    assert said().roles == {}
    assert said().columns is None
    assert not said().has("id")


def test_a_name_goes_before_a_pattern():
    assert said(drop=("*",), id="name").roles[0][0] == "id"
    assert said(id="name", sup=("*",)).roles[0][0] == "id"
    assert 2 not in said(sup=("*",), columns=("x",)).roles
    assert said(drop=("*",), columns=("x",)).roles[2][0] == "out"


@pytest.mark.parametrize(
    ("asked", "what", "got"),
    [
        ({"id": "x", "sup": ("x",)}, "one use, not two (--id and --sup)", "'x'"),
        ({"drop": ("x",), "weights": "x"}, "one use, not two (--drop and --weights)", "'x'"),
        ({"id": "x", "columns": ("x",)}, "one use, not two (--id and --columns)", "'x'"),
        ({"id": "*"}, "one column is needed, not 8 (--id)", "'name'"),
        ({"weights": "name"}, "weights are numbers", "'name' holds text"),
        ({"weights": "e"}, "weights are numbers", "'e' holds nothing"),
        ({"weights": "x"}, "weights are numbers", "'x' holds -1"),
        ({"weights": "gap"}, "weights are numbers", "'gap' has 2 missing cells"),
        ({"columns": ("name",)}, "must hold numbers (--columns)", "'name' holds text"),
        ({"columns": ("day",)}, "must hold numbers (--columns)", "'day' holds date"),
        ({"columns": ("e",)}, "must hold numbers (--columns)", "'e' holds nothing"),
        ({"columns": ("l",)}, "must hold numbers (--columns)", "'l' holds lists"),
        ({"columns": ("c",)}, "must hold numbers (--columns)", "text with decimal commas"),
        ({"color": ("colour",)}, "there is no column 'colour' (--color)", "8 columns"),
    ],
)
def test_refusals(asked, what, got):
    with pytest.raises(InputError) as caught:
        said(**asked)
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert what in lines[0]
    assert got in lines[1]


def test_text_and_dates_may_be_asked_for_where_they_become_numbers():
    word = said(columns=("name", "day"), categorical="encode", dates="number")
    assert word.columns == {0, 3}
