"""What is done about missing cells, and how it is said.

Missing cells of a table: counted, and the rows that have some or nothing else.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError
from mercer.sources import ArrayBlocks, BlockSource, DenseSource

_ROWS = 4096  # looked at in one go


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Gaps:
    """What is missing in n rows of c columns of a file: numbers, dates, then texts.

    Attributes
    ----------
    rows : int
        n, rows without a cell included.
    counts : array of int, (c,)
        Missing cells of every column, in rows that have a cell.
    empty : array of int
        Numbers of the rows without a cell.
    some : array of int
        Numbers of the rows, not empty, with a missing number or date.
    blank : array of int
        Numbers of the rows, not empty, with a missing text.
    texts : int
        How many of the last columns are texts: they are encoded, never filled.
    sparse : array of int
        Numbers of the rows, not empty, of which more cells are missing than there.
    """

    rows: int
    counts: Array
    empty: Array
    some: Array
    blank: Array
    texts: int = 0
    sparse: Array = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def total(self) -> int:
        """Missing numbers and dates in rows that have a cell."""
        return int(self.counts[: len(self.counts) - self.texts].sum())

    @property
    def cells(self) -> int:
        """Numbers and dates, missing or not, of the rows that have a cell."""
        return (self.rows - len(self.empty)) * (len(self.counts) - self.texts)

    @property
    def partial(self) -> Array:
        """Numbers of the rows, not empty, with any missing cell."""
        return np.union1d(self.some, self.blank)


def gaps_of(
    rows: BlockSource | Array, levels: Mapping[str, Sequence[str]] | None = None
) -> Gaps:
    """Return what is missing; one walk where rows are read block by block.

    Parameters
    ----------
    rows : BlockSource or array of shape (n, p)
        NaN where a cell is missing; cells that a sparse row does not store are there.
    levels : mapping of str to sequence of str, or None
        Categories of the texts that the last columns were made of: 0 in all columns of one
        text says that it is missing.
    """
    source = rows if isinstance(rows, BlockSource) else ArrayBlocks(DenseSource(rows))
    p, sizes = source.shape[1], [len(found) for found in (levels or {}).values()]
    plain = p - sum(sizes)
    counts = np.zeros(plain + len(sizes), np.int64)
    empty, some, blank, at = list[Array](), list[Array](), list[Array](), 0
    sparse = list[Array]()
    if source.dtype.kind != "f" and source.counted and not sizes:
        return known_gaps(source.shape[0], counts)
    for block in source.blocks(max(1, min(_ROWS, (1 << 25) // (8 * p)))):
        if not sizes and _whole(block):
            at += block.shape[0]
            continue
        gone, absent = _gone(block, plain), _absent(block, plain, sizes)
        missing, lacking = _per_row(gone), _per_row(absent)
        nothing = missing + lacking == plain + len(sizes)
        there = np.flatnonzero(~nothing)
        counts[:plain] += np.asarray(gone[there].sum(axis=0)).reshape(-1)
        counts[plain:] += absent[there].sum(axis=0)
        empty.append(at + np.flatnonzero(nothing))
        some.append(at + np.flatnonzero((missing > 0) & ~nothing))
        blank.append(at + np.flatnonzero((lacking > 0) & ~nothing))
        most = 2 * (missing + lacking) > plain + len(sizes)
        sparse.append(at + np.flatnonzero(most & ~nothing))
        at += block.shape[0]
    parts = _joined(empty), _joined(some), _joined(blank), len(sizes), _joined(sparse)
    return Gaps(at, counts, *parts)


def _whole(block: Any) -> bool:
    """Tell whether no cell of a block is missing."""
    stored = block.data if is_sparse(block) else block
    return block.dtype.kind != "f" or not np.isnan(np.min(stored, initial=0.0))


def _gone(block: Any, plain: int) -> Any:
    """Return which of the first cells of a block are missing."""
    if is_sparse(block):
        import scipy.sparse

        marks = np.isnan(block.data).astype(np.int64)
        return scipy.sparse.csr_array((marks, block.indices, block.indptr), shape=block.shape)
    return np.isnan(block[:, :plain])


def _absent(block: Any, plain: int, sizes: Sequence[int]) -> Array:
    """Return which texts have no category in a row, (r, texts)."""
    out, start = np.zeros((block.shape[0], len(sizes)), bool), plain
    for text, size in enumerate(sizes):
        out[:, text] = ~block[:, start : start + size].any(axis=1)
        start += size
    return out


def _per_row(marks: Any) -> Array:
    return np.asarray(marks.sum(axis=1)).reshape(-1)


def known_gaps(rows: int, counts: Any, texts: int = 0) -> Gaps:
    """Return gaps that others have counted, where no row can be empty."""
    nothing = np.empty(0, np.int64)
    return Gaps(rows, np.asarray(counts, np.int64), nothing, nothing, nothing, texts)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.int64), *parts])


_SHARE = 0.05  # of the cells that are filled without being asked
_NAMED = 5  # columns or rows that are named
WAYS = ("em", "ppca", "passive", "level", "fill")
_FILLING = {
    "em": "filled by iterative PCA",
    "ppca": "filled by the likeliest Gaussian",
    "passive": "they count nowhere",
    "level": "a category of their own",
    "fill": "filled by the axes themselves",
}
_AGAIN = {way: _FILLING[way] for way in ("passive", "level")}  # of new rows too


@final
@dataclasses.dataclass(frozen=True, eq=False)
class SettledGaps:
    """What was settled.

    Attributes
    ----------
    missing : {"raise", "em", "ppca", "passive", "level", "fill"}
        What the method does.
    out : array of int
        Rows to leave out, ascending.
    without : array of int
        Columns of the file to leave out, ascending.
    said : tuple of str
        In words.
    """

    missing: str
    out: Array
    without: Array
    said: tuple[str, ...]


def settled(
    asked: str, gaps: Gaps, names: Sequence[str], label: str, fills: bool | Collection[str]
) -> SettledGaps:
    """Return what is done about missing cells; refuse what must not be done unasked.

    Parameters
    ----------
    asked : {"auto", "em", "ppca", "passive", "level", "fill", "rows", "columns", "error"}
        The user's word.
    gaps : Gaps
        What is missing.
    names : sequence of str
        The columns of the file.
    label : str
        What messages call the table.
    fills : bool or collection of str
        How the method can do without missing cells: by filling them, in no way, or in these,
        of which the first is taken for "auto".
    """
    said = said_empty(gaps)
    none, missing = np.empty(0, np.int64), "raise"
    out, without = gaps.empty, none
    ways = (WAYS[:2] if fills else ()) if isinstance(fills, bool) else tuple(fills)
    first = ways[0] if ways else "em"
    if asked in WAYS and (gaps.total or asked in ways):
        missing = asked
    if gaps.total and asked == "auto":
        missing = first
    if gaps.total and missing in WAYS:
        if missing not in ways:
            raise _unfilled(missing, ways, gaps, names, label)
        many = gaps.total > _SHARE * gaps.cells
        if many and asked == "auto" and len(gaps.sparse) and gaps.rows - len(gaps.sparse) > 2:
            out = np.union1d(out, gaps.sparse)
            said.append(said_out(gaps.sparse, gaps.rows, "most of their cells missing"))
        said.append(f"{share_of(gaps)}: {_FILLING[missing]} (--missing {missing})")
        if many and missing in ("em", "fill", "ppca"):
            said[-1] += (
                "; so many are guessed that shares of variance come out too large: see"
                " mercer.multiple_imputation for how sure the map is"
            )
    elif gaps.counts.any() and asked == "error":
        raise _refused("cells are missing", gaps, names, label, first)
    elif asked == "rows" and len(gaps.partial):
        out = np.union1d(gaps.empty, gaps.partial)
        said.append(said_out(gaps.partial, gaps.rows, "missing cells", " (--missing rows)"))
    elif gaps.counts.any() and asked == "columns":
        without = np.flatnonzero(gaps.counts)
        shown = listed([repr(names[i]) for i in without.tolist()])
        have, are = ("has", "is") if len(without) == 1 else ("have", "are")
        said.append(
            f"{len(without):,} of {len(names):,} columns {have} missing cells and {are} left"
            f" out (--missing columns): {shown}"
        )
        if len(without) == len(names):
            raise _nothing_left("columns", gaps, label)
    if gaps.rows - len(out) < 2:
        raise _nothing_left("rows", gaps, label)
    return SettledGaps(missing, out, without, tuple(said))


def lacking_columns(asked: str, gaps: Gaps, fills: bool | Collection[str]) -> Array:
    """Return the columns to leave out unasked, ascending: most of their cells are missing.

    None where no more than 5 % of all are missing, where cells are not filled, or where fewer
    than two columns, or less than half of them, would be left.

    Parameters
    ----------
    asked, gaps, fills
        As for `settled`.
    """
    none = np.empty(0, np.int64)
    if asked != "auto" or not fills or gaps.total <= _SHARE * gaps.cells:
        return none
    rows = gaps.rows - len(gaps.empty)
    lacking = np.flatnonzero(2 * gaps.counts > rows)
    left = len(gaps.counts) - len(lacking)
    return lacking if left >= max(2, len(lacking)) else none


def said_lacking(lacking: Array, gaps: Gaps, names: Sequence[str]) -> str:
    """Return what is said of columns that are left out for what they lack."""
    rows = gaps.rows - len(gaps.empty)
    shown = [f"{names[i]} ({100 * gaps.counts[i] / rows:.0f} %)" for i in lacking.tolist()]
    are = "is" if len(shown) == 1 else "are"
    return (
        f"{listed(shown)} {are} left out: most of the cells are missing (--missing em to keep)"
    )


def said_empty(gaps: Gaps) -> list[str]:
    """Return what is said of rows without a cell."""
    count = len(gaps.empty)
    if count == 0:
        return []
    hold, are = ("holds", "is") if count == 1 else ("hold", "are")
    return [
        f"{count:,} of {gaps.rows:,} rows {hold} nothing in the columns analysed and {are}"
        f" left out: {numbered(gaps.empty)}"
    ]


def said_out(at: Array, rows: int, what: str, how: str = "") -> str:
    """Return what is said of rows that are left out for what they have."""
    have, are = ("has", "is") if len(at) == 1 else ("have", "are")
    return f"{len(at):,} of {rows:,} rows {have} {what} and {are} left out{how}: {numbered(at)}"


def share_of(gaps: Gaps) -> str:
    """Return "12 of 1,720 cells are missing (0.7 %)"; of texts only where all else is there."""
    if gaps.total == 0:
        count = int(gaps.counts.sum())
        return f"{count:,} cell{'s are' if count > 1 else ' is'} missing"
    percent = 100 * gaps.total / gaps.cells
    shown = f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"
    verb = "is" if gaps.total == 1 else "are"
    return f"{gaps.total:,} of {gaps.cells:,} cells {verb} missing ({shown})"


def worst(gaps: Gaps, names: Sequence[str]) -> str:
    """Return the columns with most missing cells and their counts."""
    order = np.argsort(-gaps.counts, kind="stable")
    order = order[gaps.counts[order] > 0]
    return listed([f"{names[i]!r} {gaps.counts[i]:,}" for i in order])


def listed(words: Sequence[str], count: int | None = None) -> str:
    """Return words with commas between; after some, only how many more there are."""
    more = (len(words) if count is None else count) - _NAMED
    return ", ".join(words[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def numbered(rows: Any) -> str:
    """Return row numbers for people, who count from 1."""
    words = [f"{i + 1:,}" for i in rows[:_NAMED]]
    return f"row{'s' * (len(rows) > 1)} {listed(words, len(rows))} (counted from 1)"


def _refused(what: str, gaps: Gaps, names: Sequence[str], label: str, way: str) -> InputError:
    anyway = {"passive": "to count them nowhere", "level": "to make them a category"}
    return InputError(
        what,
        got=f"{label}: {share_of(gaps)}, most in {worst(gaps, names)}",
        fix=f"--missing {way} {anyway.get(way, 'to fill them anyway')}, rows or columns to"
        " leave them out",
    )


def _unfilled(
    way: str, ways: Collection[str], gaps: Gaps, names: Sequence[str], label: str
) -> InputError:
    other = next((f"--missing {one}, or " for one in ways), "")
    return InputError(
        "this method does not fill missing cells" + (f" by {way!r}" if ways else ""),
        got=f"{label}: {share_of(gaps)}, most in {worst(gaps, names)}",
        fix=f"{other}--missing rows or --missing columns to leave them out",
    )


def _nothing_left(what: str, gaps: Gaps, label: str) -> InputError:
    other = {"rows": "columns", "columns": "rows"}[what]
    empty = f", {len(gaps.empty):,} of them empty" if len(gaps.empty) else ""
    return InputError(
        f"too few {what} are left when those with missing cells are left out",
        got=f"{label}: {share_of(gaps) if gaps.counts.any() else 'all cells are missing'};"
        f" {gaps.rows:,} rows{empty}",
        fix=f"--missing em to fill them, or {other} to leave out {other}",
    )


def left_out(gaps: Gaps, label: str, missing: str) -> tuple[Array, list[str]]:
    """Return the rows of another file that are left out, and what is said of missing cells.

    Parameters
    ----------
    gaps : Gaps
        What is missing.
    label : str
        What messages call the file.
    missing : str
        What the model does about missing cells; "rows" to leave out rows that have some.
    """
    said, out = said_empty(gaps), gaps.empty
    if missing == "rows" and len(gaps.partial):
        out = np.union1d(gaps.empty, gaps.partial)
        said.append(said_out(gaps.partial, gaps.rows, "missing cells", " (--missing rows)"))
    elif gaps.total:
        said.append(f"{share_of(gaps)}: {_AGAIN.get(missing, 'filled by the model')}")
    if len(out) == gaps.rows:
        raise InputError(
            "no row has a cell in the columns of the model"
            if len(gaps.empty) == gaps.rows
            else "no row has all cells of the columns of the model",
            got=f"{label}: {gaps.rows:,} rows, {len(gaps.empty):,} of them empty in"
            f" {len(gaps.counts):,} columns",
            fix="check that this is the right file",
        )
    return out, said


def refuse_missing(gaps: Gaps, names: Sequence[str], label: str, first: str) -> InputError:
    """Return the refusal of missing cells where the model fills none."""
    return InputError(
        "cells are missing, and the model fills none",
        got=f"{label}: {share_of(gaps)}, most in {worst(gaps, names)}{first}",
        fix="leave such rows out, as mercer transform --missing rows does; a model of"
        " mercer fit --missing em fills them",
    )
