"""Graphs of neighbouring rows, or of your own making: symmetric, sparse, never n².

Pieces of a graph: which points hang together, how many, and which stand alone.

Geodesic distances: shortest paths along the edges of a graph.
"""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, as_csr, is_sparse
from mercer.errors import InputError
from mercer.operators.graphs._edge_weights import LEAST, Weighing, weighing, whole_weighing
from mercer.operators.graphs._neighbours import Neighbours, Searcher

_SHOWN = 6  # sizes and points that a message names


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Pieces:
    """The connected pieces of a graph, largest first.

    Attributes
    ----------
    labels : ndarray of shape (n,), int32
        The piece of each point; 0 is the largest.
    sizes : ndarray of shape (pieces,)
        Points of each piece, descending.
    isolated : ndarray
        Points without an edge to another.
    """

    labels: Array
    sizes: Array
    isolated: Array

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self.sizes)

    def rows(self, piece: int) -> Array:
        """Return the numbers of the points of one piece."""
        return np.flatnonzero(self.labels == piece)

    def __str__(self) -> str:
        """Return the sizes and the isolated points in one sentence."""
        if self.count == 1:
            return f"one piece of {self.sizes[0]:,} points"
        text = f"{self.count:,} pieces of {_first(self.sizes)} points"
        if len(self.isolated):
            text += f"; {len(self.isolated):,} isolated: rows {_first(self.isolated)}"
        return text


def pieces_of(weights: Any) -> Pieces:
    """Return the connected pieces of a symmetric CSR matrix; loops join nothing."""
    from scipy.sparse.csgraph import connected_components

    return _ordered(connected_components(weights, directed=False)[1])


def _pieces_of_rows(w: Array) -> Pieces:
    """Return the pieces of a symmetric array (n, n), whose rows are looked at one by one."""
    labels, count = np.full(len(w), -1), 0
    for first in range(len(w)):
        if labels[first] >= 0:
            continue
        labels[first], waiting = count, [first]
        while waiting:
            fresh = np.flatnonzero((w[waiting.pop()] >= LEAST) & (labels < 0))
            labels[fresh] = count
            waiting += fresh.tolist()
        count += 1
    return _ordered(labels)


def _ordered(labels: Array) -> Pieces:
    """Return pieces by the number of each point's, largest first."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    labels = rank[labels].astype(np.int32)
    sizes = sizes[order]
    return Pieces(labels, sizes, np.flatnonzero(sizes[labels] == 1))


def one_whole(n: int) -> Pieces:
    """Return the pieces of a graph on n points that is known to hang together."""
    none = np.zeros(0, np.int64) if n > 1 else np.zeros(1, np.int64)
    return Pieces(np.zeros(n, np.int32), np.array([n]), none)


def one_piece(pieces: Pieces, fix: str) -> None:
    """Refuse a graph in several pieces, naming their sizes and the isolated points."""
    if pieces.count > 1:
        raise InputError("the graph falls into pieces", got=str(pieces), fix=fix)


def _first(numbers: Array) -> str:
    shown = ", ".join(f"{number:,}" for number in numbers[:_SHOWN])
    return shown + (", ..." if len(numbers) > _SHOWN else "")


SYMMETRIES = ("union", "mutual", "mean")
_TENTH = 10  # neighbour whose median distance is the scale where all pairs are joined
_ZERO = 5e-324  # stands for a length of zero while matrices are merged: zeros would be lost


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph on n points.

    Attributes
    ----------
    weights : CSR matrix or array of shape (n, n)
        W = Wᵀ ≥ 0; the diagonal holds the loops. An array where all pairs are joined.
    lengths : CSR matrix of shape (n, n) or None
        Distances along the edges, zeros stored, no diagonal.
    neighbours : Neighbours or None
        The lists it was made of.
    pieces : Pieces
        Connected pieces with labels and sizes, and isolated points.
    weighing : Weighing or None
        How weights follow from lengths, scales as numbers; None for a graph that was given.
    """

    weights: Any
    lengths: Any
    neighbours: Neighbours | None
    pieces: Pieces
    weighing: Weighing | None = None

    @property
    def n(self) -> int:
        """How many points there are."""
        return int(self.weights.shape[0])

    @property
    def degrees(self) -> Array:
        """d = W1, of shape (n,), loops included."""
        return np.asarray(self.weights.sum(axis=1), np.float64).ravel()

    @property
    def edges(self) -> int:
        """Edges between two points, each counted once."""
        w = self.weights
        stored = int(w.nnz) if is_sparse(w) else int(np.count_nonzero(w))
        return (stored - int(np.count_nonzero(w.diagonal()))) // 2

    @property
    def front(self) -> float:
        """Mean width of its band in an order that keeps neighbours close; n for arrays."""
        return band_front(self.weights) if is_sparse(self.weights) else float(self.n)

    @property
    def isolated(self) -> Array:
        """Numbers of the points without an edge."""
        return self.pieces.isolated


def graph(
    X: Any,
    neighbours: int = 10,
    *,
    radius: float | None = None,
    weights: str = "binary",
    scale: float | str = "auto",
    self_loops: bool = True,
    symmetric: str = "union",
    metric: str = "euclidean",
    search: str = "exact",
    threads: int | None = None,
    searcher: Searcher | None = None,
) -> Graph:
    """Return the graph of the rows of X.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, p)
        Finite rows.
    neighbours : int
        k; an edge joins a row to each of its k nearest others. Cut to n - 1.
    radius : float or None
        Then edges join rows at most that far apart instead.
    weights : {"binary", "heat", "self-tuning"}
        1; exp(-d²/2σ²); exp(-d²/σ_iσ_j) with σ_i the distance to the k-th neighbour.
    scale : float or "auto"
        σ of "heat"; "auto" is the median length of the edges.
    self_loops : bool
        Whether every point has an edge of weight 1 to itself, as a kernel has.
    symmetric : {"union", "mutual", "mean"}
        Whether one of two rows must be near the other, or each of them; "mean" halves the
        weight where it is one, as (A + Aᵀ)/2 does.
    metric, search, threads
        See `Searcher`.
    searcher : Searcher or None
        One that holds these rows already.
    """
    found = searcher or Searcher(X, metric=metric, threads=threads, search=search)
    near: Neighbours | None = None
    if radius is None:
        near = found.own(neighbours)
        lengths = _joined(near, found.n, symmetric)
    else:
        lengths = _without_loops(found.within(None, radius))
    rule = weighing(lengths, near, weights, scale)
    w = rule.applied(lengths)
    if near is not None and symmetric == "mean":
        w = w.multiply(_halves(near, found.n)).tocsr()
    return Graph(_looped(w) if self_loops else w, lengths, near, pieces_of(w), rule)


def graph_from(matrix: Any, *, self_loops: bool = True, lengths: bool = False) -> Graph:
    """Return the graph of a symmetric matrix that the user made, checked.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n, n)
        Weights, or lengths; any real type, also bool and uint8.
    self_loops : bool
        Whether its diagonal is kept as it is, or left out.
    lengths : bool
        Whether the numbers are lengths of edges; stored zeros are edges then, and weights 1.
    """
    given = _checked(matrix)
    if lengths:
        long = _without_loops(given)
        w = _ones_like(long)
        return Graph(_looped(w) if self_loops else w, long, None, pieces_of(w))
    given.eliminate_zeros()
    off = _without_loops(given)
    if off.nnz == 0:
        raise InputError(
            "the graph has no edge",
            got=f"a matrix of shape {given.shape} that is zero off its diagonal",
            fix="give each point an edge to another",
        )
    return Graph(given if self_loops else off, None, None, pieces_of(off))


def whole_graph(
    searcher: Searcher, *, weights: str = "heat", scale: float | str = "auto", nearest: int = 7
) -> Graph:
    """Return the graph that joins all pairs of rows: n² numbers, a kernel with its diagonal.

    Parameters
    ----------
    searcher : Searcher
        Holds the rows.
    weights : {"heat", "self-tuning"}
        See `graph`.
    scale : float or "auto"
        σ of "heat"; "auto" is the median distance to the tenth nearest row.
    nearest : int
        σ_i of "self-tuning" is the distance to this neighbour.
    """
    near = searcher.own(nearest if weights == "self-tuning" else _TENTH)
    rule = whole_weighing(searcher, near, weights, scale)
    w = np.empty((searcher.n, searcher.n))
    for part, apart in searcher.distances(None):
        own = None if rule.scales is None else rule.scales[part]
        w[part] = rule.of_block(apart, own)
    pieces = one_whole(len(w)) if bool(np.min(w) >= LEAST) else _pieces_of_rows(w)
    return Graph(w, None, near, pieces, rule)


def band_front(weights: Any) -> float:
    """Return the mean of i - (first neighbour of i) in the order of Cuthill and McKee."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = weights.shape[0]
    order = reverse_cuthill_mckee(weights, symmetric_mode=True)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    filled = np.diff(weights.indptr) > 0
    if not filled.any():
        return 1.0
    first = np.arange(n, dtype=np.int32)
    first[filled] = np.minimum.reduceat(place[weights.indices], weights.indptr[:-1][filled])
    return max(1.0, float(np.mean(np.maximum(place[filled] - first[filled], 0))))


def _joined(near: Neighbours, n: int, symmetric: str) -> Any:
    """Return the lengths of a symmetric graph from lists of neighbours, zeros stored."""
    if symmetric not in SYMMETRIES:
        raise InputError(
            "a graph of neighbours is made symmetric in one of three ways",
            got=f"symmetric={symmetric!r}",
            fix=f"take one of {', '.join(SYMMETRIES)}",
        )
    one = _listed(near, n, np.maximum(near.distances.ravel(), _ZERO))
    other = one.T.tocsr()
    found = one.minimum(other) if symmetric == "mutual" else one.maximum(other)
    found.data[found.data == _ZERO] = 0.0
    return found


def _halves(near: Neighbours, n: int) -> Any:
    """Return (A + Aᵀ)/2 of the lists: 1 where both rows name each other, ½ where one does."""
    one = _listed(near, n, np.full(near.indices.size, 0.5))
    return one + one.T.tocsr()


def _listed(near: Neighbours, n: int, data: Array) -> Any:
    """Return a CSR matrix (n, n) with the numbers `data` at the places of the lists."""
    import scipy.sparse

    ends = (np.arange(n + 1) * near.indices.shape[1]).astype(near.indices.dtype)
    indices = near.indices.ravel().copy()
    found = scipy.sparse.csr_matrix((data, indices, ends), shape=(n, n))
    found.sort_indices()
    return found


def _looped(weights: Any) -> Any:
    """Return W + I."""
    import scipy.sparse

    return (weights + scipy.sparse.identity(weights.shape[0], format="csr")).tocsr()


def _ones_like(lengths: Any) -> Any:
    import scipy.sparse

    parts = (np.ones(lengths.nnz), lengths.indices, lengths.indptr)
    return scipy.sparse.csr_matrix(parts, shape=lengths.shape)


def _without_loops(matrix: Any) -> Any:
    """Return the matrix without its diagonal; other zeros stay stored."""
    import scipy.sparse

    coo = matrix.tocoo()
    off = coo.row != coo.col
    if bool(off.all()):
        return matrix
    counts = np.bincount(coo.row[off], minlength=matrix.shape[0])
    ends = np.concatenate([[0], np.cumsum(counts)])
    parts = (coo.data[off], coo.col[off], ends)
    return scipy.sparse.csr_matrix(parts, shape=matrix.shape)


def _checked(matrix: Any) -> Any:
    """Return a float64 CSR copy of a square, finite, non-negative, symmetric matrix."""
    import scipy.sparse

    given = as_csr(matrix) if is_sparse(matrix) else np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InputError(
            "the matrix of a graph must be square",
            got=f"shape {given.shape}",
            fix="pass one row and one column for each point",
        )
    if np.dtype(given.dtype).kind not in "biuf":
        raise InputError(
            "the matrix of a graph holds real numbers",
            got=f"dtype {given.dtype}",
            fix="pass weights that are numbers, not negative",
        )
    csr = scipy.sparse.csr_matrix(given, dtype=np.float64, copy=True)
    csr.sum_duplicates()
    coo = csr.tocoo()
    for bad, what in (
        (~np.isfinite(csr.data), "weights of a graph must be finite"),
        (csr.data < 0, "weights of a graph must not be negative"),
    ):
        if bool(bad.any()):
            at = int(np.argmax(bad))
            raise InputError(
                what,
                got=f"{csr.data[at]:g} at row {coo.row[at]}, column {coo.col[at]}",
                fix="leave the edge out, or give it a weight of zero or more",
            )
    with np.errstate(over="ignore"):
        total = float(np.sum(csr.data))
    if not np.isfinite(total):
        raise InputError(
            "the numbers of a graph are too large to be added up",
            got=f"{csr.nnz:,} numbers, the largest {float(np.max(csr.data)):.3g}",
            fix="divide the matrix by a constant",
        )
    _refuse_asymmetry(csr)
    return csr


def _refuse_asymmetry(csr: Any) -> None:
    apart = abs(csr - csr.T).tocoo()
    allowed = 16 * EPS * float(np.max(csr.data, initial=0.0))
    if apart.nnz and float(np.max(apart.data)) > allowed:
        at = int(np.argmax(apart.data))
        i, j = int(apart.row[at]), int(apart.col[at])
        raise InputError(
            "the matrix of a graph must be symmetric",
            got=f"{csr[i, j]:g} at row {i}, column {j}; {csr[j, i]:g} at row {j}, column {i}",
            fix="take the larger of both, (A.maximum(A.T)), or their mean, (A + A.T) / 2",
        )
