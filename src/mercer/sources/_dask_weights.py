"""Repeat counts of rows in parts, cut like the rows."""

from functools import cached_property
from typing import Any, final

import numpy as np

from mercer.errors import InputError
from mercer.sources._dask_layout import delayed_parts, known
from mercer.sources._dask_together import together
from mercer.sources._scan import is_spread


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
