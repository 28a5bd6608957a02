"""Frames of pandas, polars, pyarrow and duckdb, lazy ones too."""

from typing import Any

import narwhals.stable.v2 as nw

from mercer.sources._base import Source


def is_lazy(data: Any) -> bool:
    """Tell whether `data` is a frame that is computed when it is read."""
    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def open_frame(data: Any, **options: Any) -> Source | None:
    """Return the source of a frame, or None where `data` is no frame."""
    if not isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame):
        return None
    raise NotImplementedError(options)
