"""Columns by name, pattern and place; what is asked for, and what is not said."""

import dataclasses

import pytest

from mercer.errors import InputError
from mercer.tables import Asked, Column
from mercer.tables.looking._table_request import by_name, groups_of, meant

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


def test_names_that_are_numbers_go_before_places():
    names = ["0", "1", "2", "3"]
    assert places("1", "1-2", "4", names=names) == [[1], [1, 2], [3]]


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
def test_refusals(word, what, fix):
    with pytest.raises(InputError) as caught:
        places(word)
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert what in lines[0]
    assert "t.csv" in lines[1]
    assert fix in lines[2]


NAMES_GROUPED = ["id", "q1", "q2", "q3", "age"]


def test_a_column_in_two_groups_is_refused_by_name():
    with pytest.raises(InputError, match="one group") as refused:
        by_name(Asked(groups=(("a", ("q1",)), ("b", ("q*",)))), NAMES_GROUPED, "t.csv")
    assert "'q1' is in 'a' and in 'b'" in refused.value.got


def test_groups_hold_what_is_left_and_an_empty_one_is_refused():
    asked = Asked(groups=(("a", ("q1", "q2")), ("b", ("age",))))
    assert groups_of(asked, ["q1", "age"], "t.csv") == {"a": ["q1"], "b": ["age"]}
    assert groups_of(Asked(), ["q1"], "t.csv") is None
    with pytest.raises(InputError, match="no column of a group") as refused:
        groups_of(asked, ["q1"], "t.csv")
    assert "'b'" in refused.value.got


# A column is a value.
def test_a_column_cannot_be_changed():
    column = Column("x", "number", "active")
    assert column == Column("x", "number", "active", "")
    with pytest.raises(dataclasses.FrozenInstanceError):
        column.role = "out"


# What is not said is found.
def test_defaults_say_nothing():
    asked = Asked()
    assert asked.columns is None
    assert (asked.drop, asked.color, asked.sup) == ((), (), ())
    assert (asked.missing, asked.standardize) == ("auto", "auto")
    assert (asked.dates, asked.categorical) == ("ignore", "ignore")
    assert asked.reading == {}
    assert asked == Asked()


@pytest.mark.parametrize("name", ["missing", "standardize", "dates", "categorical"])
def test_words_that_an_option_does_not_have(name):
    with pytest.raises(InputError, match=f"--{name}") as caught:
        Asked(**{name: "maybe"})
    assert caught.value.got == f"{name}='maybe'"


def test_one_row_is_not_enough():
    with pytest.raises(InputError, match="two rows"):
        Asked(rows=1)


def test_tables_are_of_known_kinds_and_may_be_crossed():
    with pytest.raises(InputError, match="--table"):
        Asked(table="heaps")
    assert not Asked(count="n").crossed
    assert Asked(rows_by="a").crossed
