"""Filling missing cells of rows in parts: the steps begin on a worker, and sums come back."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.estimators._completion_wanted import Wanted
from mercer.estimators._filling import (
    listed,
    refuse_bare,
    refuse_few,
    say_empty,
    whole_sums,
)
from mercer.estimators._filling_start import Start, begun_on, first_start, sample_rows
from mercer.operators import (
    Completed,
    CompletedParts,
    Completion,
    CompletionSums,
    PartsSurvey,
    Rule,
    SumsOfParts,
    SurveyOfParts,
)
from mercer.sources import PartBlocks, SpreadSource, in_memory


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
    wanted : Wanted
        What is asked of the completion.
    weighted : bool
        Whether the rows have weights.
    """

    look: SurveyOfParts
    wanted: Wanted
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
    source: SpreadSource, names: Any, weights: Any, wanted: Wanted, block_bytes: float
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
    rule : Rule
        How a completion follows from the sums.
    block_bytes : float
        Size of the blocks in which a part is walked.
    """

    source: SpreadSource
    weights: Any
    begun: Begun
    rule: Rule
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
        work = SumsOfParts.of(sums, self.block_bytes)
        found = self.source.reduce(work, self.weights, title=f"completion, pass {number}")
        sums.restore(found)
