"""Laplacian eigenmaps: coordinates in which neighbouring rows stay close."""

import dataclasses
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array, is_sparse
from mercer.estimators.manifold._graph_estimator import GraphEstimator
from mercer.estimators.manifold._transition_rows import GraphRows
from mercer.operators import (
    SYMMETRIES,
    WEIGHTS,
    Graph,
    NormalisedGraph,
    Searcher,
    graph,
    whole_graph,
)
from mercer.solvers import Spectrum

_NEAREST = 7  # neighbour that sets the scale of a point where all pairs are joined


class LaplacianEigenmaps(GraphEstimator):
    """Eigenvectors of a graph of rows: Su = λu, S = D^-½WD^-½, coordinates f = D^-½u.

    f minimises Σ_ij w_ij(f_i - f_j)² with fᵀDf = 1 and fᵀD1 = 0: heavy edges are short
    [Belkin2003]_. Use it where rows lie on a curve or a surface, or in clusters that hang
    together. λ = 1, f constant, is known and left out. It is kernel PCA on W_ij/(d_id_j) with
    row weights d, but for the scale of each column. Axes say nothing of variance, so that
    `explained_variance_ratio_` is None.

    Parameters
    ----------
    n_components : int
        k, coordinates.
    neighbours : int or None
        Nearest rows that each row is joined to; None joins all pairs, n² numbers.
    radius : float or None
        Then rows at most so far apart are joined instead.
    weights : {"binary", "heat", "self-tuning"}
        1; exp(-d²/2σ²); exp(-d²/σ_iσ_j) with σ_i the distance to the last neighbour (the
        seventh, where all pairs are joined).
    scale : float or "auto"
        σ of "heat"; "auto" is the median length of the edges (the median distance to the
        tenth nearest row, where all pairs are joined).
    self_loops : bool
        Whether w_ii = 1, as a kernel has it. False is scikit-learn's graph; new rows then
        get nothing from a row at distance zero.
    symmetric : {"union", "mutual", "mean"}
        Whether one of two rows must name the other, or both; "mean" gives half the weight
        to one, as scikit-learn does.
    components : {"raise", "largest", "each"}
        What to do about a graph in pieces: refuse it and name their sizes, embed the largest,
        or each with axes of its own. Points left out have NaN.
    metric : str
        A distance that scikit-learn knows, or "precomputed": X is the matrix W of a graph.
    search : {"exact", "faiss"}
        How neighbours are found; "faiss" needs that library.
    tol : float or None
        Largest certified error of λ relative to 1 - λ; None is 1e-6.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        f.
    eigenvalues_, laplacian_eigenvalues_ : ndarray of shape (k,)
        λ of S, descending, and 1 - λ.
    certificate_ : Certificate
        Intervals of λ, residuals ‖Su - λu‖, axes that cannot be told apart.
    graph_ : Graph
        Weights, pieces, isolated points.
    facts_ : GraphFacts
        Numbers to judge it by.
    kernel_ : CSR matrix or ndarray of shape (n, n)
        W_ij·vol/(d_id_j), vol = Σd: kernel PCA on it with row weights d has these axes.
    extension_error_ : float or None
        ‖transform(X) - embedding_‖/‖embedding_‖ over at most 1000 rows of the fit: rounding
        where all pairs are joined; per mille for neighbours whose distances are tied.
        None where an axis has eigenvalue 0, and cannot be extended.
    pieces_ : tuple of Piece
        Rows, eigenvalues and certificate of each piece that was embedded.
    n_components_, n_samples_, n_features_in_ : int
        Axes, rows, columns.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LaplacianEigenmaps
    >>> t = np.linspace(0, 5, 60)
    >>> arc = np.c_[np.cos(t), np.sin(t)]
    >>> model = LaplacianEigenmaps(1, neighbours=4).fit(arc)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **GraphEstimator._parameter_constraints,
        "neighbours": [Interval(Integral, 1, None, closed="left"), None],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "weights": [StrOptions(set(WEIGHTS))],
        "self_loops": ["boolean"],
        "symmetric": [StrOptions(set(SYMMETRIES))],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        neighbours: int | None = 10,
        radius: float | None = None,
        weights: str = "binary",
        scale: float | str = "auto",
        self_loops: bool = True,
        symmetric: str = "union",
        components: str = "raise",
        metric: str = "euclidean",
        search: str = "exact",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.radius = radius
        self.weights = weights
        self.scale = scale
        self.self_loops = self_loops
        self.symmetric = symmetric
        self.components = components
        self.metric = metric
        self.search = search
        super().__init__(tol, memory, time, device, random_state)

    def _graph_rows(self, searcher: Searcher) -> tuple[Graph, GraphRows]:
        k, nearest = self.neighbours, _NEAREST
        if k is None and self.radius is None:
            made = whole_graph(searcher, weights=self.weights, scale=self.scale)
            if not self.self_loops:
                np.fill_diagonal(made.weights, 0.0)
        else:
            made = graph(
                None,
                k or 1,
                radius=self.radius,
                weights=self.weights,
                scale=self.scale,
                self_loops=self.self_loops,
                symmetric=self.symmetric,
                searcher=searcher,
            )
            nearest = k or 1
        assert made.weighing is not None
        kept = None if self.radius is not None else k
        rule, near = made.weighing, made.neighbours
        rows = GraphRows(searcher, rule, kept, self.radius, self.self_loops, nearest)
        if kept is None or near is None:
            return made, rows
        reach = near.distances[:, -1].copy()
        return made, dataclasses.replace(rows, reach=reach, symmetric=self.symmetric)

    def _weights(self, weights: Array) -> tuple[Array, Array | None]:
        return weights, None

    def _coordinates(self, op: NormalisedGraph, spectrum: Spectrum) -> Array:
        return np.asarray(spectrum.right) / np.sqrt(op.degrees)[:, None]

    @property
    def kernel_(self) -> Array:
        """W_ij·vol/(d_id_j) of shape (n, n), of the kind of ``graph_.weights``."""
        w, degrees = self.graph_.weights, self.graph_.degrees
        share = degrees / np.sum(degrees)  # vol/d_i = 1/share; d_j itself may be next to zero
        joined = degrees > 0
        own, whole = np.where(joined, share, np.inf), np.where(joined, degrees, np.inf)
        if not is_sparse(w):
            return w / own[:, None] / whole[None, :]
        found = w.copy()
        found.data = w.data / np.repeat(own, np.diff(w.indptr)) / whole[w.indices]
        return found
