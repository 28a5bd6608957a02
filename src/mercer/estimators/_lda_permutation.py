"""Shuffled labels: how far apart classes lie that are none."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import scipy.sparse

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError
from mercer.estimators._lda_target import Labels
from mercer.estimators.pca import PCA

_TIE = 1e-9  # relative difference below which a shuffle counts as no closer


@dataclasses.dataclass(frozen=True, eq=False)
class PermutationTest:
    """A statistic of the labels beside those of shuffled labels.

    Attributes
    ----------
    statistic : str
        ``"wilks"``: Λ = det W/det T, small where classes lie apart. Where there are as many
        columns as rows Λ is zero for any labels; then ``"share"``: the share of the variance
        of (standardised) columns that lies between classes, large where they lie apart.
    observed : float
        Of the labels given.
    null : ndarray of shape (draws,)
        Of shuffled labels.
    p_value : float
        (1 + number of shuffles as extreme)/(draws + 1).
    """

    statistic: str
    observed: float
    null: Array
    p_value: float


def permuted(
    X: Any, labels: Labels, draws: int, seed: int, *, standardize: bool = True
) -> PermutationTest:
    """Return the test of labels on rows X (n, p); see `PermutationTest`.

    Parameters
    ----------
    X : array of shape (n, p)
        Rows.
    labels : Labels
        Their classes.
    draws, seed : int
        Shuffles, and the start of their random numbers.
    standardize : bool
        Whether columns are brought to one deviation; Λ does not depend on it.
    """
    if draws < 1:
        raise InputError(
            "labels must be shuffled at least once", got=f"draws={draws}", fix="pass 999"
        )
    groups, n = len(labels.classes), len(labels.codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = PCA(standardize=standardize).fit(X)
        scores = np.asarray(model.transform(X), np.float64)[:, : model.rank_]
    whole = model.rank_ + groups <= n
    size = np.linalg.norm(scores, axis=0) if whole else np.linalg.norm(scores)
    scores /= size
    totals = np.bincount(labels.codes, minlength=groups)

    def statistic(codes: Array) -> float:
        at = (codes, np.arange(n))
        sums = scipy.sparse.csr_array((np.ones(n), at), shape=(groups, n)) @ scores
        means = sums / np.sqrt(totals)[:, None]
        if not whole:
            return float(np.sum(means**2))
        side = means @ means.T if groups <= means.shape[1] else means.T @ means
        return float(np.linalg.slogdet(np.eye(len(side)) - side)[1])

    rng = np.random.default_rng(seed)
    observed = statistic(labels.codes)
    null = np.array([statistic(rng.permutation(labels.codes)) for _ in range(draws)])
    slack = _TIE * max(abs(observed), 1e-300)
    extreme = null <= observed + slack if whole else null >= observed - slack
    p_value = float((1 + np.sum(extreme)) / (draws + 1))
    if whole:
        return PermutationTest("wilks", float(np.exp(observed)), np.exp(null), p_value)
    return PermutationTest("share", observed, null, p_value)
