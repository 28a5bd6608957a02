"""Batches: the rows of a stream as sums, and the few that wait to be summed together."""

import copy
import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, eps_of, stacked
from mercer.errors import InputError
from mercer.estimators.linear._pca_paths import exact_exponent
from mercer.estimators.linear._summed_rows import Summed
from mercer.operators import Moments, Rows, RunningMoments, RunningSvd, Scaling, rows_of
from mercer.sources import Source, SparseSource, scan

ENOUGH = 256  # rows whose product with themselves is worth a call of BLAS


@dataclasses.dataclass(frozen=True)
class Batches:
    """What batches of rows have left behind; a value: a batch gives a new one.

    Attributes
    ----------
    sums : RunningMoments or RunningSvd
        Of all rows but those that wait; never written to.
    forget : float or None
        Share f of its weight that a row loses with every later row.
    blocks, weights : tuples
        Rows that wait and their repeat counts: copies, all of one kind.
    stored, products : dtype or None
        The coarsest type in which rows came, and the widest in which they are multiplied.
    sparse : bool
        Whether rows came sparse.
    waiting : int
        How many rows wait.
    """

    sums: RunningMoments | RunningSvd
    forget: float | None = None
    blocks: tuple[Any, ...] = ()
    weights: tuple[Array, ...] = ()
    stored: Any = None
    products: Any = None
    sparse: bool = False
    waiting: int = 0

    @property
    def rows(self) -> int:
        """Rows seen."""
        return self.sums.rows + self.waiting

    @property
    def total(self) -> float:
        """Σw, what was forgotten left out."""
        if not self.weights:
            return self.sums.total
        waiting = float(np.sum(self._faded(np.concatenate(self.weights))))
        return self.sums.total * self._share(self.waiting) + waiting

    def with_rows(self, source: Source, counts: Array) -> "Batches":
        """Return the stream with these rows more; few of them are kept as they are."""
        n = source.shape[0]
        stream = self if self._alike(source) and n < self._enough else self.summed()
        stream = dataclasses.replace(
            stream,
            stored=_coarsest(self.stored, source.dtype),
            products=_widest(self.products, source.products),
            sparse=self.sparse or isinstance(source, SparseSource),
        )
        if n >= self._enough:
            return stream._added(source, counts)
        kept = dataclasses.replace(
            stream,
            blocks=(*stream.blocks, source.array.copy()),
            weights=(*stream.weights, counts),
            waiting=stream.waiting + n,
        )
        return kept.summed() if kept.waiting >= self._enough else kept

    def summed(self) -> "Batches":
        """Return the same rows with none that wait."""
        if not self.blocks:
            return self
        return dataclasses.replace(self, blocks=(), weights=(), waiting=0)._added(
            scan(stacked(self.blocks)), np.concatenate(self.weights)
        )

    def without(self, source: Source, counts: Array) -> "Batches":
        """Return the stream without rows that it has seen."""
        stream = self.summed()
        sums: Any = stream.sums.copy()
        gone: Any = RunningMoments()
        if isinstance(sums, RunningMoments) and np.any(counts):
            gone = RunningMoments.of(*_rows(source, counts, whole=True))
        gone.rows = source.shape[0]
        return dataclasses.replace(stream, sums=sums.remove(gone))

    def merged(self, other: "Batches") -> "Batches":
        """Return the stream of both."""
        mine, theirs = self.summed(), other.summed()
        sums: Any = mine.sums.copy()
        other_sums: Any = theirs.sums.copy()
        if type(sums) is not type(theirs.sums):
            raise InputError(
                "a stream that keeps all sums and one that keeps leading directions only"
                " cannot be merged",
                got=f"{type(sums).__name__} and {type(theirs.sums).__name__}",
                fix="give both the same `n_components` and `memory`",
            )
        return dataclasses.replace(
            mine,
            sums=sums.merge(other_sums),
            stored=_coarsest(mine.stored, theirs.stored),
            products=_widest(mine.products, theirs.products),
            sparse=mine.sparse or theirs.sparse,
        )

    def described(self) -> Summed:
        """Return the rows as a source of sums; none may wait."""
        counted = self.rows if self.forget else int(self.total * (1 + 1e-12))
        return Summed(self.sums, self.stored, self.products, counted, self.sparse)

    def _alike(self, source: Source) -> bool:
        """Tell whether rows can be stacked on those that wait."""
        if not self.blocks:
            return True
        sparse = isinstance(source, SparseSource) == hasattr(self.blocks[0], "tocsr")
        return sparse and self.blocks[0].dtype == source.array.dtype

    @property
    def _enough(self) -> int:
        """Rows that are worth an update of the sums."""
        return max(ENOUGH, self.sums.rank if isinstance(self.sums, RunningSvd) else 1)

    def _added(self, source: Source, counts: Array) -> "Batches":
        sums: Any = copy.copy(self.sums)  # its arrays are read, not written to
        if self.forget is not None:
            sums = self.sums.copy().fade(self._share(source.shape[0]))
            counts = self._faded(counts)
        if isinstance(sums, RunningMoments) and np.any(counts):
            part = RunningMoments.of(*_rows(source, counts, whole=True))
            return dataclasses.replace(self, sums=part.merge(sums))
        sums = sums.copy()
        if np.any(counts):
            sums.add(_rows(source, counts, whole=False)[0])
        else:
            (sums.sums if isinstance(sums, RunningSvd) else sums).rows += source.shape[0]
        return dataclasses.replace(self, sums=sums)

    def _share(self, later: int) -> float:
        """Return (1 - f)^later, what is left of a row after so many later ones."""
        return 1.0 if self.forget is None else float((1.0 - self.forget) ** later)

    def _faded(self, counts: Array) -> Array:
        """Return the weights of rows at the time of the last of them."""
        if self.forget is None:
            return counts
        with np.errstate(under="ignore"):
            return counts * (1.0 - self.forget) ** np.arange(len(counts) - 1.0, -1.0, -1.0)


def _rows(source: Source, counts: Array, *, whole: bool) -> tuple[Rows, Moments]:
    """Return rows in a unit in which their sums stay in range, and the sums.

    Products are float64 for float32 rows too: small batches would pay more for measuring
    the error of float32 than for avoiding it.
    """
    weights = None if np.all(counts == 1.0) else counts
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        rows = rows_of(source, weights, np.float64)
        rows.scaling = Scaling(True, None)  # whether or not they will be standardised
        found = rows.scatter() if whole else rows.moments()
        if not found.in_range:
            rows = rows_of(source, weights, np.float64, exact_exponent(rows))
            rows.scaling = Scaling(True, None)
            found = rows.scatter() if whole else rows.moments()
    return rows, found


def _widest(one: Any, other: Any) -> Any:
    """Return float32 only where both are."""
    return other if one is None or one == other else np.dtype(np.float64)


def _coarsest(one: Any, other: Any) -> Any:
    """Return the type that rounds most; integers and truth values round nothing."""
    if one is None or other is None:
        return other if one is None else one
    kinds = [np.dtype(kind) for kind in (one, other)]
    floats = [kind for kind in kinds if kind.kind == "f"]
    return max(floats, key=eps_of) if floats else max(kinds, key=lambda kind: kind.itemsize)
