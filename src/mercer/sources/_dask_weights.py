"""Repeat counts of rows in parts, cut like the rows."""

from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.sources._dask_layout import known
from mercer.sources._scan import is_spread


def parted_weights(
    weights: Any, groups: list[slice], lengths: tuple[int, ...] | None, label: str
) -> list[Any]:
    """Return the repeat counts of every part, each an array or a list of delayed pieces.

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
    if getattr(weights, "ndim", 1) != 1:
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"a Dask collection of {weights.ndim} dimensions",
            fix="pass one column: w[:, 0], or frame['w']",
        )
    chunks = getattr(weights, "chunks", None)
    if lengths is not None and chunks is not None and known(chunks[0]):
        _refuse_length(weights.shape, lengths)
        weights = weights.rechunk((lengths,))
        return [[piece] for piece in weights.to_delayed()]
    pieces = list(np.ravel(weights.to_delayed()))
    count = groups[-1].stop
    if len(pieces) != count:
        raise InputError(
            "weights must be cut into the same parts as the rows",
            got=f"{len(pieces)} parts of weights, {count} of rows",
            fix="make both from the same frame, or rechunk one like the other",
        )
    return [pieces[group] for group in groups]


def _refuse_length(shape: tuple[Any, ...], lengths: tuple[int, ...]) -> None:
    n = sum(lengths)
    if tuple(shape) != (n,):
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"sample_weight of shape {tuple(shape)}, X with {n} rows",
            fix=f"pass an array of shape ({n},)",
        )
