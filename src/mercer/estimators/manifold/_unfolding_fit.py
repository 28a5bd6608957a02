"""From rows to an unfolding: places, graph, bars, kernel, axes, and what is to be said.

Landmarks for unfolding: who they are, whom they hold, and where the others go.

Rows that stand in one place are one point; the edges of a graph become bars.
"""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, binary_exponent, eigh
from mercer.errors import InputError
from mercer.estimators.manifold._barycentric_weights import combined, own_weights
from mercer.estimators.manifold._row_graph import GraphFacts, Linked, linked
from mercer.estimators.manifold._unfolding_facts import Flatness, UnfoldingCertificate, flatness
from mercer.estimators.manifold.isomap import farthest
from mercer.operators import Dense, Graph, Searcher
from mercer.solvers import DistanceBars, Exact, Floor, Goal, Spectrum, Unfolded, unfold

_REACH = 500  # exponents of rows whose squares keep their digits when they are added up
_RIDGE = 1e-9  # of the mean diagonal: settles rows that their neighbours leave free


def landmark_edges(
    graph: Graph, m: int, neighbours: int, seed: int
) -> tuple[Array, tuple[Array, Array], Array]:
    """Return landmarks (m,), the ends of edges between them, and the points near each.

    Neighbours are near along the graph of all rows, so that few landmarks do not reach
    across a fold; the shortest tree is added, so that they hang together.

    Parameters
    ----------
    graph : Graph
        Of all rows, in one piece.
    m : int
        Landmarks, each the farthest from those before.
    neighbours : int
        Edges from each landmark, at least.
    seed : int
        Draws the first.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    places, paths = farthest(graph, m, seed)
    between, m = paths[:, places], len(places)
    between = np.maximum(between, between.T)
    apart = between + np.diag(np.full(m, np.inf))
    k = min(neighbours, m - 1)
    near = np.argpartition(apart, k - 1, axis=1)[:, :k]
    joined = csr_matrix(
        (np.ones(m * k), (np.repeat(np.arange(m), k), near.ravel())), shape=(m, m)
    )
    joined = joined + minimum_spanning_tree(between)
    either = (joined + joined.T).tocoo()
    upper = either.row < either.col
    ends = (either.row[upper].astype(np.int64), either.col[upper].astype(np.int64))
    return places, ends, np.argmin(paths, axis=0)


def extended(rows: Array, indices: Array, places: Array, values: Array, reg: float) -> Array:
    """Return Y (n, d) with given landmarks and least ‖(I - W)Y‖², as LLE places rows.

    W holds the barycentric weights of every row from its neighbours [Weinberger2005]_.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        All rows.
    indices : ndarray of shape (n, k)
        Neighbours of each.
    places : ndarray of shape (m,)
        Which rows are landmarks.
    values : ndarray of shape (m, d)
        Their coordinates.
    reg : float
        Penalty of the weights.
    """
    import scipy.sparse
    from scipy.sparse.linalg import splu

    n, k = indices.shape
    weights = scipy.sparse.csr_matrix(
        (own_weights(rows, indices, reg).ravel(), indices.ravel(), np.arange(0, n * k + 1, k)),
        shape=(n, n),
    )
    left = (scipy.sparse.identity(n, format="csr") - weights).tocsc()
    free = np.ones(n, bool)
    free[places] = False
    found = np.empty((n, values.shape[1]))
    found[places] = values
    if free.any():
        open_, fixed = left[:, np.flatnonzero(free)], left[:, places]
        m = (open_.T @ open_).tocsc()
        ridge = max(_RIDGE * float(m.diagonal().mean()), EPS)
        m = m + ridge * scipy.sparse.identity(m.shape[0], format="csc")
        # The ridge draws towards the mean of the landmarks: the result moves as they do.
        middle = values.mean(axis=0)
        right = -(open_.T @ (fixed @ (values - middle)))
        found[free] = splu(m).solve(np.asarray(right)) + middle
    return found


_NEAR = 1e-6  # of an ordinary distance: rows closer than that are one point
_ROUNDS = 20
_ZERO = 1e-15  # of the largest eigenvalue: what is below is rounding


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """The different places where rows stand.

    Attributes
    ----------
    rows : ndarray of shape (q,)
        A row of each place, ascending.
    place : ndarray of shape (n,)
        The place of each row.
    counts : ndarray of shape (q,)
        How many rows stand there.
    """

    rows: Array
    place: Array
    counts: Array


def places_of(rows: Array) -> Places:
    """Return the places of rows (n, p): those a millionth of an ordinary distance apart merge.

    An edge of length zero would leave no kernel that is positive definite, and rows that
    stand many times would have no neighbours but themselves.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    _, kept, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    place = np.asarray(place).ravel()
    for _ in range(_ROUNDS):
        if len(kept) < 2:
            raise InputError(
                "all rows stand in one place: there is nothing to unfold",
                got=f"n_samples = {len(rows)}, every row the same",
                fix="pass rows that differ",
            )
        near = Searcher(rows[kept]).own(1)
        far = near.distances[:, 0]
        close = np.flatnonzero(far <= _NEAR * np.median(far))
        if not len(close):
            break
        links = csr_matrix(
            (np.ones(len(close)), (close, near.indices[close, 0])), (len(kept), len(kept))
        )
        _, group = connected_components(links, directed=False)
        _, first = np.unique(group, return_index=True)
        place, kept = group[place], kept[first]
    order = np.argsort(kept)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    place = rank[place]
    return Places(kept[order], place, np.bincount(place, minlength=len(kept)))


def edges_of(graph: Graph) -> tuple[Array, Array, Array]:
    """Return first ends, second ends and lengths (e,) of the edges, each once."""
    import scipy.sparse

    upper = scipy.sparse.triu(graph.lengths, 1).tocoo()
    return upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data


def bars_of(
    ends: tuple[Array, Array], lengths: Array, masses: Array, slack: float
) -> tuple[DistanceBars, float]:
    """Return bars in units of their root mean square length, and that unit.

    Parameters
    ----------
    ends : two ndarrays of shape (e,)
        The points that each bar joins.
    lengths : ndarray of shape (e,)
        All positive; of any size, the squares are taken in units.
    masses : ndarray of shape (n,)
        Rows at each point.
    slack : float
        See `DistanceBars`.
    """
    longest = float(lengths.max())
    unit = longest * float(np.sqrt(np.mean((lengths / longest) ** 2)))
    weights = np.asarray(masses, np.float64)
    return DistanceBars(*ends, (lengths / unit) ** 2, weights / weights.mean(), slack), unit


def factor_of(kernel: Array) -> Array:
    """Return F (n, r) with FFᵀ = K but for eigenvalues below rounding, largest column first."""
    values, vectors = eigh(kernel)
    kept = int(np.sum(values > _ZERO * values[0]))
    found: Array = vectors[:, :kept] * np.sqrt(values[:kept])
    return np.ascontiguousarray(found)


def snapped(distances: Array) -> Array:
    """Return distances (m, k), nearest first, with zero for rows that stand at a known place.

    A row is there where it is a millionth as far from the place as from the next one: rows so
    near were one point when the places were found.
    """
    found = distances.copy()
    if found.shape[1] > 1:
        found[found[:, 0] <= _NEAR * found[:, 1], 0] = 0.0
    return found


_LOST = 0.1  # relative error of a squared distance with which nothing is kept
_TAIL = 1e-6  # share of the variance that landmarks leave to axes which are not extended


@final
@dataclasses.dataclass(frozen=True)
class UnfoldingTask:
    """What is asked of an unfolding; see `MaximumVarianceUnfolding`."""

    components: int
    neighbours: int
    landmarks: int | None
    slack: float
    reg: float
    pieces: str
    tol: float
    seconds: float | None
    seed: int


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Laid:
    """An unfolding of n rows, in their own units; q places were in the graph.

    Attributes
    ----------
    spectrum : Spectrum
        Leading pairs of the kernel of all rows that were unfolded.
    factor : ndarray of shape (n, r)
        F of K = FFᵀ, centred, its columns the principal axes: the first are coordinates.
    places : ndarray of shape (q,)
        A row of each place.
    edges, tensions : ndarray of shape (e, 2), (e,)
        The rows that each bar joins, and its force.
    landmarks : ndarray of shape (m,) or None
        Rows.
    """

    spectrum: Spectrum
    certificate: UnfoldingCertificate
    flatness: Flatness
    factor: Array
    places: Array
    edges: Array
    tensions: Array
    graph: Graph
    facts: GraphFacts
    landmarks: Array | None


def units_of(rows: Array) -> tuple[Array, int]:
    """Return rows seen from their middle in units of 2^e, and e: no square leaves the range.

    Rows whose variances are no numbers of float64 are refused.
    """
    wide = np.asarray(rows, np.float64)
    wide = wide - (0.5 * wide.min(axis=0) + 0.5 * wide.max(axis=0))
    largest = float(np.max(np.abs(wide), initial=0.0))
    exponent = binary_exponent(largest)
    if abs(exponent) > _REACH:
        raise InputError(
            "variances of these rows leave the range of float64",
            got=f"rows up to {largest:.3g} from their middle",
            fix="divide the data by a constant; the map has their unit",
        )
    return np.ldexp(wide, -exponent), exponent


@final
@dataclasses.dataclass(frozen=True, eq=False)
class _Factored:
    """Points and bars after the programme: F (q, r) of all places, in the units of the rows."""

    found: Unfolded
    factor: Array
    ends: tuple[Array, Array]
    unit: float
    error: float
    mean: float
    landmarks: Array | None


def laid(rows: Array, exponent: int, wanted: UnfoldingTask) -> Laid:
    """Return the unfolding of rows (n, p) that are in units of 2^exponent."""
    places = places_of(rows)
    link = linked(rows[places.rows], wanted.neighbours, wanted.pieces)
    kept = np.arange(len(places.rows)) if link.kept is None else link.kept
    counts, at = places.counts[kept], places.rows[kept]
    held = _held(link, counts, wanted)
    spectrum, turned = _axes(held.factor, counts)
    k = wanted.components
    x = np.asarray(link.rows)
    spread = float(np.sum(counts[:, None] * (x - counts @ x / counts.sum()) ** 2))
    seen = flatness(turned, counts, k, spread, edges_of(link.graph), link.graph.lengths)
    if seen.bridge is not None:
        i, j = seen.bridge
        seen = dataclasses.replace(seen, bridge=(int(at[i]), int(at[j])))
    spectrum = _scaled(spectrum.padded(k).first(k), exponent)
    whole = _every_row(rows, places.place, kept, link, turned, wanted)
    ends = np.column_stack(held.ends)
    return Laid(
        spectrum=spectrum,
        certificate=_certificate(spectrum, held, wanted, exponent),
        flatness=seen,
        factor=np.ldexp(whole, exponent),
        places=at,
        edges=at[ends if held.landmarks is None else held.landmarks[ends]],
        tensions=held.mean * held.found.tensions,
        graph=link.graph,
        facts=link.facts,
        landmarks=None if held.landmarks is None else at[held.landmarks],
    )


def _held(link: Linked, counts: Array, wanted: UnfoldingTask) -> _Factored:
    """Solve the programme of all places, or of landmarks, and give every place a row of F."""
    x, graph = np.asarray(link.rows), link.graph
    marks, masses = None, counts
    if wanted.landmarks is None or wanted.landmarks >= len(x):
        i, j, lengths = edges_of(graph)
        ends = (i, j)
    else:
        marks, ends, near = landmark_edges(
            graph, wanted.landmarks, wanted.neighbours, wanted.seed
        )
        masses = np.bincount(near, counts, len(marks))
        apart = x[marks[ends[0]]] - x[marks[ends[1]]]
        lengths = np.sqrt(np.sum(apart**2, axis=1))
    bars, unit = bars_of(ends, lengths, masses, wanted.slack)
    found = unfold(bars, wanted.tol, wanted.seconds)
    if found.error > _LOST and wanted.seconds is None:
        raise _too_unequal(lengths)
    factor = factor_of(found.kernel)
    long = np.sum((factor[ends[0]] - factor[ends[1]]) ** 2, axis=1)
    error = float(np.max(np.abs(np.sqrt(long / bars.squares) - 1)))
    factor *= unit
    if marks is not None:
        squares = np.cumsum(np.sum(factor**2, axis=0))
        enough = int(np.searchsorted(squares, (1 - _TAIL) * squares[-1])) + 1
        assert graph.neighbours is not None
        near = graph.neighbours.indices
        factor = extended(x, near, marks, factor[:, :enough], wanted.reg)
    return _Factored(found, factor, ends, unit, error, float(np.mean(masses)), marks)


def _too_unequal(lengths: Array) -> InputError:
    """Return why no kernel was found: float64 cannot hold all the distances at once."""
    low, high = np.array([lengths.min(), lengths.max()]) / np.median(lengths)
    return InputError(
        "these distances are too unequal to be kept all at once",
        got=f"distances between neighbours from {low:.1g} to {high:.1g} times the median",
        fix="leave out rows far from all others, take logarithms, or allow more `slack`",
    )


def _axes(factor: Array, counts: Array) -> tuple[Spectrum, Array]:
    """Return all pairs of the kernel of the rows, and F centred and turned to its axes."""
    factor = factor - counts @ factor / counts.sum()
    root = np.sqrt(counts)[:, None]
    size = float(np.sum((root * factor) ** 2))
    order = factor.shape[1]
    unit = 4.0 * max(factor.shape) * EPS
    goal = Goal(order, 1e-6, Floor(unit**2, unit**2 * size), size, psd=True)
    spectrum = Exact().solve(Dense((root * factor).T), goal)
    turned = np.asarray(spectrum.right) * np.sqrt(spectrum.values) / root
    return dataclasses.replace(spectrum, total=size), turned


def _scaled(spectrum: Spectrum, exponent: int) -> Spectrum:
    """Return the pairs of the kernel in the units of the data."""
    assert spectrum.total is not None
    with np.errstate(over="ignore", under="ignore"):
        return dataclasses.replace(
            spectrum,
            values=np.ldexp(spectrum.values, 2 * exponent),
            total=float(np.ldexp(spectrum.total, 2 * exponent)),
            certificate=spectrum.certificate.scaled(1.0, 2 * exponent),
        )


def _every_row(
    rows: Array, place: Array, kept: Array, link: Linked, turned: Array, wanted: UnfoldingTask
) -> Array:
    """Return F (n, r), at least k columns; rows outside the graph are put together, or NaN."""
    short = wanted.components - turned.shape[1]
    if short > 0:
        turned = np.hstack([turned, np.zeros((len(turned), short))])
    where = np.full(int(place.max()) + 1, -1)
    where[kept] = np.arange(len(kept))
    where = where[place]
    found = turned[where]
    others = where < 0
    if others.any() and wanted.pieces == "largest":
        found[others] = np.nan
    elif others.any():
        near = link.searcher.query(rows[others], wanted.neighbours)
        x = np.asarray(link.rows)
        found[others] = combined(
            rows[others], x, near.indices, near.distances, turned, wanted.reg
        )
    return np.asarray(found)


def _certificate(
    spectrum: Spectrum, held: _Factored, wanted: UnfoldingTask, exponent: int
) -> UnfoldingCertificate:
    """Return what the dual proves, in the units of the data, beside the intervals of λ."""
    found, known = held.found, spectrum.certificate
    with np.errstate(over="ignore", under="ignore"):
        unit = float(np.ldexp(held.mean * held.unit**2, 2 * exponent))
    parts: dict[str, Any] = {
        field.name: getattr(known, field.name) for field in dataclasses.fields(known)
    }
    return UnfoldingCertificate(
        **parts,
        variance=unit * found.variance,
        bound=unit * found.bound,
        duality_gap=unit * found.gap,
        distance_error=held.error,
        asked=wanted.tol,
        ended=found.outcome,
        points=len(found.kernel),
    )
