"""Locally linear embedding: coordinates in which every row is put together as before.

The smallest pairs of M off the constant vector, certified in eigenvalues of M.
"""

import dataclasses
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils._param_validation import StrOptions

from mercer.arrays import EPS, Array, gaussian, orthonormal, show_bytes
from mercer.errors import BudgetError, InputError
from mercer.estimators.manifold._barycentric_weights import combined
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.manifold._local_matrices import METHODS, local_matrix
from mercer.estimators.manifold._row_graph import COMPONENTS, GraphFacts, Linked, linked
from mercer.estimators.walk._parameters import COUNT, POSITIVE, RESOURCES
from mercer.operators import Graph, Searcher, ShiftInverse, band_front
from mercer.planning import Path, Problem, joined_bytes
from mercer.solvers import BlockKrylov, Certificate, Goal, Outcome, Spectrum
from mercer.sources import Source

Found = tuple[Linked, csr_matrix, Array]  # the rows, M, and its smallest eigenvalues
_SHIFT = 1e-9  # of ‖M‖: solves then keep seven digits along its null space
_SHARP = 1e-13  # tolerance on the inverse: residuals are then about 1e-6 of a value
_CELL = 12  # bytes of a cell of the factors and of its place
_C = 4.0  # units of rounding per row that an eigenvalue must exceed


def inverse_of(m: csr_matrix) -> ShiftInverse:
    """Return (M + σI)⁻¹ off the constant vector; σ = 1e-9·‖M‖."""
    n = m.shape[0]
    norm = float(np.max(abs(m).sum(axis=1)))
    return ShiftInverse(m, _SHIFT * norm, np.full(n, n**-0.5))


def refuse_full(m: csr_matrix, memory: int) -> None:
    """Refuse to factor M where its factors may not fit: those of points without a sheet.

    Factors in the order of Cuthill and McKee have 2n cells for each point of the mean front,
    12 bytes a cell; the order that is taken has fewer.
    """
    n = m.shape[0]
    front = band_front(m)
    needed = _CELL * 2 * n * front
    if needed > memory:
        raise BudgetError(
            "the factors of this matrix may not fit the memory allowed; none were made",
            got=f"{show_bytes(memory)} allowed, up to {show_bytes(needed)} needed: {n:,} rows,"
            f" fronts of {front:,.0f}",
            fix=f'allow memory="{show_bytes(1.05 * needed)}", take fewer neighbours, or fewer'
            " columns (by PCA)",
        )


def smallest(
    m: csr_matrix, path: Path, k: int, tol: float, seed: int
) -> tuple[Spectrum, Array]:
    """Return the k pairs of M beside the constant vector, and their eigenvalues, ascending.

    The spectrum is that of the inverse, 1/(λ + σ), descending; its certificate holds λ.

    Parameters
    ----------
    m : sparse matrix of shape (n, n)
        M, psd, M1 = 0.
    path : Path
        lapack or inverse.
    k : int
        How many.
    tol : float
        Largest certified relative error of each λ.
    seed : int
        Of the first block.
    """
    op = inverse_of(m)
    solver = path.solver
    goal = Goal(k, min(_SHARP, tol), seed=seed, psd=True)
    if isinstance(solver, BlockKrylov):
        first = op.project(gaussian((op.shape[0], solver.block), op.like, seed))
        solver = dataclasses.replace(solver, start=first)
    found = solver.solve(op, goal)
    values, vectors, residual = _polished(op, np.asarray(found.right))
    certificate = _certified(op, found.certificate, values, residual, tol)
    spectrum = Spectrum.of(
        1.0 / (np.maximum(values, 0.0) + op.shift),
        vectors,
        certificate,
        total=None,
        passes=found.passes,
        outcome=Outcome.CONVERGED if certificate.met else Outcome.FLOOR,
    )
    return spectrum, values


def _polished(op: ShiftInverse, v: Array) -> tuple[Array, Array, Array]:
    """Return λ (k,), vectors and ‖Mv - λv‖ after one more solve and Rayleigh-Ritz with M.

    The solve takes out what is left along large eigenvalues, which M would show enlarged.
    """
    q = op.project(orthonormal(op.matmat(v), None, 0.0)[0])
    image = op.m @ q
    h = q.T @ image
    values, turn = np.linalg.eigh(0.5 * (h + h.T))
    vectors = q @ turn
    residual = np.linalg.norm(image @ turn - vectors * values, axis=0)
    return values, vectors, residual


def _certified(
    op: ShiftInverse, inverse: Certificate, values: Array, residual: Array, tol: float
) -> Certificate:
    """Return the certificate in eigenvalues of M.

    λ_i ≤ θ_i by Courant and Fischer; λ_i ≥ 1/upper_i - σ from that of the inverse. Both ends
    give way by the measured backward error of the solves. An angle is bounded in M and in
    the inverse, where gaps are wide, and the smaller bound holds.
    """
    k, wrong = len(values), op.backward_error()
    lower = np.maximum(1.0 / inverse.upper - op.shift - wrong, 0.0)
    lower = np.minimum(lower, np.maximum(values, 0.0))
    zero = _C * op.shape[0] * EPS * op.norm
    after = 1.0 / inverse.next_upper - op.shift - wrong if inverse.next_upper > 0 else np.inf
    # Certificates are of descending values: of -λ, whose intervals are turned round.
    turned = Certificate.of(
        -values,
        np.append(-lower, -after),
        residual + wrong,
        error=0.0,
        tol=tol,
        zero_level=zero,
        lower=-(values + wrong),
    )
    sine = np.minimum(turned.sine, inverse.sine + _share(wrong, turned.gap))
    return dataclasses.replace(
        turned,
        lower=np.maximum(-turned.upper, 0.0),
        upper=np.maximum(-turned.lower, 0.0),
        sine=np.minimum(sine, 1.0),
        next_upper=float(after) if np.isfinite(after) else 0.0,
        groups=tuple(group for group in turned.groups if len(group) <= k + 1),
    )


def _share(wrong: float, gap: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.where(gap > 0, wrong / np.where(gap > 0, gap, 1.0), 1.0)


_REACHED = 4  # neighbours of neighbours per neighbour, on a sheet
_LOCAL = 24.0  # bytes for an entry of the local matrices, while they are added up


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
        Largest certified relative error of an eigenvalue of M; None is
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
    _usual_tol = 1e-4  # of λ, which are small beside ‖M‖: rounding leaves no more digits
    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [COUNT],
        "neighbours": [COUNT],
        "method": [StrOptions(set(METHODS))],
        "reg": [POSITIVE],
        "components": [StrOptions(set(COMPONENTS))],
        **RESOURCES,
    }
    matrix_: csr_matrix
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
        super().__init__(tol, memory, time, device, random_state)

    @property
    def kernel_(self) -> ShiftInverse:
        """(M + σI)⁻¹ off the constant vector; factored again at each call."""
        return inverse_of(self.matrix_)

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        source = super()._admit(X, reset=reset)
        if not reset:
            return source
        (n, p), d, k = source.shape, int(self.n_components), int(self.neighbours)
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
        return source

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        n = source.shape[0]
        cells = min(n * n, _REACHED * n * (self.neighbours + 1))
        before, held = joined_bytes(*source.shape, min(self.neighbours, n - 1))
        before += _LOCAL * n * (self.neighbours + 1) ** 2
        known = {"nnz": cells, "inverse": True, "before": before, "held": held}
        return self._problem_of(source, (n, n), self.n_components, **known)

    # -- operator and pairs -----------------------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, Found]:
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

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> dict[str, object]:
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
