"""Estimators on rows in parts: what the plan may know, and results that stay lazy."""

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.walk._admission import AT_THE_MEAN, NAMED, listed, say_empty
from mercer.estimators.walk._parameters import Attributes
from mercer.operators import Completion, empty_rows
from mercer.planning import Workers
from mercer.sources import (
    PartBlocks,
    Source,
    SpreadSource,
    bad_cell,
    bad_cell_error,
    in_memory,
    is_spread,
    refuse_infinite,
    scan,
)

_READ = 5e8  # bytes per second that one thread reads, decodes or makes


def reading_parts(source: SpreadSource) -> Attributes:
    """Return what the planner may know of rows in parts."""
    return {
        "block_bytes": source.part_bytes,
        "counted": source.counted,
        "sized": source.sized,
        "read_seconds": source.nbytes / _READ,
        "parts": source.parts,
        "workers": Workers(**source.workers()),
    }


def in_parts(data: object) -> bool:
    """Tell whether rows lie in parts: a Dask collection, or its source."""
    return isinstance(data, SpreadSource) or is_spread(data)


def projected_parts(model: BaseEstimator, X: object, out: object = None) -> Any:
    """Return the coordinates of rows in parts, as lazy as the rows are.

    They are an array; a frame where ``set_output(transform="pandas")`` was asked for.
    """
    if out is not None:
        raise NotSupportedError(
            "coordinates of rows in parts are not written to one file",
            got=f"out={out!r}",
            fix="call transform(X).to_zarr(...), or compute() and save them",
        )
    check_is_fitted(model)
    source = model._admit(X, reset=False)
    dtype = getattr(model, "_dtype", None)  # zeros may be no rows that a kernel takes
    if dtype is None:
        few = np.zeros((2, source.shape[1]), source.dtype)
        dtype = model._project(in_memory(few)).dtype
    fill = vars(model).get("completion_")
    zero = bool(getattr(model, "_zero_where_empty", False))
    # A copy: the model may be fitted anew meanwhile.
    project = _OfRows(copy.copy(model)._project, fill, zero)
    return source.mapped(project, model._n_features_out, dtype, _frame_names(model))


def _frame_names(model: BaseEstimator) -> list[str] | None:
    """Return the columns of the frame that is asked for, or None for an array."""
    kind = _get_output_config("transform", model)["dense"]
    if kind == "default":
        return None
    if kind != "pandas":
        raise NotSupportedError(
            "frames in parts hold pandas frames",
            got=f"set_output(transform={kind!r})",
            fix='use set_output(transform="pandas") or "default"',
        )
    return [str(name) for name in model.get_feature_names_out()]


def lazily(
    source: SpreadSource,
    method: Callable[[Source], Array],
    columns: int | None = None,
    fill: Completion | None = None,
) -> Any:
    """Return what a method of a fitted model gives for rows in parts, as lazy as they are."""
    return source.mapped(_OfRows(method, fill), columns, np.float64)


def mean_density_of_parts(
    density: Callable[[Source], Array], source: SpreadSource, weights: Array | None
) -> float:
    """Return the mean log-likelihood of rows in parts, Σw·log p(x)/Σw: one pass."""
    work = _Mean(_OfRows(density))
    total, count = source.reduce(work, weights, title="score")
    if count == 0:
        raise InputError(
            "no rows have no mean",
            got=f"{source.shape[0]} rows of weight 0: {source.label}",
            fix="pass at least one row that counts",
        )
    return float(total / count)


def rows_from_parts(model: BaseEstimator, Z: object, back: Callable[[Array], Array]) -> Any:
    """Return the rows of coordinates in parts, as lazy as these are.

    `back` gives the rows (r, p) of coordinates (r, k) in memory.
    """
    source, width = scan(Z), model._n_features_out
    assert isinstance(source, SpreadSource)
    if source.shape[1] != width:
        raise InputError(
            f"coordinates must have {width} columns",
            got=f"{source.label} of {source.shape[1]} columns",
            fix="pass what transform returned",
        )
    dtype = np.float32 if source.dtype == np.float32 else np.float64
    return source.mapped(_Back(back), model.n_features_in_, dtype)


@dataclasses.dataclass(frozen=True)
class _OfRows:
    """A method of a fitted model, on the rows of one part; the model holds no data.

    `fill` completes rows with missing cells, where the model was taught to; rows with
    nothing observed are the mean, and get numbers that are zero exactly where `zero` says so.
    """

    method: Callable[[Source], Array]
    fill: Completion | None = None
    zero: bool = False

    def __call__(self, rows: PartBlocks) -> Array:
        held = rows.held if self.fill is None else self.fill.filled(rows.held)
        try:
            found: Array = self.method(in_memory(held))
        except InputError:
            self._refuse(rows)
            raise
        if not np.isfinite(found).all():
            self._refuse(rows)
        if self.zero and held is not rows.held:
            self._empty(rows, found)
        return found

    def _empty(self, rows: PartBlocks, found: Array) -> None:
        """Give rows with nothing observed the coordinates of the mean, and name them."""
        empty = empty_rows(rows.held)
        if empty.size:
            found[empty] = 0.0
            places = [rows.place(int(i), 0).partition(", column")[0] for i in empty[:NAMED]]
            say_empty(empty.size, listed(places, empty.size), AT_THE_MEAN)

    def _refuse(self, rows: PartBlocks) -> None:
        """Name the first bad cell, if there is one; a missing cell that is filled is none."""
        if self.fill is None:
            refuse_bad_part(rows)
        else:
            refuse_infinite(rows)


def refuse_bad_part(rows: PartBlocks) -> None:
    """Name the first cell of a part that is no finite number, if there is one."""
    bad = bad_cell(rows.held)
    if bad is not None:
        raise bad_cell_error(rows.place(bad[0], bad[1]), bad[2]) from None


@dataclasses.dataclass(frozen=True)
class _Back:
    """The rows of the coordinates of one part."""

    back: Callable[[Array], Array]

    def __call__(self, rows: PartBlocks) -> Array:
        refuse_bad_part(rows)
        held = rows.held.toarray() if hasattr(rows.held, "toarray") else rows.held
        return self.back(held)


@dataclasses.dataclass(frozen=True)
class _Mean:
    """Weighted sum of a number per row, and the sum of the weights."""

    of_rows: _OfRows

    def part(self, rows: PartBlocks, weights: Array | None) -> tuple[float, float]:
        if rows.shape[0] == 0:
            return 0.0, 0.0
        each = self.of_rows(rows)
        if weights is None:
            return float(np.sum(each)), float(rows.shape[0])
        return float(each @ weights), float(np.sum(weights))

    def merge(
        self, one: tuple[float, float], other: tuple[float, float]
    ) -> tuple[float, float]:
        return one[0] + other[0], one[1] + other[1]
