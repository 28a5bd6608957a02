"""Roles: tables of columns and of what the user says, and what comes of them."""

import pytest

from mercer.errors import InputError
from mercer.tables import Asked
from mercer.tables.looking._column_facts import Facts
from mercer.tables.looking._column_roles import (
    is_code,
    names_rows,
    refuse_no_category,
    refuse_table,
    roles,
    told,
    use_of,
)
from mercer.tables.looking._table_request import by_name, groups_of, meant


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
        ([text("a"), text("b"), X], ["color", "color", "active"]),
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
        ([X, DAY], ["active", "color"]),
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
        (DAY, "date: --dates number to analyse it"),
        (text("b", 5), "text of 5 categories: --categorical encode to analyse it"),
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
        ({"columns": ("x",)}, ["id", "color", "active", "out", "out", "color"]),
        ({"columns": ("x-y",)}, ["id", "color", "active", "active", "out", "color"]),
        ({"columns": ("*",)}, ["id", "color", "active", "active", "active", "color"]),
        ({"columns": ("x", "k")}, ["id", "color", "active", "out", "active", "color"]),
        ({"drop": ("x", "name")}, ["out", "color", "out", "active", "out", "color"]),
        (
            {"columns": ("x", "y"), "drop": ("y",)},
            ["id", "color", "active", "out", "out", "color"],
        ),
        ({"id": "group"}, ["out", "id", "active", "active", "out", "color"]),
        ({"color": ("y",)}, ["id", "out", "active", "color", "out", "out"]),
        ({"color": ("group", "day")}, ["id", "color", "active", "active", "out", "color"]),
        ({"weights": "y"}, ["id", "color", "active", "weights", "out", "color"]),
        ({"sup": ("y", "group")}, ["id", "sup", "active", "sup", "out", "color"]),
        ({"dates": "number"}, ["id", "color", "active", "active", "out", "active"]),
        ({"categorical": "encode"}, ["id", "active", "active", "active", "out", "out"]),
        (
            {"columns": ("x*", "y"), "sup": ("y*",)},
            ["id", "color", "active", "active", "out", "color"],
        ),
        (
            {"columns": ("x-",), "sup": ("y",)},
            ["id", "color", "active", "sup", "active", "color"],
        ),
        ({"drop": ("*",), "columns": ("x",), "id": "name"}, None),
        ({"drop": ("n*",), "id": "name"}, ["id", "color", "active", "active", "out", "color"]),
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


def test_columns_in_between():
    columns = [X, number("k", low=7.0, high=7.0)]
    assert why(columns, 1, columns=("k", "x")) == "constant 7, but asked for"
    columns = [X, text("t", 51)]
    assert found(columns, categorical="encode") == ["active", "out"]
    assert why(columns, 1, categorical="encode") == "text of 51 values: too many to encode"
    assert not names_rows("0", 0, ["0", "1", "2"])
    assert all(map(is_code, ["year", "Month", "zip_code", "birth_year", "host_id"]))
    assert not any(map(is_code, ["years_old", "height", "today", "encoded"]))
    columns = [X, text("size", 4, words="such as '3+'")]
    assert found(columns) == ["active", "out"]
    assert found(columns, categorical="encode") == ["active", "active"]


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


# The user's word: what counts where two options name one column, and what is refused.


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


def test_a_name_goes_before_a_pattern():
    assert said(drop=("*",), id="name").roles[0][0] == "id"
    assert said(id="name", sup=("*",)).roles[0][0] == "id"
    assert 2 not in said(sup=("*",), columns=("x",)).roles
    assert said(drop=("*",), columns=("x",)).roles[2][0] == "out"
    word = said(columns=("name", "day"), categorical="encode", dates="number")
    assert word.columns == {0, 3}


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


def whole_uses(name="w", distinct=3, low=1.0, high=3.0, **more):
    return Facts(name, "integer", distinct=distinct, low=low, high=high, **more)


def use(column, table, *, first=False, identifies=False, **asked):
    return use_of(column, Asked(table=table, **asked), first=first, identifies=identifies)


def test_uses_of_columns_in_counts_and_categories():
    assert use(text(unique=True), "counts")[0] == "id"
    assert use(text(), "counts", first=True) == ("id", "the first column")
    assert use(text(), "counts")[0] == "out"
    assert use(whole_uses(), "counts") == ("active", "")
    assert (
        use(whole_uses(low=7.0, high=7.0), "counts")[0] == "active"
    )  # a constant column counts
    assert use(whole_uses(low=0.0, high=0.0), "counts") == ("out", "only zeros")
    assert use(Facts("d", "date"), "counts")[0] == "out"
    assert use(whole_uses(), "counts", identifies=True) is None
    assert use(text(), "categories") == ("active", "3 categories")
    assert use(text(distinct=51), "categories")[0] == "out"
    assert use(text(distinct=1), "categories")[0] == "out"
    assert use(text(unique=True), "categories")[0] == "id"
    assert use(whole_uses(distinct=12), "categories")[0] == "active"
    assert use(whole_uses(distinct=13), "categories")[0] == "out"
    assert use(whole_uses(distinct=13), "categories", category=("w",))[0] == "active"
    assert use(whole_uses(low=2.0, high=2.0, distinct=1), "categories") == ("out", "constant 2")
    assert use(Facts("x", "number"), "categories")[0] == "out"
    assert use(Facts("d", "date"), "categories") is None


def test_what_was_asked_for_is_not_refused():
    assert use(text(), "counts", rows_by="a", columns_by="b") == ("out", "not asked for")
    refuse_no_category(
        whole_uses(distinct=40), Asked(table="categories", category=("w",)), "t.csv"
    )
    refuse_no_category(Facts("x", "number"), Asked(table="mixed"), "t.csv")
    columns = [(Facts("x", "number"), "active"), (text("species"), "out")]
    with pytest.raises(InputError) as refused:
        refuse_table(columns, Asked(table="groups"), "t.csv")
    assert refused.value.fix == "--target species"


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (Facts("x", "number", low=0.5, high=2.5), "numbers with decimals"),
        (whole_uses(distinct=40), "more than 12 values"),
        (Facts("e", "empty"), "must hold categories"),
        (Facts("d", "date"), "must hold categories"),
    ],
)
def test_a_column_that_is_named_and_no_category_is_refused(column, what):
    with pytest.raises(InputError, match=what) as refused:
        refuse_no_category(column, Asked(table="categories"), "t.csv")
    assert repr(column.name) in refused.value.got


TABLES = {
    "one": (Asked(table="categories"), [(text(), "active")], "two columns of categories"),
    "negative": (Asked(table="counts"), [(whole_uses(low=-3.0), "active")], "not negative"),
    "sup": (Asked(table="counts"), [(whole_uses(low=-3.0), "sup")], "not negative"),
    "half": (Asked(table="counts", rows_by="a"), [], "two columns are counted"),
    "no target": (Asked(table="groups"), [(text(), "out")], "needs to know the groups"),
    "decimals": (
        Asked(table="groups", target="x"),
        [(Facts("x", "number", low=0.0, high=1.5), "target")],
        "words or codes",
    ),
    "one group": (Asked(table="groups", target="t"), [(text(distinct=1), "target")], "words"),
    "many": (Asked(table="groups", target="t"), [(text(unique=True), "target")], "few diff"),
    "codes": (
        Asked(table="groups", target="w"),
        [(whole_uses(distinct=99), "target")],
        "few diff",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_a_method_cannot_take_is_refused(name):
    asked, columns, what = TABLES[name]
    with pytest.raises(InputError, match=what) as refused:
        refuse_table(columns, asked, "t.csv")
    assert "t.csv" in refused.value.got


# Columns by name, pattern and place.
NAMES = ["id", "q1", "q2", "q10", "Age (years)", "3", "a-b", "Weight"]


def places(*words, names=NAMES):
    found = meant(words, names, "--columns", "t.csv")
    return [list(one) for one in found]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("q1", [1]),
        ("q*", [1, 2, 3]),
        ("q?", [1, 2]),
        ("q[12]", [1, 2]),
        ("1", [0]),
        ("8", [7]),
        ("3", [5]),  # a column of that name
        ("a-b", [6]),
        ("2-4", [1, 2, 3]),
        ("6-", [5, 6, 7]),
        ("q1-q10", [1, 2, 3]),
        ("q2-", [2, 3, 4, 5, 6, 7]),
        ("a-b-Weight", [6, 7]),
        ("Age (years)", [4]),
        ("2-2", [1]),
    ],
)
def test_words(word, expected):
    assert places(word) == [expected]


def test_groups_of_columns_and_what_cannot_be_asked():
    with pytest.raises(InputError, match="two rows"):
        Asked(rows=1)
    with pytest.raises(InputError, match="--table"):
        Asked(table="heaps")
    assert not Asked(count="n").crossed
    assert Asked(rows_by="a").crossed
    names = ["0", "1", "2", "3"]
    assert places("1", "1-2", "4", names=names) == [[1], [1, 2], [3]]
    with pytest.raises(InputError, match="one group") as refused:
        by_name(Asked(groups=(("a", ("q1",)), ("b", ("q*",)))), NAMES_GROUPED, "t.csv")
    assert "'q1' is in 'a' and in 'b'" in refused.value.got
    asked = Asked(groups=(("a", ("q1", "q2")), ("b", ("age",))))
    assert groups_of(asked, ["q1", "age"], "t.csv") == {"a": ["q1"], "b": ["age"]}
    assert groups_of(Asked(), ["q1"], "t.csv") is None
    with pytest.raises(InputError, match="no column of a group") as refused:
        groups_of(asked, ["q1"], "t.csv")
    assert "'b'" in refused.value.got


@pytest.mark.parametrize(
    ("word", "what", "fix"),
    [
        ("weight", "there is no column 'weight' (--columns)", "did you mean 'Weight'?"),
        ("agee", "there is no column 'agee'", "'Age (years)'"),
        ("Q1", "there is no column 'Q1'", "did you mean 'q1'?"),
        ("9", "there is no column '9'", "places count from 1"),
        ("0", "there is no column '0'", "places count from 1"),
        ("z*", "no column fits the pattern 'z*'", "mercer look"),
        ("5-2", "a range of columns goes from left to right", "exchange"),
        ("2-99", "there is no column '2-99'", "places count"),
        ("", "there is no column ''", "places count"),
    ],
)
def test_refusals_names(word, what, fix):
    with pytest.raises(InputError) as caught:
        places(word)
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert what in lines[0]
    assert "t.csv" in lines[1]
    assert fix in lines[2]


NAMES_GROUPED = ["id", "q1", "q2", "q3", "age"]


# A column is a value.
# What is not said is found.
@pytest.mark.parametrize("name", ["missing", "standardize", "dates", "categorical"])
def test_words_that_an_option_does_not_have(name):
    with pytest.raises(InputError, match=f"--{name}") as caught:
        Asked(**{name: "maybe"})
    assert caught.value.got == f"{name}='maybe'"
