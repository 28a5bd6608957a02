"""Kernel PCA of rows with missing cells: they are filled by linear PCA first."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, warn
from mercer.estimators.linear._pca_recipe import PCARecipe
from mercer.estimators.missing._filling import (
    CellFilling,
    check_survey,
    completion_rank,
    in_words,
    rule_of,
    surveyed,
    warn_empty,
    warn_unsettled,
)
from mercer.kernels import Precomputed
from mercer.operators import Completed, Completion
from mercer.operators.completion._completion_model import empty_rows
from mercer.sources import ArrayBlocks, Source, has_missing, in_memory

_TOL = 1e-6  # of the linear model; kernels promise less


class KernelMissing:
    """Mixed into kernel PCA: missing="em".

    A kernel is not defined on rows with gaps, and a Gaussian model of the columns knows
    nothing of it: what is filled lies on a plane, not on the curve that is looked for. So it
    is done with a warning, and certificates speak of the completed rows.
    """

    missing = "raise"

    def _fitted(self, source: Source, weights: Any) -> dict[str, Any]:
        above: Any = super()
        own: dict[str, Any] = {}
        if self._may_fill(source):
            found, counts, weights = self._filled(source, weights)
            own = {"n_missing_": int(counts.sum()), "missing_counts_": counts}
            own |= {"em_passes_": found.passes, "completion_": found.completion}
            if counts.any():
                source = in_memory(found.completion.filled(source.array))
        state: dict[str, Any] = above._fitted(source, weights)
        return state | own

    def _to_plan(self, source: Source) -> Source:
        """Return rows with means for their missing cells: a plan needs no better ones."""
        if source.array is None or not self._may_fill(source) or not has_missing(source):
            return source
        rows = np.array(source.array)
        gaps = np.isnan(rows)
        there = np.maximum(np.sum(~gaps, axis=0), 1)
        means = np.sum(np.where(gaps, 0.0, rows), axis=0) / there
        return in_memory(np.where(gaps, means.astype(rows.dtype), rows))

    def _may_fill(self, source: Source) -> bool:
        this: Any = self
        if self.missing == "raise" or source.dtype.kind != "f":
            return False
        return bool(this._numeric) and not isinstance(this._given, Precomputed)

    def _filled(self, source: Source, weights: Any) -> tuple[Completed, Array, Any]:
        """Return where the steps ended, counts per column, and the weights of the rows.

        Rows that are complete go through them too, for those to come that are not.
        """
        this: Any = self
        names = getattr(self, "feature_names_in_", None)
        blocks, size = ArrayBlocks(source, names), float(max(source.nbytes, 1))
        survey = surveyed(blocks, weights, size, None)
        weights = check_survey(survey, blocks, names, weights)
        n = survey.rows if weights is None else int(np.sum(weights) * (1 + 1e-12))
        recipe = PCARecipe(1, _TOL, 0, bool(this.standardize), None)
        at, sample = survey.sample
        rank = completion_rank(
            None,
            (n, source.shape[1]),
            sample,
            standardize=recipe.standardize,
            weights=None if weights is None else weights[at],
        )
        rule = rule_of(blocks, survey, recipe, rank)
        found = CellFilling(blocks, survey, weights, rule, size).run()
        if survey.counts.any():
            warn_unsettled(found, rule)
            warn(
                "missing cells were filled by linear PCA before the kernel saw them; the"
                " certificate speaks of the completed rows",
                got=in_words(survey, found, "em"),
                fix="compare with the complete rows alone where much is missing",
                category=DataWarning,
            )
        return found, survey.counts, weights

    def _completed(self, source: Source) -> Source:
        completion: Completion | None = self.__dict__.get("completion_")
        if completion is None or source.dtype.kind != "f" or source.array is None:
            return source
        if not has_missing(source):
            return source
        empty = empty_rows(source.array)
        if empty.size:
            warn_empty(empty, "they are projected as the mean")
        return in_memory(completion.filled(source.array))
