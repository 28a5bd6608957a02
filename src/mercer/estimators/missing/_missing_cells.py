"""Estimators that may be given rows with missing cells.

Filling missing cells of rows in parts: the steps begin on a worker, and sums come back.
"""

import dataclasses
import logging
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer import planning
from mercer.arrays import EPS, Array, show_bytes
from mercer.errors import BudgetError
from mercer.estimators.linear._pca_recipe import PCARecipe, root_feature_weight
from mercer.estimators.linear._summed_rows import Summed
from mercer.estimators.missing._filling import (
    AT_THE_MEAN,
    LARGE,
    CellFilling,
    FillingTask,
    Start,
    begun_on,
    check_survey,
    completion_rank,
    first_start,
    in_words,
    listed,
    refuse_bare,
    refuse_few,
    sample_rows,
    say_empty,
    surveyed,
    warn_empty,
    warn_unsettled,
    whole_sums,
)
from mercer.estimators.walk._admission import refuse_few_rows
from mercer.estimators.walk._parameters import learned
from mercer.estimators.walk._source_estimator import SourceEstimator, counted_shape
from mercer.estimators.walk._spectral_estimator import planned
from mercer.operators import (
    Completed,
    CompletedBlocks,
    CompletedParts,
    Completion,
    CompletionRule,
    CompletionSums,
    CompletionSumsOfParts,
    PartsSurvey,
    RunningMoments,
    Survey,
    SurveyOfParts,
    first_completion,
)
from mercer.planning import Plan
from mercer.sources import (
    ArrayBlocks,
    BlockSource,
    PartBlocks,
    Source,
    SpreadSource,
    has_missing,
    in_memory,
)


@final
@dataclasses.dataclass(frozen=True)
class Begun:
    """What the first pass brings back: the survey without its rows, and where to begin."""

    survey: PartsSurvey
    rank: int | None = None
    start: Start | None = None


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
    wanted: FillingTask
    weighted: bool

    def part(self, rows: PartBlocks, weights: Array | None) -> PartsSurvey:
        """See `SurveyOfParts.part`."""
        return self.look.part(rows, weights)

    def merge(self, one: PartsSurvey, other: PartsSurvey) -> PartsSurvey:
        """See `SurveyOfParts.merge`."""
        return self.look.merge(one, other)

    def finish(self, survey: PartsSurvey) -> Begun:
        """Return the survey, and where the steps on its sample ended."""
        if not survey.counts.any() or _hopeless(survey):
            return Begun(survey.without_rows())
        rows = survey.kept
        n, weights = counted(survey, self.weighted), survey.kept_weights
        rule = self.wanted.rule(in_memory(rows), survey, n, weights=weights)
        own = None if np.all(weights == 1) else weights
        start = begun_on(rows, own, survey.rows, first_start(survey, rows.dtype, rule), rule)
        if start.rows == 0 and survey.step == 1:  # all rows are here
            start = start.after(rows, own, rule)
        return Begun(survey.without_rows(), rule.rank, start)


def _hopeless(survey: PartsSurvey) -> bool:
    """Tell whether the rows will be refused."""
    return survey.total <= 1 or bool(np.any(survey.weighed == 0))


def counted(survey: PartsSurvey, weighted: bool) -> int:
    """Return the rows that count, repeated ones as often as they stand."""
    if not weighted and not survey.left_out:
        return survey.rows
    return int(survey.total * (1 + 1e-12))


def filling_of_parts(
    source: SpreadSource, names: Any, weights: Any, wanted: FillingTask, block_bytes: float
) -> "FillingParts | None":
    """Return the steps over rows in parts, or None where no cell is missing: one pass."""
    look = SurveyOfParts(sample_rows(source.shape[1]), block_bytes)
    work = BeginOnParts(look, wanted, weights is not None)
    begun: Begun = source.reduce(work, weights, title="missing cells")
    survey = begun.survey
    if not survey.counts.any():
        return None
    names = names if source.names is None else source.names
    if weights is None or survey.total > 0:
        refuse_bare(survey, names)
    refuse_few(survey, survey.total)
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
    weights: Any
    begun: Begun
    rule: CompletionRule
    block_bytes: float

    @property
    def survey(self) -> PartsSurvey:
        """What a pass has told of the rows."""
        return self.begun.survey

    def run(self) -> Completed:
        """Return the completion of all rows."""
        start = self.begun.start or first_start(self.survey, self.source.dtype, self.rule)
        return start.steps(self._pass, self.rule, self.survey.rows)

    def whole(self, found: Completed) -> CompletionSums:
        """See `Filling.whole`."""
        return whole_sums(self._pass, found, self.rule)

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
_SUMS = 32.0  # bytes per entry of p×p sums, with those of a block and LAPACK's workspace


class MissingCells(SourceEstimator):
    """Abstract: PCA of rows some of whose cells are missing.

    "em" fills them by regularised iterative PCA, out of core too, and analyses the completed
    rows as any others; "ppca" takes the scatter that is expected under the likeliest
    Gaussian with that many axes. Rows that are complete are analysed as if it were "raise".
    """

    missing = "raise"
    _note: str | None = None  # what was done about missing cells, once that is known
    _observed_share = 1.0  # of the cells of rows that have one, by their weights
    _fills_by = "em"  # what a refusal of missing cells names
    _zero_where_empty = True  # coordinates of rows with nothing observed, in parts too

    @property
    def _missing_fix(self) -> str:  # type: ignore[override]
        if "missing" not in self.get_params(deep=False):
            return ""
        how = f'pass missing="{self._fills_by}" at fit'
        return f"{how}, or drop or impute such rows or columns first"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: NaN is taken unless missing="raise"."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    # -- fit --------------------------------------------------------------------------

    def _walked(self, source: Source, weights: Any) -> dict[str, Any]:
        if self.missing == "raise":
            return super()._walked(source, weights)
        looked = source.dtype.kind == "f"
        filling = self._incomplete(source, weights) if looked else None
        if filling is None:
            self._note = "missing: no cell, as 1 pass has shown" if looked else ""
            state = super()._walked(source, weights)
            counts, passes, share = np.zeros(source.shape[1], np.int64), 0, 1.0
            completion = self._told_completion(state, counted_shape(source, weights))
        else:
            survey = filling.survey
            self._refuse_unaffordable(filling)
            found = filling.run()
            counts, passes = survey.counts, found.passes
            share = float(np.sum(survey.weighed)) / (found.sums.total * len(counts))
            self._note = in_words(survey, found, self.missing)
            _log.info("%s", self._note)
            make = self._expected if self.missing == "ppca" else self._analysed
            state, completion = make(filling, found)
            state["n_samples_"] = survey.rows
            warn_unsettled(found, filling.rule)
        state.pop("_note", None)
        own = {"n_missing_": int(counts.sum()), "missing_counts_": counts}
        own |= {"_observed_share": share}
        return state | own | {"em_passes_": passes, "completion_": completion}

    def _incomplete(self, source: Source, weights: Any) -> CellFilling | FillingParts | None:
        """Return the steps over the rows, or None where no cell is missing: one pass."""
        names = getattr(self, "feature_names_in_", None)
        if isinstance(source, SpreadSource):
            size = self._block_bytes(source)
            found = filling_of_parts(source, names, weights, self._wanted(source), size)
            refuse_few_rows(self, source)
            return found
        blocks = source if isinstance(source, BlockSource) else ArrayBlocks(source, names)
        survey = surveyed(blocks, weights, self._block_bytes(blocks), self._journal)
        if not survey.counts.any():
            return None
        return self._filling(blocks, survey, check_survey(survey, blocks, names, weights))

    def _filling(self, blocks: BlockSource, survey: Survey, weights: Any) -> CellFilling:
        n = survey.rows if weights is None else int(np.sum(weights) * (1 + 1e-12))
        some = None if weights is None else weights[survey.sample[0]]
        rule = self._wanted(blocks).rule(blocks, survey, n, weights=some)
        return CellFilling(
            blocks, survey, weights, rule, self._block_bytes(blocks), self._journal
        )

    def _wanted(self, source: Source) -> FillingTask:
        this: Any = self
        recipe = PCARecipe(
            components=1,
            tol=self._tolerance(source),
            seed=0,
            standardize=bool(this.standardize),
            root_feature_weight=root_feature_weight(this.feature_weight, source.shape[1]),
        )
        return FillingTask(
            this.n_components, recipe, self.missing == "ppca", given=self.tol is not None
        )

    def _refuse_unaffordable(self, filling: CellFilling | FillingParts) -> None:
        """Refuse what the memory allowed does not hold, before any pass fills a cell."""
        p = filling.source.shape[1]
        if self.missing == "em":
            if self._held_whole(filling) is None:
                # A plan asks for no cell, so that any completion will do.
                completed = filling.completed(first_completion(np.zeros(p), 0))
                planned(self._problem(completed, filling.weights))
            return
        if _SUMS * p * p > self._budget():
            raise BudgetError(
                'missing="ppca" keeps p×p sums, which do not fit the memory allowed',
                got=f"{show_bytes(_SUMS * p * p)} for {p:,} columns,"
                f" {show_bytes(self._budget())} allowed",
                fix='pass missing="em", or allow more memory',
            )

    def _held_whole(self, filling: CellFilling | FillingParts) -> Any:
        """Return rows in memory that are so few that they are completed in one go, or None."""
        blocks = filling.source
        if not isinstance(blocks, ArrayBlocks) or self._journal is not None:
            return None
        return blocks.held if blocks.nbytes <= min(_COPY, self._budget() / 4) else None

    def _analysed(
        self, filling: CellFilling | FillingParts, found: Completed
    ) -> tuple[dict[str, Any], Completion]:
        """Return the fitted attributes of the completed rows, and what completed them.

        Small tables are filled whole. Of large ones the last pass has left the scatter,
        which is taken where the plan wants no more than that.
        """
        blocks, completion = filling.source, found.completion
        n, p = blocks.shape
        if n * p > LARGE and found.sums.basis is None and blocks.nnz is None:
            state = self._from_sums(filling, found)
            if state is not None:
                return state, completion
        held = self._held_whole(filling)
        rows: Source = filling.completed(completion)
        if held is not None:
            rows = in_memory(completion.filled(held))
        return super()._walked(rows, filling.weights), completion

    def _from_sums(
        self, filling: CellFilling | FillingParts, found: Completed
    ) -> dict[str, Any] | None:
        """Return the attributes from the scatter of the last pass, or None: it falls short."""
        completed = filling.completed(found.sums.completion)
        made = self._settle_plan(planned(self._problem(completed, filling.weights)))
        if made.chosen.name != "gram" or completed.dtype != np.float64:
            return None
        source = _summed(found.sums, filling.source)
        spectrum, axes = self._solve(source, made.chosen, None)
        if not spectrum.certificate.met or self._unresolved(spectrum, axes):
            return None
        _log.info("%s", made)
        return {**learned(self), "plan_": made, **self._scale(spectrum, axes, source)}

    def _expected(
        self, filling: CellFilling | FillingParts, found: Completed
    ) -> tuple[dict[str, Any], Completion]:
        """Return the attributes of the expected scatter: sums that are all there is."""
        source = _summed(filling.whole(found), filling.source)
        problem = dataclasses.replace(
            self._problem(source), itemsize=8, allowed=("gram",), gram_flops=0.0, time=None
        )
        made = self._settle_plan(planning.plan(problem))
        _log.info("%s", made)
        spectrum, axes = self._walk(source, made, None)
        state = {**learned(self), "plan_": made, **self._scale(spectrum, axes, source)}
        self._warn(spectrum)
        return state, found.completion

    def _settle_plan(self, made: Plan) -> Plan:
        note = self._note
        if note is None and self.missing != "raise":
            note = (
                "missing: 1 pass looks for such cells; where there are any, more passes fill"
                f" them before these, 1 to 5 as a rule and {CompletionRule(0).most} at most"
            )
            note += "; then gram takes their sums" if self.missing == "ppca" else ""
        remark = "; ".join(filter(None, [made.remark, note]))
        return dataclasses.replace(made, remark=remark)

    def _told_completion(self, state: dict[str, Any], shape: tuple[int, int]) -> Completion:
        """Return the completion that complete rows make: their own axes, and no steps."""
        this: Any = self
        values, centring = state["_unit_deviations"] ** 2, state["_centring"]
        axes = state["components_"].T.astype(np.float64)
        if not len(values):  # no axis beyond noise: the means fill the cells
            noise = float(np.ldexp(state["noise_variance_"], -2 * centring.unit))
            return Completion(centring, axes, values, noise)
        share = float(state["explained_variance_ratio_"][0])
        total = float(values[0]) / share
        rank = min(completion_rank(this.n_components, shape, (values, total)), state["rank_"])
        rule = CompletionRule(rank, expected=self.missing == "ppca")
        leading = values if len(values) > rank else np.append(values, values[-1:])
        noise = rule.noise_of(leading[: rank + 1], total, *shape)
        return Completion(centring, axes[:, :rank], values[:rank], noise)

    # -- project ----------------------------------------------------------------------

    def _completed(self, source: Source) -> Source:
        """Return rows with their missing cells filled, where the model can do that.

        Rows without any are handed on as they are, so that they take the path they would.
        """
        completion = self.__dict__.get("completion_")
        if completion is None or source.dtype.kind != "f":
            return source
        if isinstance(source, BlockSource):
            return CompletedBlocks(source, completion, watch=True)
        if not has_missing(source):
            return source
        names = getattr(self, "feature_names_in_", None)
        return CompletedBlocks(ArrayBlocks(source, names), completion, watch=True)

    def _projected(self, source: BlockSource) -> Iterator[Array]:
        """Yield the coordinates of every block; rows with nothing observed lie at zero."""
        done = 0
        for part in super()._projected(source):
            if isinstance(source, CompletedBlocks) and source.empty:
                here = np.asarray(source.empty) - done
                part[here[(here >= 0) & (here < len(part))]] = 0.0
            yield part
            done += len(part)
        if isinstance(source, CompletedBlocks) and source.empty:
            warn_empty(np.asarray(source.empty), AT_THE_MEAN)


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
    made.raw_trace = float(np.sum(np.diagonal(sums.second) / factor**2))
    made.error = EPS * (8 + np.sqrt(sums.rows)) * made.raw_trace
    return made
