"""Locally linear embedding: coordinates in which every row is put together as before."""

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators._embedding import Embedding
from mercer.estimators._graph_facts import GraphFacts
from mercer.estimators._linked_rows import COMPONENTS, linked
from mercer.estimators._lle_local import METHODS, local_matrix
from mercer.estimators._lle_solve import inverse_of, refuse_full, smallest
from mercer.estimators._lle_weights import combined
from mercer.estimators._parameters import RESOURCES
from mercer.operators import Graph, Searcher, ShiftInverse
from mercer.planning import Path, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source

_REACHED = 4  # neighbours of neighbours per neighbour, on a sheet
_TOL = 1e-4  # of λ, which are small beside ‖M‖: rounding leaves no more digits


class LocallyLinearEmbedding(Embedding):
    """Coordinates that are locally linear in the rows: the bottom of M, Z = √n·U.

    "standard": M = (I-W)ᵀ(I-W), W the weights that put every row together from its
    neighbours [Roweis2000]_. The other methods sum one small matrix a row, which vanishes
    for functions that are linear on the neighbourhood: several weight vectors ("modified"
    [Zhang2007]_), second derivatives ("hessian" [Donoho2003]_), or the tangent space ("ltsa"
    [Zhang2004]_). Use one of these where the sheet is bent but sampled evenly; "standard"
    is the quickest, and distorts most.

    Parameters
    ----------
    n_components : int
        d, the dimensions of the sheet.
    neighbours : int
        Nearest rows that a row is put together from. "hessian" needs more than d(d+3)/2.
    method : {"standard", "modified", "hessian", "ltsa"}
        Which matrix.
    reg : float
        Penalty of the weights, relative to tr G of each neighbourhood; for new rows too.
    components : {"raise", "largest", "place"}
        What to do when the graph of neighbours falls into pieces; see `Isomap`.
    tol : float or None
        Largest relative half-width of the certified interval of an eigenvalue of M; None is
        1e-4, because these are so small beside ‖M‖ that rounding leaves few digits.
    memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, d)
        The coordinates: mean zero, every column of norm √n, columns orthogonal.
    eigenvalues_ : ndarray of shape (d,)
        λ of M, ascending: how far from locally linear each column is.
    matrix_ : CSR matrix of shape (n, n)
        M.
    kernel_ : ShiftInverse
        (M + σI)⁻¹ off the constant vector, as an operator: kernel PCA of it has these axes,
        and coordinates that differ by a factor a column.
    certificate_ : Certificate
        Intervals that hold the eigenvalues of M, ascending; residuals, gaps, groups.
    graph_, facts_
        See `Isomap`.
    explained_variance_ratio_ : None
        A share of variance has no meaning here.
    n_components_, n_samples_, n_features_in_ : int
        Axes, rows, columns.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LocallyLinearEmbedding
    >>> t = np.linspace(0, 3, 60)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = LocallyLinearEmbedding(1, neighbours=4, method="ltsa").fit(arc)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.999)
    True
    """

    _needs_dense = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "neighbours": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions(set(METHODS))],
        "reg": [Interval(Real, 0, None, closed="neither")],
        "components": [StrOptions(set(COMPONENTS))],
        **RESOURCES,
    }
    matrix_: Any
    graph_: Graph
    facts_: GraphFacts
    _values: Array
    _rows: Array

    def __init__(
        self,
        n_components: int = 2,
        *,
        neighbours: int = 10,
        method: str = "standard",
        reg: float = 1e-3,
        components: str = "raise",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.neighbours = neighbours
        self.method = method
        self.reg = reg
        self.components = components
        self.tol = tol
        self.memory = memory
        self.time = time
        self.device = device
        self.random_state = random_state

    @property
    def kernel_(self) -> ShiftInverse:
        """(M + σI)⁻¹ off the constant vector; factored again at each call."""
        return inverse_of(self.matrix_)

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        if reset:
            self._refuse_small(*source.shape)
        return source

    def _refuse_small(self, n: int, p: int) -> None:
        """Refuse fewer rows, columns or neighbours than the method needs."""
        d, k = int(self.n_components), int(self.neighbours)
        needed = {"standard": 1, "modified": d, "hessian": d * (d + 3) // 2 + 1, "ltsa": d + 1}
        if k < needed[self.method]:
            raise InputError(
                f'method="{self.method}" with {d} axes needs {needed[self.method]} neighbours'
                " or more",
                got=f"neighbours={k}, n_components={d}",
                fix=f"take neighbours={needed[self.method]} or more, or fewer axes",
            )
        if d > min(p, n - 1):
            raise InputError(
                "there are fewer dimensions than axes asked for",
                got=f"n_components={d}, n_samples = {n}, n_features = {p}",
                fix=f"ask for at most {max(min(p, n - 1), 1)} axes",
            )

    def _problem(self, source: Source, weights: Any = None) -> Problem:
        n = source.shape[0]
        return Problem(
            rows=n,
            cols=n,
            components=int(self.n_components),
            itemsize=8,
            nnz=min(n * n, _REACHED * n * (self.neighbours + 1)),
            tol=self._tolerance(source),
            inverse=True,
            **self._resources(),
        )

    def _tolerance(self, source: Source) -> float:
        return _TOL if self.tol is None else float(self.tol)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(self, source: Source, path: Path, weights: Any) -> tuple[Spectrum, Any]:
        link = linked(source.array, self.neighbours, self.components)
        assert link.graph.neighbours is not None
        rows = np.asarray(link.rows, np.float64)
        d = int(self.n_components)
        near = link.graph.neighbours.indices
        m = local_matrix(rows, near, d, self.method, float(self.reg))
        refuse_full(m, self._budget())
        spectrum, values = smallest(m, path, d, self._tolerance(source), self._seed())
        return spectrum, (link, m, values)

    # -- scale and project ------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, Any]:
        link, m, values = found
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        own = np.asarray(spectrum.right) * link.graph.n**0.5
        place = None
        if self.components == "place":
            place = partial(self._combined, link.rows, link.searcher, own)
        embedded = link.spread(own, source.array, place)
        return {
            "embedding_": np.asarray(embedded, dtype),
            "eigenvalues_": np.maximum(values, 0.0),
            "explained_variance_ratio_": None,
            "matrix_": m,
            "certificate_": spectrum.certificate,
            "graph_": link.graph,
            "facts_": link.facts,
            "n_components_": len(values),
            "n_samples_": source.shape[0],
            "_values": own,
            "_rows": link.rows.copy() if link.kept is None else link.rows,
            "_dtype": dtype,
        }

    def _project(self, source: Source) -> Array:
        searcher = Searcher(self._rows)
        found = self._combined(self._rows, searcher, self._values, source.array)
        return np.asarray(found, self._dtype)

    def _combined(self, rows: Array, searcher: Searcher, own: Array, points: Array) -> Array:
        near = searcher.query(points, self.neighbours)
        return combined(points, rows, near.indices, near.distances, own, float(self.reg))

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)
