"""t-SNE by openTSNE: neighbours drawn together on a map, started from our PCA."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from mercer.arrays import Array
from mercer.estimators.walk._parameters import COUNT, POSITIVE, RESOURCES, Constraints
from mercer.guests._guest import Guest, seed_of_host

_SMALL = 1e-4  # deviation of the first coordinate at the start


class TSNE(Guest):
    """A map on which neighbours stay neighbours, by openTSNE [Policar2024]_.

    Read neighbours from it: rows that lie together are alike. Distances between groups,
    their sizes and their density mean nothing; an empty space is no boundary.

    Parameters
    ----------
    n_components : int
        k, 1 or 2 as a rule.
    perplexity : float
        How many neighbours count; less than a third of the rows, else that is taken.
    start : "pca", map of mercer or array of shape (n, k)
        Where rows stand at first: their principal components; places by another map, such as
        ``LaplacianEigenmaps(2)``; or places given.
    n_iter : int
        Steps after the first 250.
    metric : str
        A distance that openTSNE knows.
    threads : int
        Of the host.
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

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TSNE
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> X[:45] += 9
    >>> TSNE(perplexity=10, n_iter=100).fit_transform(X).shape
    (90, 2)
    """

    _module, _extra, _called = "openTSNE", "tsne", "openTSNE"
    _rate = (0.6, 2.5e-3)
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [COUNT],
        "perplexity": [POSITIVE],
        "start": [StrOptions({"pca"}), HasMethods("fit_transform"), "array-like"],
        "n_iter": [COUNT],
        "metric": [str],
        "threads": [COUNT],
        "memory": RESOURCES["memory"],
        "random_state": RESOURCES["random_state"],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        start: Any = "pca",
        n_iter: int = 500,
        metric: str = "euclidean",
        threads: int = 1,
        memory: int | str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.start = start
        self.n_iter = n_iter
        self.metric = metric
        self.threads = threads
        self.memory = memory
        self.random_state = random_state

    def _run(self, library: Any, rows: Array, start: Array | None) -> tuple[Array, Any]:
        assert start is not None
        spread = float(np.std(start[:, 0]))
        places = start * (_SMALL / spread if spread > 0 else 0.0)
        host = library.TSNE(
            n_components=self.n_components, n_iter=self.n_iter, initialization=places,
            **self._settings(len(rows)),
        )  # fmt: skip
        made = host.fit(rows)
        found = np.asarray(made)  # the same memory
        # The host moves the middle to 0 before new rows are placed.
        found -= (found.max(axis=0) + found.min(axis=0)) / 2
        return found, made

    def _settings(self, n: int) -> dict[str, Any]:
        """Return what the host is told of neighbours."""
        return {
            "perplexity": min(float(self.perplexity), max((n - 1) / 3, 1.0)),
            "metric": self.metric,
            "n_jobs": self.threads,
            "random_state": seed_of_host(self._seed()),
        }

    def _again(self, library: Any) -> Any:
        """Return the map with the neighbours of its rows looked for anew: no step is made."""
        rows = self._kept_rows()
        near = library.affinity.PerplexityBasedNN(rows, **self._settings(len(rows)))
        places = np.array(self.embedding_, np.float64)
        return library.TSNEEmbedding(
            places, near, n_jobs=self.threads, random_state=seed_of_host(self._seed())
        )

    def _place(self, library: Any, made: Any, rows: Array) -> Array:
        n = len(self.embedding_)
        few, near = min(5.0, max((n - 1) / 3, 1.0)), min(25, n - 1)
        return np.asarray(made.transform(rows, perplexity=few, k=near))
