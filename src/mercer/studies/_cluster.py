"""cluster(): groups of rows on the leading axes, made step by step, then described."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.estimators.walk._row_clusters import grouped
from mercer.studies._describe import Described, describe_groups
from mercer.studies._descriptor_columns import columns_of, together

_SHOWN = 5  # typical and distinct rows of each


@final
@dataclasses.dataclass(frozen=True)
class Clusters:
    """Rows in groups.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of every row, from 1, ordered along the first axis.
    centres : ndarray of shape (g, k)
        Mean coordinates.
    sizes : ndarray of shape (g,)
        Rows of each.
    within : ndarray of shape (m,)
        Inertia within clusters for 1, 2, … clusters of the tree, as a share of the total.
    typical, distinct : tuple of ndarray of int
        Rows nearest to their own centre, and rows farthest from all other centres.
    described : Described
        What characterises each cluster.
    """

    labels: Array
    centres: Array
    sizes: Array
    within: Array
    typical: tuple[Array, ...]
    distinct: tuple[Array, ...]
    described: Described

    def __str__(self) -> str:
        """Return a line for each cluster, or that there are none."""
        if len(self.sizes) == 1:
            return f"No groups: {self.sizes[0]:,} rows lie as one cloud without gaps does."
        pairs = zip(self.sizes, self.described.words, strict=True)
        return "\n".join(f"{size:,} rows, cluster {words}" for size, words in pairs)


def cluster(
    model: Any,
    X: Any,
    *,
    clusters: int | str = "auto",
    axes: int | None = None,
    sup: Any = None,
    consolidate: bool = True,
    seed: int = 0,
) -> Clusters:
    """Return clusters of rows on the leading axes: Ward's tree, cut, then moved to the nearest.

    "auto" asks first whether there are groups (gap statistic [Tibshirani2001]_): W_g, the
    inertia within g clusters of Ward's tree, is compared with that of 20 tables spread evenly
    over a box as long as the rows along each of their axes. Of 1 to 10 clusters it is the
    fewest whose gap, mean log W_g of the box minus log W_g, is within three standard errors of
    the largest. One cluster is the answer "no groups". Of more than 400 rows 400 are compared.

    Parameters
    ----------
    model : PCA or any mercer method with ``transform``
        Fitted.
    X : array or frame of shape (n, p)
        The rows.
    clusters : int or "auto"
        How many.
    axes : int or None
        Axes that distances are taken on; None for all of the model.
    sup : frame, mapping of str to column, or None
        Further columns to describe the clusters by.
    consolidate : bool
        Whether rows are moved to the nearest centre afterwards (k-means).
    seed : int
        Of what is gathered first where rows are many.
    """
    Z = np.asarray(model.transform(X), np.float64)[:, :axes]
    labels, within = grouped(Z, clusters, seed=seed, consolidate=consolidate)
    return _made(model, X, Z, labels, within, sup)


def _made(model: Any, X: Any, Z: Array, labels: Array, within: Array, sup: Any) -> Clusters:
    groups = int(labels.max())
    centres = np.array([Z[labels == g].mean(axis=0) for g in range(1, groups + 1)])
    typical, distinct = [], []
    for g in range(groups):
        own = np.flatnonzero(labels == g + 1)
        far = np.stack([np.sum((Z[own] - centre) ** 2, axis=1) for centre in centres], axis=1)
        typical.append(own[np.argsort(far[:, g], kind="stable")[:_SHOWN]])
        others = np.min(np.delete(far, g, axis=1), axis=1, initial=np.inf)
        distinct.append(own[np.argsort(-others, kind="stable")[:_SHOWN]])
    names = getattr(model, "feature_names_in_", None)
    given = together(columns_of(X, len(Z), names), columns_of(sup, len(Z)))
    texts = {
        name: np.array([*kinds, None], object)[at] for name, (at, kinds) in given.levels.items()
    }
    width = len(str(groups))
    if groups == 1:
        described = Described(("1",), ((),), ("1: all rows, no groups.",))
    else:
        described = describe_groups(
            [f"{label:0{width}d}" for label in labels], {**given.numbers, **texts}
        )
    sizes = np.bincount(labels, minlength=groups + 1)[1:]
    return Clusters(labels, centres, sizes, within, tuple(typical), tuple(distinct), described)
