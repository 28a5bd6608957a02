"""What sources of lines share: head, forecast, walks, lines of rows."""

import numpy as np
import pytest

from mercer.errors import DataWarning, InputError
from mercer.sources.text._line_source import LineSource
from mercer.sources.text._text_bytes import look


class Lengths(LineSource):
    """One row per line: how many bytes it has."""

    quotes = False

    def __init__(self, path):
        self.head = self._open(look(path))
        self.names = ("length",)
        self.shape = (self._forecast(self.head), 1)

    def _take(self, chosen):
        self.names = chosen.names

    def _starts(self, lines):
        ends = [i for i, letter in enumerate(lines.data) if letter == ord("\n")]
        return np.array([0, *(i + 1 for i in ends[:-1])])

    def _values(self, lines):
        return np.array([[float(len(text))] for text in lines.data.split(b"\n")[:-1]])

    def _options(self):
        return ("lengths",)


def made(path, lines, end="\n"):
    path.write_bytes(("\n".join(lines) + end).encode())
    return Lengths(path)


@pytest.mark.parametrize("block", [1, 4, 50, 1 << 20])
def test_a_walk_may_begin_anywhere(tmp_path, block):
    source = made(tmp_path / "x.txt", ["a" * (i % 7 + 1) for i in range(40)])
    source.block_bytes = block
    expected = np.array([[i % 7 + 1.0] for i in range(40)])
    for start in (0, 8, 39, 40):
        blocks = list(source.blocks(8, start))
        assert np.array_equal(np.concatenate([*blocks, expected[:0]]), expected[start:])
    assert source.shape == (40, 1)
    assert [source.place(i, 0) for i in (0, 39)] == [
        "x.txt, line 1, column 'length'",
        "x.txt, line 40, column 'length'",
    ]


def test_the_head_holds_three_lines_where_there_are(tmp_path):
    """Lines longer than the head is read for."""
    source = made(tmp_path / "x.txt", ["a" * 1_500_000] * 5)
    assert 3 <= source.head.data.count(b"\n") < 5
    assert source.shape[0] == pytest.approx(5, abs=1)
    assert made(tmp_path / "x.txt", ["a"]).shape == (1, 1)


def test_a_small_file_is_forecast_exactly(tmp_path):
    assert made(tmp_path / "x.txt", ["a\r"] * 30).shape == (30, 1)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"empty\n  got: x.txt: 1 bytes"):
        made(tmp_path / "x.txt", [""])


def test_a_missing_newline_is_said_once(tmp_path):
    source = made(tmp_path / "x.txt", ["a", "b"], end="")
    with pytest.warns(DataWarning, match="x.txt, line 2"):
        list(source.blocks(8))
    list(source.blocks(8))


def test_the_fingerprint_changes_with_the_file(tmp_path):
    first = made(tmp_path / "x.txt", ["a", "b"]).fingerprint()
    assert made(tmp_path / "x.txt", ["a", "c"]).fingerprint() != first
