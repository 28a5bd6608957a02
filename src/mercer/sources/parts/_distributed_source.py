"""SpreadSource: rows that lie in parts elsewhere; the work goes to them, sums come back."""

import abc
import hashlib
from collections.abc import Iterator
from typing import Any, Protocol, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._block_source import Block, BlockSource, Source, bad_cell
from mercer.sources._repeat_counts import refuse_sum, sum_of


class Work(Protocol):
    """What is done to every part of the rows, and how two results become one.

    It travels to the parts, so it holds numbers and no data. `part` must be a pure function
    of its arguments: a part whose worker was lost is done again elsewhere, with the same bits.
    A work that has ``finish(result)`` too has it done once, after the last merge and in the
    same place: what it returns comes back.
    """

    def part(self, rows: "PartBlocks", weights: Array | None) -> Any:
        """Return the result of one part; it may have no rows."""

    def merge(self, one: Any, other: Any) -> Any:
        """Return the result of two neighbouring parts; both may be written over."""


class SpreadSource(Source):
    """Abstract: rows in parts that are never together in one place.

    Attributes
    ----------
    shape : tuple of int
        (n, p). Where `counted` is False, n is a forecast until one pass has ended.
    nnz : int or None
        Stored cells, or a forecast, where parts are CSR arrays; None for dense parts.
    names, dropped, label
        See `BlockSource`.
    parts : int
        How many there are.
    part_bytes : float
        Bytes of the largest part in memory, or what it is taken as.
    sized : bool
        Whether `part_bytes` is known; a pass counts it where it is not.
    walks : int
        Passes begun so far.
    weighed : float or None
        Sum of the weights, once a pass has added them up.
    """

    array = None
    names: tuple[str, ...] | None = None
    dropped: tuple[tuple[str, str], ...] = ()
    label: str = "the data"
    counted: bool = True
    parts: int
    part_bytes: float
    sized: bool = True
    walks: int = 0
    weighed: float | None = None

    @abc.abstractmethod
    def reduce(self, work: Work, weights: Any = None, *, title: str = "rows") -> Any:
        """Return ``work.merge`` of ``work.part`` over all parts, along a fixed tree.

        Nothing but that one result comes back. `weights` is what `weights_of` returned.
        """

    @abc.abstractmethod
    def weights_of(self, weights: Any) -> Any:
        """Return repeat counts parted like the rows, or None; they are checked in the parts."""

    @abc.abstractmethod
    def mapped(self, function: Any, columns: int | None, dtype: Any, names: Any = None) -> Any:
        """Return the rows of ``function(part)``, not computed before they are asked for.

        They are an array (n, columns), or (n,) for None; with `names` a frame of these
        columns and the index of the rows, where they have one.
        """

    def workers(self) -> dict[str, Any]:
        """Return who would do the work now, as the numbers of `planning.Workers`."""
        return {}

    def sample(self, count: int, among: Any = None) -> Array:
        """See `Source.sample`: evenly spaced rows of every part; one pass."""
        share = max(1, -(-count // max(1, self.parts)))
        found = self.reduce(_SampleOfParts(share, self.products), title="sample")
        return np.asarray(found[:: max(1, -(-len(found) // count))])

    def first_bad_cell(self) -> tuple[int, int, float] | None:
        """See `Source.first_bad_cell`: one pass, which names the cell itself."""
        self.reduce(_BadCells(), title="check")
        return None


@final
class PartBlocks(BlockSource):
    """The rows of one part, walked block by block where they lie.

    Parameters
    ----------
    held : array or CSR array of shape (r, p)
        The rows.
    number : int
        Which part it is.
    first : int or None
        Number of its first row among all rows, where that is known.
    names : tuple of str or None
        Column names.
    dense : bool
        Hand out dense blocks, although the rows may be held as a CSR array: a chunk that was
        announced as dense must be read as all others are.
    """

    elsewhere = False  # they are here already

    def __init__(
        self,
        held: Any,
        number: int,
        first: int | None,
        names: tuple[str, ...] | None,
        dense: bool = False,
    ) -> None:
        self.held, self.number, self.first, self.names = held, number, first, names
        self.shape, self.dtype = (int(held.shape[0]), int(held.shape[1])), held.dtype
        self.nnz = int(held.nnz) if hasattr(held, "tocsr") and not dense else None
        self.label = f"part {number}"

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        if self.nnz is None:
            return super().nbytes
        return int(self.held.data.nbytes + self.held.indices.nbytes + self.held.indptr.nbytes)

    def _read(self, rows: int, start: int) -> Iterator[Block]:
        for at in range(start, self.shape[0], rows):
            block = self.held[at : at + rows]
            yield block.toarray() if self.nnz is None and hasattr(block, "tocsr") else block

    def place(self, row: int, column: int) -> str:
        """See `BlockSource.place`: among all rows, or inside the part."""
        if self.first is None:
            return super().place(row, column)
        return super().place(self.first + row, column).removeprefix(f"{self.label}, ")

    def fingerprint(self) -> str:
        """See `BlockSource.fingerprint`."""
        return hashlib.sha256(f"{self.number} {self.shape} {self.dtype}".encode()).hexdigest()


def _as_float64(piece: Any) -> Array:
    """Return numbers; neither text that looks so nor complex ones, as NumPy would."""
    given = np.asarray(piece)
    text = given.dtype.kind == "O" and any(isinstance(w, str | bytes) for w in given.flat)
    if text or given.dtype.kind not in "biufO":
        raise TypeError
    return given.astype(np.float64, copy=False)


def checked_counts(weights: Any, rows: PartBlocks) -> Array | None:
    """Return the repeat counts of one part as float64, or say which row has none."""
    if weights is None:
        return None
    pieces = weights if isinstance(weights, list) else [weights]
    try:
        counts = np.concatenate([_as_float64(piece).reshape(-1) for piece in pieces])
    except (TypeError, ValueError):
        raise InputError(
            "weights must be numbers",
            got=f"part {rows.number}: {np.asarray(pieces[0]).dtype}",
            fix="pass one number per row",
        ) from None
    if len(counts) != rows.shape[0]:
        raise InputError(
            "sample_weight must hold one number per row",
            got=f"part {rows.number}: {len(counts)} weights, {rows.shape[0]} rows",
            fix="cut the weights into the same parts as the rows",
        )
    bad = np.flatnonzero(~(np.isfinite(counts) & (counts >= 0)))
    if bad.size:
        at = rows.place(int(bad[0]), 0).rsplit(", column", 1)[0]
        raise InputError(
            "weights must be finite and not negative",
            got=f"{counts[bad[0]]} at {at}",
            fix="use 0 to leave a row out",
        )
    if rows.shape[0]:  # here, before their products leave the range of float64
        over = f"{rows.shape[0]} rows of part {rows.number}"
        refuse_sum(sum_of(counts)[0], over, few=True)
    return counts


@final
class _SampleOfParts:
    """Evenly spaced rows of every part, dense."""

    def __init__(self, count: int, dtype: Any) -> None:
        self.count, self.dtype = count, dtype

    def part(self, rows: PartBlocks, weights: Array | None) -> Array:
        step = max(1, -(-rows.shape[0] // self.count))
        found = rows.held[::step]
        dense = found.toarray() if hasattr(found, "toarray") else found
        return np.array(dense, dtype=self.dtype)

    def merge(self, one: Array, other: Array) -> Array:
        return np.concatenate([one, other])


@final
class _BadCells:
    """Raises at the first cell that is not finite."""

    def part(self, rows: PartBlocks, weights: Array | None) -> None:
        from mercer.sources._block_source import bad_cell_error

        found = bad_cell(rows.held)
        if found is not None:
            raise bad_cell_error(rows.place(found[0], found[1]), found[2])

    def merge(self, one: None, other: None) -> None:
        return None
