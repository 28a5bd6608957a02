"""Bytes, lines and fields of text."""

import dataclasses
import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import DataWarning, InputError
from mercer.sources.text._delimited_text import find_delimiter, has_header
from mercer.sources.text._number_spelling import Spelling
from mercer.sources.text._text_bytes import Chunks, TextFile, look
from mercer.sources.text._text_cells import (
    Kind,
    has_decimal_comma,
    is_number,
    kind_of_column,
    not_a_number,
    read_cells,
    to_floats,
    to_floats_with_care,
)
from mercer.sources.text._text_fields import find_fields
from mercer.sources.text._text_lines import Lines, whole_lines


# Lines come whole, in blocks, with their numbers.
@dataclasses.dataclass
class Pieces:
    """Chunks without a file."""

    text: bytes
    size: int
    file: TextFile = dataclasses.field(
        default_factory=lambda: TextFile(_Named("x"), False, "utf-8", 0)
    )

    def __iter__(self):
        for at in range(0, len(self.text), self.size):
            yield self.text[at : at + self.size]


@dataclasses.dataclass
class _Named:
    name: str


def cut(text, size=5, quotes=True):
    return list(whole_lines(Pieces(text, size), quotes))


@given(
    st.lists(st.text(st.sampled_from("ab,é"), min_size=1, max_size=9), min_size=1, max_size=9),
    st.integers(1, 30),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 3),
)
def test_all_lines_come_whole(lines, size, newline, end, empty):
    text = end.join(lines) + (end * (1 + empty) if newline else "")
    found = cut(text.encode(), size)
    assert b"".join(part.data for part in found).decode() == "\n".join(lines) + "\n"
    at = 1
    for part in found:
        assert part.data.endswith(b"\n")
        assert part.line == at
        at += part.data.count(b"\n")
    assert [part.cut for part in found] == [False] * (len(found) - 1) + [not newline]


def test_lines_are_numbered_and_quoted_fields_stripped():
    lines = Lines(b"a\nbb\nc\n", 10)
    assert [lines.line_at(i) for i in (0, 1, 2, 4, 5)] == [10, 10, 11, 11, 12]
    fields = find_fields(Lines(b'1, "a,b" ,2\n  "c"\n', 1), ",", "x.csv")
    assert fields.cells(0) == ["1", "a,b", "2"]
    assert fields.cells(1) == ["c"]


# Fields are counted on the bytes as the csv module counts them.
@pytest.mark.parametrize(
    ("text", "width", "words"),
    [
        ("1,2\n3\n", 2, "line 8: 1 field, expected 2: '3'"),
        ("1,2\n3,4,5\n", 2, "line 8: 3 fields, expected 2"),
        # As many fields as two even lines together have.
        ("1\n2,3,4\n", 2, "line 7: 1 field, expected 2"),
        ("1,2\n\n3,4\n", 2, "empty line.*\n.*line 8"),
        ("1\n\n3\n", 1, "empty line.*\n.*line 8"),
        ("\n1\n", 1, "empty line.*\n.*line 7"),
        ('"a\nb",2\n3\n', 2, "line 9"),
        ("x" * 99 + "\n", 2, "x" * 40 + r"\.\.\."),
    ],
)
def test_ragged_lines_are_named(text, width, words):
    fields = find_fields(Lines(text.encode(), 7), ",", "x.csv")
    with pytest.raises(InputError, match=words):
        fields.refuse_ragged(width, "x.csv")


@pytest.mark.parametrize("text", ['5" a\n6" b\n', '"a"b\n', '1,2"3"\n', '""a\n', 'a "b"\n'])
def test_stray_quotes_are_refused(text):
    with pytest.raises(InputError, match="line 3"):
        find_fields(Lines(b"1,2\n" + text.encode(), 2), ",", "x.csv")


# Bytes of text come unpacked and in UTF-8, whatever the size of the chunks.
TEXT = "a,ü,€\n1,😀,3\r\n" * 3


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16", "utf-16"),
        ("utf-32", None),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "UTF-16BE"),
        ("gb18030", "gb18030"),
    ],
)
def test_text_comes_back(tmp_path, written, given, packed, size):
    data = TEXT.encode(written)
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    chunks = Chunks(look(path, given), size)
    found = list(chunks)
    assert b"".join(found).decode() == TEXT
    assert chunks.packed == path.stat().st_size
    assert chunks.given == len(TEXT.encode())
    assert max(map(len, found)) <= max(4, 3 * size)


def test_a_big_endian_mark_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xfe\xff" + TEXT.encode("utf-16-be"))
    assert look(path) == TextFile(path, False, "utf-16-be", 2)
    assert b"".join(Chunks(look(path), 5)).decode() == TEXT


# Cells of text are numbers, missing, truth values or text, by one rule.


NA = frozenset(["", "NA", "NaN", "nan", "null"])
NUMBERS = ["0", "-1", "+3", "1.", ".5", "1e5", "1E-5", "-1.5e+300", "inf", "-Infinity", "NAN"]
WORDS = ["x", "1_0", "0x1", "1,5", "--1", "1e", "e5", ".", "-", "1 2", "١", "infin", "1d5"]


@pytest.mark.parametrize("cell", NUMBERS + WORDS)
def test_the_three_readers_agree(cell):
    """The rule of the head, the fast reader and the careful one."""
    expected = cell in NUMBERS
    assert is_number(cell) == expected
    text = f'7\n"{cell}"\n'.encode() if "," in cell else f"7\n{cell}\n".encode()
    fast = to_floats(text, 1, ",", NA)
    assert (fast is not None) == expected
    values, wrong = to_floats_with_care(read_cells(text, ","), [False], NA)
    assert wrong.tolist() == [[False], [not expected]]
    if expected:
        np.testing.assert_array_equal(fast, [[7], [float(cell)]])
        np.testing.assert_array_equal(values, fast)


@given(st.text(st.sampled_from("0123456789+-.eEinfaNy_ "), min_size=1, max_size=8))
def test_the_three_readers_agree_on_noise(cell):
    cell = cell.strip()
    if cell in NA:
        return
    text = f"7\n{cell}\n".encode()
    assert is_number(cell) == (to_floats(text, 1, ",", NA) is not None)
    assert is_number(cell) != to_floats_with_care(pl.Series([cell]), [False], NA)[1].item()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_float_comes_back(numbers):
    text = "".join(f"{x!r}\n" for x in numbers).encode()
    assert to_floats(text, 1, ",", NA)[:, 0].tolist() == numbers
    cells = pl.Series([f" {x!r} " for x in numbers])
    assert to_floats_with_care(cells, [False], NA)[0][:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "NA", "2.5"], Kind()),
        (["", "NA"], Kind()),
        (["true", "", "FALSE"], Kind(flags=True)),
        (["true", "1"], Kind(other="text")),
        (["1,5", "2", "-3,25"], Kind(spelling=Spelling(","))),
        (["2024-01-01", "2024-01-02T10:00"], Kind(other="dates")),
        (["1.2.2024", "3/4/99"], Kind(other="dates")),
        (["a", "NA"], Kind(other="text")),
        (["1"] * 99 + ["?"], Kind(other="text such as '?'")),
    ],
)
def test_kinds_of_columns(cells, kind):
    assert kind_of_column(cells, NA) == kind


def test_cells_are_read_with_care():
    cells = pl.Series(["true", "1", " False ", "2", "NA", "NA", "1", "true"])
    values, wrong = to_floats_with_care(cells, [True, False], NA)
    np.testing.assert_array_equal(values[:3], [[1, 1], [0, 2], [np.nan, np.nan]])
    assert wrong.tolist() == [[False, False]] * 3 + [[True, True]]
    assert np.isnan(to_floats(b"1\n\n", 2, ",", NA)[0, 1])
    assert to_floats(b"1\n\n", 2, ",", frozenset(["NA"])) is None
    cells = read_cells(b'1\n\n""\n', ",")
    assert to_floats_with_care(cells, [False], frozenset())[1].tolist() == [
        [False],
        [True],
        [True],
    ]
    error = not_a_number("x.csv, line 3, column 'b'", "1,5", "b")
    assert error.got == "x.csv, line 3, column 'b': '1,5'"
    assert "decimal=','" in error.fix
    assert has_decimal_comma("1,5")
    assert len(not_a_number("x", "y" * 500, "b").got) < 60
    assert "drop='b'" in not_a_number("x", "y", "b").fix
    assert "neither true nor false" in not_a_number("x", "y", "b", flags=True).what


# Delimiters and headers by the first lines.


MARKS = frozenset(["", "NA"])


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


def test_tabs_by_name_and_half_a_header():
    text = Lines(b"1,5\t2,5\n3,5\t4,5\n", 1)
    assert find_delimiter(text, ".tsv") == "\t"
    assert find_delimiter(Lines(b"1\n2\n", 1), ".tsv") == "\t"
    with pytest.raises(InputError, match="line 1: 'id' above numbers, beside '1990'"):
        has_header([["id", "1990"], ["7", "1"], ["8", "2"]], MARKS, "x.csv")


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
    assert has_header(rows, MARKS, "x.csv") is expected


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
        has_header(rows, MARKS, "x.csv")


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
        assert has_header(rows, MARKS, "x.csv")


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
    assert not has_header(rows, MARKS, "x.csv")
