"""Spectral clustering: groups of rows that hang together, from the axes of their graph."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError
from mercer.estimators.manifold._graph_estimator import Made
from mercer.estimators.manifold._transition_rows import averaged
from mercer.estimators.manifold.laplacian_eigenmaps import LaplacianEigenmaps
from mercer.estimators.walk._parameters import COUNT
from mercer.estimators.walk._row_clusters import grouped
from mercer.estimators.walk._spectral_estimator import SpectralEstimator
from mercer.operators import Graph
from mercer.solvers import Spectrum
from mercer.sources import Source

_MOST = 10  # clusters that "auto" looks for
_ROUNDING = 1e-12  # of 1 - λ: that of a piece by itself is zero


class SpectralClustering(ClusterMixin, LaplacianEigenmaps):
    """Groups that few edges cross: Ward's tree and k-means on the axes Su = λu of a graph.

    The g - 1 largest eigenvalues below 1 belong to functions f = D^-½u that are nearly
    constant on g groups with few edges between them [Belkin2003]_; the rows are parted by
    them. Use it where groups are curved or of uneven shape, so that the nearest centre is no
    guide. A graph in pieces is parted along them first: f is constant on each, λ = 1.

    Parameters
    ----------
    n_clusters : int or "auto"
        g. "auto" takes 2 to 10: as many as stand before 1 - λ grows by the largest factor.
        There is always a largest one: that there are clusters is assumed here, not found.
    neighbours, radius, weights, scale, symmetric, metric, search
        See `LaplacianEigenmaps`.
    tol, memory, time, device, random_state
        See `LaplacianEigenmaps`.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row, from 0.
    n_clusters_ : int
        g.
    embedding_, eigenvalues_, certificate_, graph_, facts_, pieces_, plan_
        As for `LaplacianEigenmaps`: the map that was parted, max(g - 1, 2) axes of each
        piece, zero where a small one has fewer.
    n_components_, n_samples_, n_features_in_ : int
        Axes, rows, columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SpectralClustering
    >>> t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> rings = np.concatenate([r * np.c_[np.cos(t), np.sin(t)] for r in (1, 4)])
    >>> labels = SpectralClustering(2, neighbours=6).fit_predict(rings)
    >>> np.unique(labels[:60]).size, np.unique(labels[60:]).size, len(np.unique(labels))
    (1, 1, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        name: rules
        for name, rules in LaplacianEigenmaps._parameter_constraints.items()
        if name not in ("n_components", "components", "self_loops")
    } | {"n_clusters": [COUNT, StrOptions({"auto"})]}

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        neighbours: int | None = 10,
        radius: float | None = None,
        weights: str = "binary",
        scale: float | str = "auto",
        symmetric: str = "union",
        metric: str = "euclidean",
        search: str = "exact",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.neighbours = neighbours
        self.radius = radius
        self.weights = weights
        self.scale = scale
        self.symmetric = symmetric
        self.metric = metric
        self.search = search
        SpectralEstimator.__init__(self, tol, memory, time, device, random_state)

    # What the map under it is asked for.
    components = "each"
    self_loops = True
    _rows_there: int | None = None

    @property
    def _axes(self) -> int:
        """Axes of the map: those that part the rows, two at least for a picture."""
        wanted = _MOST if isinstance(self.n_clusters, str) else max(self.n_clusters - 1, 2)
        return wanted if self._rows_there is None else max(1, min(wanted, self._rows_there - 1))

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        if reset:
            self._rows_there = source.shape[0]
            self._refuse_many(source.shape[0])
        return source

    def _refuse_many(self, n: int) -> None:
        if not isinstance(self.n_clusters, str) and self.n_clusters > n:
            raise InputError(
                "there cannot be more clusters than rows",
                got=f"n_clusters={self.n_clusters}, n_samples = {n}",
                fix=f"ask for at most {n}",
            )

    def _chosen(self, graph: Graph) -> tuple[Array, ...]:
        pieces, wanted = graph.pieces, self.n_clusters
        most = _MOST if isinstance(wanted, str) else wanted
        if pieces.count > most:
            raise InputError(
                "the graph falls into more pieces than clusters are looked for",
                got=f"n_clusters={wanted!r}, {pieces}",
                fix=f"take more neighbours or a larger radius, or n_clusters={pieces.count}",
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # a lonely point is a cluster here
            return super()._chosen(graph)

    def _scale(self, spectrum: Spectrum, found: Made, source: Source) -> dict[str, Any]:
        state = super()._scale(spectrum, found, source)
        values, axes = _functions(state)
        whole = self.n_clusters
        count = _before_gap(values) if isinstance(whole, str) else int(whole)
        points = axes[:, :count]
        still = found.graph.pieces.count == 1  # the first is constant and parts nothing
        points = points[:, 1:] if still else points
        labels = np.ones(len(points), np.int64)
        if count > 1:
            labels, _ = grouped(points, count, seed=self._seed())
        state["embedding_"] = _zero_where_no_axis(state["embedding_"])
        return state | {"labels_": labels - 1, "n_clusters_": count}

    def _fitted(self, source: Source, weights: Array | None) -> dict[str, Any]:
        state = super()._fitted(source, weights)
        state.pop("_rows_there", None)
        return state

    def transform(self, X: Any) -> Any:
        """See `LaplacianEigenmaps.transform`; zero along axes that a piece does not have."""
        return _zero_where_no_axis(super().transform(X))

    def predict(self, X: Any) -> Array:
        """Return the cluster (m,) that most of the weight of each new row lies in.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows; with ``metric="precomputed"`` their weights to the training points.
        """
        check_is_fitted(self)
        points = self._admit(X, reset=False).array
        member = np.eye(self.n_clusters_)[self.labels_]
        found = np.empty(int(points.shape[0]), np.int64)
        for part, weights in self._weights_of(points):
            found[part] = np.argmax(averaged(weights, None, member, part.start), axis=1)
        return found


def _zero_where_no_axis(points: Any) -> Any:
    """Return coordinates whose pieces may have fewer axes than others: there they are 0."""
    plain = isinstance(points, np.ndarray)
    return np.where(np.isnan(points), points.dtype.type(0), points) if plain else points


def _functions(state: dict[str, Any]) -> tuple[Array, Array]:
    """Return λ descending, and f (n, ·) beside them: of all pieces, each zero off its own.

    The constant of a piece is 1/√vol there, vol = Σd, which has fᵀDf = 1 as all f.
    """
    graph, embedding = state["graph_"], state["embedding_"]
    n, values, columns = len(embedding), list[float](), list[Array]()

    def take(rows: Array, value: float, f: Any) -> None:
        values.append(value)
        columns.append(np.zeros(n))
        columns[-1][rows] = f

    for number in range(graph.pieces.count):
        rows = graph.pieces.rows(number)
        volume = float(np.sum(graph.degrees[rows]))
        take(rows, 1.0, 1 / np.sqrt(volume if volume > 0 else 1.0))
    for part in state["pieces_"]:
        for axis, value in enumerate(part.eigenvalues):
            take(part.rows, float(value), embedding[part.rows, axis])
    order = np.argsort(-np.asarray(values), kind="stable")
    return np.asarray(values)[order], np.stack([columns[at] for at in order], axis=1)


def _before_gap(values: Array) -> int:
    """Return how many eigenvalues, 2 to 10, stand before 1 - λ grows by the largest factor."""
    last = min(_MOST, len(values) - 1)
    if last < 2:
        return len(values)
    left = np.maximum(1.0 - values, _ROUNDING)
    return int(np.argmax(left[2 : last + 1] / left[1:last])) + 2
