"""Diffusion maps: coordinates whose distances are those of random walks between rows."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mercer.arrays import Array, is_sparse
from mercer.errors import InputError
from mercer.estimators.manifold._graph_estimator import GraphEstimator, Made
from mercer.estimators.manifold._transition_rows import GraphRows
from mercer.operators import Graph, NormalisedGraph, Searcher, graph, whole_graph
from mercer.solvers import Spectrum
from mercer.sources import Source


class DiffusionMaps(GraphEstimator):
    """Random walks over rows: Ψ = λᵗψ, Pψ = λψ, P the walk of a kernel without its density.

    With k(x, y) = exp(-‖x-y‖²/2σ²) and q(x) = Σ_j k(x, x_j), the kernel
    k_α = k(x, y)/(q(x)^α·q(y)^α) has row sums d, the walk P = k_α/d and the resting weights
    π = d/Σd [Coifman2006]_. ψ are right eigenvectors with Σ_i π_iψ_i² = 1; the constant one is
    left out. Distances of Ψ are those of the walks after t steps. α = 0 follows the density
    of the rows, 1 takes it out (Laplace-Beltrami), ½ is in between (Fokker-Planck). It is
    kernel PCA on p_2t(x, y)/π(y) with row weights π, and with no other weights.

    Parameters
    ----------
    n_components : int
        k, coordinates.
    alpha : float in [0, 1]
        How much of the density of the rows is taken out.
    t : float
        Steps of the walk; not a whole number only where no λ is negative.
    scale : float or "auto"
        σ, 2σ² being the ε of the literature. "auto" is the median distance to the tenth
        nearest row, or the median length of the edges to `neighbours`.
    neighbours : int or None
        None joins all pairs, n² numbers; k joins each row to its k nearest, the others
        counting as zero.
    components : {"raise", "largest", "each"}
        What to do about a graph in pieces: refuse it and name their sizes, embed the largest,
        or each with axes of its own. Points left out have NaN.
    metric : str
        A distance that scikit-learn knows, or "precomputed": X is the kernel matrix k.
    search : {"exact", "faiss"}
        How neighbours are found; "faiss" needs that library.
    tol : float or None
        Largest certified error of λ relative to 1 - λ; None is 1e-6.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        Ψ.
    eigenvalues_, laplacian_eigenvalues_ : ndarray of shape (k,)
        λ of P, descending, and 1 - λ.
    stationary_ : ndarray of shape (n,)
        π; 0 for points left out.
    scale_ : float or None
        σ as a number; None for a kernel that was given.
    certificate_ : Certificate
        Intervals of λ, residuals of D^½ψ, axes that cannot be told apart.
    graph_ : Graph
        The kernel k, pieces, isolated points.
    facts_ : GraphFacts
        Numbers to judge it by.
    kernel_ : ndarray or CSR matrix of shape (n, n)
        p_2t(x, y)/π(y), for whole 2t, made when it is asked for: n³ operations.
    extension_error_ : float or None
        ‖transform(X) - embedding_‖/‖embedding_‖ over at most 1000 rows of the fit: rounding
        where all pairs are joined.
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
    >>> from mercer import DiffusionMaps
    >>> t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.c_[np.cos(t), np.sin(t)]
    >>> model = DiffusionMaps(2, scale=0.3).fit(ring)
    >>> bool(np.allclose(model.transform(ring), model.embedding_, atol=1e-10))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **GraphEstimator._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "t": [Interval(Real, 0, None, closed="left")],
        "neighbours": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 1.0,
        t: float = 1,
        scale: float | str = "auto",
        neighbours: int | None = None,
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
        self.alpha = alpha
        self.t = t
        self.scale = scale
        self.neighbours = neighbours
        self.components = components
        self.metric = metric
        self.search = search
        super().__init__(tol, memory, time, device, random_state)

    def _graph_rows(self, searcher: Searcher) -> tuple[Graph, GraphRows]:
        k = self.neighbours
        if k is None:
            made = whole_graph(searcher, weights="heat", scale=self.scale)
        else:
            made = graph(None, k, weights="heat", scale=self.scale, searcher=searcher)
        assert made.weighing is not None
        near = made.neighbours
        reach = None if k is None or near is None else near.distances[:, -1].copy()
        return made, GraphRows(searcher, made.weighing, k, None, True, 1, reach)

    def _weights(self, weights: Array) -> tuple[Array, Array | None]:
        """Return k_α (n, n) and q^-α (n,): of a new row q(x)^α cancels in p."""
        density = np.asarray(weights.sum(axis=1), np.float64).ravel()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            factor = (density / np.mean(density)) ** -float(self.alpha)
            if is_sparse(weights):
                found = weights.copy()
                found.data = found.data * np.repeat(factor, np.diff(weights.indptr))
                found.data *= factor[weights.indices]
            else:
                found = weights * factor[:, None]
                found *= factor
        if not np.isfinite(found.data if is_sparse(found) else found).all():
            raise InputError(
                "these weights are too unequal to be divided by their densities",
                got=f"densities from {np.min(density):.3g} to {np.max(density):.3g}",
                fix="pass alpha=0, or bring the weights nearer to each other",
            )
        return found, factor

    def _coordinates(self, op: NormalisedGraph, spectrum: Spectrum) -> Array:
        root = np.sqrt(op.degrees / np.sum(op.degrees))
        psi = np.asarray(spectrum.right) / root[:, None]
        return psi * powers(np.asarray(spectrum.values), float(self.t))

    def _scale(self, spectrum: Spectrum, found: Made, source: Source) -> dict[str, object]:
        state = super()._scale(spectrum, found, source)
        rule = found.graph.weighing
        state["scale_"] = None if rule is None else rule.scale
        stationary = np.zeros(found.graph.n)
        stationary[found.pieces[0]] = found.op.degrees / np.sum(found.op.degrees)
        state["stationary_"] = stationary
        return state

    @property
    def kernel_(self) -> Array:
        """p_2t(x, y)/π(y) of shape (n, n) over the rows of the first piece."""
        steps = 2 * float(self.t)
        if steps != int(steps):
            raise InputError(
                "the kernel of a walk needs whole steps",
                got=f"t={self.t}",
                fix="take t so that 2t is a whole number",
            )
        rows, weights = self.pieces_[0].rows, self.graph_.weights
        matrix, _ = self._weights(weights[rows][:, rows])
        op = NormalisedGraph(matrix)
        root = np.sqrt(op.degrees / np.sum(op.degrees))
        whole = op.s.toarray() if is_sparse(op.s) else op.s
        walked = np.linalg.matrix_power(whole, int(steps))
        return walked / root[:, None] / root[None, :]


def powers(values: Array, t: float) -> Array:
    """Return λᵗ (k,); a negative λ has only whole powers."""
    negative = np.flatnonzero(values < 0)
    if negative.size and t != int(t):
        at = int(negative[0])
        raise InputError(
            "a negative eigenvalue has no power that is not whole",
            got=f"t={t}, axis {at + 1}: eigenvalue {values[at]:.3g}",
            fix="take a whole t, fewer components, or all pairs (neighbours=None)",
        )
    return np.asarray(np.power(values, t))
