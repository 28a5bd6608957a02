"""Estimators on rows in parts: what the plan may know, and coordinates that stay lazy."""

import dataclasses
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.planning import Workers
from mercer.sources import PartBlocks, Source, SpreadSource, bad_cell, bad_cell_error, in_memory

_READ = 5e8  # bytes per second that one thread reads, decodes or makes


def reading_parts(source: SpreadSource) -> dict[str, Any]:
    """Return what the planner may know of rows in parts."""
    return {
        "block_bytes": source.part_bytes,
        "read_seconds": source.nbytes / _READ,
        "parts": source.parts,
        "workers": Workers(**source.workers()),
    }


def refuse_spread(source: Source, what: str) -> None:
    """Say that something is not there for rows in parts."""
    if isinstance(source, SpreadSource):
        raise NotSupportedError(
            f"{what} is not there for rows in parts",
            got=source.label,
            fix="a lost worker costs only its own parts; leave it out",
        )


def projected_parts(model: Any, X: Any, out: Any = None) -> Any:
    """Return the coordinates of rows in parts, as lazy as the rows are."""
    if out is not None:
        raise NotSupportedError(
            "coordinates of rows in parts are not written to one file",
            got=f"out={out!r}",
            fix="call transform(X).to_zarr(...), or compute() and save them",
        )
    check_is_fitted(model)
    source = model._admit(X, reset=False)
    few = np.zeros((2, source.shape[1]), source.dtype)
    dtype = model._project(in_memory(few)).dtype
    return source.mapped(_Projection(model), model._n_features_out, dtype)


@dataclasses.dataclass(frozen=True)
class _Projection:
    """The coordinates of one part; the model holds no data."""

    model: Any

    def __call__(self, rows: PartBlocks) -> Array:
        try:
            found: Array = self.model._project(in_memory(rows.held))
        except InputError:
            bad = bad_cell(rows.held)
            if bad is not None:
                raise bad_cell_error(rows.place(bad[0], bad[1]), bad[2]) from None
            raise
        return found
