"""UMAP by umap-learn: a graph of neighbours laid out on a map."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from mercer.arrays import Array
from mercer.estimators.walk._parameters import COUNT, RESOURCES, SHARE, Constraints
from mercer.guests._guest import Guest, seed_of_host

_LARGE = 10.0  # of the largest coordinate at the start


class UMAP(Guest):
    """A map on which neighbours stay neighbours, by umap-learn [McInnes2018]_.

    Read neighbours from it: rows that lie together are alike. Distances between groups,
    their sizes and their density mean nothing.

    Parameters
    ----------
    n_components : int
        k, coordinates.
    neighbours : int
        Nearest rows that each row is joined to, itself among them; fewer where rows are few.
    min_dist : float
        How close rows may lie on the map.
    start : "pca", map of mercer or array of shape (n, k)
        Where rows stand at first: their principal components; places by another map, such as
        ``LaplacianEigenmaps(2)``; or places given.
    metric : str
        A distance that umap-learn knows.
    memory : int, str or None
        See `PCA`; the plan refuses what would not fit.
    random_state : int, RandomState, Generator or None
        Seed. With the same one, and the same libraries, two runs give the same bits.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        Places of the rows of the fit.
    certificate_ : None
        There is none: nothing bounds how far the map is from the best one.
    plan_ : Plan
        What ran, and how long it was thought to take.
    n_components_, n_samples_, n_features_in_ : int
        Coordinates, rows, columns.
    """

    _module, _extra, _called = "umap", "umap", "umap-learn"
    _rate = (12.0, 2e-3)
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [COUNT],
        "neighbours": [COUNT],
        "min_dist": [SHARE],
        "start": [StrOptions({"pca"}), HasMethods("fit_transform"), "array-like"],
        "metric": [str],
        "memory": RESOURCES["memory"],
        "random_state": RESOURCES["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        neighbours: int = 15,
        min_dist: float = 0.1,
        start: Any = "pca",
        metric: str = "euclidean",
        memory: int | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.min_dist = min_dist
        self.start = start
        self.metric = metric
        self.memory = memory
        self.random_state = random_state

    def _run(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        assert start is not None
        far = float(np.max(np.abs(start)))
        seed = seed_of_host(self._seed())
        host = library.UMAP(
            n_components=self.n_components,
            n_neighbors=max(2, min(self.neighbours, len(rows) - 1)),
            min_dist=self.min_dist,
            init=start * (_LARGE / far if far > 0 else 0.0),
            metric=self.metric, n_jobs=1, random_state=seed, transform_seed=seed,
        ).fit(rows)  # fmt: skip
        return np.asarray(host.embedding_), host

    def _place(self, library: Any, made: Any, rows: Array) -> Array:
        return np.asarray(made.transform(rows))
