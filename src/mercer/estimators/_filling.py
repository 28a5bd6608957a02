"""Filling missing cells of a source: look at all rows, begin on a few, end on all of them."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array, eps_of, single_threaded_blas, task
from mercer.errors import AccuracyWarning, DataWarning, InputError, warn
from mercer.estimators._pca_recipe import Recipe
from mercer.operators import (
    Completed,
    CompletedBlocks,
    Completion,
    CompletionSums,
    Journal,
    PartsSurvey,
    Rule,
    Survey,
    block_length,
    complete,
    first_basis,
    first_completion,
    fold,
    is_worth_compiling,
    wrong_weights,
)
from mercer.sources import BlockSource, Source, refuse_infinite

_SAMPLE_ROWS = 4096  # that the steps begin on, and
_SAMPLE_BYTES = 32e6  # their size at most
_WORTH = 4  # times as many rows from which a sample is worth it
_BEGUN = 3e-3  # change at which the steps on the sample end: its own error is ten times that
_NAMED = 5  # rows or columns that are named
_COARSEST = 1e-3  # change at which the steps end, whatever the tolerance of the axes
_SHARE = 0.3  # of the tolerance of the axes that the steps may leave
_SAMPLING = 0.1  # of the sampling error, 1/√n, likewise
LARGE = 1e6  # cells above which rows are many


def surveyed(
    source: BlockSource, weights: Any, block_bytes: float, journal: Journal | None
) -> Survey:
    """Return what one pass tells of missing cells; refuse rows that can be read only once."""
    if source.max_passes - source.walks < _WORTH:
        raise InputError(
            "missing cells are filled in several passes over the rows",
            got=f"{source.label}, which can be read only {source.max_passes:g} times",
            fix="write the rows to a file, or pass a function that makes the iterator anew",
        )
    survey = Survey(source.shape[1], sample_rows(source.shape[1]))

    def step(part: slice, block: Any) -> None:
        survey.add(block, _weights_of(weights, part))

    rows = _per_block(source, block_bytes, journal)
    n = fold(source, rows, survey, step, walk="survey", title="missing cells", journal=journal)
    if weights is not None and n != len(weights):
        raise wrong_weights(n, len(weights))
    return survey


def sample_rows(p: int) -> int:
    """Return how many rows of p cells the steps may begin on."""
    return max(16, min(_SAMPLE_ROWS + 4 * p, int(_SAMPLE_BYTES / (8 * p))))


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
    shown = ", ".join(str(i) if names is None else repr(str(names[i])) for i in which[:_NAMED])
    return shown + (f" and {which.size - _NAMED:,} more" if which.size > _NAMED else "")


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
    origin, exponent = survey.origin(source.dtype)
    level = np.ldexp(origin, -exponent)

    def factor_of(variances: Array, offset: Array) -> Array | None:
        size = np.sqrt((level + offset) ** 2 + variances)
        return recipe.factor_of(variances, eps_of(source.dtype) * size)

    plain = not recipe.standardize and recipe.root_feature_weight is None
    tol = _SHARE * recipe.tol
    sampled = not given and n * p > LARGE and tol < _SAMPLING / math.sqrt(n)
    if sampled:
        tol = _SAMPLING / math.sqrt(n)
    return Rule(
        rank,
        expected,
        None if plain else factor_of,
        min(tol, _COARSEST),
        held=survey.constant if survey.constant.any() else None,
        rate=float(survey.counts.sum()) / (n * p) if sampled else None,
        compiled=source.nnz is None and not expected and is_worth_compiling(n * p),
    )


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
        start, basis = first_point(self.survey, self.source.dtype, self.rule)
        at, rows = self.survey.sample
        weights = None if self.weights is None else self.weights[at]
        if self.survey.rows >= _WORTH * len(rows) and (weights is None or enough(weights)):
            with task("a few rows"):
                begun = begun_on(rows, weights, start, basis, self.rule)
            start, basis = begun.completion, begun.basis
            return complete(self._pass, start, basis, hastened(self.rule, begun.rate))
        return complete(self._pass, start, basis, self.rule)

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


def first_point(
    survey: Survey | PartsSurvey, dtype: Any, rule: Rule
) -> tuple[Completion, Array | None]:
    """Return the completion by column means, and the basis to start from."""
    origin, exponent = survey.origin(dtype)
    basis = first_basis(len(origin), rule.rank)
    if basis is not None and rule.held is not None:
        basis[rule.held] = 0.0
    return first_completion(origin, exponent), basis


def begun_on(
    rows: Array,
    weights: Array | None,
    start: Completion,
    basis: Array | None,
    rule: Rule,
    *,
    few: bool = True,
) -> Completed:
    """Return where the steps on rows in memory end.

    Where they are a `few` of all, that is at a change below their sampling error.
    """
    tol = max(_BEGUN, rule.tol) if few else rule.tol
    coarse = dataclasses.replace(rule, tol=tol, most=100)
    with single_threaded_blas():  # they are too few for more
        return complete(lambda sums, _: sums.add(rows, weights), start, basis, coarse)


def hastened(rule: Rule, rate: float) -> Rule:
    """Return the rule with the rate of steps that a sample of the rows has shown."""
    return rule if rule.rate is None else dataclasses.replace(rule, rate=max(rule.rate, rate))


def enough(weights: Array) -> bool:
    """Tell whether a sample stands for all rows: no row of it outweighs the others."""
    return bool(np.sum(weights) > 8 * np.max(weights, initial=0.0) * np.sqrt(len(weights)))


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
    if found.change > rule.tol and rule.rank > 0 and found.passes >= rule.most:
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
        f" {method} with {found.completion.axes.shape[1]} axes in {found.passes} passes"
        f"{empty if survey.left_out else ''}"
    )
