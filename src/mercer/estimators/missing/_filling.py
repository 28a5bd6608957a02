"""Filling missing cells of a source: look at all rows, begin on a few, end on all of them.

Where the steps on all rows begin: at the end of those on a few, and then on more of them.

How many axes missing cells are filled with.

What an estimator asks of a completion, in numbers: they may travel to where rows lie.
"""

import dataclasses
import math
from collections.abc import Callable
from numbers import Integral
from typing import Any, final

import numpy as np

from mercer.arrays import Array, eps_of, quiet_blas, single_threaded_blas, task
from mercer.errors import AccuracyWarning, InputError, warn
from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.walk._admission import NAMED, listed, say_empty
from mercer.estimators.walk._parameters import Kind, Names
from mercer.operators import (
    LEAST_SPREAD,
    Completed,
    CompletedBlocks,
    Completion,
    CompletionRule,
    CompletionSums,
    Journal,
    PartsSurvey,
    Survey,
    block_length,
    complete,
    first_basis,
    first_completion,
    fold,
    is_worth_compiling,
    missing_information,
    refuse_lost,
    wrong_weights,
)
from mercer.selection import cross_validated_rank, spectral_rank
from mercer.sources import ArrayBlocks, BlockSource, Source, refuse_infinite

SAMPLING = 0.1  # of the sampling error, that the steps may leave
_LOOSEST = 3.0  # times 1/√n that a sampling error may be: rows may have an order
_NEAR = 2.0  # λ/(λ - s²) of an axis above which the first steps do not show how slow it is
_SLOW = 0.8  # rate that is foreseen at most where axes are near the noise
_FEW_ROWS = 4096  # enough for a first look; the steps begin on half of them
_MORE = 4  # times as many, that they go on with
_BYTES = 32e6  # size of these at most
_STEPS = 30  # on them, at most: they are no end
_WORTH = 4  # times as many rows from which a sample is worth it


@final
@dataclasses.dataclass(frozen=True)
class Start:
    """A completion from which steps begin, and what is known of the way that is left.

    Parameters
    ----------
    completion : Completion
        Where the steps on m rows have ended, or the column means.
    basis : ndarray of shape (p, b) or None
        See `Completed`.
    rows : int
        m; 0 before the first steps.
    rate : float
        By which a step brings two points nearer, as they have shown; 0 if they did not.
    missing : float or None
        Rate of the steps that the place of the missing cells foretells, where it is known.
    spread : float
        c, where the completions of m and of n > m of its rows are c(1/m - 1/n)^½ apart: the
        sampling error of n rows is c/√n. Infinite while it is not known.
    """

    completion: Completion
    basis: Array | None
    rows: int = 0
    rate: float = 0.0
    missing: float | None = None
    spread: float = math.inf

    def steps(
        self, one_pass: Callable[[CompletionSums, int], Any], rule: CompletionRule, n: int
    ) -> Completed:
        """Return where the steps on n rows end; see `complete`."""
        return complete(one_pass, self.completion, self.basis, self._known(rule, n))

    def _known(self, rule: CompletionRule, n: int) -> CompletionRule:
        """Return the rule with what is known; a tolerance that was given stays as it is."""
        if rule.rate is None or self.missing is None:
            return rule
        missing = max(rule.rate, self.missing)
        near = min(missing * self._nearness, _SLOW) if self.rows else 0.0
        rate = max(self.rate, missing, near)
        rule = dataclasses.replace(rule, rate=rate)
        if rule.rough or not 0 < self.spread < math.inf or self._nearness > _NEAR:
            return rule
        between = math.sqrt(1 / self.rows - 1 / n)

        def tol_of(moved: float) -> float:
            error = moved / (1 - rate) / between / math.sqrt(n)
            return min(max(rule.tol, SAMPLING * error), _LOOSEST * rule.tol)

        return dataclasses.replace(rule, apart=self.spread * between, tol_of=tol_of)

    @property
    def _nearness(self) -> float:
        """λ/(λ - s²) of the last axis: steps are slower where it is near the noise."""
        last = float(self.completion.values[-1]) if len(self.completion.values) else 0.0
        clear = last - self.completion.noise
        return last / clear if clear > 0 else math.inf

    def after(self, rows: Array, weights: Array | None, rule: CompletionRule) -> "Start":
        """Return where the steps on these rows (m, p), of which it knows some, end."""
        m = len(rows)

        def one_pass(sums: CompletionSums, _number: int) -> None:
            sums.add(rows, weights)

        with single_threaded_blas():  # they are too few for more
            found = self.steps(one_pass, rule, m)
        spread = math.inf
        if self.rows:
            left = 1 - min(max(rule.rate or 0.0, self.rate), _SLOW)
            spread = found.moved / left / math.sqrt(1 / self.rows - 1 / m)
        rate = max(self.rate, found.rate)
        return Start(found.completion, found.basis, m, rate, self.missing, spread)

    def told(self, rows: Array, weights: Array | None) -> "Start":
        """Return it with what the missing cells of these rows foretell."""
        with single_threaded_blas():
            missing = missing_information(self.completion, rows, weights)
        return dataclasses.replace(self, missing=missing)


def first_start(survey: Survey | PartsSurvey, dtype: Kind, rule: CompletionRule) -> Start:
    """Return the completion by column means."""
    origin, exponent = survey.origin(dtype)
    basis = first_basis(len(origin), rule.rank)
    if basis is not None and rule.held is not None:
        basis[rule.held] = 0.0
    return Start(first_completion(origin, exponent), basis)


def begun_on(
    rows: Array, weights: Array | None, n: int, start: Start, rule: CompletionRule
) -> Start:
    """Return where the steps on a sample (m, p) of n rows end; at the start if those are few.

    They begin on a few rows and go on with more: the fixed points of a quarter of the rows
    and of all are less than two sampling errors apart. What the sample leaves to do need not
    be below its own error. Where the steps on all rows are to end at a share of the sampling
    error, the sample tells how slow they are.
    """
    few, most = _few(rows.shape[1]), n // _WORTH
    sizes: tuple[int, ...] = (len(rows),)
    if n > 2 * few:
        sizes = (min(few // 2, most), most)
    elif rule.rate is None:
        return start
    with task("a few rows"):
        for step in dict.fromkeys(_step(len(rows), size) for size in sizes):
            some, own = rows[::step], None if weights is None else weights[::step]
            some = some if start.rows else np.ascontiguousarray(some)  # read three times
            start = _begun(some, own, start, rule)
    return start


def _begun(rows: Array, weights: Array | None, start: Start, rule: CompletionRule) -> Start:
    """Return where the steps on some rows end; a sample of heavy rows only tells how slow."""
    heavy = weights is not None and not is_enough(weights)
    told = rule.rate is None or start.missing is not None
    if heavy and (told or not np.any(weights)):
        return start
    tol = max(1 / math.sqrt(len(rows)), rule.tol)
    rough = dataclasses.replace(rule, tol=tol, rough=True, most=_STEPS)
    then = start.after(rows, weights, rough)
    if not told:
        then = then.told(rows, weights)
    return dataclasses.replace(start, missing=then.missing) if heavy else then


def is_enough(weights: Array) -> bool:
    """Tell whether a sample stands for all rows: no row of it outweighs the others."""
    return bool(weights.sum() > 8 * weights.max(initial=0.0) * math.sqrt(len(weights)))


def sample_rows(p: int) -> int:
    """Return how many rows of p cells are kept for the steps to begin on."""
    return max(16, min(_MORE * (_FEW_ROWS + 4 * p), int(_BYTES / (8 * p))))


def few_of(rows: Array) -> slice:
    """Return which rows (m, p) of a sample, evenly spaced, are enough for a first look."""
    return slice(None, None, _step(len(rows), _few(rows.shape[1])))


def _few(p: int) -> int:
    return min(_FEW_ROWS + 4 * p, sample_rows(p))


def _step(count: int, most: int) -> int:
    """Return the power of two s for which every s-th of `count` rows are at most `most`."""
    step = 1
    while -(-count // step) > most:
        step *= 2
    return step


FEWEST_PASSES = 4  # at least, that the rows must allow
_COARSEST = 1e-3  # change at which the steps end, whatever the tolerance of the axes
_SHARE = 0.3  # of the tolerance of the axes that the steps may leave
LARGE = 1e6  # cells above which rows are many


def surveyed(
    source: BlockSource, weights: Array | None, block_bytes: float, journal: Journal | None
) -> Survey:
    """Return what one pass tells of missing cells; refuse rows that can be read only once."""
    if source.max_passes - source.walks < FEWEST_PASSES:
        raise InputError(
            "missing cells are filled in several passes over the rows",
            got=f"{source.label}, which can be read only {source.max_passes:g} times",
            fix="write the rows to a file, or pass a function that makes the iterator anew",
        )
    p, lasting = source.shape[1], isinstance(source, ArrayBlocks)
    survey = Survey(p, sample_rows(p), lasting=lasting)

    def step(part: slice, block: Array) -> None:
        survey.add(block, _weights_of(weights, part))

    rows = _per_block(source, block_bytes, journal)
    n = fold(source, rows, survey, step, walk="survey", title="missing cells", journal=journal)
    if weights is not None and n != len(weights):
        raise wrong_weights(n, len(weights))
    return survey


def check_survey(
    survey: Survey, source: BlockSource, names: Names, weights: Array | None
) -> Any:
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


def refuse_bare(survey: Survey | PartsSurvey, names: Names) -> None:
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


def _listed(which: Array, names: Names) -> str:
    some = [str(i) if names is None else repr(str(names[i])) for i in which[:NAMED]]
    return listed(some, which.size)


def _factors(
    survey: Survey | PartsSurvey, recipe: PCARecipe, dtype: Kind
) -> Callable[[Array, Array], Array | None]:
    """Return what maps variances and offsets to column factors; see `CompletionRule`."""
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
class CellFilling:
    """The steps over one source.

    Parameters
    ----------
    source : BlockSource
        Incomplete rows.
    survey : Survey
        What a pass has told of them.
    weights : ndarray of shape (n,) or None
        Repeat counts.
    rule : CompletionRule
        How a completion follows from the sums.
    block_bytes : float
        Size of a block.
    journal : Journal or None
        Where the sums of every pass are kept.
    """

    source: BlockSource
    survey: Survey
    weights: Array | None
    rule: CompletionRule
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
        def step(part: slice, block: Array) -> None:
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
    one_pass: Callable[[CompletionSums, int], Any], found: Completed, rule: CompletionRule
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


def _weights_of(weights: Array | None, part: slice) -> Any:
    if weights is None:
        return None
    if part.stop > len(weights):
        raise wrong_weights(part.stop, len(weights))
    return weights[part]


def warn_unsettled(found: Completed, rule: CompletionRule) -> None:
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


def completion_rank(
    wanted: Any,
    shape: tuple[int, int],
    sample: Array | tuple[Array, float],
    recipe: PCARecipe | None = None,
    weights: Array | None = None,
) -> int:
    """Return the rank k of a completion, at most p - 1 and n - 2.

    A share of variance, "mle" and None say how many axes are kept, not how many fill a cell
    well: then the number is cross-validated on the sample. It may be 0, which fills with means.

    Parameters
    ----------
    wanted : int, float, str or None
        `n_components` of the estimator; a whole number is taken at its word.
    shape : tuple of int
        Rows that count, and columns.
    sample : ndarray of shape (m, p) or tuple of ndarray and float
        Evenly spaced incomplete rows; of complete rows their leading variances and the total.
    recipe : PCARecipe or None
        Whether columns count by their spread, and what they are multiplied by.
    weights : ndarray of shape (m,) or None
        Repeat counts of the sample.
    """
    n, p = shape
    most = max(min(p - 1, n - 2), 0)
    if isinstance(wanted, Integral) and not isinstance(wanted, bool):
        return min(int(wanted), most)
    if isinstance(sample, tuple):
        values, total = sample
        return min(spectral_rank(values, total, n, p).rank, most)
    few = few_of(sample)
    sample, weights = sample[few], None if weights is None else weights[few]
    root = None if recipe is None else recipe.root_feature_weight
    factor = np.ones(p) if root is None else root
    if recipe is not None and recipe.standardize:
        factor = factor * _spread_factor(sample, weights)
    return cross_validated_rank(sample * factor, most, weights).rank


def _spread_factor(sample: Array, weights: Array | None) -> Array:
    """Return what brings the observed cells of each column to spread one; 1 without spread."""
    seen = ~np.isnan(sample)
    counts = np.ones(len(sample)) if weights is None else weights
    count = counts @ seen
    count = np.where(count > 0, count, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        cells = np.where(seen, sample, 0.0)
        middle = counts @ (cells / count)
        gaps = np.where(seen, sample - middle, 0.0)
        size = np.max(np.abs(gaps), axis=0, initial=0.0)
        unit = np.where((size > 0) & np.isfinite(size), size, 1.0)
        spread = unit * np.sqrt(counts @ (gaps / unit) ** 2 / count)
        found = 1 / np.where(spread > 0, spread, 1.0)
    return np.where(np.isfinite(found), found, 1.0)


@final
@dataclasses.dataclass(frozen=True)
class FillingTask:
    """What the rule of the steps follows from, once a survey has told of the rows.

    Parameters
    ----------
    components : int, float, str or None
        `n_components` of the estimator.
    recipe : PCARecipe
        Tolerance, and what columns are multiplied by.
    expected : bool
        See `CompletionRule`.
    given : bool
        Whether the tolerance was asked for.
    """

    components: Any
    recipe: PCARecipe
    expected: bool = False
    given: bool = False

    def rule(
        self,
        source: Source,
        survey: Survey | PartsSurvey,
        n: int,
        rank: int | None = None,
        *,
        weights: Array | None = None,
    ) -> CompletionRule:
        """Return the rule for n rows that count; a `rank` that was found is kept.

        `weights` are those of the sample of the survey. Where no tolerance was given and rows
        are many, the last digits would cost passes and tell nothing: the sampling error of
        mean and axes is of the order 1/√n.
        """
        recipe, p, cells = self.recipe, source.shape[1], survey.rows * source.shape[1]
        if rank is None:
            sample = survey.sample[1]
            rank = completion_rank(self.components, (n, p), sample, recipe, weights)
        plain = not recipe.standardize and recipe.root_feature_weight is None
        tol, least = _SHARE * recipe.tol, SAMPLING / math.sqrt(survey.rows)
        sampled = not self.given and cells > LARGE and tol < least
        return CompletionRule(
            rank,
            self.expected,
            None if plain else _factors(survey, recipe, source.dtype),
            min(least if sampled else tol, _COARSEST),
            held=survey.constant if survey.constant.any() else None,
            rate=float(survey.counts.sum()) / cells if sampled else None,
            compiled=source.nnz is None and not self.expected and is_worth_compiling(cells),
        )
