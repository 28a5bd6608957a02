"""Columns by name, pattern and place."""

import pytest

from mercer.errors import InputError
from mercer.tables.looking._table_request import meant

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


def test_a_name_is_meant_by_itself_and_a_pattern_is_not():
    (one,), (two,) = meant(["q1"], NAMES, "--id", ""), meant(["q1*"], NAMES, "--id", "")
    assert one == {1: True}
    assert two == {1: False, 3: False}


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
