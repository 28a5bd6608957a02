"""PCA of rows some of whose cells are missing: looked for, filled, and analysed.

Of rows in parts the steps begin on a worker, and sums come back.
"""

import dataclasses
import logging
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mercer import planning
from mercer.arrays import EPS, Array, at_most, thread_count
from mercer.errors import BudgetError
from mercer.estimators.linear._summed_rows import Summed
from mercer.estimators.missing import _filling as steps
from mercer.estimators.missing._filling import LARGE
from mercer.estimators.walk._admission import AT_THE_MEAN, listed, refuse_few_rows, say_empty
from mercer.estimators.walk._parameters import Attributes, Names, learned
from mercer.estimators.walk._spectral_estimator import counted_shape, planned
from mercer.operators import (
    Completed,
    CompletedBlocks,
    CompletedParts,
    Completion,
    CompletionRule,
    CompletionSums,
    CompletionSumsOfParts,
    Journal,
    PartsSurvey,
    RunningMoments,
    Survey,
    SurveyOfParts,
    first_completion,
    sums_width,
)
from mercer.sources import (
    ArrayBlocks,
    BlockSource,
    PartBlocks,
    Source,
    SpreadSource,
    has_missing,
    in_memory,
)

if TYPE_CHECKING:
    from mercer.estimators.linear.pca import PCA


@final
@dataclasses.dataclass(frozen=True)
class Begun:
    """What the first pass brings back: the survey without its rows, and where to begin."""

    survey: PartsSurvey
    rank: int | None = None
    start: steps.Start | None = None


@final
@dataclasses.dataclass(frozen=True)
class BeginOnParts:
    """The survey of parts, at whose end the steps begin on the rows that were kept.

    Rows and weights of the sample never leave the worker on which the last parts were
    joined.

    Parameters
    ----------
    look : SurveyOfParts
        The survey.
    wanted : FillingTask
        What is asked of the completion.
    weighted : bool
        Whether the rows have weights.
    """

    look: SurveyOfParts
    wanted: steps.FillingTask
    weighted: bool

    def part(self, rows: PartBlocks, weights: Array | None) -> PartsSurvey:
        """See `SurveyOfParts.part`."""
        return self.look.part(rows, weights)

    def merge(self, one: PartsSurvey, other: PartsSurvey) -> PartsSurvey:
        """See `SurveyOfParts.merge`."""
        return self.look.merge(one, other)

    def finish(self, survey: PartsSurvey) -> Begun:
        """Return the survey, and where the steps on its sample ended."""
        hopeless = survey.total <= 1 or np.any(survey.weighed == 0)  # they will be refused
        if hopeless or not survey.counts.any():
            return Begun(survey.without_rows())
        rows = survey.kept
        n, weights = counted(survey, self.weighted), survey.kept_weights
        rule = self.wanted.rule(in_memory(rows), survey, n, weights=weights)
        own = None if np.all(weights == 1) else weights
        start = steps.begun_on(
            rows, own, survey.rows, steps.first_start(survey, rows.dtype, rule), rule
        )
        if start.rows == 0 and survey.step == 1:  # all rows are here
            start = start.after(rows, own, rule)
        return Begun(survey.without_rows(), rule.rank, start)


def counted(survey: PartsSurvey, weighted: bool) -> int:
    """Return the rows that count, repeated ones as often as they stand."""
    if not weighted and not survey.left_out:
        return survey.rows
    return int(survey.total * (1 + 1e-12))


def filling_of_parts(
    source: SpreadSource,
    names: Names,
    weights: Array | None,
    wanted: steps.FillingTask,
    block_bytes: float,
) -> "FillingParts | None":
    """Return the steps over rows in parts, or None where no cell is missing: one pass."""
    look = SurveyOfParts(steps.sample_rows(source.shape[1]), block_bytes)
    work = BeginOnParts(look, wanted, weights is not None)
    begun: Begun = source.reduce(work, weights, title="missing cells")
    survey = begun.survey
    if not survey.counts.any():
        return None
    names = names if source.names is None else source.names
    if weights is None or survey.total > 0:
        steps.refuse_bare(survey, names)
    steps.refuse_few(survey, survey.total)
    if survey.left_out:
        named = listed(survey.named, survey.left_out)
        say_empty(survey.left_out, named, "they are left out of the fit")
    n = counted(survey, weights is not None)
    rule = wanted.rule(source, survey, n, begun.rank)
    return FillingParts(source, weights, begun, rule, block_bytes)


@final
@dataclasses.dataclass(frozen=True)
class FillingParts:
    """The steps over rows in parts; see `Filling`.

    Parameters
    ----------
    source : SpreadSource
        Incomplete rows.
    weights : object or None
        Repeat counts, as ``source.weights_of`` returned them.
    begun : Begun
        What the first pass has brought back.
    rule : CompletionRule
        How a completion follows from the sums.
    block_bytes : float
        Size of the blocks in which a part is walked.
    """

    source: SpreadSource
    weights: Array | None
    begun: Begun
    rule: CompletionRule
    block_bytes: float

    @property
    def survey(self) -> PartsSurvey:
        """What a pass has told of the rows."""
        return self.begun.survey

    def run(self) -> Completed:
        """Return the completion of all rows."""
        start = self.begun.start or steps.first_start(self.survey, self.source.dtype, self.rule)
        return start.steps(self._pass, self.rule, self.survey.rows)

    def whole(self, found: Completed) -> CompletionSums:
        """See `Filling.whole`."""
        return steps.whole_sums(self._pass, found, self.rule)

    def completed(self, completion: Completion) -> CompletedParts:
        """Return the rows with their missing cells filled, where they lie."""
        survey = self.survey
        return CompletedParts(self.source, completion, survey.left_out, survey.total)

    def _pass(self, sums: CompletionSums, number: int) -> None:
        work = CompletionSumsOfParts.of(sums, self.block_bytes)
        found = self.source.reduce(work, self.weights, title=f"completion, pass {number}")
        sums.restore(found)


_log = logging.getLogger("mercer")
_COPY = 64e6  # bytes of rows in memory that are completed in one go
_LANE = 8e6  # bytes of the tiles of one thread: rows, which are missing, and what is expected
_LOOKED_BACK = 14  # completions that an extrapolation holds, and those being made
_SUMS = 32.0  # bytes per entry of p×p sums, with those of a block and LAPACK's workspace
Fillings = steps.CellFilling | FillingParts


Whole = Callable[[Source, Any], dict[str, Any]]  # the fit of complete rows with weights


def completed_fit(
    fit: "PCA", whole: Whole, source: Source, weights: Array | None
) -> Attributes:
    """Return the fitted attributes of rows some of whose cells are missing.

    "em" fills them by regularised iterative PCA, out of core too, and analyses the completed
    rows as any others, by `whole`; "ppca" takes the scatter that is expected under the
    likeliest Gaussian with that many axes. Rows that are complete are analysed as they are.
    """
    looked = source.dtype.kind == "f"
    if looked and not isinstance(source, SpreadSource):
        _refuse_unaffordable(fit, source, weights)
    filling = _filling_of(fit, source, weights) if looked else None
    if filling is None:
        fit._note("missing: no cell, as 1 pass has shown" if looked else "")
        state = whole(source, weights)
        counts, passes, share = np.zeros(source.shape[1], np.int64), 0, 1.0
        completion = _own_completion(fit, state, counted_shape(source, weights))
    else:
        survey = filling.survey
        _refuse_filled(fit, filling)
        found = filling.run()
        counts, passes = survey.counts, found.passes
        share = float(np.sum(survey.weighed)) / (found.sums.total * len(counts))
        note = steps.in_words(survey, found, fit.missing)
        fit._note(note)
        _log.info("%s", note)
        if fit.missing == "ppca":
            state, completion = _expected(fit, filling, found), found.completion
        else:
            state, completion = _analysed(fit, whole, filling, found), found.completion
        state["n_samples_"] = survey.rows
        steps.warn_unsettled(found, filling.rule)
    own = {"n_missing_": int(counts.sum()), "missing_counts_": counts}
    own |= {"_observed_share": share}
    return state | own | {"em_passes_": passes, "completion_": completion}


def _filling_of(fit: "PCA", source: Source, weights: Array | None) -> Fillings | None:
    """Return the steps over the rows, or None where no cell is missing: one pass."""
    wanted, names = fit._filling_task(source), fit._names
    if isinstance(source, SpreadSource):
        size = fit._block_bytes(source)
        found = filling_of_parts(source, names, weights, wanted, size)
        refuse_few_rows(fit, source)
        return found
    blocks = source if isinstance(source, BlockSource) else ArrayBlocks(source, names)
    size = fit._block_bytes(blocks)
    survey = steps.surveyed(blocks, weights, size, fit._journal)
    if not survey.counts.any():
        return None
    return cell_filling(blocks, survey, weights, names, wanted, size, fit._journal)


def cell_filling(
    blocks: BlockSource,
    survey: Survey,
    weights: Array | None,
    names: Names,
    wanted: steps.FillingTask,
    size: float,
    journal: Journal | None = None,
) -> steps.CellFilling:
    """Return the steps over rows of which a survey has told; see `CellFilling`."""
    weights = steps.check_survey(survey, blocks, names, weights)
    n = survey.rows if weights is None else int(np.sum(weights) * (1 + 1e-12))
    some = None if weights is None else weights[survey.sample[0]]
    rule = wanted.rule(blocks, survey, n, weights=some)
    return steps.CellFilling(blocks, survey, weights, rule, size, journal)


def _refuse_unaffordable(fit: "PCA", source: Source, weights: Array | None) -> None:
    """Refuse what the memory allowed does not hold, before any pass looks for cells."""
    if source.max_passes < steps.FEWEST_PASSES:  # that is what is refused
        return
    if _held_whole(fit, source) is None:  # as they would be completed
        blocks = source if isinstance(source, BlockSource) else ArrayBlocks(source, fit._names)
        source = CompletedBlocks(blocks, first_completion(np.zeros(source.shape[1]), 0))
    problem = fit._problem(source, weights)
    try:
        planned(_of_sums(problem) if fit.missing == "ppca" else problem)
    except BudgetError as error:
        if fit.missing == "em":
            raise
        what = 'missing="ppca" keeps p×p sums, which do not fit the memory allowed'
        fix = f'{error.fix}, or pass missing="em"'
        raise BudgetError(what, got=error.got, fix=fix) from None


def _refuse_filled(fit: "PCA", filling: Fillings) -> None:
    """Refuse what the memory allowed does not hold once cells are filled block by block."""
    if fit.missing == "em" and _held_whole(fit, filling.source) is None:
        # A plan asks for no cell, so that any completion will do.
        completed = filling.completed(first_completion(np.zeros(filling.source.shape[1]), 0))
        planned(fit._problem(completed, filling.weights))


def _of_sums(problem: planning.Problem) -> planning.Problem:
    """Return the problem of p×p sums that the steps have made."""
    return dataclasses.replace(
        problem, itemsize=8, allowed=("gram",), gram_flops=0.0, time=None
    )


def filling_bytes(fit: "PCA", source: Source, block: float) -> tuple[float, float]:
    """Return what filling takes before a path begins, and what filled rows take that are held.

    That is the sample of the survey and the copies that the steps begin on, the sums of each
    thread, with those that a step looks back on, its tiles, and blocks of rows elsewhere.

    Parameters
    ----------
    fit : PCA
        With `missing` other than "raise".
    source : Source
        Rows that do not lie in parts.
    block : float
        Bytes of a block of rows that are read, 0 for rows in memory.
    """
    if isinstance(source, SpreadSource):
        return 0.0, 0.0
    (n, p), threads = source.shape, thread_count()
    wanted = fit.n_components
    k = p if not isinstance(wanted, Integral) else min(int(wanted), p)
    width = p if fit.missing == "ppca" else sums_width(p, k)
    sample = 8.0 * min(n, steps.sample_rows(p)) * p
    before = sample * (3 if block else 2) + threads * min(_LANE, 64.0 * n * p)
    before += 8.0 * p * width * (threads + 2) + 8.0 * _LOOKED_BACK * p * (k + 2)
    before += _SUMS * p * p if width == p else 0.0
    filled = 0.0 if _held_whole(fit, source) is None else float(source.nbytes)
    return before + 3.5 * block, filled


def _held_whole(fit: "PCA", source: Source) -> Any:
    """Return rows in memory that are so few that they are completed in one go, or None."""
    held = source.held if isinstance(source, ArrayBlocks) else source.array
    few = held is not None and source.nbytes <= min(_COPY, fit._budget() / 4)
    return held if few and fit._journal is None else None


def _analysed(fit: "PCA", whole: Whole, filling: Fillings, found: Completed) -> Attributes:
    """Return the fitted attributes of the completed rows.

    Small tables are filled whole. Of large ones the last pass has left the scatter,
    which is taken where the plan wants no more than that.
    """
    blocks, completion = filling.source, found.completion
    n, p = blocks.shape
    if n * p > LARGE and found.sums.basis is None and blocks.nnz is None:
        state = _from_sums(fit, filling, found)
        if state is not None:
            return state
    held = _held_whole(fit, filling.source)
    rows: Source = filling.completed(completion)
    if held is not None:
        rows = in_memory(completion.filled(held))
    return whole(rows, filling.weights)


def _from_sums(fit: "PCA", filling: Fillings, found: Completed) -> Attributes | None:
    """Return the attributes from the scatter of the last pass, or None: it falls short."""
    completed = filling.completed(found.sums.completion)
    made = fit._settle_plan(planned(fit._problem(completed, filling.weights)))
    if made.chosen.name != "gram" or completed.dtype != np.float64:
        return None
    source = _summed(found.sums, filling.source)
    with at_most(made.chosen.threads):
        spectrum, axes = fit._solve(source, made.chosen, None)
    if not spectrum.certificate.met or fit._unresolved(spectrum, axes):
        return None
    _log.info("%s", made)
    return {**learned(fit), "plan_": made, **fit._scale(spectrum, axes, source)}


def _expected(fit: "PCA", filling: Fillings, found: Completed) -> Attributes:
    """Return the attributes of the expected scatter: sums that are all there is."""
    source = _summed(filling.whole(found), filling.source)
    problem = _of_sums(fit._problem(source))
    # The sums are there; the steps that made them have read the rows.
    asked = fit._problem(filling.source, filling.weights)
    problem = dataclasses.replace(problem, before=max(problem.before, asked.before))
    made = fit._settle_plan(planning.plan(problem))
    _log.info("%s", made)
    spectrum, axes = fit._walk(source, made, None)
    state = {**learned(fit), "plan_": made, **fit._scale(spectrum, axes, source)}
    fit._warn(spectrum)
    return state


def to_come(missing: str) -> str:
    """Return what a plan says of missing cells before anyone has looked for them."""
    note = (
        "missing: 1 pass looks for such cells; where there are any, more passes fill"
        f" them before these, 1 to 5 as a rule and {CompletionRule(0).most} at most"
    )
    return note + ("; then gram takes their sums" if missing == "ppca" else "")


def _own_completion(fit: "PCA", state: Attributes, shape: tuple[int, int]) -> Completion:
    """Return the completion that complete rows make: their own axes, and no steps."""
    values, centring = state["_unit_deviations"] ** 2, state["_centring"]
    axes = state["components_"].T.astype(np.float64)
    if not len(values):  # no axis beyond noise: the means fill the cells
        noise = float(np.ldexp(state["noise_variance_"], -2 * centring.unit))
        return Completion(centring, axes, values, noise)
    share = float(state["explained_variance_ratio_"][0])
    total = float(values[0]) / share
    rank = min(steps.completion_rank(fit.n_components, shape, (values, total)), state["rank_"])
    rule = CompletionRule(rank, expected=fit.missing == "ppca")
    leading = values if len(values) > rank else np.append(values, values[-1:])
    noise = rule.noise_of(leading[: rank + 1], total, *shape)
    return Completion(centring, axes[:, :rank], values[:rank], noise)


# -- new rows ------------------------------------------------------------------------------


def with_filled_cells(source: Source, completion: Completion, names: Names) -> Source:
    """Return rows with their missing cells filled, where a model can do that.

    Rows without any are handed on as they are, so that they take the path they would.
    """
    if source.dtype.kind != "f":
        return source
    if isinstance(source, BlockSource):
        return CompletedBlocks(source, completion, watch=True)
    if not has_missing(source):
        return source
    return CompletedBlocks(ArrayBlocks(source, names), completion, watch=True)


def zero_where_empty(source: BlockSource, parts: Iterator[Array]) -> Iterator[Array]:
    """Return the coordinates of every block; rows with nothing observed lie at zero."""
    return _zeroed(source, parts) if isinstance(source, CompletedBlocks) else parts


def _zeroed(source: CompletedBlocks, parts: Iterator[Array]) -> Iterator[Array]:
    done = 0
    for part in parts:
        if source.empty:
            here = np.asarray(source.empty) - done
            part[here[(here >= 0) & (here < len(part))]] = 0.0
        yield part
        done += len(part)
    if source.empty:
        steps.warn_empty(np.asarray(source.empty), AT_THE_MEAN)


def _summed(sums: CompletionSums, source: Source) -> Summed:
    """Return the scatter of a pass in the place of a table."""
    counted = int(sums.total * (1 + 1e-12))
    return Summed(_moments(sums), source.dtype, source.products, counted, False)


def _moments(sums: CompletionSums) -> RunningMoments:
    """Return the expected scatter as the sums that paths of PCA take."""
    centring, n = sums.completion.centring, sums.total
    factor = np.ones(len(sums.first)) if centring.factor is None else centring.factor
    made = RunningMoments()
    made.rows, made.total, made.anchor = sums.rows, n, n
    made.exponent, made.origin = centring.exponent, centring.origin.astype(np.float64)
    made.offset = sums.offset + sums.first / n / factor
    scatter = sums.second - np.outer(sums.first, sums.first / n)
    made.scatter = (scatter + scatter.T) / (2 * np.outer(factor, factor))
    raw = np.diagonal(sums.second) / factor**2
    made.raw_trace = float(np.sum(raw))
    made.errors = EPS * (8 + np.sqrt(sums.rows)) * raw
    made.drifts = np.zeros(len(raw))
    made.error = float(np.sum(made.errors))
    return made
