"""From a table that was looked at to rows and an estimator that is told what they need."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import is_sparse, parse_bytes
from mercer.errors import BudgetError, InputError
from mercer.methods import COMMANDS, method_of
from mercer.sources import BlockSource
from mercer.tables import Look, Prepared, in_memory, prepared

_HELD = 1 << 28  # bytes of rows that a method which wants them in memory may get


def ready_rows(seen: Look, method: str, model: Any) -> Prepared:
    """Return the rows of a table for a method; the model is told of units and missing cells.

    Parameters
    ----------
    seen : Look
        The table.
    method : str
        The command of the method.
    model : estimator
        Of that method; it is changed.
    """
    memory = model._budget() if hasattr(model, "_budget") else None
    made = prepared(seen, fills=fills_of(model), memory=memory, scales=scales_of(method))
    made = held_whole(made, model)
    adapted(method, model, made)
    return _held(made, model)


def assumptions(seen: Look, made: Prepared) -> tuple[str, ...]:
    """Return what is assumed of a table, a line each."""
    return tuple(dict.fromkeys([*seen.said(missing=False), *made.said]))


def scales_of(method: str) -> str:
    """Return who divides columns by their standard deviations; see `mercer.tables.prepared`."""
    known = COMMANDS[method]
    if "standardize" in known.also:
        return "method"
    # Discriminant axes are the same in all units, unless a kernel measures distances.
    return "table" if known.takes == "numbers" or "kernel" in known.also else "none"


def adapted(method: str, model: Any, ready: Any) -> Any:
    """Return the model, told what `prepared` found about units and missing cells.

    Parameters
    ----------
    method : str
        Its name.
    model : estimator
        From `built`; it is changed.
    ready : Prepared
        Rows to fit.
    """
    known = model.get_params(deep=False)
    if "standardize" in known and ready.standardize:
        model.set_params(standardize=True)
    if ready.groups is not None:
        model.set_params(groups=ready.groups)
    if ready.recipe.table in ("distances", "correlations") and "metric" in known:
        model.set_params(metric="precomputed")
    if ready.missing == "raise":
        return model
    rules = getattr(model, "_parameter_constraints", {}).get("missing", [])
    if not any(ready.missing in getattr(rule, "options", ()) for rule in rules):
        raise InputError(
            f"{method} cannot fill missing cells in this way",
            got=f"--missing {ready.missing}",
            fix="leave rows or columns out that have some: --missing rows, --missing columns",
        )
    return model.set_params(missing=ready.missing)


def fills_of(model: Any) -> tuple[str, ...]:
    """Return in which ways a method can fill missing cells."""
    rules = getattr(type(model), "_parameter_constraints", {}).get("missing", ())
    able = {word for rule in rules for word in getattr(rule, "options", ())}
    # The first is what happens unasked: a level of few missing cells would turn the axes.
    return tuple(w for w in ("em", "ppca", "passive", "fill", "level") if w in able)


def held_whole(made: Prepared, model: Any) -> Prepared:
    """Return rows in memory for the methods that need them there; sparse ones stay sparse.

    Parameters
    ----------
    made : Prepared
        The rows.
    model : estimator
        The method.
    """
    rows = made.rows
    if method_of(model).has_variances or not isinstance(rows, BlockSource):
        return made
    memory = model._budget() if hasattr(model, "_budget") else None
    if rows.nnz is None:
        return dataclasses.replace(made, rows=in_memory(rows, made.recipe, memory))
    import scipy.sparse

    if memory is not None and 4 * 12.0 * rows.nnz > memory:
        raise BudgetError(
            "the method needs all rows in memory; nothing was fitted",
            got=f"{rows.label}: {rows.nnz:,} stored cells",
            fix="allow more with --memory, or read fewer rows: --rows",
        )
    parts = [block for block in rows.blocks(max(1, rows.shape[0])) if is_sparse(block)]
    whole = scipy.sparse.vstack(parts, format="csr")
    return dataclasses.replace(made, rows=whole, shape=whole.shape)


def _held(made: Prepared, model: Any) -> Prepared:
    """Return rows in memory for a method that is exact only there, where they are few."""
    rows = made.rows
    if not isinstance(rows, BlockSource) or hasattr(model, "_streamed"):
        return made
    memory = model._budget() if model.memory is None else parse_bytes(model.memory)
    n, p = rows.shape
    if not rows.counted or rows.nnz is not None or 8 * n * p > min(_HELD, memory / 4):
        return made
    import polars as pl

    table = np.concatenate(list(rows.blocks(max(1, n))))
    names = list(made.recipe.names)
    return dataclasses.replace(made, rows=pl.from_numpy(table, schema=names), shape=table.shape)
