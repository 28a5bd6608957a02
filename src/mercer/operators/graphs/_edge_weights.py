"""Weights of edges from their lengths: binary, heat, self-tuning."""

import dataclasses
from typing import Any, final

import numpy as np

from mercer.arrays import EPS, Array
from mercer.errors import DataWarning, InputError, warn
from mercer.operators.graphs._neighbours import Neighbours, Searcher

WEIGHTS = ("binary", "heat", "self-tuning")
_LOST = 0.05  # share of the edges without weight from which the scale is said to be small
_SAMPLED = 1000  # rows whose distances stand for those of all pairs
LEAST = 1e-16  # beside a loop of 1 a smaller weight is lost in rounding: no edge


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Weighing:
    """How the weight of an edge follows from its length.

    Attributes
    ----------
    kind : {"binary", "heat", "self-tuning"}
        1; exp(-d²/2σ²); exp(-d²/σ_iσ_j).
    scale : float
        σ of "heat"; otherwise the median length.
    scales : ndarray of shape (n,) or None
        σ_i of "self-tuning": the distance to the last neighbour.
    """

    kind: str
    scale: float
    scales: Array | None = None

    def applied(self, lengths: Any, own: Array | None = None) -> Any:
        """Return the CSR matrix of weights of edges with these lengths (m, n).

        Parameters
        ----------
        lengths : CSR matrix of shape (m, n)
            Distances of m points to n rows, zeros stored.
        own : ndarray of shape (m,) or None
            σ of the m points; None where they are the rows themselves.
        """
        import scipy.sparse

        if self.kind == "binary":
            data = np.ones(lengths.nnz)
        elif self.kind == "heat":
            data = np.exp(-0.5 * (lengths.data / self.scale) ** 2)
        else:
            assert self.scales is not None
            rows = self.scales if own is None else own
            each = np.repeat(np.sqrt(rows), np.diff(lengths.indptr))
            data = np.exp(-((lengths.data / each / np.sqrt(self.scales)[lengths.indices]) ** 2))
        parts = (data, lengths.indices.copy(), lengths.indptr.copy())
        found = scipy.sparse.csr_matrix(parts, shape=lengths.shape)
        if float(np.min(data, initial=1.0)) < LEAST:
            found.data[data < LEAST] = 0.0
            found.eliminate_zeros()
        return found

    def of_block(self, distances: Array, own: Array | None) -> Array:
        """Return the weights (m, n) of m points to all rows; `own` (m,) are their σ."""
        if self.scales is None:
            return np.asarray(np.exp(-0.5 * (distances / self.scale) ** 2))
        assert own is not None
        each = distances / np.sqrt(own)[:, None] / np.sqrt(self.scales)[None, :]
        return np.asarray(np.exp(-(each**2)))


def weighing(
    lengths: Any, near: Neighbours | None, kind: str, scale: float | str = "auto"
) -> Weighing:
    """Return the rule of weights for edges of these lengths, scales as numbers.

    Parameters
    ----------
    lengths : CSR matrix of shape (n, n)
        Lengths of the edges, zeros stored.
    near : Neighbours or None
        Lists of neighbours; without them σ_i is the longest edge of a point.
    kind : {"binary", "heat", "self-tuning"}
        See `Weighing`.
    scale : float or "auto"
        σ of "heat"; "auto" is the median of the lengths above zero.
    """
    if kind not in WEIGHTS:
        raise InputError(
            "edges are weighed in one of three ways",
            got=f"weights={kind!r}",
            fix=f"take one of {', '.join(WEIGHTS)}",
        )
    positive = lengths.data[lengths.data > 0]
    middle = float(np.median(positive)) if positive.size else 1.0
    if kind == "self-tuning":
        return Weighing(kind, middle, _own_scales(lengths, near, middle))
    sigma = middle if isinstance(scale, str) else float(scale)
    if kind == "heat":
        _say_extremes(positive, sigma)
    return Weighing(kind, sigma)


def whole_weighing(
    searcher: Searcher, near: Neighbours, kind: str, scale: float | str
) -> Weighing:
    """Return the rule for the graph of all pairs: the scale is that of the last neighbours."""
    if kind == "binary" or kind not in WEIGHTS:
        raise InputError(
            "all pairs need weights that fall with the distance",
            got=f"neighbours=None, weights={kind!r}",
            fix='take weights="heat" or "self-tuning", or a number of neighbours',
        )
    far = near.distances[:, -1]
    middle = float(np.median(far[far > 0])) if bool(np.any(far > 0)) else 1.0
    if kind == "self-tuning":
        return Weighing(kind, middle, _own_scales(None, near, middle))
    sigma = middle if isinstance(scale, str) else float(scale)
    apart = searcher.sampled_distances(_SAMPLED)
    _say_extremes(apart[apart > 0], sigma, whole=True)
    return Weighing(kind, sigma)


def _own_scales(lengths: Any, near: Neighbours | None, middle: float) -> Array:
    """Return σ_i (n,): the distance to the last neighbour, the median where that is zero."""
    if near is not None and near.distances.shape[1]:
        far = near.distances[:, -1]
    else:
        filled = np.diff(lengths.indptr) > 0
        far = np.zeros(lengths.shape[0])
        far[filled] = np.maximum.reduceat(lengths.data, lengths.indptr[:-1][filled])
    return np.where(far > 0, far, middle)


def _say_extremes(positive: Array, sigma: float, *, whole: bool = False) -> None:
    """Warn where the scale makes all weights equal, or leaves many edges without any.

    A few long edges may be lost: what falls off is named as a piece. Of all pairs most may be
    far apart: only a scale that leaves none is said.
    """
    if not positive.size:
        return
    shortest, longest = float(np.min(positive)), float(np.max(positive))
    if 0.5 * (longest / sigma) ** 2 < EPS:
        warn(
            "the heat scale is so large that all edges weigh the same",
            got=f"scale {sigma:.3g}, longest edge {longest:.3g}",
            fix='take scale="auto", or weights="binary" if that is what you want',
            category=DataWarning,
        )
    lost = float(np.mean(0.5 * (positive / sigma) ** 2 > -np.log(LEAST)))
    if lost > (_LOST if not whole else 1 - EPS):
        warn(
            f"the heat scale leaves {lost:.2%} of the edges without weight",
            got=f"scale {sigma:.3g}, edges of {shortest:.3g} to {longest:.3g}",
            fix='take scale="auto" or a larger one, or weights="self-tuning"',
            category=DataWarning,
        )
