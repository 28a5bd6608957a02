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


def text_names(data: Any) -> Any:
    """Return a pandas frame whose columns are called by numbers, intervals or tuples by text.

    scikit-learn keeps names only where all of them are text, and would take such columns by
    their places. Names that pandas gives by itself (0, 1, 2, …) are no names.
    """
    if not hasattr(data, "set_axis") or not hasattr(data, "columns"):
        return data
    labels = data.columns
    some = any(isinstance(label, str) for label in labels)
    if some or not len(labels) or only_counts(labels):
        return data
    return data.set_axis([text_of(label) for label in labels], axis=1)


def only_counts(index: Any) -> bool:
    """Tell whether an index is 0, 1, 2, …, as pandas makes it by itself."""
    plain = type(index).__name__ == "RangeIndex"
    return plain and getattr(index, "start", 0) == 0 and getattr(index, "step", 1) == 1


def text_of(label: Any) -> str:
    """Return the label of a row or column as text; those of several levels in one line."""
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)
