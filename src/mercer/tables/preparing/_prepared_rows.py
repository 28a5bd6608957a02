"""prepared(): the rows to fit, made of a table by the roles of its columns.

Pixels: the columns of a table that are the points of square pictures. Supplementary columns:
not analysed, but set against the axes.
"""

import dataclasses
import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.errors import DataWarning, InputError
from mercer.sources import KeptRows, schema_of
from mercer.tables._recipe import NUMBERS, Recipe, chosen, narrower
from mercer.tables._table_gaps import (
    Gaps,
    SettledGaps,
    gaps_of,
    known_gaps,
    lacking_columns,
    said_lacking,
    settled,
)
from mercer.tables._table_reading import held_rows, opened
from mercer.tables.looking._column_facts import Column
from mercer.tables.looking._table_look import Look
from mercer.tables.preparing._count_tables import without_margins
from mercer.tables.preparing._made_columns import WideColumns, wide
from mercer.tables.preparing._shared_units import parts_of_a_whole, shared_unit
from mercer.tables.preparing._square_tables import SQUARE, as_distances
from mercer.tables.preparing._table_scales import (
    deviations_of,
    deviations_walked,
    scaled,
    standardized,
)
from mercer.tables.preparing._unanalysed_columns import (
    coded,
    kept_frames,
    texts,
    weights_of,
    with_groups,
)

_LEAST = 8  # pixels on a side
_BLANK = 0.75  # of the pixels may be the same in all pictures, at most


@final
@dataclasses.dataclass(frozen=True)
class Pixels:
    """A square picture in every row.

    Attributes
    ----------
    side : int
        Pixels on a side.
    places : tuple of int
        Place of every analysed column in the picture, line by line from 0.
    low, high : float
        Darkest and lightest value.
    """

    side: int
    places: tuple[int, ...]
    low: float
    high: float

    def line(self) -> str:
        """Return what is assumed, and how to have it otherwise."""
        return (
            f"columns are the pixels of pictures, {self.side} x {self.side}, {self.low:g} to"
            f" {self.high:g}: only centred (--standardize yes to divide by sd)"
        )


def pixels_of(columns: Sequence[Column], active: Sequence[str]) -> Pixels | None:
    """Return the picture that the numbers of a table make up, or None.

    Told by names that are numbered in turn (x0, x1, …; 1x1, 1x2, …), a square number of them,
    and one least value: pixels have one unit, though edges vary less than the middle. Those
    that are the same in all pictures are left out of the analysis, and keep their place.

    Parameters
    ----------
    columns : sequence of Column
        Of the table, in order.
    active : sequence of str
        Names of the columns that are analysed.
    """
    points = [c for c in columns if c.role == "active" or _constant(c)]
    side = math.isqrt(len(points))
    if side < _LEAST or side * side != len(points) or not _in_turn(points, side):
        return None
    own = {column.name: place for place, column in enumerate(points)}
    if any(name not in own for name in active) or len(active) < (1 - _BLANK) * len(points):
        return None
    lows = {column.low for column in points}
    highs = [column.high for column in points if column.high is not None]
    if len(lows) != 1 or None in lows or not highs:
        return None
    low = lows.pop()
    assert low is not None
    return Pixels(side, tuple(own[name] for name in active), low, max(highs))


def _constant(column: Column) -> bool:
    return column.role == "out" and column.why.startswith("constant")


def _in_turn(points: Sequence[Column], side: int) -> bool:
    """Tell whether the names count: one stem and running numbers, or line and column."""
    names = [column.name for column in points]
    if re.fullmatch(r"\D*\d+\D+\d+", names[0]):  # 1x1, p00_00, r0c0
        parts = [re.split(r"(\d+)", name) for name in names]
        stems = {tuple(part[::2]) for part in parts}
        places = [(int(part[1]), int(part[3])) for part in parts if len(part) == 5]
        top, left = places[0]
        turn = [(top + i, left + j) for i in range(side) for j in range(side)]
        return len(stems) == 1 and places == turn
    found = [re.fullmatch(r"(.*?)(\d+)", name) for name in names]
    first = found[0]
    if first is None:
        return False
    stem, start = first[1], int(first[2])
    return all(
        match is not None and match[1] == stem and int(match[2]) == start + i
        for i, match in enumerate(found)
    )


_ROWS = 1 << 15  # read in one go
_CELLS = 1 << 22  # looked at in one go


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """Rows that can be fitted or projected.

    Attributes
    ----------
    rows : polars.DataFrame or BlockSource
        What to pass to `fit` or `transform`: held where it is small, read block by block
        where it is large. Columns have their names.
    shape : tuple of int
        (n, p); n is a forecast for text that was not walked.
    weights : array of shape (n,) or None
        Repeat counts.
    standardize : bool
        Whether columns are divided by their standard deviation.
    missing : {"raise", "em", "ppca", "passive", "level", "fill"}
        What the method does about missing cells.
    said : tuple of str
        Every assumption that was made, a line each.
    recipe : Recipe
        How to make the same of another file.
    kept : array of int or None
        Which rows of the file these are; None for all.
    n_missing : int
        Missing cells among the rows.
    path : str
        The file.
    id : str or None
        The column that names the rows.
    sup, color : tuple of str
        Supplementary columns, and those that pictures are coloured by.
    stop : int or None
        Only so many rows of the file were read.
    row_names : tuple of str or None
        Names of the rows where they are no rows of the file: columns of it, that were
        exchanged with its rows, or what was counted.
    target : str or None
        The column of the groups.
    y : array of str (n,) or None
        The groups of the rows.
    groups : dict of str to list of str, or None
        Groups of the columns.
    pixels : Pixels or None
        Where the columns are the points of pictures.
    """

    rows: Any
    shape: tuple[int, int]
    weights: Array | None
    standardize: bool
    missing: str
    said: tuple[str, ...]
    recipe: Recipe
    kept: Array | None = None
    n_missing: int = 0
    path: str = ""
    id: str | None = None
    sup: tuple[str, ...] = ()
    color: tuple[str, ...] = ()
    stop: int | None = None
    row_names: tuple[str, ...] | None = None
    target: str | None = None
    y: Array | None = None
    groups: dict[str, list[str]] | None = None
    pixels: Pixels | None = None
    _out: Any = dataclasses.field(default_factory=lambda: np.empty(0, np.int64), repr=False)

    def labels(self, name: str | None = None) -> Array | None:
        """Return a column as text (n,), for the rows here; "" where a cell is missing.

        Parameters
        ----------
        name : str or None
            The column; None for the one that names the rows, and None is returned where no
            column does.
        """
        if name is None and self.row_names is not None:
            return np.asarray(self.row_names, np.str_)
        name = self.id if name is None else name
        if name is None:
            return None
        frames = self.beside((name,), _ROWS)
        return np.asarray([cell for frame in frames for cell in texts(frame, name)], np.str_)

    def coded(self, name: str) -> tuple[Array, Array]:
        """Return a column as places (n,) among its texts, and the texts; see `labels`.

        Parameters
        ----------
        name : str
            The column; only texts that differ are held.
        """
        return coded(self.beside((name,), _ROWS), name)

    def numbers_at(self, rows: Array) -> Array:
        """Return the numbers in the file, counted from 1, of rows by their place here."""
        return rows + 1 if self.kept is None else np.asarray(self.kept)[rows] + 1

    def names_at(self, rows: Array) -> dict[int, str]:
        """Return the names of some rows by their numbers, read block by block.

        Parameters
        ----------
        rows : int array
            Numbers of the rows, ascending.
        """
        if self.id is None:
            return {}
        found, start = dict[int, str](), 0
        for frame in self.beside((self.id,), _ROWS):
            own = rows[(rows >= start) & (rows < start + frame.height)]
            if len(own):
                cells = texts(frame[own - start], self.id)
                found |= dict(zip(own.tolist(), cells, strict=True))
            start += frame.height
        return found

    def beside(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """Yield polars frames of other columns of the file, for the rows here, in order.

        Parameters
        ----------
        names : sequence of str
            Columns of any kind; those of delimited text come as they are written.
        rows : int
            Rows of a frame; the last may be shorter.
        """
        if self.row_names is not None:
            what = "counted" if self.recipe.cross else "exchanged"
            raise InputError(
                f"where rows and columns are {what} no column stands beside the rows",
                got=", ".join(map(repr, names))
                + (" with --rows-by" if self.recipe.cross else " with --transpose"),
                fix="leave the option out, or store the table the other way round",
            )
        reading = self.recipe.reading
        return kept_frames(self.path, names, rows, reading, out=self._out, stop=self.stop)


def prepared(
    seen: Look,
    *,
    fills: bool | Collection[str] = True,
    memory: float | None = None,
    scales: str = "method",
) -> Prepared:
    """Return the rows to fit, by the roles and the user's word in `seen`.

    Parameters
    ----------
    seen : Look
        What `look` found.
    fills : bool or collection of {"em", "ppca", "passive", "level", "fill"}
        Whether, or in which ways, the method can do without missing cells; the first is
        taken where the user does not say.
    memory : float or None
        Bytes that may be taken; None for 80 % of what is free. Rows are held where they take
        less than 256 MB and a quarter of it; a transposed table must be held whole.
    scales : {"method", "table", "none"}
        Who divides columns by their standard deviation where that is right: the method, the
        rows that are returned, or nobody, since it makes no difference.
    """
    from mercer.tables.preparing._category_tables import prepared_framed
    from mercer.tables.preparing._long_tables import prepared_crossed
    from mercer.tables.preparing._transposed_tables import prepared_transposed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # `look` has noted them
        if seen.asked.crossed:
            return prepared_crossed(seen, memory)
        if seen.asked.transpose:
            return _turned(prepared_transposed(seen, fills, memory), memory, scales)
        if seen.asked.table in ("categories", "mixed"):
            return prepared_framed(seen, fills, memory)
        # Profiles of counts have no unit, and distances have one.
        alike = seen.asked.table in ("counts", *SQUARE)
        return _prepared(seen, fills, memory, "none" if alike else scales)


def _turned(made: Prepared, memory: float | None, scales: str) -> Prepared:
    """Return rows that were columns, divided where the method does not divide them."""
    if not made.standardize or scales != "table":
        return made
    rows, recipe = scaled(made.rows, made.recipe, memory)
    return dataclasses.replace(made, rows=rows, recipe=recipe, standardize=False)


def _prepared(
    seen: Look, fills: bool | Collection[str], memory: float | None, scales: str
) -> Prepared:
    asked = seen.asked
    recipe, told = chosen(seen)
    table = wide(seen.path, recipe, stop=asked.rows, rows=seen.rows, memory=memory)
    gaps = _gaps(table, seen)
    lacking = lacking_columns(asked.missing, gaps, fills)
    if len(lacking):
        lacks = said_lacking(lacking, gaps, recipe.columns)
        table = _narrowed(table, lacking, seen, memory)
        recipe, gaps = table.recipe, _gaps(table, seen)
    found = settled(asked.missing, gaps, recipe.columns, seen.label, fills)
    found, y, said = _beyond(seen, table, found)
    if len(found.without):
        table = _narrowed(table, found.without, seen, memory)
    if len(lacking):
        said.insert(0, lacks)
    weights, light = weighed(seen, found.out)
    numbers, spread = table.recipe.numbers, _spread(table, seen, found.out, weights)
    made = bool(table.recipe.dates or table.recipe.levels)
    divided, line = False, ""
    if scales != "none":
        parts = "" if made else parts_of_a_whole(table.held)
        unit = shared_unit([c for c in seen.columns if c.name in numbers]) or parts
        divided, line = standardized(
            asked.standardize, numbers, [spread[name] for name in numbers], made, unit
        )
    pixels = None if made or scales == "none" else pixels_of(seen.columns, numbers)
    if pixels is not None and asked.standardize == "auto":
        divided, line = False, pixels.line()
    said = [told[name] for name in table.recipe.columns if name in told] + said
    said += [*found.said, *([line] if line else []), *light]
    recipe = table.recipe
    rows = as_distances(table.without(found.out), recipe)
    if divided and scales == "table":
        rows, recipe = scaled(rows, recipe, memory)
        divided = False
    return made_of(
        rows,
        recipe,
        gaps,
        found.out,
        said,
        missing=found.missing,
        path=seen.path,
        weights=weights,
        standardize=divided,
        sup=seen.named("sup"),
        color=(*seen.named("target"), *seen.named("color")),
        stop=asked.rows,
        target=next(iter(seen.named("target")), None),
        y=None if y is None else np.delete(y, found.out),
        pixels=pixels,
    )


def made_of(
    rows: Any,
    recipe: Recipe,
    gaps: Gaps,
    out: Array,
    said: Iterable[str],
    *,
    missing: str,
    path: Any,
    kinds: Collection[str] | None = None,
    **more: Any,
) -> Prepared:
    """Return rows that a recipe has made of a file.

    Parameters
    ----------
    rows : polars.DataFrame or BlockSource
        Those that are kept.
    recipe : Recipe
        How they were made.
    gaps : Gaps
        Missing cells of all rows.
    out : array of int
        Rows that are left out.
    said : iterable of str
        What is said.
    missing : str
        What happens to missing cells.
    path : path
        The file.
    kinds : collection of str or None
        Columns of another file than that of the fit, which may lack names of its rows.
    **more
        Other attributes of `Prepared`.
    """
    missing, named = "raise" if missing == "rows" else missing, recipe.id
    if kinds is not None and named is not None and named not in kinds:
        said = [*said, f"no column {named!r} names the rows: they are numbered"]
        named = None
    known: dict[str, Any] = {
        "rows": rows,
        "shape": (gaps.rows - len(out), len(recipe.names)),
        "weights": None,
        "standardize": False,
        "missing": missing,
        "said": tuple(said),
        "recipe": recipe,
        "kept": np.delete(np.arange(gaps.rows), out) if len(out) else None,
        "n_missing": gaps.total if missing != "raise" else 0,
        "path": str(path),
        "id": named,
    }
    return Prepared(**known | more, _out=out)


def _beyond(
    seen: Look, table: WideColumns, found: SettledGaps
) -> tuple[SettledGaps, Array | None, list[str]]:
    """Return what is left out beside missing cells, and the groups of all rows of the file."""
    if seen.asked.table == "counts":
        return without_margins(seen, table, found), None, []
    if seen.asked.table == "groups":
        return with_groups(seen, found)
    return found, None, []


def _spread(
    table: WideColumns, seen: Look, out: Array, weights: Array | None
) -> dict[str, float | None]:
    """Return the standard deviations of the columns by name, among the rows that count.

    `look` knows those of all rows; where some are left out or weighed, they are looked at
    again: one walk where they are not held.
    """
    known = {column.name: column.deviation for column in seen.columns}
    same = weights is None and len(out) == 0
    if same or seen.asked.standardize != "auto" or table.recipe.dates or table.recipe.levels:
        return known  # nobody asks, or columns that were made decide
    counts = np.ones(table.source.shape[0] if table.held is None else len(table.held))
    counts[out] = 0.0
    if weights is not None:
        counts[counts > 0] = weights
    if table.held is not None:
        found = deviations_of(table.held, counts)
    else:
        rows = max(1, _CELLS // table.source.shape[1])
        blocks = (b.toarray() if is_sparse(b) else b for b in table.source.blocks(rows))
        found = deviations_walked(blocks, counts)
    return dict(zip(table.recipe.names, found, strict=True))


def _gaps(table: WideColumns, seen: Look) -> Gaps:
    """Return what is missing: from the rows that are held, or else from what `look` counted.

    Another walk is made only where a row may be empty, or rows are to be left out.
    """
    levels = table.recipe.levels
    if table.held is not None:
        return gaps_of(table.held, levels)
    known = {column.name: column.missing for column in seen.columns}
    recipe, rule = table.recipe, seen.asked.missing
    counts = [known[name] for name in recipe.numbers]
    # `look` counts numbers in all rows, other cells only in the first.
    unsure = bool(recipe.dates) or all(counts)
    told = bool(levels) and rule in ("rows", "columns", "error")
    if unsure or told or (rule == "rows" and any(counts)):
        return gaps_of(table.source, levels)
    return known_gaps(table.source.shape[0], counts + [0] * len(levels), len(levels))


def _narrowed(
    table: WideColumns, without: Array, seen: Look, memory: float | None
) -> WideColumns:
    recipe = narrower(table.recipe, {table.recipe.columns[i] for i in without})
    if table.held is None:
        stop, rows = seen.asked.rows, seen.rows
        return wide(seen.path, recipe, stop=stop, rows=rows, memory=memory)
    stay = set(recipe.names)
    at = [i for i, name in enumerate(table.recipe.names) if name in stay]
    return dataclasses.replace(table, recipe=recipe, held=table.held[:, at])


def weighed(seen: Look, out: Array) -> tuple[Array | None, list[str]]:
    """Return the repeat counts of the rows that stay, None without, and what is said."""
    name = next(iter(seen.named("weights")), None)
    if name is None:
        return None, []
    kind = next(column.kind for column in seen.columns if column.name == name)
    if kind not in NUMBERS:
        raise InputError(
            "weights must be numbers (--weights)",
            got=f"{seen.label}: {name!r} holds {kind}",
            fix="name a column of repeat counts",
        )
    asked = seen.asked
    return weights_of(seen.path, name, asked.reading, out=out, stop=asked.rows)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Supplementary:
    """The supplementary columns of the rows that are fitted.

    Attributes
    ----------
    names : tuple of str
        Columns of numbers.
    numbers : array of shape (n, s)
        Their cells, NaN where one is missing.
    labels : dict of str to array of str (n,)
        The others, as text.
    """

    names: tuple[str, ...]
    numbers: Array
    labels: dict[str, Array]


def supplementary(made: Prepared) -> Supplementary:
    """Return the supplementary columns of the table; one walk, and one for each of text.

    Parameters
    ----------
    made : Prepared
        What `prepared` returned.
    """
    if not made.sup:
        return Supplementary((), np.empty((made.shape[0], 0)), {})
    reading = made.recipe.reading
    kinds = {name: held.kind for name, held in schema_of(made.path, **reading).items()}
    names = tuple(name for name in made.sup if kinds[name] in NUMBERS)
    numbers = np.empty((made.shape[0], 0))
    if names:
        source = KeptRows(opened(made.path, names, reading), made._out, made.stop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # `look` has noted them
            held = held_rows(source, float("inf"))
        if held is None or len(held) != made.shape[0]:
            raise InputError(
                "supplementary columns must have a cell for every row (--sup)",
                got=f"{source.label}: {0 if held is None else len(held):,} rows beside"
                f" {made.shape[0]:,}",
                fix="let nothing write to the file meanwhile",
            )
        numbers = np.asarray(held, np.float64)
    others = [name for name in made.sup if name not in names]
    labels = {name: found for name in others if (found := made.labels(name)) is not None}
    return Supplementary(names, numbers, labels)
