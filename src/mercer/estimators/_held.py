"""Rows that are in memory, for methods that read no files."""

from typing import Any

from mercer.estimators._door import InputTypeError
from mercer.sources import Source, SpreadSource, is_scannable, is_spread


def held_rows(data: Any) -> Any:
    """Return rows in memory as they are; files, streams and sources of them are refused.

    Lazy frames pass: the door refuses them, and says how they are collected.
    """
    array = data.array if isinstance(data, Source) else None
    if array is not None:
        return array
    if hasattr(data, "collect") or not is_scannable(data):
        return data
    spread = is_spread(data) or isinstance(data, SpreadSource)
    name = getattr(data, "label", None)
    shown = f"{name}" if isinstance(name, str) else f"{str(data)[:300]!r}"
    raise InputTypeError(
        "this method needs rows in memory",
        got=f"{type(data).__name__} {shown}",
        fix="compute some of them first, such as X[:1000].compute()"
        if spread
        else "load the file first, with np.load or polars.read_csv; mercer.PCA reads files",
    )
