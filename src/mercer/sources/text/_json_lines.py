"""Tables of JSON, one object per line: .ndjson and .jsonl, also packed as .gz."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import EXACT, Array
from mercer.errors import InputError
from mercer.sources._column_choice import Chosen, ColumnChoice
from mercer.sources.text._line_source import LineSource
from mercer.sources.text._text_bytes import TextFile, look
from mercer.sources.text._text_cells import Kind, not_a_number
from mercer.sources.text._text_fields import MOST_FIELDS, shown
from mercer.sources.text._text_lines import Lines

_HEAD_ROWS = 1000
_FLAGS = {True: 1.0, False: 0.0, None: np.nan}


def open_ndjson(path: Path, *, columns: Chosen = None, drop: Chosen = None) -> "NdjsonSource":
    """Return the rows of a file with one JSON object per line; only its head is read.

    Every object has the same keys, in any order. Keys that hold numbers in the first lines
    (1,000 or 1 MB) become columns, in the order of the first line; null becomes NaN, true
    and false become 1 and 0 where a key holds nothing else.

    Parameters
    ----------
    path : path
        A .ndjson or .jsonl file; one that ends with .gz is unpacked while it is read.
    columns, drop : names or positions, or None
        Keys to use, or not to use. By default all that hold numbers; the others are named
        in a warning.
    """
    return NdjsonSource(look(path), columns, drop)


def open_every(path: Path) -> "NdjsonSource":
    """Return the file with every key chosen, whatever it holds: for `texts`, not blocks."""
    return NdjsonSource(look(path), None, None, every=True)


@final
class NdjsonSource(LineSource):
    """Rows of a file with one JSON object per line; see `open_ndjson`.

    Attributes
    ----------
    kinds : dict of str to Kind
        What every key holds by the head, analysed or not.
    """

    rate = 3e7
    quotes = False  # a newline inside a string of JSON is written \n

    def __init__(
        self, file: TextFile, columns: Chosen, drop: Chosen, every: bool = False
    ) -> None:
        head = self._open(file)
        # Integers of any length: Python's own refuse more than 4,300 digits.
        self._decode = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=float).decode
        texts = head.data.decode().split("\n")[:-1]
        self._keys: tuple[str, ...] = ()
        self._keys = tuple(self._pairs(texts[0], 1, len(texts) == 1 and head.cut))
        if len(self._keys) > MOST_FIELDS:
            raise InputError(
                f"a table of text may have {MOST_FIELDS:,} columns",
                got=f"{self.label}, line 1: {len(self._keys):,} keys",
                fix="store it as .npy or .parquet",
            )
        rows = [self._row(text, 1 + i, head) for i, text in enumerate(texts[:_HEAD_ROWS])]
        kinds = [_kind(values) for values in zip(*rows, strict=True)]
        self._pick(list(self._keys), kinds, columns, drop, every)
        self.shape = (self._forecast(head), len(self._at))

    def _take(self, chosen: ColumnChoice) -> None:
        """Take on a choice of keys."""
        self.names, self.dropped = chosen.names, chosen.dropped
        self.at, self._at = np.asarray(chosen.at, np.intp), chosen.at
        kinds = list(self.kinds.values())
        self._flags = [kinds[i].flags for i in chosen.at]

    def _starts(self, lines: Lines) -> Array:
        ends = np.flatnonzero(np.frombuffer(lines.data, np.uint8) == ord("\n"))
        return np.concatenate([[0], ends[:-1] + 1])

    def _values(self, lines: Lines) -> Array:
        texts = lines.data.decode().split("\n")[:-1]
        values = np.empty((len(texts), len(self._at)))
        plain = not any(self._flags)
        for i, text in enumerate(texts):
            row = self._row(text, lines.line + i, lines)
            cells = [row[at] for at in self._at]
            if plain and all(type(cell) is float for cell in cells):
                values[i] = cells
                continue
            for j, (cell, flags) in enumerate(zip(cells, self._flags, strict=True)):
                values[i, j] = self._number(cell, lines.line + i, j, flags)
        return values

    def texts(self, at: tuple[int, ...]) -> Iterator[list[list[str | None]]]:
        """Yield the values of the keys `at` as text, key by key; null is None."""
        self.hold_files()
        for lines in self._walk():
            found: list[list[str | None]] = [[] for _ in at]
            for i, text in enumerate(lines.data.decode().split("\n")[:-1]):
                row = self._row(text, lines.line + i, lines)
                for cells, place in zip(found, at, strict=True):
                    cells.append(_spelt(row[place]))
            yield found
        self.hold_files()

    def _number(self, value: Any, line: int, column: int, flags: bool) -> float:
        if type(value) is float and not flags:
            return value
        if value is None or (flags and isinstance(value, bool)):
            return _FLAGS[value]
        assert self.names is not None
        name = self.names[column]
        shown_value = dict(value) if isinstance(value, _Pairs) else value
        raise not_a_number(f"{self.label}, line {line}, key {name!r}", shown_value, name, flags)

    def _row(self, text: str, line: int, lines: Lines) -> Sequence[Any]:
        """Return the values of one line in the order of the keys."""
        last = lines.cut and lines.line_at(len(lines.data)) - 1 == line
        pairs = self._pairs(text, line, last)
        if tuple(pairs) == self._keys:
            return list(pairs.values())
        for found, wanted, what in (
            (pairs, self._keys, "lacks the key"),
            (self._keys, pairs, "has another key,"),
        ):
            odd = next((key for key in wanted if key not in found), None)
            if odd is not None:
                raise InputError(
                    "every line must have the same keys as the first",
                    got=f"{self.label}, line {line}: it {what} {odd!r}",
                    fix="write missing values as null, or leave the key out everywhere",
                )
        return [pairs[key] for key in self._keys]

    def _pairs(self, text: str, line: int, last: bool) -> dict[str, Any]:
        """Return the object of one line."""
        why = ""
        try:
            found = self._decode(text)
        except (ValueError, RecursionError) as error:
            found, why = None, f" ({getattr(error, 'msg', 'nested too deeply')})"
        if isinstance(found, _Pairs):
            pairs = dict(found)
            if len(pairs) == len(found):
                return pairs
            twin = next(key for i, (key, _) in enumerate(found) if key in dict(found[:i]))
            raise InputError(
                "a key may stand only once in an object",
                got=f"{self.label}, line {line}, key {twin!r}",
                fix="rename one of the two",
            )
        what = "every line must be one JSON object"
        if not text.strip():
            what = "an empty line stands between the rows"
        elif last:
            what = "the last line is cut"
        raise InputError(
            what,
            got=f"{self.label}, line {line}: {shown(text.encode())}{why}",
            fix='write each row as {"name": number, ...} on a line of its own',
        )

    def _options(self) -> tuple[Any, ...]:
        return ()


class _Pairs(list[tuple[str, Any]]):
    """The members of an object in order, twins too."""


def _spelt(value: Any) -> str | None:
    """Return a value as text: what is text already as it is, the rest as JSON spells it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return json.dumps(dict(value) if isinstance(value, _Pairs) else value)


def _kind(values: Sequence[Any]) -> Kind:
    """Return what a key holds by some of its values; null alone counts as numbers."""
    present = [value for value in values if value is not None]
    if all(type(value) is float for value in present):
        return Kind()
    if all(isinstance(value, bool) for value in present):
        return Kind(flags=True)
    if any(isinstance(value, list) for value in present):
        return Kind(other="objects or lists")
    return Kind(other="text" if any(isinstance(v, str) for v in present) else "mixed values")
