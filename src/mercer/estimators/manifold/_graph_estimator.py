"""GraphEstimator: the walk of methods on the matrix of a graph.

Leading pairs of a graph's matrix S along one path, certified as pairs of S itself.
"""

import abc
import dataclasses
import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mercer import planning
from mercer.arrays import (
    EPS,
    Array,
    interruptible,
    is_sparse,
    leading_eigh,
    orthonormal,
    quiet_blas,
    task,
)
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.manifold._row_graph import facts_of
from mercer.estimators.manifold._transition_rows import GraphRows, averaged, in_one_piece
from mercer.estimators.walk._parameters import COUNT, POSITIVE, RESOURCES
from mercer.operators import (
    Filtered,
    Graph,
    NormalisedGraph,
    Searcher,
    ShiftInverse,
    band_front,
    graph_from,
    one_piece,
)
from mercer.planning import GraphCost, Path, Problem, foreseen_gap, joined_bytes
from mercer.solvers import BlockKrylov, Certificate, Floor, Goal, Outcome, Spectrum
from mercer.sources import Source

_INNER = 1e-6  # share of tol asked of a map of S: vectors need half of the digits of values
_SHIFT = (1e-10, 1e-5)  # least and most that is added to the Laplacian before it is inverted
_ROUNDS = 15  # times that a filter is set again by what the last one found
_FIRST = 10  # products with S that set the first one
_BETWEEN, _LAST = 3, 30  # products with a filter while it moves, and with the last one
_APART = 0.05  # least distance from λ_k to where it begins to rise, in units of 1 - λ_k
_STILL = 0.02  # change of 1 - λ_k at which it has come to rest
_RISE = 3.0  # logarithm of what it makes of λ_k


def graph_pairs(
    op: NormalisedGraph, path: Path, k: int, tol: float, gap: float, seed: int
) -> Spectrum:
    """Return the k leading pairs of S beside r, values λ descending, vectors of norm one.

    Parameters
    ----------
    op : NormalisedGraph
        S and r.
    path : Path
        lapack, filter or inverse.
    k : int
        At most n - 1.
    tol : float
        Half-width wanted for λ, relative to 1 - λ.
    gap : float
        A guess of 1 - λ₂.
    seed : int
        Of random starts.
    """
    if path.name == "lapack":
        return _by_lapack(op, k, tol)
    assert isinstance(path.solver, BlockKrylov)
    if path.name == "filter":
        return _by_filter(op, path.solver, k, tol, seed)
    shift = min(max(_SHIFT[0], 1e-2 * gap), _SHIFT[1])
    with task("factors"):
        turned = ShiftInverse(op.laplacian(), shift, op.direction)
    found = path.solver.solve(turned, _goal(k, _INNER * tol, seed))
    bounds = 1.0 - turned.values(np.maximum(_upper(found), EPS)) + _wrong(op, turned, found)
    return _settled(op, found, bounds, tol)


def _wrong(op: NormalisedGraph, turned: ShiftInverse, found: Spectrum) -> float:
    """Return how far I - S is from the matrix whose inverse was applied, measured.

    ‖(I - S + σI)x - v‖/‖x‖ for the products x of the pairs v, and the rounding of S.
    """
    assert found.image is not None
    x = found.image
    left = (1.0 + turned.shift) * x - op.walked(x) - found.right
    size = np.linalg.norm(x, axis=0)
    measured = float(np.max(np.linalg.norm(op.project(left), axis=0) / size))
    return measured + float(op.error)


def _goal(k: int, tol: float, seed: int) -> Goal:
    return Goal(k, max(tol, 256 * EPS), Floor(), None, 0.0, seed, psd=True)


def _upper(found: Spectrum) -> Array:
    """Return the upper bounds (k + 1,) of a certificate; the last holds for all others."""
    return np.append(found.certificate.upper, found.certificate.next_upper)


def _by_lapack(op: NormalisedGraph, k: int, tol: float) -> Spectrum:
    n, r = op.shape[0], op.direction
    whole = op.dense()
    whole -= r[:, None] * r[None, :]  # r itself comes last
    few = min(k + 1, n - 1)
    with quiet_blas(n):
        mu, vectors = interruptible(lambda: leading_eigh(whole, few), n)
    error = EPS * (8 + 4 * math.sqrt(n))
    with np.errstate(divide="ignore"):
        return _settled(op, None, op.values(mu) + error, tol, np.asarray(vectors[:, :k]))


def _by_filter(
    op: NormalisedGraph, solver: BlockKrylov, k: int, tol: float, seed: int
) -> Spectrum:
    """Raise the filter by what the last one found, until the pairs are certified.

    It begins to rise at the last of some Ritz values more than are wanted. While these still
    move, a few products are enough; then one run settles the pairs and proves them.
    """
    wide = min(max(solver.block, k + 1), op.shape[0] - 1)
    first = dataclasses.replace(solver, max_passes=_FIRST)
    found = first.solve(op, _goal(wide, 1e-3, seed))
    best = _settled(op, found, op.values(_upper(found)), tol)
    products, before = _FIRST, math.inf
    for turn in range(_ROUNDS):
        left = max(1.0 - float(best.values[k - 1]), 16 * EPS)
        cut = min(float(best.values[-1]), 1.0 - (1.0 + _APART) * left)
        if cut <= -1.0 + left:
            break
        rise = math.acosh(1.0 + 2.0 * (1.0 - left - cut) / (1.0 + cut))
        filtered = Filtered(op, max(2, math.ceil(_RISE / rise)), cut)
        settled = before - left <= _STILL * left
        before = left
        turned = dataclasses.replace(
            solver, start=best.right, max_passes=_LAST if settled else _BETWEEN
        )
        goal = _goal(k, _INNER * tol, seed + turn) if settled else _goal(wide, 1e-2, seed)
        found = turned.solve(filtered, goal)
        products += filtered.degree * found.passes
        bounds = filtered.values(_upper(found))
        now = _settled(op, found, bounds, tol)
        if settled and (now.certificate.met or turn == _ROUNDS - 1):
            return dataclasses.replace(now, passes=products)
        if not settled:
            best = now
    return dataclasses.replace(best.first(k), passes=products, outcome=Outcome.BUDGET)


def _settled(
    op: NormalisedGraph,
    found: Spectrum | None,
    bounds: Array,
    tol: float,
    vectors: Array | None = None,
) -> Spectrum:
    """Return the pairs of S in the space that a map of S has found, and what is proved.

    Rayleigh-Ritz with I - S: Ritz values are lower bounds of λ, `bounds` (k + 1,) upper ones.
    The space is that of the map's products, one step nearer than its vectors.
    """
    block = vectors if found is None else found.image
    assert block is not None
    q, _ = orthonormal(op.project(block), None, 0.0)
    m = q - op.walked(q)
    h = q.T @ m
    small, turn = np.linalg.eigh((h + h.T) / 2)
    u = q @ turn
    residual = np.linalg.norm(m @ turn - u * small, axis=0) + op.error
    values = 1.0 - small
    certificate = _certified(values, small, bounds, residual, op.error, tol)
    outcome = None if certificate.met or found is None else found.outcome
    if outcome is Outcome.CONVERGED:
        outcome = None  # the map was settled: what is missing is arithmetic
    passes = 1 if found is None else found.passes
    return Spectrum.of(values, u, certificate, total=None, passes=passes, outcome=outcome)


def _certified(
    values: Array, small: Array, bounds: Array, residual: Array, error: float, tol: float
) -> Certificate:
    """Return the certificate of λ, its widths measured by 1 - λ, on which maps depend."""
    lazy: dict[str, Any] = {"error": error, "tol": tol, "zero_level": 0.0, "psd": True}
    found = Certificate.of(1.0 + values, 1.0 + bounds, residual, **lazy)
    ends = np.maximum(found.upper - 1.0 - values, values - (found.lower - 1.0))
    far = ends / np.maximum(small, EPS)
    after = 1.0 + float(bounds[-1]) + error if len(bounds) > len(values) else 0.0
    return dataclasses.replace(
        found,
        lower=found.lower - 1.0,
        upper=found.upper - 1.0,
        converged=far <= tol,
        reached=float(np.max(far, initial=0.0)),
        far=far,
        zero_level=-1.0,
        next_upper=after - 1.0,
    )


_SAMPLED = 500  # rows whose distances tell how many edges a radius makes
_MEASURED = 1000  # rows on which the extension is held against the embedding
_LEAST = 1e-10  # modulus of λ below which dividing by it is no extension


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """One connected piece of a graph and its pairs.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Numbers of its points.
    eigenvalues : ndarray of shape (at most k,)
        λ of its matrix, without the first, which is 1.
    certificate : Certificate
        What is proved of them.
    """

    rows: Array
    eigenvalues: Array
    certificate: Certificate


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Made:
    """A graph, the pieces of it to embed, and the matrix of the first of them."""

    graph: Graph
    pieces: tuple[Array, ...]
    op: NormalisedGraph
    column: Array | None
    front: float
    rows: GraphRows | None


class GraphEstimator(Embedding):
    """Abstract: a method on S = D^-½WD^-½ of a graph is its graph, weights and scaling.

    A subclass writes `_graph_rows(searcher)` (graph and kernel of new points), `_weights(W)`
    (what is made of them, and factors of columns for new points) and `_coordinates(op,
    spectrum)`. This class makes the graph, names its pieces, plans, solves and extends.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [COUNT],
        "scale": [POSITIVE, StrOptions({"auto"})],
        "components": [StrOptions({"raise", "largest", "each"})],
        "metric": [str],
        "search": [str],
        **RESOURCES,
    }
    n_components: int
    components: str
    metric: str
    search: str
    self_loops: bool = True
    _usual_tol = 1e-6

    @abc.abstractmethod
    def _graph_rows(self, searcher: Searcher) -> tuple[Graph, GraphRows]:
        """Return the graph of the rows, and its kernel for new points."""

    @abc.abstractmethod
    def _weights(self, weights: Array) -> tuple[Array, Array | None]:
        """Return the matrix to normalise, and factors of its columns for new points."""

    @abc.abstractmethod
    def _coordinates(self, op: NormalisedGraph, spectrum: Spectrum) -> Array:
        """Return the embedding (m, k) of the points of one piece."""

    @property
    def _axes(self) -> int:
        """How many axes each piece gets, where it has so many."""
        return int(self.n_components)

    # -- fit --------------------------------------------------------------------------

    def _made(self, source: Source) -> Made:
        """Return the graph and the pieces to embed; it is made once."""
        if not hasattr(self, "_kept"):
            self._kept = self._make(source)
        return self._kept

    def _make(self, source: Source) -> Made:
        rows: GraphRows | None = None
        if self.metric == "precomputed":
            graph = graph_from(source.array, self_loops=self.self_loops)
        else:
            searcher = Searcher(source.array, metric=self.metric, search=self.search)
            graph, rows = self._graph_rows(searcher)
        pieces = self._chosen(graph)
        weights = graph.weights
        if graph.pieces.count > 1:
            weights = weights[pieces[0]][:, pieces[0]]
        matrix, column = self._weights(weights)
        front = _front(matrix)
        if self.components == "largest" and graph.pieces.count > 1 and rows is not None:
            rows = rows.at(source.array, pieces[0])
        return Made(graph, pieces, NormalisedGraph(matrix), column, front, rows)

    def _chosen(self, graph: Graph) -> tuple[Array, ...]:
        """Return the rows of each piece to embed, or refuse a graph in pieces."""
        found = graph.pieces
        if found.count == 1 and graph.n > 1:
            return (np.arange(graph.n),)
        if self.components == "raise" or found.sizes[0] == 1:
            fix = "take more neighbours or a larger radius or scale"
            one_piece(found, f'{fix}, or components="largest" or "each"')
        each = found.count if self.components == "each" else 1
        pieces = tuple(found.rows(i) for i in range(each) if found.sizes[i] > 1)
        left = graph.n - sum(len(rows) for rows in pieces)
        if left:
            warn(
                f"{len(pieces):,} of {found.count:,} pieces of the graph are embedded,"
                f" {left:,} points are not and have NaN",
                got=str(found),
                fix="take more neighbours or a larger radius or scale to join them",
                category=DataWarning,
            )
        return pieces

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        beside = self._beside(source)
        if not hasattr(self, "_kept"):  # what is too large is refused before it is made
            planning.plan(self._foreseen(source, *beside))
        made = self._made(source)
        return self._problem_on(made.op, made.front, *beside)

    def _problem_on(
        self, op: NormalisedGraph, front: float, before: float = 0.0, held: float = 0.0
    ) -> Problem:
        n, cells = op.shape[0], int(op.s.nnz) if is_sparse(op.s) else None
        return self._asked(n, cells, front, before, held)

    def _asked(
        self, n: int, cells: int | None, front: float, before: float, held: float
    ) -> Problem:
        k, cost = min(self._axes, n - 1), GraphCost(front)
        known = {"nnz": cells, "graph": cost, "before": before, "held": held}
        return self._problem_of(None, (n, n), k, **known)

    def _beside(self, source: Source) -> tuple[float, float]:
        """Return the bytes that making the graph takes, and those that are kept of it."""
        n, p = source.shape
        if self.metric == "precomputed":
            each = int((n * n if source.nnz is None else source.nnz) / n)
            return joined_bytes(n, 0.0, each)
        width = p if source.nnz is None else 1.5 * source.nnz / n
        return joined_bytes(n, width, self._edges(source))

    def _edges(self, source: Source) -> int | None:
        """Return how many edges lead from a row, or None for all."""
        k: int | None = getattr(self, "neighbours", None)
        radius = getattr(self, "radius", None)
        if radius is None:
            return None if k is None else min(k, source.shape[0] - 1)
        some = Searcher(source.sample(_SAMPLED), metric=self.metric)
        near = float(np.mean(some.sampled_distances(_SAMPLED) <= radius))
        return max(1, int(near * source.shape[0]))

    def _foreseen(self, source: Source, before: float, held: float) -> Problem:
        """Return the problem of a graph that is not made yet, with as many edges as may be."""
        n, cells = source.shape[0], source.nnz
        if self.metric != "precomputed":
            edges = self._edges(source)
            cells = None if edges is None else min(n * n, n * (2 * edges + 1))
        elif cells is None:
            cells = n * n
        return self._asked(n, cells, float(n), before, held)

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, Made]:
        made = self._made(source)
        return self._pairs(made.op, made.front, path), made

    def _pairs(self, op: NormalisedGraph, front: float, path: Path) -> Spectrum:
        k = min(int(self._axes), op.shape[0] - 1)
        gap = foreseen_gap(op.shape[0], front)
        tol = float(self._usual_tol if self.tol is None else self.tol)
        return graph_pairs(op, path, k, tol, gap, self._seed())

    def _fitted(self, source: Source, weights: Array | None) -> dict[str, object]:
        state = super()._fitted(source, weights)
        state.pop("_kept", None)
        return state

    def _scale(self, spectrum: Spectrum, found: Made, source: Source) -> dict[str, object]:
        n, k = found.graph.n, len(spectrum.values)
        if k < self._axes:
            _warn_few(k, int(self._axes), found.op.shape[0])
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        embedding = np.full((n, k), np.nan, dtype)
        embedding[found.pieces[0]] = self._coordinates(found.op, spectrum)
        parts = [Piece(found.pieces[0], spectrum.values, spectrum.certificate)]
        columns = [found.column]
        for rows in found.pieces[1:]:
            part, column = self._part(found.graph, rows, k, embedding)
            parts.append(part)
            columns.append(column)
        left = n - sum(len(part.rows) for part in parts)
        values = np.asarray(spectrum.values)
        state: dict[str, Any] = {
            "embedding_": embedding,
            "eigenvalues_": values,
            "laplacian_eigenvalues_": 1.0 - values,
            "explained_variance_ratio_": None,
            "certificate_": spectrum.certificate,
            "graph_": dataclasses.replace(found.graph, lengths=None, neighbours=None),
            "facts_": facts_of(found.graph, left),
            "pieces_": tuple(parts),
            "n_components_": k,
            "n_samples_": n,
            "_rows": found.rows,
            "_column": _gathered(columns, parts, n),
        }
        main = found.pieces[0]
        at = main[np.unique(np.linspace(0, len(main) - 1, _MEASURED).astype(np.int64))]
        return state | {"_measured": at, "_held_against": source.array[at]}

    def _part(
        self, graph: Graph, rows: Array, k: int, embedding: Array
    ) -> tuple[Piece, Array | None]:
        """Embed one more piece by a plan of its own; fewer axes than points leave NaN."""
        matrix, column = self._weights(graph.weights[rows][:, rows])
        op, front = NormalisedGraph(matrix), _front(matrix)
        made = planning.plan(self._problem_on(op, front))
        spectrum, path = self._pairs(op, front, made.chosen), made.chosen.then
        while path is not None and not spectrum.certificate.met:
            spectrum, path = self._pairs(op, front, path), path.then
        self._warn(spectrum)
        found = self._coordinates(op, spectrum)
        embedding[rows[:, None], np.arange(found.shape[1])[None, :]] = found
        return Piece(rows, np.asarray(spectrum.values), spectrum.certificate), column

    # -- new rows ---------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the coordinates of X by Nyström's formula, of shape (n_samples, k).

        f(x) = (1/λ)·Σ_j p(x, x_j)·f(x_j), p(x, x_j) = w(x, x_j)/Σ_l w(x, x_l) [Bengio2004]_.
        Two points are joined where they would be in the graph: within the reach of one of
        them, the distance to its k-th neighbour. So rows of the fit get their embedding back:
        to rounding where all pairs are joined (``neighbours=None``), and to the accuracy of
        the pairs for lists of neighbours, but where distances are tied or rows stand alone;
        `extension_error_` is measured. Rows of a given graph differ where their loops do.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New rows; with ``metric="precomputed"`` their weights to the training points.
        """
        check_is_fitted(self)
        return self._project(self._admit(X, reset=False))

    def _project(self, source: Source) -> Array:
        dtype = np.float32 if source.products.itemsize == 4 else np.float64
        found = self._extended(dict(vars(self)), source.array)
        _warn_zero(self.pieces_, int(np.sum(np.isnan(found).any(axis=1))))
        return found.astype(dtype, copy=False)

    def _extended(self, state: dict[str, Any], points: Array) -> Array:
        """Return the extension to new points (m, k) by what a fit has found."""
        parts, rows = state["pieces_"], state["_rows"]
        n, k = state["embedding_"].shape
        functions, labels = np.full((n, k), np.nan), np.full(n, -1, np.int32)
        _refuse_zero(parts[0].eigenvalues)
        for number, part in enumerate(parts):
            width = len(part.eigenvalues)
            lost = np.abs(part.eigenvalues) < _LEAST  # of small pieces: no extension there
            known = state["embedding_"][part.rows, :width]
            functions[part.rows, :width] = known / np.where(lost, np.nan, part.eigenvalues)
            labels[part.rows] = number
        inside, column = labels >= 0, state["_column"]
        if self.components == "largest" and rows is not None and not inside.all():
            functions, labels = functions[inside], labels[inside]
            column = None if column is None else column[inside]
        found = np.empty((int(points.shape[0]), k))
        for part, weights in self._new_weights(rows, points):
            if len(parts) > 1 or bool(np.any(labels < 0)):
                weights = in_one_piece(weights, labels, len(parts))
            found[part] = averaged(weights, column, functions, part.start)
        return found

    def _weights_of(self, points: Array) -> Iterable[tuple[slice, Array]]:
        """Yield the weights of blocks of new points to the rows of the fit."""
        return self._new_weights(self._rows, points)

    def _new_weights(
        self, rows: GraphRows | None, points: Array
    ) -> Iterable[tuple[slice, Array]]:
        if rows is not None:
            return rows.blocks(points)
        cells = points.data if is_sparse(points) else points
        if bool(np.any(np.asarray(cells) < 0)):
            raise InputError(
                "weights of a graph must not be negative",
                got=f"{np.min(cells):g} among the weights of new points",
                fix="leave the edge out, or give it a weight of zero or more",
            )
        return [(slice(0, int(points.shape[0])), points)]

    @cached_property
    def extension_error_(self) -> float | None:
        """‖transform(X) - embedding‖/‖embedding‖ over at most 1000 training rows.

        Found when it is first asked for; None where an axis has no extension.
        """
        if not hasattr(self, "pieces_"):
            raise AttributeError("extension_error_ is there after fit")
        if np.min(np.abs(self.pieces_[0].eigenvalues)) < _LEAST:
            return None
        known = np.asarray(self.embedding_[self._measured], np.float64)
        size = float(np.max(np.abs(known)))  # f is as D^-½: squares may leave the range
        apart = (self._extended(dict(vars(self)), self._held_against) - known) / size
        return float(np.linalg.norm(apart) / np.linalg.norm(known / size))

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: a given graph is pairwise input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def _front(matrix: Array) -> float:
    return band_front(matrix) if is_sparse(matrix) else float(matrix.shape[0])


def _gathered(columns: list[Array | None], parts: list[Piece], n: int) -> Array | None:
    """Return factors of all n columns from those of each piece, or None."""
    if columns[0] is None:
        return None
    found = np.zeros(n)
    for column, part in zip(columns, parts, strict=True):
        found[part.rows] = column
    return found


def _refuse_zero(values: Array) -> None:
    small = np.flatnonzero(np.abs(values) < _LEAST)
    if small.size:
        raise InputError(
            "an axis with eigenvalue 0 cannot be extended to new rows",
            got=f"axis {int(small[0]) + 1}: eigenvalue {values[small[0]]:.1e}",
            fix=f"fit with n_components={int(small[0]) or 1}, or read embedding_",
        )


def _warn_zero(parts: tuple[Piece, ...], rows: int) -> None:
    lost = sum(bool(np.any(np.abs(part.eigenvalues) < _LEAST)) for part in parts)
    if lost and rows:
        warn(
            "axes with eigenvalue 0 cannot be extended to new rows: coordinates there are NaN",
            got=f"{rows:,} rows without all coordinates, {lost:,} pieces with such axes",
            fix="ask for fewer components or take more neighbours, or read embedding_",
            category=DataWarning,
        )


def _warn_few(k: int, wanted: int, points: int) -> None:
    warn(
        f"{points:,} points have {k} axes beside the constant one",
        got=f"n_components={wanted}",
        fix=f"ask for at most {k}, or pass more rows",
        category=DataWarning,
    )
