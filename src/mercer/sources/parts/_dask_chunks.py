"""How the chunks of a Dask array are taken together into parts.

Rows and weights that are made from the same data, optimised as one graph.

Repeat counts of rows in parts, cut like the rows.
"""

import logging
import math
import warnings
from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, final

import numpy as np

from mercer.errors import InputError
from mercer.sources._scan import is_spread

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


def together(rows: Any, weights: Any) -> tuple[Any, Any]:
    """Return both collections, optimised for being computed at once; nothing is computed.

    Optimised apart, each would take the task that reads a block into its own: a block that
    both need would be read twice in every pass. `dask.optimize` does that to arrays, and
    mixes up the partitions of two frames.

    Parameters
    ----------
    rows, weights : Dask arrays, or a Dask frame and a series
        A frame and an array share nothing that can be seen: Dask has settled the tasks of an
        array that was made from a frame already.
    """
    arrays = [hasattr(each, "chunks") for each in (rows, weights)]
    if all(arrays):
        first, second = _arrays(rows, weights)
        return first, second
    if not any(arrays) and hasattr(weights, "map_partitions"):
        return _frames(rows, weights)
    return _alone(rows), _alone(weights)


def _alone(collection: Any) -> Any:
    if hasattr(collection, "chunks"):
        return _arrays(collection)[0]
    return collection.optimize() if hasattr(collection, "optimize") else collection


def _arrays(*arrays: Any) -> list[Any]:
    """Return arrays that share one graph, as `dask.compute` would make it."""
    from dask.core import flatten
    from dask.highlevelgraph import HighLevelGraph

    graph = HighLevelGraph.merge(*(each.__dask_graph__() for each in arrays))
    keys = list(flatten([each.__dask_keys__() for each in arrays]))
    graph = arrays[0].__dask_optimize__(graph, keys)
    rebuilt = [each.__dask_postpersist__() for each in arrays]
    return [rebuild(graph, *arguments) for rebuild, arguments in rebuilt]


def _frames(rows: Any, weights: Any) -> tuple[Any, Any]:
    """Return a frame and a series that take their partitions from pairs of them.

    Dask may read several files into one partition where few of their columns are used; so
    it does for both at once.
    """
    pairs = rows.map_partitions(
        _pair, weights, meta=rows._meta, enforce_metadata=False, align_dataframes=False
    ).optimize()
    first, second = (
        pairs.map_partitions(itemgetter(at), meta=each._meta, enforce_metadata=False)
        for at, each in enumerate((rows, weights))
    )
    return first, second


def _pair(rows: Any, weights: Any) -> tuple[Any, Any]:
    return rows, weights


@final
class PartedWeights:
    """Repeat counts that fit the rows of a source, part by part.

    Parameters
    ----------
    source : DaskSource
        The rows.
    weights : list of arrays, or Dask array or series
        As `fitting_weights` returned them.
    """

    def __init__(self, source: Any, weights: Any) -> None:
        self.source, self.weights = source, weights

    @cached_property
    def parts(self) -> tuple[list[Any], list[Any]]:
        """Chunks of the rows and repeat counts of every part: arrays, or delayed pieces."""
        if isinstance(self.weights, list):
            return self.source.chunks, self.weights
        rows, weights = together(self.source.collection, self.weights)
        chunks = delayed_parts(rows, self.source.groups, optimised=True)
        pieces = list(np.ravel(weights.to_delayed(optimize_graph=False)))
        if len(pieces) == len(chunks):  # they were cut like the parts, not like the chunks
            return chunks, [[piece] for piece in pieces]
        groups = self.source.groups
        cut = len(chunks) != len(groups)  # rows have other parts than their collection
        _refuse_parts(len(pieces), len(chunks) if cut else groups[-1].stop)
        return chunks, [pieces[group] for group in groups]


def fitting_weights(
    weights: Any, groups: list[slice], lengths: tuple[int, ...] | None, label: str
) -> Any:
    """Return the repeat counts of every part, or a collection cut like parts or chunks.

    Parameters
    ----------
    weights : Dask array or series, or array in memory
        One number per row; in memory only where all lengths are known.
    groups : list of slice
        Which rows of chunks every part has.
    lengths : tuple of int or None
        Rows of every part.
    label : str
        What messages call the rows.
    """
    if not is_spread(weights):
        if lengths is None:
            raise InputError(
                "weights cannot be cut into parts of unknown length",
                got=f"{type(weights).__name__}, {label}",
                fix="pass a Dask array or series with the same parts as the rows",
            )
        counts = np.asarray(weights, dtype=np.float64)
        _refuse_length(counts.shape, lengths)
        return np.split(counts, np.cumsum(lengths)[:-1])
    if not isinstance(getattr(weights, "ndim", 1), int):  # all of a Delayed is delayed
        raise InputError(
            "a delayed object does not say how many weights it holds",
            got=f"a Dask {type(weights).__name__}",
            fix="pass dask.array.from_delayed(w, shape=(n,), dtype=float)",
        )
    if getattr(weights, "ndim", 1) != 1:
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"a Dask collection of {weights.ndim} dimensions",
            fix="pass one column: w[:, 0], or frame['w']",
        )
    chunks = getattr(weights, "chunks", None)
    if lengths is not None and chunks is not None and known(chunks[0]):
        _refuse_length(weights.shape, lengths)
        return weights.rechunk((lengths,))
    _refuse_parts(weights.npartitions, groups[-1].stop)
    return weights


def _refuse_parts(weights: int, rows: int) -> None:
    if weights != rows:
        raise InputError(
            "weights must be cut into the same parts as the rows",
            got=f"{weights} parts of weights, {rows} of rows",
            fix="make both from the same frame, or rechunk one like the other",
        )


def _refuse_length(shape: tuple[Any, ...], lengths: tuple[int, ...]) -> None:
    n = sum(lengths)
    if tuple(shape) != (n,):
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"sample_weight of shape {tuple(shape)}, X with {n} rows",
            fix=f"pass an array of shape ({n},)",
        )
