"""Rows that are in memory, for methods that read no files."""

from typing import Any

from mercer.estimators._door import InputTypeError, refuse_parts
from mercer.sources import Source, is_scannable


def held_rows(data: Any) -> Any:
    """Return rows in memory as they are; files, streams and sources of them are refused.

    Lazy frames pass: the door refuses them, and says how they are collected.
    """
    array = data.array if isinstance(data, Source) else None
    if array is not None:
        return array
    if hasattr(data, "collect") or not is_scannable(data):
        return data
    refuse_parts(data)
    name = getattr(data, "label", None)
    shown = f"{name}" if isinstance(name, str) else f"{str(data)[:300]!r}"
    raise InputTypeError(
        "this method needs rows in memory",
        got=f"{type(data).__name__} {shown}",
        fix="load the file first, with np.load or polars.read_csv; mercer.PCA reads files",
    )
