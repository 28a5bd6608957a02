"""Delimiters and headers by the first lines."""

import pytest

from mercer.errors import DataWarning, InputError
from mercer.sources.text._delimited_text import find_delimiter, has_header
from mercer.sources.text._text_lines import Lines

NA = frozenset(["", "NA"])


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("a b,c d\n1,2\n3,4\n", ","),
        ("when,x\n2024-01-01 10:00,1\n2024-01-01 11:00,2\n", ","),
        ("1, 2, 3\n4, 5, 6\n", ","),
        ("1 2 3\n4  5 6\n", " "),
        ("1|2\n3|4\n", "|"),
        ("a\tb\n1\t2\n", "\t"),
        ("x;y,1,2\nz;w,3,4\n", ","),
        ('"a;b;c",1\n"d",2\n', ","),
        ("1\n2\n3\n", ","),
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", ","),
        ('a,"b\n;;;\n;;;",c\n1,2,3\n', ","),
    ],
)
def test_the_delimiter(text, mark):
    assert find_delimiter(Lines(text.encode(), 1), ".csv") == mark


def test_tabs_are_preferred_where_the_name_says_so():
    text = Lines(b"1,5\t2,5\n3,5\t4,5\n", 1)
    assert find_delimiter(text, ".tsv") == "\t"
    assert find_delimiter(Lines(b"1\n2\n", 1), ".tsv") == "\t"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["a", "b"], ["1", "2"]], True),
        ([["a", ""], ["1", "2"]], True),
        ([["1", "2"], ["3", "4"]], False),
        ([["x", "1"], ["y", "2"]], False),
        ([["NA", "NA"], ["3", "4"]], False),
        ([["a", "b"], ["c", "d"]], False),
        ([["sex", "eye"], *[["m", "blue"], ["f", "grey"]] * 3], True),
        ([["sex", "name"], *[["m", "ann"], ["f", "bob"], ["m", "cid"], ["m", "dan"]]], True),
        ([["m", "eye"], *[["m", "blue"], ["f", "grey"]] * 3], False),
        ([["sex", "sex"], *[["m", "blue"], ["f", "grey"]] * 3], False),
        ([["sex", ""], *[["m", "blue"], ["f", "grey"]] * 3], False),
        ([["sex", "eye"], *[["m", "blue"], ["f", "grey"]]], False),
        ([["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"], ["i", "j"]], False),
        ([["a", "b"], ["1,5", "2,5"]], True),
        ([["1,5", "b"], ["1,5", "2,5"]], False),
        ([["a", "b"], ["", "NA"]], True),
        ([["NA", ""], ["", "NA"]], False),
        ([["a", "b"], ["c", "1,5"]], True),
        ([["a", "b"], ["c", "2024-01-02"]], True),
        ([["a", "b"], ["c", "True"]], True),
        ([["2024-01-01", "NA"], ["2024-01-02", "5"]], False),
        ([["true", ""], ["false", "5"]], False),
        ([["1", "2"], ["3", "4"], ["0.5", "6"]], False),
        ([["1", "2"], ["5", "9"]], False),
        ([["1", "2", "4"], ["0.5", "9", "1"]], False),
        ([["x", "1990", "1992"], ["y", "2", "7"]], False),
        ([["a", "b"]], True),
        ([["1", "b"]], False),
    ],
)
def test_the_header(rows, expected):
    assert has_header(rows, NA, "x.csv") is expected


@pytest.mark.parametrize(
    "rows",
    [
        [["0", "1"], ["0.5", "2"]],
        [["", "0", "1"], ["0", "5", "2"]],
        [["land", "1990", "1991"], ["DE", "5", "2"]],
    ],
)
def test_numbers_that_may_be_names_are_refused(rows):
    with pytest.raises(InputError, match=r"line 1.*\n  fix: .*header=True or header=False"):
        has_header(rows, NA, "x.csv")


def test_half_a_header_is_refused():
    with pytest.raises(InputError, match="line 1: 'id' above numbers, beside '1990'"):
        has_header([["id", "1990"], ["7", "1"], ["8", "2"]], NA, "x.csv")


def spectra(names, rows=5, before=(), after=()):
    """Rows that go up and down between 0 and 1 under some names."""
    width = len(names) - len(before) - len(after)
    body = [
        [*(f"s{i}" for _ in before), *(str((7 * i * j % 11) / 11) for j in range(width))]
        + [str(i) for _ in after]
        for i in range(1, rows + 1)
    ]
    return [list(names), *body]


@pytest.mark.parametrize(
    "rows",
    [
        spectra([str(400 + 2 * j) for j in range(12)]),
        spectra([f"{900 - 1.5 * j}" for j in range(12)]),
        spectra([str(2 + j) for j in range(12)]),
        spectra(["sample", *(str(400 + j) for j in range(12))], before=["sample"]),
        spectra([*(str(400 + j) for j in range(12)), "fat"], after=["fat"]),
    ],
    ids=["rising", "falling", "counting", "beside-names-of-rows", "beside-names-of-numbers"],
)
def test_numbers_that_rise_above_rows_that_do_not_are_names(rows):
    with pytest.warns(DataWarning, match="taken for names"):
        assert has_header(rows, NA, "x.csv")


@pytest.mark.parametrize(
    "rows",
    [
        [[str(i + j) for j in range(12)] for i in range(0, 60, 7)],  # all rows rise
        [[str(j / 20) for j in range(12)], *spectra(["x"] * 12)[1:]],  # within their range
        spectra([str(400 + 2 * j) for j in range(9)]),  # few
        spectra([str(400 + 2 * j) for j in range(12)], rows=2),  # nothing to compare with
        spectra([str(400 + (j * 5) % 12) for j in range(12)]),  # up and down
    ],
    ids=["all-rise", "within", "narrow", "short", "up-and-down"],
)
def test_other_first_rows_of_numbers_are_rows(rows):
    assert not has_header(rows, NA, "x.csv")
