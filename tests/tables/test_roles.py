"""Roles: tables of columns and of what the user says, and what comes of them."""

import pytest

from mercer.errors import InputError
from mercer.tables import Asked
from mercer.tables.looking._column_facts import Facts
from mercer.tables.looking._column_roles import is_code, names_rows, roles


def number(name="x", kind="number", **more):
    return Facts(
        name, kind, **({"mean": 1.0, "deviation": 1.0, "low": 0.0, "high": 9.0} | more)
    )


def whole(name, distinct=9, **more):
    return number(name, "integer", distinct=distinct, **more)


def counter(name):
    return whole(name, counts=True, unique=True)


def text(name="t", distinct=3, **more):
    return Facts(name, "text", distinct=distinct, **more)


def naming(name="name"):
    return text(name, 50, unique=True)


X, Y = number("x"), number("y")
DAY = Facts("day", "date", "iso", distinct=9)


def found(columns, /, **asked):
    return [role for role, _ in roles(columns, Asked(**asked), "t.csv")]


def why(columns, at=0, /, **asked):
    return roles(columns, Asked(**asked), "t.csv")[at][1]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([X, Y], ["active", "active"]),
        ([naming(), X], ["id", "active"]),
        ([X, naming()], ["active", "id"]),
        ([naming("a"), naming("b"), X], ["id", "out", "active"]),
        ([text("a"), text("b"), X], ["color", "out", "active"]),
        ([text("a", 13), text("b", 12), X], ["out", "color", "active"]),
        ([text("a", 1), text("b", 2), X], ["out", "color", "active"]),
        ([counter("anything"), X], ["id", "active"]),
        ([X, counter("anything")], ["active", "active"]),
        ([X, counter("index")], ["active", "id"]),
        ([X, counter("Nr")], ["active", "id"]),
        ([X, counter("1")], ["active", "id"]),  # without a name, called by its place
        ([counter("id"), naming(), X], ["out", "id", "active"]),
        ([X, whole("user_id", unique=True)], ["active", "id"]),
        ([X, whole("tweet_id", high=2.0**60)], ["active", "id"]),
        ([X, whole("userId", unique=True)], ["active", "id"]),
        ([X, whole("patientid", unique=True)], ["active", "id"]),
        ([whole("rownames", unique=True), X], ["id", "active"]),
        ([X, whole("user_id")], ["active", "active"]),
        ([X, whole("paid", unique=True)], ["active", "active"]),
        ([X, number("user_id")], ["active", "active"]),
        ([X, number("weight")], ["active", "active"]),
        ([X, whole("weights")], ["active", "active"]),
        ([X, DAY], ["active", "out"]),
        ([X, Facts("e", "empty")], ["active", "out"]),
        ([X, Facts("l", "other", "lists")], ["active", "out"]),
        ([X, number("c", low=7.0, high=7.0)], ["active", "out"]),
        ([X, text("c", 3, words="with decimal commas")], ["active", "out"]),
        ([X, text("c", 3, words="such as '?'"), text("d")], ["active", "out", "color"]),
        ([X, text("c", 50, unique=True, words="long")], ["active", "out"]),
        ([X, number("flag", "flag", distinct=2)], ["active", "active"]),
    ],
)
def test_roles_that_are_found(columns, expected):
    assert found(columns) == expected


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (number("c", low=7.0, high=7.0), "constant 7"),
        (Facts("e", "empty"), "empty"),
        (Facts("l", "other", "lists"), "lists"),
        (DAY, "date: --dates number to use it"),
        (text("b", 5), "text of 5 categories: --color or --categorical encode"),
        (text("b", 1234), "text of 1,234 values"),
        (text("b", 1234, partly=True), "text of 1,234 or more values"),
        (text("b", 1), "text, always the same"),
        (text("b", 3, words="such as '?'"), "text such as '?': --na '?' if that is missing"),
        (
            text("b", 9, words="with decimal commas"),
            "numbers with decimal commas: write 3.5 for 3,5",
        ),
        (whole("year", 3), "3 values; if it is a code: --drop year"),
        (whole("zip", 300), "300 values; if it is a code: --drop zip"),
        (whole("age", 60), ""),
        (whole("k", 9, words="with leading zeros"), "zeros; if it is a code: --drop k"),
        (whole("d", 9, low=20240101.0, high=20241231.0), "dates like 20240101: --drop d"),
        (number("d", low=20240101.0, high=20241231.0), ""),
    ],
)
def test_reasons(column, words):
    assert why([text("first", 2), X, column], 2).endswith(words)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"columns": ("x",)}, ["id", "color", "active", "out", "out", "out"]),
        ({"columns": ("x-y",)}, ["id", "color", "active", "active", "out", "out"]),
        ({"columns": ("*",)}, ["id", "color", "active", "active", "active", "out"]),
        ({"columns": ("x", "k")}, ["id", "color", "active", "out", "active", "out"]),
        ({"drop": ("x", "name")}, ["out", "color", "out", "active", "out", "out"]),
        (
            {"columns": ("x", "y"), "drop": ("y",)},
            ["id", "color", "active", "out", "out", "out"],
        ),
        ({"id": "group"}, ["out", "id", "active", "active", "out", "out"]),
        ({"color": ("y",)}, ["id", "out", "active", "color", "out", "out"]),
        ({"color": ("group", "day")}, ["id", "color", "active", "active", "out", "color"]),
        ({"weights": "y"}, ["id", "color", "active", "weights", "out", "out"]),
        ({"sup": ("y", "group")}, ["id", "sup", "active", "sup", "out", "out"]),
        ({"dates": "number"}, ["id", "color", "active", "active", "out", "active"]),
        ({"categorical": "encode"}, ["id", "active", "active", "active", "out", "out"]),
        (
            {"columns": ("x*", "y"), "sup": ("y*",)},
            ["id", "color", "active", "active"] + 2 * ["out"],
        ),
        (
            {"columns": ("x-",), "sup": ("y",)},
            ["id", "color", "active", "sup", "active", "out"],
        ),
        ({"drop": ("*",), "columns": ("x",), "id": "name"}, None),
        ({"drop": ("n*",), "id": "name"}, ["id", "color", "active", "active", "out", "out"]),
        ({"transpose": True}, ["id", "out", "active", "active", "active", "out"]),
        (
            {"columns": ("x", "group"), "categorical": "encode"},
            ["id", "active", "active", "out", "out", "out"],
        ),
    ],
)
def test_the_word_of_the_user_goes_first(asked, expected):
    columns = [naming(), text("group"), X, Y, number("k", low=7.0, high=7.0), DAY]
    if expected is None:
        with pytest.raises(InputError, match="no column of numbers is left"):
            found(columns, **asked)
    else:
        assert found(columns, **asked) == expected


def test_a_constant_column_that_is_asked_for_stays_and_is_said():
    columns = [X, number("k", low=7.0, high=7.0)]
    assert why(columns, 1, columns=("k", "x")) == "constant 7, but asked for"


def test_text_of_too_many_values_is_not_encoded():
    columns = [X, text("t", 51)]
    assert found(columns, categorical="encode") == ["active", "out"]
    assert why(columns, 1, categorical="encode") == "text of 51 values: too many to encode"


@pytest.mark.parametrize(
    ("columns", "asked", "what"),
    [
        ([X, DAY], {"dates": "error"}, "columns of date are refused (--dates error)"),
        ([X, text()], {"categorical": "error"}, "columns of text are refused (--categorical"),
        ([X, Y], {"drop": ("x", "y")}, "no column of numbers is left to analyse"),
        ([text("a"), text("b")], {}, "no column of numbers is left to analyse"),
        ([Facts("e", "empty")], {}, "no column of numbers is left to analyse"),
        ([X, number("y", infinite=3)], {}, "infinite cells cannot be analysed"),
        ([X, Y], {"columns": ("z",)}, "there is no column 'z' (--columns)"),
        ([X, Y], {"id": "x", "color": ("x",)}, "one use, not two (--id and --color)"),
    ],
)
def test_refusals_in_three_lines(columns, asked, what):
    with pytest.raises(InputError) as caught:
        found(columns, **asked)
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert what in lines[0]
    assert "t.csv" in lines[1]


def test_infinite_cells_do_no_harm_where_nobody_looks():
    columns = [X, number("y", infinite=3)]
    assert found(columns, drop=("y",)) == ["active", "out"]
    with pytest.raises(InputError, match="'y' 3") as caught:
        found(columns)
    assert "--drop y" in caught.value.fix


@pytest.mark.parametrize(
    "name", ["id", "ID", "Id", "row", "index", "Unnamed: 0", "row_id", "0"]
)
def test_names_that_name_rows(name):
    assert names_rows(name, 0, [name, "x"])


def test_columns_that_are_all_called_by_their_places_have_no_name_of_rows():
    assert not names_rows("0", 0, ["0", "1", "2"])


def test_codes():
    assert all(map(is_code, ["year", "Month", "zip_code", "birth_year", "host_id"]))
    assert not any(map(is_code, ["years_old", "height", "today", "encoded"]))


def test_a_word_among_numbers_may_be_a_category():
    columns = [X, text("size", 4, words="such as '3+'")]
    assert found(columns) == ["active", "out"]
    assert found(columns, categorical="encode") == ["active", "active"]
