"""Incomplete rows in parts: their sums under a completion, and their parts completed.

Incomplete rows, handed out completed.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.operators.completion._completion_model import Completion, empty_rows
from mercer.operators.completion._completion_sums import CompletionSums
from mercer.operators.completion._gap_survey import observed_weights, parted
from mercer.sources import BlockSource, DerivedSource, PartBlocks, SpreadSource


@final
@dataclasses.dataclass(frozen=True)
class CompletionSumsOfParts:
    """`CompletionSums` as work on parts; p×p or p×b numbers come back, as `keep` names them.

    Rows with nothing observed weigh nothing.

    Parameters
    ----------
    completion, basis, expected, held, dtype, compiled
        See `CompletionSums`.
    block_bytes : float
        Size of the blocks in which a part is walked.
    """

    completion: Completion
    basis: Array | None
    expected: bool
    held: Array | None
    dtype: np.dtype[Any]
    compiled: bool
    block_bytes: float

    @classmethod
    def of(cls, sums: CompletionSums, block_bytes: float) -> "CompletionSumsOfParts":
        """Return the work that adds all rows to sums that are still zero."""
        held, dtype = sums._held, sums.dtype
        model = sums.completion, sums.basis, sums.expected, held, dtype, sums.compiled
        return cls(*model, block_bytes)

    def part(self, rows: PartBlocks, weights: Array | None) -> dict[str, Array]:
        """Return the sums of one part."""
        sums = CompletionSums(
            self.completion,
            self.basis,
            expected=self.expected,
            held=self.held,
            dtype=self.dtype,
            compiled=self.compiled,
        )
        for at, block in parted(rows, self.block_bytes):
            sums.add(block, observed_weights(block, None if weights is None else weights[at]))
        return sums.keep()

    def merge(self, one: dict[str, Array], other: dict[str, Array]) -> dict[str, Array]:
        """Return the sums of two neighbouring parts: every one of them is additive."""
        for name, numbers in other.items():
            one[name] = one[name] + numbers
        return one


@final
class CompletedParts(SpreadSource):
    """Rows in parts with their missing cells filled, a part when it is worked on.

    Rows with nothing observed weigh nothing, and are not counted.

    Parameters
    ----------
    source : SpreadSource
        Rows with NaN where a cell is missing; a pass has counted them.
    completion : Completion
        What those cells are filled with.
    left_out : int
        Rows with nothing observed.
    weighed : float
        Σw over the others.
    """

    def __init__(
        self, source: SpreadSource, completion: Completion, left_out: int, weighed: float
    ) -> None:
        self.source, self.completion = source, completion
        self.names, self.dropped, self.label = source.names, source.dropped, source.label
        self.shape = (source.shape[0] - left_out, source.shape[1])
        self.dtype, self.nnz = source.dtype, source.nnz
        self.parts, self.counted, self.weighed = source.parts, source.counted, weighed
        self.part_bytes = 2 * source.part_bytes  # as they are, and completed
        self.sized = source.sized

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`."""
        return self.source.nbytes

    def reduce(self, work: Any, weights: Any = None, *, title: str = "rows") -> Any:
        """See `SpreadSource.reduce`."""
        self.walks += 1
        filled = _WorkOnFilled(work, self.completion)
        return self.source.reduce(filled, weights, title=title)

    def weights_of(self, weights: Any) -> Any:
        """See `SpreadSource.weights_of`."""
        return self.source.weights_of(weights)

    def mapped(self, function: Any, columns: int | None, dtype: Any, names: Any = None) -> Any:
        """See `SpreadSource.mapped`; rows with nothing observed are the mean."""
        made = _FilledFirst(function, self.completion)
        return self.source.mapped(made, columns, dtype, names)

    def workers(self) -> dict[str, Any]:
        """See `SpreadSource.workers`."""
        return self.source.workers()


def filled_part(rows: PartBlocks, completion: Completion) -> PartBlocks:
    """Return the rows of a part with their missing cells filled."""
    held = completion.filled(rows.held)
    if held is rows.held:
        return rows
    return PartBlocks(held, rows.number, rows.first, rows.names, dense=rows.nnz is None)


@dataclasses.dataclass(frozen=True)
class _WorkOnFilled:
    """Work on completed rows."""

    work: Any
    completion: Completion

    def part(self, rows: PartBlocks, weights: Array | None) -> Any:
        weights = observed_weights(rows.held, weights)
        return self.work.part(filled_part(rows, self.completion), weights)

    def merge(self, one: Any, other: Any) -> Any:
        return self.work.merge(one, other)

    def finish(self, found: Any) -> Any:
        return self.work.finish(found) if hasattr(self.work, "finish") else found


@dataclasses.dataclass(frozen=True)
class _FilledFirst:
    """A function of completed rows."""

    function: Any
    completion: Completion

    def __call__(self, rows: PartBlocks) -> Any:
        return self.function(filled_part(rows, self.completion))


_RATE = 4e8  # bytes that are completed per second, roughly


@final
class CompletedBlocks(DerivedSource):
    """The blocks of a source with their missing cells filled, each when it is read.

    Parameters
    ----------
    source : BlockSource
        Rows with NaN where a cell is missing.
    completion : Completion
        What those cells are filled with.
    watch : bool
        Whether the numbers of rows with nothing observed are collected, in `empty`.
    """

    def __init__(
        self, source: BlockSource, completion: Completion, *, watch: bool = False
    ) -> None:
        super().__init__(source)
        self.completion, self.watch, self.empty = completion, watch, list[int]()
        self.rate = min(source.rate, _RATE)

    def _read(self, rows: int, start: int) -> Iterator[Any]:
        for block in self.source.blocks(rows, start):
            filled = self.completion.filled(block)
            if self.watch and filled is not block:
                self.empty += (start + empty_rows(block)).tolist()
            start += block.shape[0]
            yield filled
