"""Columns of a frame as numbers: which are used, what the others hold, and their cells."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import narwhals.stable.v2 as nw
import numpy as np

from mercer.arrays import EXACT, Array
from mercer.errors import DataWarning, InputError, warn
from mercer.sources._column_choice import choose_columns, text_of
from mercer.sources._in_memory import dense_frame

_WORDS = {
    "String": "text",
    "Categorical": "categories",
    "Enum": "categories",
    "Date": "dates",
    "Datetime": "dates",
    "Time": "times of day",
    "Duration": "time spans",
    "List": "lists",
    "Array": "lists",
    "Struct": "structures",
    "Binary": "bytes",
    "Object": "Python objects",
}
_LONG = {"Int64", "UInt64", "Int128", "UInt128"}
_SHORT_FLOATS = {"Float16", "Float32"}


def kind_in_words(dtype: Any, stored: str = "") -> str | None:
    """Return what a column holds where that is not numbers, or None for numbers.

    `stored` is the type as its own library calls it, for those that narwhals does not know.
    """
    if dtype.is_numeric() or _name(dtype) == "Boolean":
        return None
    stored = stored.strip('"').lower()
    if stored.startswith(("decimal", "float16", "halffloat")):
        return None
    if stored == "null":
        return "only missing values"
    return _WORDS.get(_name(dtype), f"values of type {stored or _name(dtype)}")


def _name(dtype: Any) -> str:
    """Return the name of a narwhals type without its parameters, "Decimal"."""
    return (dtype if isinstance(dtype, type) else type(dtype)).__name__


def stored_types(native: Any) -> list[str]:
    """Return the types of a frame's columns as its own library calls them."""
    if hasattr(native, "collect_schema"):  # polars, lazy and not
        types = native.collect_schema().dtypes()
    elif hasattr(getattr(native, "schema", None), "types"):  # pyarrow
        types = native.schema.types
    else:
        types = native.dtypes  # pandas, duckdb
    return [str(kind) for kind in types]


@final
class Cells:
    """The columns of a table that are used, and how their cells become floats.

    Blocks are float32 where every column is, float64 otherwise; a missing cell is NaN.

    Attributes
    ----------
    at : tuple of int
        Positions in the table, in the order of the analysis.
    names : tuple of str
        Their names.
    dropped : tuple of (str, str)
        Names of the others, and why each is not used.
    dtype : dtype
        Of blocks.
    """

    def __init__(
        self,
        schema: Mapping[Any, Any],
        stored: Sequence[str],
        columns: Any,
        drop: Any,
        label: str,
    ) -> None:
        names, types = [text_of(name) for name in schema], list(schema.values())
        kinds = [kind_in_words(t, s) for t, s in zip(types, stored, strict=True)]
        chosen = choose_columns(names, kinds, columns, drop, label)
        self.label = label
        self.at, self.names, self.dropped = chosen.at, chosen.names, chosen.dropped
        self.dtype: np.dtype[Any] = np.dtype(np.float32)
        self._long = set[int]()  # columns of integers that float64 may round
        self._warned = False
        self.widen(types)

    def widen(self, types: Sequence[Any]) -> None:
        """Take in the types of all columns of the table, or of one more part of it."""
        used = [_name(types[i]) for i in self.at]
        if not set(used) <= _SHORT_FLOATS:
            self.dtype = np.dtype(np.float64)
        self._long |= {j for j, name in enumerate(used) if name in _LONG}

    def misfit(
        self, types: Sequence[Any], stored: Sequence[str], short: bool = False
    ) -> tuple[str, str] | None:
        """Return name and kind of the first used column that holds no numbers, or None.

        Where all must be `short`, numbers that float32 does not hold are none.
        """
        for name, i in zip(self.names, self.at, strict=True):
            kind = kind_in_words(types[i], stored[i])
            if kind is None and short and _name(types[i]) not in _SHORT_FLOATS:
                kind = f"{types[i]}, not float32"
            if kind is not None:
                return name, kind
        return None

    def block(self, native: Any, at: Sequence[int] | None = None) -> Array:
        """Return the used columns of a frame in memory as an array (r, p), by rows.

        `at` says where they stand in the frame, if not where they stand in the table.
        """
        return self.said(self.floats(native, at))

    def floats(self, native: Any, at: Sequence[int] | None = None) -> Array:
        """Return the same, also of some of the columns; nothing is said of long integers."""
        frame = nw.from_native(dense_frame(native), eager_only=True)
        places = list(self.at if at is None else at)
        if places != list(range(len(frame.columns))):
            frame = frame[:, places]
        if all(dtype.is_float() for dtype in frame.schema.values()):
            # Faster than one by one; pandas may answer with objects, where cells are missing.
            found = frame.to_numpy()
            if found.dtype.kind == "f":
                return np.ascontiguousarray(found, self.dtype)
        out = np.empty((len(frame), len(places)), self.dtype)
        for j, series in enumerate(frame.iter_columns()):
            plain = series.dtype.is_float() or series.dtype.is_integer()
            if not plain or _name(series.dtype) in {"Int128", "UInt128"}:
                series = series.cast(nw.Float64)  # truth values, decimals
            out[:, j] = series.to_numpy()
        return out

    def said(self, block: Array) -> Array:
        """Return the block; warn once where its integers were too long for float64."""
        found = [] if self._warned else self.rounded(block)
        if found:
            self._warned = True
            warn_rounded(self.label, found)
        return block

    def rounded(self, block: Array) -> list[str]:
        """Return the names of columns whose integers were too long for float64."""
        if not self._long or not block.size:
            return []
        which = sorted(self._long)
        large = np.any(np.abs(block[:, which]) >= EXACT, axis=0)
        return [self.names[which[i]] for i in np.flatnonzero(large)]

    def silent(self) -> Self:
        """Return the same columns, for parts that say nothing themselves."""
        self._warned = True
        return self


def warn_rounded(label: str, names: Sequence[str]) -> None:
    """Name the columns whose integers were too long for float64."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    warn(
        "integers beyond 2^53 are rounded to float64",
        got=f"{label}: {', '.join(map(repr, names[:5]))}{more}",
        fix="subtract a constant",
        category=DataWarning,
    )


def check_twins(names: Sequence[str], label: str) -> None:
    """Refuse names that occur twice, before a library refuses them in its own words."""
    twins = sorted({name for name in names if list(names).count(name) > 1})
    if twins:
        raise InputError(
            "column names must be unique",
            got=f"{label}: more than one column is called {', '.join(map(repr, twins[:5]))}",
            fix="rename the columns",
        )
