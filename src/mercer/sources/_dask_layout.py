"""How the chunks of a Dask array are taken together into parts."""

import logging
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

_log = logging.getLogger("mercer")
_LEAST, _MOST = 8e6, 64e6  # bytes that neighbouring small chunks may make up together
_CHUNKS = 256  # rows of chunks that one task takes at most
_PARTS = 16  # parts that are left where there are as many chunks: workers must have some
_WIDE = 128e6  # bytes of a row of chunks from which rows are cut anew
_CUT = 64e6  # and of the parts that they are cut into


def known(sizes: Sequence[float]) -> bool:
    """Tell whether Dask knows all these lengths."""
    return not any(math.isnan(size) for size in sizes)


def cut_anew(data: Any) -> Any:
    """Return the array with its rows cut where chunks are too long to stand side by side.

    A part has all columns. Where chunks hold few columns of very many rows, the chunks of
    one part would be the whole table; Dask cuts each and joins the pieces.
    """
    row = data.shape[1] * data.dtype.itemsize
    tall = data.numblocks[1] > 1 and known(data.chunks[0])
    if not tall or max(data.chunks[0], default=0) * row <= _WIDE:
        return data
    rows = max(1, int(_CUT // row))
    _log.info(
        "chunks of %s rows by %s columns are cut anew into parts of %s rows: every pass"
        " moves all rows between workers; X.rechunk({1: -1}) before is cheaper",
        f"{max(data.chunks[0]):,}",
        f"{max(data.chunks[1]):,}",
        f"{rows:,}",
    )
    with warnings.catch_warnings():
        # More chunks than before are what is wanted here.
        warnings.filterwarnings("ignore", message="Increasing number of chunks")
        return data.rechunk({0: rows, 1: -1})


def grouped(lengths: Sequence[int], row_bytes: float, columns: int) -> list[slice]:
    """Return which rows of chunks are taken together: neighbours, while they are small.

    A part costs p² numbers whatever its length, so it should have about p rows at least;
    but few rows may take long to make, so that what one task takes is at most a sixteenth of
    all. It depends on the lengths alone, and so do the bits of a result.
    """
    fair = sum(lengths) * row_bytes / _PARTS
    most = min(_MOST, max(_LEAST, 8.0 * columns * columns), fair)
    found, start, held = list[slice](), 0, 0.0
    for number, length in enumerate(lengths):
        size = length * row_bytes
        full = held > 0 and size > 0 and held + size > most
        if full or number - start >= _CHUNKS:
            found.append(slice(start, number))
            start, held = number, 0.0
        held += size
    found.append(slice(start, len(lengths)))
    return found


def delayed_parts(
    collection: Any, groups: Sequence[slice], *, optimised: bool = False
) -> list[list[list[Any]]]:
    """Return the delayed chunks of every part: one below the other, and side by side.

    Parameters
    ----------
    collection : Dask array or frame
        The rows.
    groups : sequence of slice
        Which rows of chunks every part has.
    optimised : bool
        Whether that was done already.
    """
    delayed = collection.to_delayed(optimize_graph=not optimised)
    found = [list(np.atleast_1d(row)) for row in delayed]
    if len(found) != groups[-1].stop:
        # Of a frame: Dask reads several files at once where few of their columns are used.
        return [[row] for row in found]
    return [found[group] for group in groups]
