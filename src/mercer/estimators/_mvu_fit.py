"""From rows to an unfolding: places, graph, bars, kernel, axes, and what is to be said."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array, binary_exponent
from mercer.errors import InputError
from mercer.estimators._graph_facts import GraphFacts
from mercer.estimators._linked_rows import Linked, linked
from mercer.estimators._lle_weights import combined
from mercer.estimators._mvu_facts import Flatness, UnfoldingCertificate, flatness
from mercer.estimators._mvu_landmarks import extended, landmark_edges
from mercer.estimators._mvu_rows import bars_of, edges_of, factor_of, places_of
from mercer.operators import Dense, Graph
from mercer.solvers import Exact, Floor, Goal, Spectrum, Unfolded, unfold

_LOST = 0.1  # relative error of a squared distance with which nothing is kept
_TAIL = 1e-6  # share of the variance that landmarks leave to axes which are not extended


@final
@dataclasses.dataclass(frozen=True)
class Wanted:
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
    """Return rows seen from their middle in units of 2^e, and e: no square leaves the range."""
    wide = np.asarray(rows, np.float64)
    wide = wide - (0.5 * wide.min(axis=0) + 0.5 * wide.max(axis=0))
    exponent = binary_exponent(float(np.max(np.abs(wide), initial=0.0)))
    return np.ldexp(wide, -exponent), exponent


@final
@dataclasses.dataclass(frozen=True, eq=False)
class _Held:
    """Points and bars after the programme: F (q, r) of all places, in the units of the rows."""

    found: Unfolded
    factor: Array
    ends: tuple[Array, Array]
    unit: float
    error: float
    mean: float
    landmarks: Array | None


def laid(rows: Array, exponent: int, wanted: Wanted) -> Laid:
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
    spectrum = _scaled(_first(spectrum, k), exponent)
    whole = _every_row(rows, places.place, kept, link, turned, wanted)
    return Laid(
        spectrum=spectrum,
        certificate=_certificate(spectrum, held, wanted, exponent),
        flatness=seen,
        factor=np.ldexp(whole, exponent),
        places=at,
        edges=at[_in_rows(held)],
        tensions=held.mean * held.found.tensions,
        graph=link.graph,
        facts=link.facts,
        landmarks=None if held.landmarks is None else at[held.landmarks],
    )


def _in_rows(held: _Held) -> Array:
    """Return the ends of the bars (e, 2) by the numbers of the places."""
    ends = np.column_stack(held.ends)
    return ends if held.landmarks is None else held.landmarks[ends]


def _held(link: Linked, counts: Array, wanted: Wanted) -> _Held:
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
    return _Held(found, factor, ends, unit, error, float(np.mean(masses)), marks)


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


def _first(spectrum: Spectrum, k: int) -> Spectrum:
    """Return the first k of all pairs, or these and zeros."""
    padded = spectrum.padded(k)
    return dataclasses.replace(
        padded,
        values=padded.values[:k],
        right=padded.right[:, :k],
        certificate=padded.certificate.first(k),
    )


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
    rows: Array, place: Array, kept: Array, link: Linked, turned: Array, wanted: Wanted
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
    spectrum: Spectrum, held: _Held, wanted: Wanted, exponent: int
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
