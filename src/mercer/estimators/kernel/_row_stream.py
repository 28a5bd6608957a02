"""Kernel PCA of rows that come in blocks, and what further passes over all rows start from."""

import copy
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from mercer.arrays import Array, stacked
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel._fitted_kernel import FittedKernel, type_of
from mercer.estimators.kernel._kernel_fit import Kept, KernelRequest, SeenRows, cut, scaled
from mercer.estimators.kernel._landmark_model import (
    LandmarkChoice,
    LandmarkModel,
    described,
    refuse_landmarks,
)
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.kernels import Precomputed
from mercer.operators import Landmarks, LandmarkSums, wrong_weights
from mercer.planning import KernelCost, Plan, Problem, certifying_rows, columns_beyond
from mercer.planning import plan as planned
from mercer.selection import Choice
from mercer.solvers import Spectrum
from mercer.sources import BlockSource, Source, in_memory, is_blocks, is_scannable, scan

_START = 16  # axes more with which passes without limit start
_SAME = 1e-3  # how far from orthonormal known axes are at most; other rows are off by n^-½
_FILE_ROWS, _FILE_BYTES = 4096, 4e6  # of a block that is read from a file
_KEPT = 4.0  # times that the first rows are there: as they came, together, placed
_BLOCKS = 3.5  # blocks of a file that are there at a time
_DRAWN = 4  # part of the memory that rows drawn on the way are counted against
ENDLESS = 1_000_000  # rows that a stream is taken to have, as long as nobody knows
BUFFER = 10_000  # rows that settle lengthscale, standardisation and landmarks


@dataclasses.dataclass(frozen=True)
class Stream:
    """What blocks of rows have left behind; a value: a block gives a new one.

    Attributes
    ----------
    blocks, weights : tuple of arrays
        Rows as they came, while they are fewer than 10,000.
    sums : LandmarkSums or None
        After that: m×m numbers, whatever the number of rows.
    count : int
        Rows seen.
    alignment : float or None
        With the linear kernel, on the rows that settled the landmarks.
    itemsize : int
        Bytes of a number in the widest block.
    choice : Choice or None
        For "auto": how many axes, by the rows that settled the landmarks.
    """

    blocks: tuple[Array, ...] = ()
    weights: tuple[Array, ...] = ()
    sums: LandmarkSums | None = None
    count: int = 0
    alignment: float | None = None
    itemsize: int = 4
    choice: Choice | None = None

    @property
    def total(self) -> float:
        """Σw of the rows seen."""
        kept = sum(float(np.sum(w)) for w in self.weights)
        return kept + (0.0 if self.sums is None else self.sums.count)

    def enough(self, wanted: float | str | None) -> bool:
        """Tell whether the rows seen can have as many axes as are wanted."""
        fewest = int(wanted) if isinstance(wanted, Integral) else 1
        return self.count >= max(2, fewest) and self.total > 1


@dataclasses.dataclass(frozen=True, eq=False)
class Settling:
    """How a stream settles: what an estimator knows of rows, and what it draws.

    Attributes
    ----------
    see : function
        Makes `SeenRows` of rows in memory and their repeat counts.
    seed : function
        Draws the start of random numbers.
    aligned : function
        Tells the alignment of rows with the linear kernel.
    known : bool
        Whether kernel and landmarks are known before a row is read.
    wanted : int, float, "auto" or None
        Axes that are asked for.
    memory : int
        Bytes that may be taken.
    """

    see: Callable[[Source, Array | None], SeenRows]
    seed: Callable[[], int]
    aligned: Callable[[SeenRows], float | None]
    known: bool
    wanted: float | str | None
    memory: int


@dataclasses.dataclass(frozen=True, eq=False)
class Gathered:
    """A stream, and what it has settled.

    Attributes
    ----------
    stream : Stream
        Rows or sums.
    seen : SeenRows or None
        The rows that landmarks were chosen among, or what is left of them; None while there
        are too few rows.
    sample : tuple or None
        Numbers and rows to learn the way back from.
    kept : dict
        What an estimator keeps of rows that were looked at just now, by the names and in the
        order of model files.
    """

    stream: Stream
    seen: SeenRows | None = None
    sample: tuple[Array | None, Array] | None = None
    kept: dict[str, Any] = dataclasses.field(default_factory=dict)


def again(stream: Stream, request: KernelRequest, fitted: FittedKernel) -> Gathered:
    """Return the stream so far, and what the model that it made knows of its rows."""
    if stream.sums is None:
        return Gathered(stream)
    source = in_memory(stream.sums.landmarks.rows)
    frame, kernel, choice = fitted.frame, fitted.seen, stream.choice
    seen = SeenRows(request, source, frame, kernel, fitted.rows, choice=choice)
    return Gathered(stream, seen, fitted.sample)


def marked(seen: SeenRows, seed: int) -> Landmarks:
    """Return landmarks chosen among rows, or those that were given."""
    refuse_landmarks(seen.kernel, "partial_fit")
    choice, weights = seen.landmarks or LandmarkChoice(), seen.frame.weights
    count = choice.number(seen.n, seen.pairs(seen.n))
    return choice.landmarks(
        seen.kernel, seen.rows, count, among=BUFFER, weights=weights, seed=seed
    )


def summed(stream: Stream, how: Settling) -> Gathered:
    """Return a stream of few rows with their sums, on landmarks chosen among them."""
    weights: Array = np.concatenate(stream.weights)
    weighted = None if np.all(weights == 1.0) else weights
    seen = how.see(in_memory(stacked(stream.blocks)), weighted)
    marks = marked(seen, how.seed())
    sample = seen.sample()
    draws = certifying_rows(ENDLESS, marks.m, seen.source.shape[1], how.memory / 4)
    sums = LandmarkSums(marks, draws=draws, seed=how.seed()).add(seen.rows, weighted)
    if seen.request.auto:
        seen = seen.counted(how.seed(), seen.n)
    stream = dataclasses.replace(stream, sums=sums, choice=seen.choice)
    kept = {"choice_": None} | seen.attributes() | {"_sample": sample}
    return Gathered(stream, seen, sample, kept)


def with_block(gathered: Gathered, source: Source, counts: Array, how: Settling) -> Gathered:
    """Return a stream with one block more: rows are kept until there are enough.

    Then kernel, frame and landmarks are fixed, and the rows are let go. What settles the
    model does not depend on how the rows are cut.
    """
    stream = gathered.stream
    count = stream.count + source.shape[0]
    stream = dataclasses.replace(
        stream, itemsize=max(stream.itemsize, source.products.itemsize)
    )
    if stream.sums is not None:
        assert gathered.seen is not None
        sums = copy.deepcopy(stream.sums)
        sums.add(gathered.seen.frame.ready(source), counts)
        stream = dataclasses.replace(stream, sums=sums, count=count)
        return dataclasses.replace(gathered, stream=stream)
    _refuse_mixture(stream.blocks, source.array)
    more = dataclasses.replace(stream, weights=(*stream.weights, counts), count=count)
    settled = how.known and more.enough(how.wanted)
    room = source.shape[0] if settled else BUFFER - stream.count
    kept = dataclasses.replace(
        more,
        blocks=(*stream.blocks, source.array[:room].copy()),
        weights=(*stream.weights, counts[:room]),
    )
    if not settled and count < BUFFER:
        return Gathered(kept)
    found = summed(kept, how)
    assert found.seen is not None
    assert found.stream.sums is not None
    alignment = how.aligned(found.seen)
    frame = dataclasses.replace(found.seen.frame, weights=None)  # they go with their rows
    if count > stream.count + room:
        rest = in_memory(source.array[room:])
        found.stream.sums.add(frame.ready(rest), counts[room:])
    stream = dataclasses.replace(found.stream, blocks=(), weights=(), alignment=alignment)
    seen = dataclasses.replace(found.seen, frame=frame)
    return Gathered(
        stream, seen, found.sample, found.kept | {"_frame": frame, "_stream": stream}
    )


def modelled(
    gathered: Gathered,
    how: Settling,
    tolerance: Callable[[Source], float],
    resources: dict[str, Any],
    problem: Problem | None = None,
    fresh: int | None = None,
) -> tuple[dict[str, Any], Spectrum]:
    """Return the model of the rows seen so far: what is published of it, and its pairs.

    Parameters
    ----------
    gathered, how
        The stream, and how it settles.
    tolerance : function
        Tells the tolerance for landmarks.
    resources : dict
        What may be taken, as `Problem` has it.
    problem : Problem or None
        What was planned, where the rows lie in parts.
    fresh : int or None
        Rows that this call has brought, None where it has brought all: what their pass costs
        says how much of a sample is looked at.
    """
    stream, count = gathered.stream, gathered.stream.count
    settled = stream.sums is not None
    kept = gathered.kept or {"_stream": stream}
    if not settled:  # few rows are looked at anew
        gathered = summed(stream, how)
        kept = kept | gathered.kept
    sums, seen = gathered.stream.sums, gathered.seen
    assert sums is not None
    assert seen is not None
    marks = sums.landmarks
    seen = dataclasses.replace(seen, source=in_memory(marks.rows))
    n, p, tol = max(count, 1), seen.source.shape[1], tolerance(seen.source)
    looked = certifying_rows(n if fresh is None else fresh, marks.m, p, how.memory / 4)
    model = LandmarkModel.summed(sums, how.seed(), looked)
    spectrum, found = described(model, seen.wanted(n), tol)
    spectrum = cut(spectrum, seen.choice)
    if problem is None:
        problem = priced((count, p), seen.pairs(n), marks.m, tol, resources)
    assert problem.kernel is not None
    cost = dataclasses.replace(problem.kernel, landmarks=marks.m)
    pairs = seen.pairs(n)
    plan = planned(dataclasses.replace(problem, rows=count, components=pairs, kernel=cost))
    aligned = gathered.stream.alignment if settled else how.aligned(seen)
    fitted = dataclasses.replace(
        scaled(spectrum, found, seen, aligned, gathered.sample),
        n_samples=count,
        dtype=type_of(stream.itemsize, spectrum.values),
    )
    made = {"plan_": plan, **fitted.attributes(), "_stream": stream}
    return kept | made, spectrum


def priced(
    shape: tuple[int, int],
    pairs: int,
    marks: int,
    tol: float,
    resources: dict[str, Any],
    source: BlockSource | None = None,
) -> Problem:
    """Return what the planner may know of rows in blocks, those of `source` if from a file."""
    n, p = shape
    held, block = _KEPT * 8.0 * min(n, BUFFER) * p, 0.0
    if source is not None:
        rows = _block_rows(source)
        block = 8.0 * min(n, rows) * p
        held += source.reading_bytes(rows) + _BLOCKS * block
    drawn = certifying_rows(ENDLESS, marks, p, resources["memory"] / _DRAWN)
    held += 12.0 * drawn * p
    cost = KernelCost(2.0 * p + 20, landmarks=marks)
    room = resources | {"held": held, "block_bytes": block}
    return Problem(n, p, pairs, 8, tol=tol, kernel=cost, **room)


def _block_rows(source: BlockSource) -> int:
    return int(max(64, min(_FILE_ROWS, _FILE_BYTES / (8 * source.shape[1]))))


def merged(mine: Stream | None, theirs: Stream | None) -> Stream:
    """Return what two streams on the same landmarks have seen."""
    if mine is None or theirs is None or mine.sums is None or theirs.sums is None:
        raise InputError(
            "only streams whose landmarks are settled can be merged",
            got="a model that has seen fewer than 10,000 rows, or none by partial_fit",
            fix="give both the same `landmarks` (rows), or more rows",
        )
    return dataclasses.replace(
        mine,
        sums=copy.deepcopy(mine.sums).merge(theirs.sums),
        count=mine.count + theirs.count,
        itemsize=max(mine.itemsize, theirs.itemsize),
    )


def refuse_nothing(stream: Stream) -> None:
    """Refuse an iterator that gave no rows."""
    if stream.count == 0:
        raise InputError(
            "there are no rows to fit",
            got="an iterator without blocks",
            fix="pass an iterator that gives arrays of shape (n, p)",
        )


def refuse_twice(X: Any) -> None:
    """Refuse an iterator where rows are needed a second time."""
    if is_blocks(X):
        raise InputError(
            "an iterator is read once; its rows are gone when they could be projected",
            got=type(X).__name__,
            fix="call fit(iterator), and transform on each block of a second one",
        )


def refuse_matrix(kernel: object) -> None:
    """Refuse a precomputed matrix, which cannot come in blocks of rows."""
    if isinstance(kernel, Precomputed):
        raise NotSupportedError(
            "a precomputed matrix cannot come in blocks of rows",
            got=f"{kernel!r}",
            fix="use fit, or a kernel on rows",
        )


# -- blocks -------------------------------------------------------------------------------


def cut_along(blocks: Iterable[Any], weights: Any) -> Iterator[tuple[Any, Array | None]]:
    """Yield every block with its weights, cut from those (n,) of all rows; None has none.

    The weights are checked before the first block, their number as far as it can be known:
    too few at the block that they do not reach, too many at the end.
    """
    if weights is None:
        for block in blocks:
            yield block, None
        return
    given = len(weights) if np.ndim(weights) == 1 else 0
    counts, at = repeat_counts(weights, given), 0
    for block in blocks:
        start, at = at, at + (block.shape[0] if hasattr(block, "shape") else len(block))
        if at > given:
            raise wrong_weights(at, given)
        yield block, counts[start:at]
    if at < given:
        raise wrong_weights(at, given)


def opened(X: Any, foresee: Callable[[BlockSource], Plan]) -> tuple[Any, Plan | None]:
    """Return the rows of a file or function as an iterator of blocks, others as they are.

    Beside them the plan of rows in blocks: a file that is too large is refused unread.
    """
    function = callable(X) and is_scannable(X)
    if not function and not isinstance(X, BlockSource | str | os.PathLike):
        return X, None
    source = scan(X)
    if not isinstance(source, BlockSource):
        return source.array, None
    made = foresee(source)
    return source.blocks(_block_rows(source)), made


def _refuse_mixture(blocks: tuple[Array, ...], rows: Array) -> None:
    if blocks and hasattr(rows, "tocsr") != hasattr(blocks[0], "tocsr"):
        raise InputError(
            "the blocks of a stream must all be sparse, or none",
            got=f"{type(rows).__name__} after {type(blocks[0]).__name__}",
            fix="convert the blocks to one kind",
        )


# -- refinement ---------------------------------------------------------------------------


def kept_of(
    fitted: FittedKernel,
    source: Source,
    counts: Array | None,
    passes: int | None,
    project: Callable[[Source], Array],
    *,
    settled: bool,
) -> Kept:
    """Return what a refined model keeps, and the axes that its iteration starts from.

    Parameters
    ----------
    fitted : FittedKernel
        The model.
    source, counts
        Its training rows and their repeat counts.
    passes : int or None
        The most that may be made.
    project : function
        Gives the coordinates (n, k) of rows.
    settled : bool
        Whether passes and axes are both numbers: then so are the columns of a block.
    """
    marks, k, values = fitted.model, fitted.components, None
    known = marks.values if settled and marks is not None else None
    beyond = _START if passes is None else columns_beyond(known, k)
    if marks is None:
        start = _axes(fitted, source, counts, project)
    else:
        start = np.asarray(marks.axes_of(fitted.frame.ready(source), counts, k + beyond))
        # They bound the eigenvalues of the rows that the landmarks have seen, of no others:
        # on these they are orthonormal.
        off = np.abs(start.T @ start - np.eye(start.shape[1]))
        if np.max(off, initial=0.0) < _SAME:
            values = np.maximum(marks.values - marks.error, 0.0)
    return Kept(
        kernel=fitted.seen,
        frame=fitted.frame,
        passes=passes,
        values=values,
        columns=k + beyond if settled else None,
        start=start,
        choice=fitted.choice,
    )


def _axes(
    fitted: FittedKernel,
    source: Source,
    counts: Array | None,
    project: Callable[[Source], Array],
) -> Array | None:
    """Return √w·z/√λ (n, k) of a fitted model on these rows."""
    values = np.abs(fitted.eigenvalues)
    alive = values > fitted.certificate.zero_level
    if not np.any(alive):
        return None
    z = np.asarray(project(source), np.float64)[:, alive] / np.sqrt(values[alive])
    return z if counts is None else z * np.sqrt(counts)[:, None]


def refuse_passes(passes: object) -> None:
    if passes is not None and (not isinstance(passes, Integral) or passes < 1):
        raise InputError(
            "`passes` is a number of products with the kernel matrix",
            got=f"passes={passes!r}",
            fix="pass a whole number from 1 on, or None",
        )
