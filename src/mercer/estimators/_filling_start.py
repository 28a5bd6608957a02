"""Where the steps on all rows begin: at the end of those on a few, and then on more of them."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer.arrays import Array, single_threaded_blas, task
from mercer.operators import (
    Completed,
    Completion,
    CompletionSums,
    PartsSurvey,
    Rule,
    Survey,
    complete,
    first_basis,
    first_completion,
    missing_information,
)

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
        self, one_pass: Callable[[CompletionSums, int], Any], rule: Rule, n: int
    ) -> Completed:
        """Return where the steps on n rows end; see `complete`."""
        return complete(one_pass, self.completion, self.basis, self._known(rule, n))

    def _known(self, rule: Rule, n: int) -> Rule:
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

    def after(self, rows: Array, weights: Array | None, rule: Rule) -> "Start":
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


def first_start(survey: Survey | PartsSurvey, dtype: Any, rule: Rule) -> Start:
    """Return the completion by column means."""
    origin, exponent = survey.origin(dtype)
    basis = first_basis(len(origin), rule.rank)
    if basis is not None and rule.held is not None:
        basis[rule.held] = 0.0
    return Start(first_completion(origin, exponent), basis)


def begun_on(rows: Array, weights: Array | None, n: int, start: Start, rule: Rule) -> Start:
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


def _begun(rows: Array, weights: Array | None, start: Start, rule: Rule) -> Start:
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
