"""Filling missing cells of a source: look at all rows, begin on a few, end on all of them."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import Array, eps_of, quiet_blas
from mercer.errors import AccuracyWarning, DataWarning, InputError, warn
from mercer.estimators._filling_start import SAMPLING, begun_on, first_start, sample_rows
from mercer.estimators._pca_recipe import Recipe
from mercer.operators import (
    LEAST_SPREAD,
    Completed,
    CompletedBlocks,
    Completion,
    CompletionSums,
    Journal,
    PartsSurvey,
    Rule,
    Survey,
    block_length,
    fold,
    is_worth_compiling,
    refuse_lost,
    wrong_weights,
)
from mercer.sources import ArrayBlocks, BlockSource, Source, refuse_infinite

_PASSES = 4  # at least, that the rows must allow
NAMED = 5  # rows or columns that are named
AT_THE_MEAN = "their coordinates are zero, the mean"
_COARSEST = 1e-3  # change at which the steps end, whatever the tolerance of the axes
_SHARE = 0.3  # of the tolerance of the axes that the steps may leave
LARGE = 1e6  # cells above which rows are many


def surveyed(
    source: BlockSource, weights: Any, block_bytes: float, journal: Journal | None
) -> Survey:
    """Return what one pass tells of missing cells; refuse rows that can be read only once."""
    if source.max_passes - source.walks < _PASSES:
        raise InputError(
            "missing cells are filled in several passes over the rows",
            got=f"{source.label}, which can be read only {source.max_passes:g} times",
            fix="write the rows to a file, or pass a function that makes the iterator anew",
        )
    p, lasting = source.shape[1], isinstance(source, ArrayBlocks)
    survey = Survey(p, sample_rows(p), lasting=lasting)

    def step(part: slice, block: Any) -> None:
        survey.add(block, _weights_of(weights, part))

    rows = _per_block(source, block_bytes, journal)
    n = fold(source, rows, survey, step, walk="survey", title="missing cells", journal=journal)
    if weights is not None and n != len(weights):
        raise wrong_weights(n, len(weights))
    return survey


def check_survey(survey: Survey, source: BlockSource, names: Any, weights: Any) -> Any:
    """Return the weights of the rows that have a cell; refuse what cannot be filled."""
    if not survey.finite:
        refuse_infinite(source)
    refuse_bare(survey, names if source.names is None else source.names)
    if not survey.empty:
        return weights
    empty = np.asarray(survey.empty)
    counts = np.ones(survey.rows) if weights is None else weights.copy()
    counts[empty] = 0.0
    refuse_few(survey, float(np.sum(counts)))
    warn_empty(empty, "they are left out of the fit")
    return counts


def refuse_bare(survey: Survey | PartsSurvey, names: Any) -> None:
    """Name the columns of which no row that counts has a cell."""
    bare = np.flatnonzero(survey.counts == survey.rows)
    light = np.flatnonzero((survey.weighed == 0) & (survey.counts < survey.rows))
    if bare.size or light.size:
        which = bare if bare.size else light
        words = "in rows that count" if not bare.size else f"in {survey.rows:,} rows"
        raise InputError(
            "columns with nothing observed cannot be filled",
            got=f"{which.size} such columns, {words}: {_listed(which, names)}",
            fix="drop these columns",
        )


def refuse_few(survey: Survey | PartsSurvey, total: float) -> None:
    """Refuse rows of which fewer than two have a cell; `total` is what those weigh."""
    if total <= 1:
        seen = survey.rows - survey.left_out
        weigh = "" if total == seen else f", which weigh {total:g}"
        raise InputError(
            "fewer than two rows have an observed cell",
            got=f"{seen} of {survey.rows} rows{weigh}",
            fix="pass rows with observed cells",
        )


def warn_empty(rows: Array, what: str) -> None:
    """Name the rows with nothing observed."""
    say_empty(rows.size, _listed(rows, None), what)


def say_empty(count: int, listed: str, what: str) -> None:
    """Say that so many rows have nothing observed, and which."""
    warn(
        f"rows with nothing observed; {what}",
        got=f"{count:,} such rows: {listed}",
        fix="drop these rows",
        category=DataWarning,
    )


def _listed(which: Array, names: Any) -> str:
    some = [str(i) if names is None else repr(str(names[i])) for i in which[:NAMED]]
    return listed(some, which.size)


def listed(some: Sequence[str], count: int) -> str:
    """Return what the first of `count` things are called, and how many more there are."""
    left = count - len(some)
    return ", ".join(some) + (f" and {left:,} more" if left else "")


def rule_of(
    source: Source,
    survey: Survey | PartsSurvey,
    recipe: Recipe,
    rank: int,
    *,
    expected: bool = False,
    given: bool = False,
) -> Rule:
    """Return the rule of the steps; `given` says that the tolerance was asked for.

    Where it was not and rows are many, the last digits would cost passes and tell nothing:
    the sampling error of mean and axes is of the order 1/√n.
    """
    n, p = survey.rows, source.shape[1]
    plain = not recipe.standardize and recipe.root_feature_weight is None
    tol = _SHARE * recipe.tol
    sampled = not given and n * p > LARGE and tol < SAMPLING / math.sqrt(n)
    if sampled:
        tol = SAMPLING / math.sqrt(n)
    return Rule(
        rank,
        expected,
        None if plain else _factors(survey, recipe, source.dtype),
        min(tol, _COARSEST),
        held=survey.constant if survey.constant.any() else None,
        rate=float(survey.counts.sum()) / (n * p) if sampled else None,
        compiled=source.nnz is None and not expected and is_worth_compiling(n * p),
    )


def _factors(
    survey: Survey | PartsSurvey, recipe: Recipe, dtype: Any
) -> Callable[[Array, Array], Array | None]:
    """Return what maps variances and offsets to column factors; see `Rule`."""
    origin, exponent = survey.origin(dtype)
    level = np.ldexp(origin, -exponent)
    if recipe.standardize:
        half = np.ldexp(survey.high, -1) - np.ldexp(survey.low, -1)
        refuse_lost(~survey.constant & (np.ldexp(half, -exponent) < LEAST_SPREAD))

    def factor_of(variances: Array, offset: Array) -> Array | None:
        size = np.sqrt((level + offset) ** 2 + variances)
        return recipe.factor_of(variances, eps_of(dtype) * size)

    return factor_of


@final
@dataclasses.dataclass(frozen=True)
class Filling:
    """The steps over one source.

    Parameters
    ----------
    source : BlockSource
        Incomplete rows.
    survey : Survey
        What a pass has told of them.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    rule : Rule
        How a completion follows from the sums.
    block_bytes : float
        Size of a block.
    journal : Journal or None
        Where the sums of every pass are kept.
    """

    source: BlockSource
    survey: Survey
    weights: Any
    rule: Rule
    block_bytes: float
    journal: Journal | None = None

    def run(self) -> Completed:
        """Return the completion of all rows, begun on a sample of them."""
        n = self.survey.rows
        at, rows = self.survey.sample
        weights = None if self.weights is None else self.weights[at]
        first = first_start(self.survey, self.source.dtype, self.rule)
        with quiet_blas(self.source.shape[1]):  # asked for once, not in every step
            start = begun_on(rows, weights, n, first, self.rule)
            return start.steps(self._pass, self.rule, n)

    def whole(self, found: Completed) -> CompletionSums:
        """Return the sums of all rows with their p×p scatter: one pass, where not at hand."""
        return whole_sums(self._pass, found, self.rule)

    def completed(self, completion: Completion) -> CompletedBlocks:
        """Return the rows with their missing cells filled."""
        return CompletedBlocks(self.source, completion)

    def _pass(self, sums: CompletionSums, number: int) -> None:
        def step(part: slice, block: Any) -> None:
            sums.add(block, _weights_of(self.weights, part))

        fold(
            self.source,
            _per_block(self.source, self.block_bytes, self.journal),
            sums,
            step,
            walk=f"completion {number}",
            title=f"completion, pass {number}",
            journal=self.journal,
        )


def whole_sums(
    one_pass: Callable[[CompletionSums, int], Any], found: Completed, rule: Rule
) -> CompletionSums:
    """Return p×p sums where the steps ended: those of the last pass, or of one more."""
    if found.sums.basis is None:
        return found.sums
    sums = rule.sums(found.completion)
    one_pass(sums, found.passes + 1)
    return sums


def _per_block(source: BlockSource, block_bytes: float, journal: Journal | None) -> int:
    kept = None if journal is None else journal.block
    return kept or block_length(source, block_bytes)


def _weights_of(weights: Any, part: slice) -> Any:
    if weights is None:
        return None
    if part.stop > len(weights):
        raise wrong_weights(part.stop, len(weights))
    return weights[part]


def warn_unsettled(found: Completed, rule: Rule) -> None:
    """Warn where the steps have ended before the cells had settled."""
    if not found.settled:
        warn(
            "the filled cells have not settled",
            got=f"a change of {found.change:.1e} in pass {found.passes}, {rule.tol:.0e} wanted",
            fix="ask for fewer components, a larger `tol`, or drop columns with few cells",
            category=AccuracyWarning,
        )


def in_words(survey: Survey | PartsSurvey, found: Completed, method: str) -> str:
    """Return what was done, for a plan or a warning."""
    cells, columns = survey.rows * len(survey.counts), int(np.count_nonzero(survey.counts))
    empty = f", {survey.left_out:,} rows with nothing observed left out"
    return (
        f"missing: {int(survey.counts.sum()):,} of {cells:,} cells in {columns:,} columns,"
        f" {method} with {found.completion.axes.shape[1]} axes in {found.passes}"
        f" pass{'es' if found.passes > 1 else ''} after 1 that counted them"
        f"{empty if survey.left_out else ''}"
    )
