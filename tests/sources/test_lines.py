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
