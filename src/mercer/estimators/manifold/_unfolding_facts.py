"""What an unfolding achieved: its certificate, and whether the rows lay flat in the end."""

import dataclasses
from typing import final

import numpy as np
from scipy.sparse import csr_matrix

from mercer.arrays import Array
from mercer.errors import DataWarning, warn
from mercer.solvers import Certificate

_FLAT = 0.02  # share of the variance beyond the axes that is no matter
_HELD = 0.99  # share that the axes of a sheet are said to hold
_SHORT = 0.9  # of its length: an edge drawn shorter than that does not lie in the plane
_TRIED = 200  # edges whose way round is measured, longest first


@final
@dataclasses.dataclass(frozen=True, eq=False)
class UnfoldingCertificate(Certificate):
    """How far an unfolding is from the best one, and how accurate the axes of its kernel are.

    Attributes
    ----------
    variance : float
        Σ‖y_i‖² of the kernel found, over all its axes.
    bound : float
        No placing that keeps the distances has more, rounding included: a feasible point of
        the dual programme.
    duality_gap : float
        How far the variance may be below the best for the distances that the kernel has.
    distance_error : float
        The largest relative error of a kept distance in the kernel.
    asked : float
        The relative gap that was asked for.
    ended : str
        How the steps ended.
    points : int
        Points that the programme was about: rows in different places, or landmarks.
    """

    variance: float = 0.0
    bound: float = 0.0
    duality_gap: float = 0.0
    distance_error: float = 0.0
    asked: float = 0.0
    ended: str = ""
    points: int = 0

    @property
    def relative_gap(self) -> float:
        """The duality gap over the variance."""
        return self.duality_gap / self.variance if self.variance > 0 else np.inf

    @property
    def closed(self) -> bool:
        """Whether the relative gap is what was asked for."""
        return self.relative_gap <= 1.05 * self.asked

    def __str__(self) -> str:
        """Return the gap in one sentence before what is said of the axes."""
        return (
            f"unfolding of {self.points:,} points: variance {self.variance:.6g}, at most"
            f" {self.duality_gap:.2g} ({self.relative_gap:.1e}) from the largest; distances"
            f" kept to {self.distance_error:.1e}; bound for exact distances {self.bound:.6g}\n"
            f"{super().__str__()}"
        )


@final
@dataclasses.dataclass(frozen=True)
class Flatness:
    """Whether the rows lie flat on the axes kept.

    Attributes
    ----------
    left : float
        Share of the variance beyond the axes kept.
    axes : int
        Axes that hold 99 % of the variance.
    gain : float
        Variance of the unfolding over that of the rows; 1 means that nothing moved.
    shortened : float
        Share of the edges that are drawn less than 0.9 of their length.
    bridge : tuple of int or None
        The edge whose way round is longest, where the rows do not lie flat: two rows.
    detour : float
        That way over the length of the edge.
    """

    left: float
    axes: int
    gain: float
    shortened: float
    bridge: tuple[int, int] | None = None
    detour: float = 0.0

    @property
    def flat(self) -> bool:
        """Whether at most 2 % of the variance are beyond the axes."""
        return self.left <= _FLAT

    def __str__(self) -> str:
        """Return what is seen in one sentence."""
        text = (
            f"{self.left:.1%} of the variance beyond the axes kept, {self.axes} axes hold 99 %,"
            f" {self.shortened:.0%} of the edges drawn short, {self.gain:.3g} times the"
            " variance of the rows"
        )
        if self.bridge is not None:
            i, j = self.bridge
            text += f"; rows {i} and {j} are joined, {self.detour:.1f} times that apart else"
        return text


def flatness(
    factor: Array,
    counts: Array,
    kept: int,
    spread: float,
    edges: tuple[Array, Array, Array],
    lengths: csr_matrix,
) -> Flatness:
    """Return what is seen of an unfolding.

    Parameters
    ----------
    factor : ndarray of shape (n, r)
        Centred, its columns the principal axes in order.
    counts : ndarray of shape (n,)
        Rows at each point.
    kept : int
        Axes kept.
    spread : float
        Variance of the rows themselves, Σ‖x_i - mean‖².
    edges : three ndarrays of shape (e,)
        Ends and lengths, in the units of the factor.
    lengths : CSR matrix of shape (n, n)
        The graph.
    """
    squares = counts @ factor**2
    total = float(squares.sum())
    held = np.cumsum(squares) / total
    i, j, long = edges
    drawn = np.sqrt(np.sum((factor[i, :kept] - factor[j, :kept]) ** 2, axis=1))
    left = max(0.0, 1.0 - float(held[min(kept, len(held)) - 1]))
    bridge, detour = (None, 0.0) if left <= _FLAT else _longest_detour(edges, lengths)
    return Flatness(
        left=left,
        axes=int(np.searchsorted(held, _HELD)) + 1,
        gain=total / spread if spread > 0 else np.inf,
        shortened=float(np.mean(drawn < _SHORT * long)),
        bridge=bridge,
        detour=detour,
    )


def _longest_detour(
    edges: tuple[Array, Array, Array], lengths: csr_matrix
) -> tuple[tuple[int, int] | None, float]:
    """Return the edge whose ends are farthest apart without it, and how many times its length.

    Only edges whose ends have no neighbour in common are tried: such is an edge across a fold.
    """
    from scipy.sparse.csgraph import dijkstra

    i, j, long = edges
    ones = lengths.copy()
    ones.data = np.ones_like(ones.data)
    common = np.asarray(ones[i].multiply(ones[j]).sum(axis=1)).ravel()
    tried = np.flatnonzero(common == 0)
    tried = tried[np.argsort(-long[tried], kind="stable")][:_TRIED]
    best, found = 0.0, None
    without = lengths.copy()
    for edge in tried:
        a, b = int(i[edge]), int(j[edge])
        without[a, b] = without[b, a] = np.inf
        way = float(dijkstra(without, directed=True, indices=a)[b])
        without[a, b] = without[b, a] = long[edge]
        if way / long[edge] > best:
            best, found = way / float(long[edge]), (a, b)
    return found, best


def warn_of(seen: Flatness, kept: int) -> None:
    """Say that the rows could not be laid flat, and what is seen of the reason."""
    if seen.flat:
        return
    warn(
        f"the rows do not lie flat on {kept} axes: {seen.left:.1%} of the variance is beyond",
        got=str(seen),
        fix="keep more axes if the sheet has them; else the rows are too thin for so many"
        " neighbours, or edges cut across a fold: take more rows or fewer neighbours",
        category=DataWarning,
    )
