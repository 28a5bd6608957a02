"""PCA and LDA side by side: where rows vary most, and where their classes lie apart."""

import dataclasses
from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.estimators import PCA, LinearDiscriminantAnalysis


@dataclasses.dataclass(frozen=True, eq=False)
class Separation:
    """Coordinates of the same rows by PCA, which knows no classes, and by LDA.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The class of each row.
    pca, lda : ndarray of shape (n, k) and (n, min(k, G - 1))
        Coordinates.
    eta2_pca, eta2_lda : ndarray of shape (k,) and (min(k, G - 1),)
        η², the share of the variance along each axis that lies between classes.
    ratio_pca, ratio_lda : ndarray
        Shares of the variance; of the differences between classes.
    """

    labels: Array
    pca: Array
    lda: Array
    eta2_pca: Array
    eta2_lda: Array
    ratio_pca: Array
    ratio_lda: Array

    @property
    def gain(self) -> float:
        """Largest η² of LDA minus the largest of PCA: what knowing the classes adds."""
        return float(np.max(self.eta2_lda) - np.max(self.eta2_pca))

    def panels(self, ellipse: float | None = 0.95) -> list[plots.Panel]:
        """Return both maps, classes in colour, for `mercer.plots.figure`.

        Parameters
        ----------
        ellipse : float in (0, 1) or None
            Share of a normal cloud inside the ellipse of each class.
        """
        made = []
        for name, scores, ratio in (
            ("PCA: directions of largest variance", self.pca, self.ratio_pca),
            ("LDA: classes as far apart as they get", self.lda, self.ratio_lda),
        ):
            axes = (0, min(1, scores.shape[1] - 1))
            oval = ellipse if axes[1] else None
            panel = plots.scores(scores, self.labels, axes=axes, ratio=ratio, ellipse=oval)
            frame = dataclasses.replace(panel.axes, title=name)
            made.append(dataclasses.replace(panel, axes=frame))
        return made

    def __str__(self) -> str:
        """Return η² of each axis, a line for each method."""
        lines = ["share of the variance of each axis that lies between classes (η²)"]
        for name, eta2 in (("PCA", self.eta2_pca), ("LDA", self.eta2_lda)):
            lines.append(f"  {name}  " + "  ".join(f"{100 * e:5.1f} %" for e in eta2))
        return "\n".join(lines)


def separation(
    X: Any,
    y: Any,
    n_components: int = 2,
    *,
    standardize: bool = True,
    shrinkage: float | str | None = None,
) -> Separation:
    """Return PCA and LDA of the same rows, and how far apart classes lie along each axis.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        Rows.
    y : array of shape (n_samples,)
        Their classes.
    n_components : int
        Axes of each; LDA has at most G - 1.
    standardize : bool
        Whether PCA divides columns by their deviation; LDA does not depend on it.
    shrinkage : float, "auto" or None
        Of LDA.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.studies import separation
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.c_[9 * rng.normal(size=100), y + 0.1 * rng.normal(size=100)]
    >>> found = separation(X, y, 1, standardize=False)
    >>> bool(found.eta2_pca[0] < 0.1 < 0.9 < found.eta2_lda[0])
    True
    """
    lda = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, y)
    labels = np.asarray(y).reshape(-1)
    most = min(n_components, lda.n_samples_, lda.n_features_in_)
    pca = PCA(most, standardize=standardize).fit(X)
    scores = np.asarray(pca.transform(X), np.float64)
    here = np.asarray(lda.transform(X), np.float64)[:, :n_components]
    apart = eta2(scores, labels), eta2(here, labels)
    ratios = pca.explained_variance_ratio_, lda.explained_variance_ratio_[:n_components]
    return Separation(labels, scores, here, *apart, *ratios)


def eta2(Z: Array, labels: Array) -> Array:
    """Return Σn_g(mean_g - mean)²/Σ(z - mean)² (k,) of each column of Z (n, k)."""
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    gone = Z - Z.mean(axis=0)
    sums = np.zeros((codes.max() + 1, Z.shape[1]))
    np.add.at(sums, codes, gone)
    between = np.sum(sums**2 / np.bincount(codes)[:, None], axis=0)
    total = np.sum(gone**2, axis=0)
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=total > 0))
