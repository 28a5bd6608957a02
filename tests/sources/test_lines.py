"""Bytes, lines and fields of text."""

import dataclasses
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.sources.text import _text_lines as _lines
from mercer.sources.text._text_bytes import Chunks, TextFile, look
from mercer.sources.text._text_fields import find_fields, single_spaced
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


def test_lines_are_numbered_within_a_block():
    lines = Lines(b"a\nbb\nc\n", 10)
    assert [lines.line_at(i) for i in (0, 1, 2, 4, 5)] == [10, 10, 11, 11, 12]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'1\n"2\n3\n', "line 2"),
        (b'1\n5"2\n3\n"4"\n', "line 2"),
        (b"1\n2\x00\n", "line 2: '1"),
        (b"1\r2\r3\r", "carriage return"),
    ],
)
def test_what_is_no_line_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        cut(text, 100)


def test_lines_have_a_longest(monkeypatch):
    monkeypatch.setattr(_lines, "LONGEST", 100)
    assert cut(b"7" * 90 + b"\n", 10)
    with pytest.raises(InputError, match=r"longer than .*\n  got: x, line 2"):
        cut(b"1\n" + b"7" * 120 + b"\n", 10)


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


def test_spaces_around_quotes_do_no_harm():
    fields = find_fields(Lines(b'1, "a,b" ,2\n  "c"\n', 1), ",", "x.csv")
    assert fields.cells(0) == ["1", "a,b", "2"]
    assert fields.cells(1) == ["c"]


def test_many_spaces_are_one():
    lines = single_spaced(Lines(b"  1   2 \n3 4\n 5     6  \n", 1))
    assert lines.data == b"1 2\n3 4\n5 6\n"


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
