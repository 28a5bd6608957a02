"""Long tables, a line per case or per cell, counted into a table of two columns."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import NA
from mercer.tables._recipe import Recipe
from mercer.tables._table_gaps import listed
from mercer.tables._table_reading import as_frame, refuse_large
from mercer.tables.looking._table_look import Look
from mercer.tables.preparing._prepared_rows import Prepared
from mercer.tables.preparing._unanalysed_columns import kept_frames, texts

_ROWS = 1 << 15  # read in one go
_COPIES = 3


@dataclasses.dataclass(frozen=True, eq=False)
class _Counted:
    """Counts (r, c), the texts of the rows and columns, and lines that were set aside."""

    counts: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    absent: int
    lines: int


def prepared_crossed(seen: Look, memory: float | None) -> Prepared:
    """Return the table N of two columns A and B: N_ab = how often a and b stand in one line.

    Parameters
    ----------
    seen : Look
        What `look` found; its roles name the columns.
    memory : float or None
        Bytes that may be taken.
    """
    cross = tuple(
        seen.named(role)[0] for role in ("rows", "columns", "count") if seen.named(role)
    )
    kinds = {column.name: column.kind for column in seen.columns}
    if len(cross) == 3 and kinds[cross[2]] not in ("integer", "number", "flag"):
        raise InputError(
            "counts are numbers (--count)",
            got=f"{seen.label}: {cross[2]!r} holds {kinds[cross[2]]}",
            fix="name a column of counts, or leave --count out: every line counts once",
        )
    reading = dict(seen.asked.reading)
    recipe = Recipe(cross, (), reading=reading, table="counts", cross=cross)
    found = _counted(seen.path, recipe, seen.asked.rows, memory)
    if min(found.counts.shape) < 2:
        r, c = found.counts.shape
        raise InputError(
            "a table of counts has two rows and two columns at least",
            got=f"{seen.label}: {r} values of {cross[0]!r}, {c} of {cross[1]!r}",
            fix="name other columns: --rows-by, --columns-by",
        )
    recipe = dataclasses.replace(recipe, names=found.columns)
    return _made(seen.path, recipe, found, seen.asked.rows)


def crossed_again(
    path: Any, recipe: Recipe, rows: int | None, memory: float | None
) -> Prepared:
    """Return the same table of another file; a column that the fit did not have is refused.

    Parameters
    ----------
    path : path
        The file, with the columns that were counted in the fit.
    recipe : Recipe
        How the rows of the fit were made.
    rows : int or None
        Read only so many lines.
    memory : float or None
        Bytes that may be taken.
    """
    found = _counted(path, recipe, rows, memory)
    unseen = [name for name in found.columns if name not in recipe.names]
    if unseen:
        raise InputError(
            f"{recipe.cross[1]!r} has values that the fit did not have",
            got=f"{Path(path).name}: {listed([repr(name) for name in unseen])}",
            fix="leave these lines out, or fit again",
        )
    at = {name: j for j, name in enumerate(found.columns)}
    counts = np.zeros((len(found.rows), len(recipe.names)))
    for j, name in enumerate(recipe.names):
        if name in at:
            counts[:, j] = found.counts[:, at[name]]
    return _made(path, recipe, dataclasses.replace(found, counts=counts), rows)


def _made(path: Any, recipe: Recipe, found: _Counted, stop: int | None) -> Prepared:
    a, b, *by = recipe.cross
    said = [
        f"{found.lines:,} lines counted into {len(found.rows):,} values of {a!r} by"
        f" {len(recipe.names):,} of {b!r}"
        + (f", each as often as {by[0]!r} says" if by else ", each once")
    ]
    if found.absent:
        what = "line lacks" if found.absent == 1 else "lines lack"
        said.append(f"{found.absent:,} {what} a value of {a!r} or {b!r} and count nowhere")
    return Prepared(
        rows=as_frame(found.counts, recipe.names),
        shape=(len(found.rows), len(recipe.names)),
        weights=None,
        standardize=False,
        missing="raise",
        said=tuple(said),
        recipe=recipe,
        path=str(path),
        stop=stop,
        row_names=found.rows,
    )


def _counted(path: Any, recipe: Recipe, stop: int | None, memory: float | None) -> _Counted:
    """Walk the lines once; values stand in the order in which they come first."""
    a, b, *by = recipe.cross
    lacks = {*NA, *recipe.reading.get("na", ())}
    places: tuple[dict[str, int], dict[str, int]] = ({}, {})
    total = dict[tuple[int, int], float]()
    absent = lines = 0
    for frame in kept_frames(path, recipe.cross, _ROWS, recipe.reading, stop=stop):
        times = _times(frame, by, lines, Path(path).name)
        lines += frame.height
        for left, right, count, often in _pairs(texts(frame, a), texts(frame, b), times):
            if left in lacks or right in lacks:
                absent += often
                continue
            i = places[0].setdefault(left, len(places[0]))
            j = places[1].setdefault(right, len(places[1]))
            total[i, j] = total.get((i, j), 0.0) + count
    shape = (len(places[0]), len(places[1]))
    _refuse_large(shape, memory, Path(path).name, recipe.cross)
    counts = np.zeros(shape)
    for (i, j), count in total.items():
        counts[i, j] = count
    rows, columns = (np.flatnonzero(counts.sum(axis=axis)) for axis in (1, 0))
    keys = [list(place) for place in places]
    return _Counted(
        counts[np.ix_(rows, columns)],
        tuple(keys[0][i] for i in rows),
        tuple(keys[1][j] for j in columns),
        absent,
        lines,
    )


def _pairs(left: list[str], right: list[str], times: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the pairs of some lines: both texts, their count, and in how many lines."""
    import polars as pl

    lines = pl.DataFrame({"a": left, "b": right, "n": times})
    sums = lines.group_by("a", "b", maintain_order=True).agg(pl.col("n").sum(), often=pl.len())
    return sums.iter_rows()


def _times(frame: Any, by: Sequence[str], start: int, label: str) -> list[float]:
    """Return how often every line counts."""
    import polars as pl

    if not by:
        return [1.0] * frame.height
    cells = frame[by[0]]
    if cells.dtype == pl.String:
        cells = cells.str.strip_chars()
    values = cells.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise InputError(
            "counts are numbers that are not negative, one in every line (--count)",
            got=f"{label}: {frame[by[0]][int(bad[0])]!r} in {by[0]!r}, row"
            f" {start + int(bad[0]) + 1:,} (counted from 1)",
            fix="write 0 where nothing was counted",
        )
    return values.tolist()  # type: ignore[no-any-return]


def _refuse_large(
    shape: tuple[int, int], memory: float | None, label: str, cross: Sequence[str]
) -> None:
    (r, c), what = shape, "the table of counts would not fit in memory"
    of = f"{label}: {r:,} values of {cross[0]!r} by {c:,} of {cross[1]!r}"
    fix = "name columns of fewer values, or allow more with --memory"
    refuse_large(_COPIES * 8.0 * r * c, memory, what, of, fix)
