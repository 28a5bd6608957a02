"""Points in groups: Ward's tree, cut, and points moved to the nearest centre afterwards."""

import warnings
from numbers import Integral

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans

from mercer.arrays import Array, svd
from mercer.errors import InputError

_TREE = 3000  # rows that a tree is made of; more are gathered into so many seeds first
_SEEDS = 500
_MOST = 10  # clusters that are looked at
_DRAWS = 20  # tables without groups that the tree is compared with
_COMPARED = 400  # rows of these
_ERRORS = 3.0  # by so many standard errors more clusters must do better than fewer


def grouped(
    Z: Array, clusters: int | str, *, seed: int = 0, consolidate: bool = True
) -> tuple[Array, Array]:
    """Return the cluster of every point (n,), from 1, and the inertia within clusters.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        The points.
    clusters : int or "auto"
        How many; "auto" asks the gap statistic, and one cluster is an answer: no groups.
    seed : int
        Of what is gathered first where points are many, and of tables without groups.
    consolidate : bool
        Whether points are moved to the nearest centre afterwards (k-means).

    Returns
    -------
    labels : ndarray of shape (n,)
        Ordered along the first axis.
    within : ndarray of shape (m,)
        Inertia within 1, 2, … clusters of the tree, as a share of the total.
    """
    check_clusters(clusters, Z)
    points, weights, home = _seeds(Z, seed)
    tree = _ward(points, weights)
    most = min(_MOST, len(points) - 1) if clusters == "auto" else int(clusters)
    cuts = [fcluster(tree, g, "maxclust") - 1 for g in range(1, max(most, 2) + 2)]
    within = np.array([_within(Z, cut[home]) for cut in cuts])
    count = _gap_count(Z, most, seed) if clusters == "auto" else int(clusters)
    labels = cuts[count - 1][home]
    if consolidate and count > 1:
        labels = _consolidated(Z, labels)
    return _ordered(Z, labels), within / max(within[0], 1e-300)


def check_clusters(clusters: int | str, Z: Array) -> None:
    """Refuse a number of clusters that the points cannot have."""
    n = len(Z)
    if not np.any(Z[:1] != Z):
        raise InputError(
            "all rows lie at one point: there is nothing to part",
            got=f"{n} rows, {Z.shape[1]} axes",
            fix="pass rows that differ along the axes of the model",
        )
    if isinstance(clusters, str) and clusters == "auto" and n >= 4:
        return
    whole = isinstance(clusters, Integral) and not isinstance(clusters, bool)
    if not whole or not 2 <= int(clusters) < n:
        raise InputError(
            "rows are put into two clusters or more, and fewer than there are rows",
            got=f"clusters={clusters!r}, {n} rows",
            fix='pass a whole number, or "auto" for four rows or more',
        )


def _seeds(Z: Array, seed: int) -> tuple[Array, Array, Array]:
    """Return points to make a tree of, their weights, and the point of every row."""
    if len(Z) <= _TREE:
        return Z, np.ones(len(Z)), np.arange(len(Z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        means = KMeans(_SEEDS, n_init=1, random_state=seed).fit(Z)
    home = np.unique(means.labels_, return_inverse=True)[1]
    weights = np.bincount(home).astype(np.float64)
    sums = np.zeros((len(weights), Z.shape[1]))
    np.add.at(sums, home, Z)
    return sums / weights[:, None], weights, home


def _ward(points: Array, weights: Array) -> Array:
    """Return Ward's tree; of weighted points as if each stood there so often."""
    if np.all(weights == 1):
        return np.asarray(linkage(points, "ward"))
    return _weighted_ward(points, weights)


def _weighted_ward(points: Array, weights: Array) -> Array:
    """Return Ward's tree of weighted points: merge the pair of least w_a w_b/(w_a + w_b)·d²."""
    m = len(points)
    centres, mass = [*points], [*weights]
    names, sizes, tree = list(range(m)), [1] * m, []
    for step in range(m - 1):
        C, w = np.array(centres), np.array(mass)
        squares = np.sum(C**2, axis=1)
        cost = np.maximum(squares[:, None] + squares - 2 * C @ C.T, 0.0)
        cost *= w[:, None] * w / (w[:, None] + w)
        np.fill_diagonal(cost, np.inf)
        a, b = sorted(divmod(int(np.argmin(cost)), len(w)))
        size = sizes[a] + sizes[b]
        tree.append([names[a], names[b], np.sqrt(2 * cost[a, b]), size])
        whole = mass[a] + mass[b]
        centres[a] = (mass[a] * centres[a] + mass[b] * centres[b]) / whole
        mass[a], names[a], sizes[a] = whole, m + step, size
        for part in (centres, mass, names, sizes):
            del part[b]
    found = np.array(tree)
    found[:, 2] = np.maximum.accumulate(found[:, 2])  # rounding must not turn the tree
    return found


def _within(Z: Array, labels: Array) -> float:
    """Return Σ‖z - centre‖² over all rows."""
    counts = np.bincount(labels)
    sums = np.zeros((len(counts), Z.shape[1]))
    np.add.at(sums, labels, Z)
    return max(float(np.sum(Z**2) - np.sum(sums**2 / np.maximum(counts, 1)[:, None])), 0.0)


def _gap_count(Z: Array, most: int, seed: int) -> int:
    """Return the fewest clusters whose gap is near the largest [Tibshirani2001]_.

    Gap_g = mean log W_g of points spread evenly over a box minus log W_g of the points, the
    box along their axes and as long as they are.
    """
    rng = np.random.default_rng([seed, 25])
    points = Z - Z.mean(axis=0)
    if len(points) > _COMPARED:
        points = points[rng.choice(len(points), _COMPARED, replace=False)]
    points = points @ svd(points)[2].T
    low, high = points.min(axis=0), points.max(axis=0)
    own = _tree_within(points, most)
    drawn = [_tree_within(rng.uniform(low, high, points.shape), most) for _ in range(_DRAWS)]
    boxes = np.log(np.maximum(drawn, 1e-300))
    tiny = max(1e-12 * float(own[0]), 1e-300)  # points on few places: nothing is left within
    gap = boxes.mean(axis=0) - np.log(np.maximum(own, tiny))
    error = boxes.std(axis=0, ddof=1) * np.sqrt(1 + 1 / _DRAWS)
    best = int(np.argmax(gap))
    return 1 + int(np.flatnonzero(gap >= gap[best] - _ERRORS * error[best])[0])


def _tree_within(points: Array, most: int) -> Array:
    """Return the inertia within 1 to `most` clusters of Ward's tree, from its heights."""
    merged = np.cumsum(linkage(points, "ward")[:, 2] ** 2 / 2)
    most = min(most, len(points) - 1)
    return np.array([merged[len(points) - g - 1] for g in range(1, most + 1)])


def _consolidated(Z: Array, labels: Array) -> Array:
    """Return the clusters after rows have gone to the nearest centre, until none moves."""
    centres = np.array([Z[labels == g].mean(axis=0) for g in np.unique(labels)])
    found = KMeans(len(centres), init=centres, n_init=1, max_iter=100).fit(Z)
    return np.asarray(found.labels_, np.int64)


def _ordered(Z: Array, labels: Array) -> Array:
    """Return labels from 1, in the order of the centres along the first axis."""
    kinds, home = np.unique(labels, return_inverse=True)
    means = np.bincount(home, weights=Z[:, 0]) / np.bincount(home)
    place = np.empty(len(kinds), np.int64)
    place[np.argsort(means, kind="stable")] = np.arange(1, len(kinds) + 1)
    return place[home]
