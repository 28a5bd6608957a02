"""Looks at classes beside the fit: permuted labels, held-out rows, ellipses.

Shuffled labels: how far apart classes lie that are none.
"""

import dataclasses
import warnings
from typing import Any

import numpy as np
import scipy.sparse
from scipy.special import chdtri
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split

from mercer.arrays import Array
from mercer.diagnostics import outline
from mercer.errors import DataWarning, InputError
from mercer.estimators.groups._class_labels import Labels, labels_of
from mercer.estimators.linear.pca import PCA
from mercer.estimators.walk._parameters import check_fitted
from mercer.estimators.walk._spectral_estimator import SpectralEstimator

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


@dataclasses.dataclass(frozen=True, eq=False)
class Confusion:
    """Held-out rows by their class and by what was predicted.

    Attributes
    ----------
    classes : ndarray of shape (G,)
        Labels.
    counts : ndarray of int of shape (G, G)
        Rows of the class of the line that were taken for that of the column.
    folds : int
        Parts that were held out one after another.
    predicted : ndarray of shape (n,)
        The prediction for each row, made by a fit without it.
    """

    classes: Array
    counts: Array
    folds: int
    predicted: Array

    @property
    def accuracy(self) -> float:
        """Share of the rows that were taken for what they are."""
        return float(np.trace(self.counts) / np.sum(self.counts))

    @property
    def recall(self) -> Array:
        """That share (G,) for each class."""
        return np.asarray(np.diagonal(self.counts) / np.maximum(self.counts.sum(axis=1), 1))

    def __str__(self) -> str:
        """Return the table, a line for each class."""
        names = [str(c) for c in self.classes]
        width = max(6, *(len(name) for name in names)) + 1
        lines = [f"{self.folds} folds, {100 * self.accuracy:.1f} % right"]
        lines.append(" " * width + "".join(f"{name:>{width}}" for name in names))
        for name, counts in zip(names, self.counts, strict=True):
            lines.append(f"{name:>{width}}" + "".join(f"{c:>{width}}" for c in counts))
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True, eq=False)
class ClassEllipses:
    """Where the rows of each class lie, and where its mean may, in canonical coordinates.

    Attributes
    ----------
    classes : ndarray of shape (G,)
        Labels.
    centres : ndarray of shape (G, k)
        Class means.
    covariances : ndarray of shape (G, k, k)
        Covariance of the rows of each class, dividing by n_g - 1.
    counts : ndarray of shape (G,)
        Rows of each class.
    level : float
        Share of a normal cloud inside.
    """

    classes: Array
    centres: Array
    covariances: Array
    counts: Array
    level: float

    def outline(
        self, group: int, plane: tuple[int, int] = (0, 1), *, mean: bool = False
    ) -> Array | None:
        """Return the outline (65, 2) of a class on a plane; None where it has no extent.

        Parameters
        ----------
        group : int
            Number of the class.
        plane : pair of int
            Axes, from 0.
        mean : bool
            The ellipse of the mean, smaller by √n_g, in place of that of the rows.
        """
        at = list(plane)
        if max(at) >= self.centres.shape[1]:
            raise InputError(
                "an ellipse needs two axes that exist",
                got=f"plane={plane} of {self.centres.shape[1]} axes (counted from 0)",
                fix="two classes have one axis, and no plane",
            )
        covariance = self.covariances[group][np.ix_(at, at)]
        values = np.linalg.eigvalsh(covariance)
        if not values[0] > 1e-12 * values[1]:
            return None
        radius = np.sqrt(chdtri(2, 1 - self.level))
        radius = radius / np.sqrt(self.counts[group]) if mean else radius
        return outline(self.centres[group][at], covariance, float(radius))


class LooksAtClasses(SpectralEstimator):
    """Abstract: what else rows and labels say, by fits that are made for it."""

    classes_: Array

    def permutation(self, X: Any, y: Any, draws: int = 999, seed: int = 0) -> PermutationTest:
        """Return how often shuffled labels lie as far apart as the real ones.

        It asks for no normal classes, and needs no fit. Cost: one PCA, and n·r operations
        for each draw.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        draws : int
            Shuffles.
        seed : int
            Of the shuffles.
        """
        source = clone(self)._admit(X, reset=True)
        labels = labels_of(y, source.shape[0], None, type(self).__name__)
        return permuted(X, labels, draws, seed)

    def confusion(self, X: Any, y: Any, folds: int = 10, seed: int = 0) -> Confusion:
        """Return a cross-validated confusion matrix: every row predicted by a fit without it.

        Each class is spread evenly over the folds. A row that is alone in its class cannot
        be right.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        folds : int
            Parts, each held out once; n leaves out one row at a time.
        seed : int
            Of the parting.
        """
        n = clone(self)._admit(X, reset=True).shape[0]
        labels = labels_of(y, n, None, type(self).__name__)
        if not 2 <= folds <= n:
            raise InputError(
                "folds must be between 2 and the number of rows",
                got=f"folds={folds}, {n} rows",
                fix="pass 10, say",
            )
        part = _parted(labels.codes, folds, seed)
        given = labels.classes[labels.codes]
        predicted = np.empty(n, labels.classes.dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # each fold would say the same
            for fold in range(folds):
                out = part == fold
                if out.any():
                    kept, held = np.flatnonzero(~out), np.flatnonzero(out)
                    rows, known = _safe_split(self, X, given, kept)
                    there = _safe_split(self, X, given, held, kept)[0]
                    predicted[out] = clone(self).fit(rows, known).predict(there)
        groups = len(labels.classes)
        guess = np.searchsorted(labels.classes, predicted)
        counts = np.bincount(labels.codes * groups + guess, minlength=groups**2)
        return Confusion(labels.classes, counts.reshape(groups, groups), folds, predicted)

    def ellipses(self, X: Any, y: Any, level: float = 0.95) -> ClassEllipses:
        """Return the clouds of classes in canonical coordinates; see `ClassEllipses`.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,)
            Their classes.
        level : float in (0, 1)
            Share of a normal cloud inside an ellipse.
        """
        check_fitted(self)
        if not 0 < level < 1:
            raise InputError(
                "the level of an ellipse lies between 0 and 1",
                got=f"level={level}",
                fix="pass 0.95, say",
            )
        scores = np.asarray(self._project(self._admit(X, reset=False)), np.float64)
        labels = labels_of(y, len(scores), None, type(self).__name__)
        clouds = [scores[labels.codes == g] for g in range(len(labels.classes))]
        k = scores.shape[1]
        spread = [np.cov(c.T).reshape(k, k) if len(c) > 1 else np.zeros((k, k)) for c in clouds]
        return ClassEllipses(
            labels.classes,
            np.stack([cloud.mean(axis=0) for cloud in clouds]),
            np.stack(spread),
            np.array([len(cloud) for cloud in clouds]),
            float(level),
        )


def _parted(codes: Array, folds: int, seed: int) -> Array:
    """Return the fold (n,) of each row, classes and folds of even size."""
    rng = np.random.default_rng(seed)
    order = np.argsort(codes + rng.random(len(codes)), kind="stable")
    part = np.empty(len(codes), np.int64)
    part[order] = np.arange(len(codes)) % folds
    return part
