"""Lines come whole, in blocks, with their numbers."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.sources.text import _text_lines as _lines
from mercer.sources.text._text_bytes import TextFile
from mercer.sources.text._text_lines import Lines, whole_lines


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


@given(
    st.lists(st.text(st.sampled_from('a\n"'), max_size=6), min_size=1, max_size=9),
    st.integers(1, 30),
)
def test_quoted_newlines_do_not_cut(cells, size):
    records = ['"' + cell.replace('"', '""') + '"\n' for cell in cells]
    found = cut("".join(records).encode(), size)
    assert b"".join(part.data for part in found).decode() == "".join(records)
    ends = {len("".join(records[:i])) for i in range(len(records) + 1)}
    at = 0
    for part in found:
        at += len(part.data)
        assert at in ends


def test_without_quotes_every_newline_cuts():
    assert [part.line for part in cut(b'"a\nb"\nc\n', 3, quotes=False)] == [1, 2, 3]


def test_empty_lines_wait_for_what_follows():
    assert b"".join(part.data for part in cut(b"a\n\n\n\nb\n\n\n", 2)) == b"a\n\n\n\nb\n"
    assert cut(b"\n\n\n", 2) == []
    assert cut(b"", 2) == []
    many = b"a\n" + b"\n" * 10_000
    assert b"".join(part.data for part in cut(many, 20_000)) == b"a\n"
    assert b"".join(part.data for part in cut(many + b"b\n", 20_000)) == many + b"b\n"


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
