"""A polynomial of a graph's matrix that lifts its leading eigenvalues above all others."""

from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.operators._base import Operator
from mercer.operators._centred_kernel import take_out
from mercer.operators._normalised_graph import NormalisedGraph


@final
class Filtered(Operator):
    """A = P·½(I + T_m(X))·P, X = (2S + (1 - c)I)/(1 + c), T_m Chebyshev's polynomial.

    Eigenvalues λ of S in [-1, c] go into [0, 1]; above c the polynomial grows faster than any
    other of its degree, so that few products with A tell apart what many with S cannot. It
    increases there: leading pairs stay leading, and `values` leads back.

    Parameters
    ----------
    graph : NormalisedGraph
        S and r.
    degree : int
        m, products with S in one with A.
    cut : float
        c, in (-1, 1).
    """

    symmetric = True
    sharp = True

    def __init__(self, graph: NormalisedGraph, degree: int, cut: float) -> None:
        self.graph, self.degree, self.cut = graph, degree, cut
        self.shape, self.like = graph.shape, graph.like

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: m products with S, and four blocks in memory."""
        before = self.graph.project(v)
        after = self._moved(before)
        for _ in range(self.degree - 1):
            following = self._moved(after)
            following *= 2.0
            following -= before
            before, after = after, following
        after += self.graph.project(v)
        after *= 0.5
        return take_out(after, self.graph.direction)

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.matmat(u)

    def _moved(self, v: Array) -> Array:
        """Return XV; P is applied again, since what rounding leaves along r would grow most."""
        w = self.graph.walked(v)
        w *= 2.0 / (1.0 + self.cut)
        w += ((1.0 - self.cut) / (1.0 + self.cut)) * v
        return take_out(w, self.graph.direction)

    def values(self, mu: Array) -> Array:
        """Return λ with ½(1 + T_m(x(λ))) = μ; c where μ ≤ 1 leaves it open."""
        t = np.maximum(2.0 * np.asarray(mu) - 1.0, 1.0)
        x = np.cosh(np.arccosh(t) / self.degree)
        return np.asarray(0.5 * (x * (1.0 + self.cut) - (1.0 - self.cut)))
