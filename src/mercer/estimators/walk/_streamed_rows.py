"""Rows from files, streams and parts: admitted, told to the plan, projected block by block."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.arrays import Array, advance, show_bytes, task, unheard
from mercer.errors import BudgetError, InputError, NotSupportedError
from mercer.estimators.walk._admission import admit, admit_source, held_rows
from mercer.estimators.walk._checkpoint import Checkpoint
from mercer.estimators.walk._coordinate_files import writer_of
from mercer.estimators.walk._parameters import Names
from mercer.estimators.walk._rows_in_parts import reading_parts
from mercer.operators import block_length, fetched, sparse_loading
from mercer.planning import LIBRARIES
from mercer.sources import (
    BlockSource,
    MissingCellError,
    Source,
    SpreadSource,
    bad_cell,
    bad_cell_error,
    counted_error,
    in_memory,
    is_scannable,
    path_of,
    refuse_own_input,
    scan,
    shown_path,
)

_MOST, _LEAST = (16e6, 128e6), 2.5e5  # bytes of a block, of few and of many columns
_SMALL = 64e3  # bytes of a block where all rows are fewer
_PROJECTED = 32e6  # bytes of a block that is projected
_PART_BLOCK = 16e6  # bytes of a block in which a part of a cluster is walked
_BLOCKS = 24  # parts of the memory allowed that a block may take


def opened(estimator: BaseEstimator, X: object, *, reset: bool) -> Source:
    """Return the source of arrays, frames, files, streams and parts, its columns checked."""
    if not is_scannable(X):
        return admit(estimator, held_rows(X), reset=reset)
    source = scan(X)
    if isinstance(source, BlockSource | SpreadSource):
        return admit_source(estimator, source, reset=reset)
    return admit(estimator, held_rows(source.array), reset=reset)


def block_bytes(source: Source, budget: Callable[[], int]) -> float:
    """Return the size of a block in memory: 0 where the rows are held anyway.

    `budget` gives the bytes that may be taken, and is asked where that matters.
    """
    if isinstance(source, SpreadSource):
        return _PART_BLOCK
    if not isinstance(source, BlockSource):
        return 0.0
    p = source.shape[1]
    most = min(_MOST[1], max(_MOST[0], 16.0 * p * p))  # sums of p² are worth many rows
    most = min(most, max(_LEAST, (budget() - LIBRARIES) / _BLOCKS))
    if source.counted and source.nnz is None:
        n = source.shape[0]
        most = min(most, max(_SMALL, n * p * max(source.dtype.itemsize, 4)))
    return float(most)


def reading(source: Source, block: Callable[[Source], float], *, kept: bool) -> dict[str, Any]:
    """Return what the planner may know of rows that are not an array in memory.

    `block` tells the bytes of a block; `kept` says whether sums go to a checkpoint.
    """
    if isinstance(source, SpreadSource):
        return reading_parts(source)
    if not isinstance(source, BlockSource):
        return {}
    size = block(source)
    rows = block_length(source, size)
    held = source.reading_bytes(rows)
    held += 0.0 if source.nnz is None else sparse_loading(source, rows)
    return {
        "counted": source.counted,
        "block_bytes": size,
        "held": held,
        "read_seconds": source.nbytes / source.rate,
        "max_passes": source.max_passes - source.walks,
        "kept": kept,
    }


def begin(
    journal: Checkpoint,
    estimator: BaseEstimator,
    source: Source,
    weights: Array | None,
    block: float,
) -> None:
    """Begin the checkpoint of a fit to these rows, in blocks of so many bytes."""
    if not isinstance(source, BlockSource):
        raise NotSupportedError(
            "a checkpoint is not there for rows in parts",
            got=str(getattr(source, "label", source)),
            fix="a lost worker costs only its own parts; leave it out",
        )
    if not source.recognisable:
        raise InputError(
            "a checkpoint needs rows that can be recognised",
            got=f"{source.label}: its rows are known only when they have come",
            fix="write the rows to a file, or leave the checkpoint out",
        )
    kept = path_of(journal.path)
    refuse_own_input(kept, source, said=f"checkpoint={shown_path(kept)!r}")
    rows = block_length(source, block)
    parameters = {name: _plain(value) for name, value in estimator.get_params(False).items()}
    owner = {
        "method": type(estimator).__name__,
        "parameters": parameters,
        "rows": source.fingerprint(),
        "weights": _plain(weights),
    }
    journal.begin(owner, rows)


def _plain(value: object) -> str:
    """Return a text that tells parameters apart; arrays by their bytes."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    array = np.ascontiguousarray(value)
    if array.dtype == object:
        return repr(value)
    return hashlib.sha256(array.tobytes()).hexdigest()


def with_counts(source: Source, error: MissingCellError, names: Names, fix: str) -> InputError:
    """Return the refusal of missing cells with their counts, where rows can be read."""
    found: InputError = error
    if not error.counted:
        found = counted_error(source, error.place, names, error.fix) or error
    return type(found)(found.what, got=found.got, fix=fix or found.fix)


def refuse_block(source: BlockSource, block: Array, start: int, names: Names, fix: str) -> None:
    """Name the place in the file of the first cell that is not finite, if there is one."""
    found = bad_cell(block)
    if found is not None:
        row, column, value = found
        error = bad_cell_error(source.place(start + row, column), value)
        if isinstance(error, MissingCellError):
            error = with_counts(source, error, names, fix)
        raise error from None


def projected(
    source: BlockSource,
    size: float,
    project: Callable[[Source], Array],
    refuse: Callable[[BlockSource, Array, int], None],
) -> Iterator[Array]:
    """Yield the coordinates of every block, in order.

    Parameters
    ----------
    source : BlockSource
        The rows.
    size : float
        Bytes of a block at most.
    project : callable
        Coordinates of rows in memory.
    refuse : callable
        Names the bad cell of a block that begins at this row, if there is one.
    """
    # Nothing is gained by larger ones, and a forecast of the fit covers this too.
    rows = block_length(source, min(_PROJECTED, size))
    done = 0
    with task("coordinates"):
        for block in fetched(source, rows):
            with unheard():
                try:
                    found = project(in_memory(block))
                except InputError:
                    refuse(source, block, done)
                    raise
            yield found
            done += block.shape[0]
            n, about = max(done, source.shape[0]), "" if source.counted else "about "
            advance(done, n, f"{done:,} of {about}{n:,} rows")


def gathered(source: BlockSource, parts: Iterable[Array], width: int, budget: int) -> Array:
    """Return the coordinates (n, width) of all blocks in one array, if that is allowed."""
    if source.counted:
        _refuse_large(source, source.shape[0], width, budget)
        found, at = np.empty((0, width)), 0
        for part in parts:
            if at == 0:  # now the type is known
                found = np.empty((source.shape[0], part.shape[1]), part.dtype)
            found[at : at + len(part)] = part
            at += len(part)
        return found
    every, rows = list[Array](), 0
    for part in parts:
        every.append(part)
        rows += len(part)
        # The parts, and the whole made of them.
        _refuse_large(source, 2 * rows, width, budget)
    return np.concatenate(every) if every else np.empty((0, width))


def _refuse_large(source: BlockSource, rows: int, width: int, budget: int) -> None:
    size = rows * width * source.products.itemsize
    # The smallest blocks, of which some are held at a time, and what reading them takes.
    read = 3.5 * _LEAST + source.reading_bytes(block_length(source, _LEAST))
    if LIBRARIES + size + read > budget:
        raise BudgetError(
            "the coordinates do not fit the memory allowed",
            got=f"{show_bytes(size)} for {rows:,} rows of {source.label}, and"
            f" {show_bytes(LIBRARIES + read)} to read them; {show_bytes(budget)} allowed",
            fix='write them to a file: transform(source, out="coordinates.npy"), or allow'
            f' memory="{show_bytes(1.2 * (LIBRARIES + size + read))}"',
        )


def target_of(out: object, *read: object) -> Path:
    """Return the path of a file to write; other things are refused, and what is read."""
    if not isinstance(out, str | os.PathLike):
        raise InputError(
            "`out` must name a file",
            got=f"out={out!r}",
            fix='pass a path such as "coordinates.npy"',
        )
    path = path_of(out)
    refuse_own_input(path, *read, said=f"out={shown_path(path)!r}")
    return path


def written(parts: Iterable[Array], path: Path, columns: list[str]) -> Path:
    """Write coordinates block by block, and return the path."""
    with writer_of(path, columns) as write:
        for part in parts:
            write(part)
    return path


def refuse_second_walk(X: object) -> object:
    """Return rows as `scan` opens them; those that can be read only once are refused."""
    X = scan(X) if is_scannable(X) else X
    if isinstance(X, BlockSource) and X.max_passes < 2:
        raise InputError(
            "the rows can be read only once, and are needed twice",
            got=X.label,
            fix="call fit, then transform rows that can be read again",
        )
    return X
