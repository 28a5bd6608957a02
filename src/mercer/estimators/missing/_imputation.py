"""Missing cells filled once, with how far coordinates may be off, or many times.

`multiple_imputation` tells how sure coordinates are when cells are missing.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.special
from sklearn.base import BaseEstimator

from mercer.arrays import Array, svd
from mercer.errors import InputError
from mercer.estimators.linear._principal_axes import PrincipalAxes
from mercer.estimators.missing._filling import surveyed, warn_empty
from mercer.estimators.missing._missing_cells import cell_filling
from mercer.estimators.walk._admission import held_rows
from mercer.estimators.walk._parameters import Names, Seed, check_fitted, seed_of
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.operators import (
    Completed,
    Completion,
    CompletionRule,
    block_length,
    complete,
    drawn,
    empty_rows,
    first_basis,
    projected,
)
from mercer.sources import ArrayBlocks, Source, like_given, refuse_infinite


def imputed(completion: Completion, given: Any, source: Source, names: Names) -> Any:
    """Return `given`, admitted as `source`, with its missing cells as a model expects them."""
    rows = source.array

    filled = completion.filled(rows, lambda: refuse_infinite(source, names))
    empty = empty_rows(rows) if rows.dtype.kind == "f" else np.empty(0)
    if empty.size:
        warn_empty(empty, "their cells are the means")
    return like_given(given, filled)


def score_errors(estimator: BaseEstimator, axes: PrincipalAxes, source: Source) -> Array:
    """Return the standard deviations (n, k) of the coordinates of rows on fitted axes."""
    refuse_infinite(source, axes.names)
    rows = source.array
    if rows.dtype.kind != "f":
        return np.zeros((rows.shape[0], estimator._n_features_out))
    model = open_model(estimator)
    directions, exponent = axes.directions(model.centring)
    return np.ldexp(np.sqrt(projected(model, rows, directions)[1]), exponent)


def open_model(estimator: BaseEstimator) -> Completion:
    """Return the completion of an estimator with the noise that cells have about it.

    Regularised iterative PCA takes the noise from completed rows, in which the cells that
    were filled have none: what is left over belongs to the observed cells alone.
    """
    model: Completion = estimator.completion_
    if estimator.missing == "ppca":
        return model
    return dataclasses.replace(model, noise=model.noise / estimator._observed_share)


def check_completion(estimator: BaseEstimator) -> None:
    """Refuse an estimator that fills no cells, or has no model of them."""
    check_fitted(estimator)
    if getattr(estimator, "missing", "raise") == "raise":
        raise InputError(
            "only a PCA that fills missing cells can draw them",
            got=f"{type(estimator).__name__} with missing="
            f"{getattr(estimator, 'missing', None)!r}",
            fix='fit PCA(k, missing="em") or PCA(k, missing="ppca")',
        )
    if not hasattr(estimator, "completion_"):
        raise InputError(
            "there is no model of missing cells: it needs rows that can be read again",
            got="a model of batches, or of a covariance matrix",
            fix="call fit with all rows",
        )


_SETTLED = 0.02  # of the sampling error 1/√n that the steps of a draw may leave
_STEPS = 30  # of one draw at most
_MOST_SHARE = 1e6  # of within in between: beyond it Student's distribution is the normal one
_FAR = 480  # binary exponent of cells whose squares float64 still holds with room to spare
_PARAMETERS, _CELLS = 0, 1  # streams of random numbers


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Imputations:
    """Coordinates of incomplete rows with what is uncertain about them.

    Attributes
    ----------
    scores : ndarray of shape (n, k)
        Mean coordinates over the draws, on axes turned to lie as near as can be to the
        fitted ones; k is at most the rank of the completion.
    within : ndarray of shape (n, k)
        Variance of the coordinates given the parameters, from the missing cells of the row;
        0 for complete rows.
    between : ndarray of shape (n, k)
        Variance of the coordinates over draws of the parameters.
    completions : tuple of Completion
        The parameters of every draw.
    seed : int
        Of all random numbers.
    given : array, sparse matrix or frame
        The rows, as they were given.
    """

    scores: Array
    within: Array
    between: Array
    completions: tuple[Completion, ...]
    seed: int
    given: Any = dataclasses.field(repr=False)
    _rows: Any = dataclasses.field(repr=False)

    @property
    def total(self) -> Array:
        """Rubin's variance (n, k): within + (1 + 1/draws)·between."""
        return self.within + (1 + 1 / len(self.completions)) * self.between

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the ends (n, k), (n, k) of intervals that hold the coordinates.

        scores ± t·√total, t the quantile of Student's distribution with Rubin's
        ν = (draws - 1)(1 + within/((1 + 1/draws)·between))² degrees of freedom.

        Parameters
        ----------
        level : float
            Share of intervals that hold their coordinate, in (0, 1).
        """
        if not 0 < level < 1:
            raise InputError(
                "a level lies between 0 and 1", got=f"level={level!r}", fix="pass level=0.95"
            )
        over = (1 + 1 / len(self.completions)) * self.between
        with np.errstate(over="ignore"):
            share = self.within / np.maximum(over, np.finfo(np.float64).tiny)
        freedom = (len(self.completions) - 1) * (1 + np.minimum(share, _MOST_SHARE)) ** 2
        reach = scipy.special.stdtrit(freedom, (1 + level) / 2) * np.sqrt(self.total)
        return self.scores - reach, self.scores + reach

    def tables(self) -> Iterator[Any]:
        """Yield one completed table (n, p) for every draw, each made when it is asked for.

        Missing cells are drawn from their distribution given the observed ones, with noise:
        analyse every table, and combine what comes out by Rubin's rules. The same tables come
        at every call.
        """
        for number, completion in enumerate(self.completions):
            rng = np.random.default_rng([self.seed, number, _CELLS])
            yield like_given(self.given, drawn(completion, self._rows, rng))


def multiple_imputation(
    pca: Any,
    X: object,
    *,
    draws: int = 20,
    random_state: Seed = 0,
    sample_weight: Array | None = None,
) -> Imputations:
    """Return coordinates with their uncertainty, and completed tables to work on.

    Parameters are drawn by resampling rows: every draw counts the rows anew and takes a few
    steps of expectation and maximisation from the fitted model. Missing cells are normal given
    the observed ones. The variance of a coordinate is, by Rubin's rules [Rubin1987]_,

        within + (1 + 1/draws)·between.

    It is about the coordinate that the complete row has on the axes of the population, which
    are known up to a rotation among those kept.

    Parameters
    ----------
    pca : PCA
        Fitted to X with missing="em" or "ppca", and not whitened.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The rows it was fitted to.
    draws : int
        Draws of the parameters, at least 2.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    sample_weight : array of shape (n_samples,) or None
        The repeat counts it was fitted with.

    Notes
    -----
    Cost: three to ten passes over the rows for every draw. Extra memory: 4nk numbers, and
    one table at a time while `tables` is walked.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 6))
    >>> X += 0.1 * rng.standard_normal(X.shape)
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> pca = mercer.PCA(2, missing="em").fit(X)
    >>> found = mercer.multiple_imputation(pca, X, draws=5)
    >>> found.total.shape
    (100, 2)
    """
    check_completion(pca)
    if pca.whiten:
        raise InputError(
            "coordinates of a whitened model are not drawn: each draw has its own deviations",
            got=f"whiten={pca.whiten!r}",
            fix="fit with whiten=False",
        )
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 2:
        raise InputError(
            "a variance needs at least two draws", got=f"draws={draws!r}", fix="pass draws=20"
        )
    unitless = pca._centring.unitless
    if not unitless:
        _refuse_range(pca.completion_.centring.exponent)
    seed = seed_of(random_state)
    walk, weights = _prepared(pca, X, sample_weight)
    k = min(pca.n_components_, pca.completion_.axes.shape[1])
    reference = pca.components_[:k].T.astype(np.float64)
    centre = walk.settled(open_model(pca), first_basis(*pca.completion_.axes.shape), weights)
    counts = np.ones(walk.source.shape[0]) if weights is None else weights
    mean = np.zeros((walk.source.shape[0], k))
    squares, within = np.zeros_like(mean), np.zeros_like(mean)
    kept: list[Completion] = []
    for number in range(int(draws)):
        rng = np.random.default_rng([seed, number, _PARAMETERS])
        model = walk.settled(
            centre.completion, centre.basis, _resampled(counts, rng)
        ).completion
        scores, variances = _coordinates(model, walk.source.held, reference, unitless)
        step = scores - mean
        mean += step / (number + 1)
        squares += step * (scores - mean)
        within += (variances - within) / (number + 1)
        kept.append(model)
    between = squares / (int(draws) - 1)
    return Imputations(mean, within, between, tuple(kept), seed, X, walk.source.held)


def _refuse_range(exponent: int) -> None:
    if abs(exponent) > _FAR:
        raise InputError(
            "variances of such rows leave the range of float64",
            got=f"cells of order 10^{round(exponent * np.log10(2))}",
            fix="divide the rows by a constant and fit again",
        )


@final
@dataclasses.dataclass(frozen=True)
class _Walk:
    """The rows, and the rule by which a model of them settles."""

    source: ArrayBlocks
    rule: CompletionRule
    block: int

    def settled(
        self, start: Completion, basis: Array | None, weights: Array | None
    ) -> Completed:
        """Return where the steps from `start` end with these repeat counts."""

        def one_pass(sums: Any, _: int) -> None:
            at = 0
            for block in self.source.blocks(self.block):
                part = slice(at, at + block.shape[0])
                sums.add(block, None if weights is None else weights[part])
                at = part.stop

        return complete(one_pass, start, basis, self.rule)


def _prepared(pca: Any, X: object, sample_weight: Array | None) -> tuple[_Walk, Any]:
    """Return the rows with the rule of the model, and the weights of rows that have cells."""
    rows = pca._admit(held_rows(X), reset=False)
    n = rows.shape[0]
    if n != pca.n_samples_:
        raise InputError(
            "parameters are drawn from the rows of the fit",
            got=f"{n} rows, {pca.n_samples_} at fit",
            fix="pass the rows that the model was fitted to",
        )
    names = pca._names
    source = ArrayBlocks(rows, names)
    size = pca._block_bytes(source)
    weights = repeat_counts(sample_weight, n)
    survey = surveyed(source, weights, size, None)
    filling = cell_filling(source, survey, weights, names, pca._filling_task(source), size)
    rule = dataclasses.replace(
        filling.rule,
        rank=pca.completion_.axes.shape[1],
        expected=True,
        tol=_SETTLED / np.sqrt(n),
        most=_STEPS,
    )
    return _Walk(source, rule, block_length(source, size)), filling.weights


def _resampled(counts: Array, rng: np.random.Generator) -> Array:
    """Return how often each row stands in a sample of as many rows, drawn with replacement."""
    total = float(np.sum(counts))
    return rng.multinomial(max(round(total), 2), counts / total).astype(np.float64)


def _coordinates(
    model: Completion, rows: Array, reference: Array, unitless: bool
) -> tuple[Array, Array]:
    """Return coordinates and their variances in units of the data, turned to the reference.

    `unitless` says that columns are divided by deviations, which takes the unit out.
    """
    axes = model.axes[:, : reference.shape[1]]
    if axes.shape[1]:
        left, _, right = svd(axes.T @ reference)
        axes = axes @ (left @ right)
    scores, variances = projected(model, rows, axes)
    exponent = 0 if unitless else model.centring.exponent
    return np.ldexp(scores, exponent), np.ldexp(variances, 2 * exponent)
