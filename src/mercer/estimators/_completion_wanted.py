"""What an estimator asks of a completion, in numbers: they may travel to where rows lie."""

import dataclasses
from typing import Any, final

from mercer.arrays import Array
from mercer.estimators._completion_rank import completion_rank
from mercer.estimators._filling import rule_of
from mercer.estimators._pca_recipe import Recipe
from mercer.operators import PartsSurvey, Rule, Survey
from mercer.sources import Source


@final
@dataclasses.dataclass(frozen=True)
class Wanted:
    """What the rule of the steps follows from, once a survey has told of the rows.

    Parameters
    ----------
    components : int, float, str or None
        `n_components` of the estimator.
    recipe : Recipe
        Tolerance, and what columns are multiplied by.
    expected : bool
        See `Rule`.
    given : bool
        Whether the tolerance was asked for.
    """

    components: Any
    recipe: Recipe
    expected: bool
    given: bool

    def rule(
        self,
        source: Source,
        survey: Survey | PartsSurvey,
        n: int,
        rank: int | None = None,
        *,
        weights: Array | None = None,
    ) -> Rule:
        """Return the rule for n rows that count; a `rank` that was found is kept.

        `weights` are those of the sample of the survey.
        """
        if rank is None:
            rank = completion_rank(
                self.components,
                (n, source.shape[1]),
                survey.sample[1],
                standardize=self.recipe.standardize,
                root_feature_weight=self.recipe.root_feature_weight,
                weights=weights,
            )
        expected, given = self.expected, self.given
        return rule_of(source, survey, self.recipe, rank, expected=expected, given=given)
