"""Completed rows in the form in which they were given."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from mercer.sources._frames import as_frame


def like_given(given: Any, rows: Any) -> Any:
    """Return rows (n, p) in the form of `given`, whose missing cells they fill.

    In a frame only columns with a missing cell are replaced, so that whole numbers, the order
    of the columns, and the index of pandas stay. Arrays, lists and sparse matrices come back
    as the rows are.
    """
    frame = as_frame(given)
    if not isinstance(frame, nw.DataFrame):
        return rows
    own = nw.get_native_namespace(frame)
    fresh = []
    for at, name in enumerate(frame.columns):
        column = frame[name]
        kind = column.dtype
        gaps = column.is_null().to_numpy()
        if kind.is_float():
            gaps = gaps | column.is_nan().fill_null(False).to_numpy()
        if gaps.any():
            dtype = kind if kind.is_float() else nw.Float64()
            cells = np.ascontiguousarray(rows[:, at])
            fresh.append(nw.new_series(name, cells, dtype, backend=own))
    return frame.with_columns(*fresh).to_native() if fresh else given
