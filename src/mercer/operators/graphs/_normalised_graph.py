"""The normalised matrix of a graph, beside the eigenvector that every graph has.

A polynomial of a graph's matrix that lifts its leading eigenvalues above all others.
"""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import EPS, Array, Lanes, is_sparse, thread_count
from mercer.operators._operator import Operator
from mercer.operators.kernel_matrices._centred_kernel import take_out
from mercer.operators.sparse._csr_blocks import row_view, sparse_tiles

_SHARED = 300_000  # stored cells from which threads pay


@final
class NormalisedGraph(Operator):
    """A = P·½(I + S)·P with S = D^-½WD^-½, d = W1 and P = I - rrᵀ, r ∝ d^½.

    S has eigenvalues λ in [-1, 1]; Sr = r is known and not computed. Half a step of staying
    makes A psd with eigenvalues ½(1 + λ), so that its leading pairs are those of S beside r.
    D^-½ of an eigenvector of S is one of the walk D^-1W, and 1 - λ one of the normalised
    Laplacian I - S.

    Parameters
    ----------
    weights : CSR matrix or array of shape (n, n)
        W, symmetric and not negative, every row with a positive sum.

    Attributes
    ----------
    s : CSR matrix or array of shape (n, n)
        S.
    degrees : ndarray of shape (n,)
        d.
    direction : ndarray of shape (n,)
        r, of norm one.
    error : float
        Bound on the rounding of a product with S: ε times the longest row and a little more.
    """

    symmetric = True
    sharp = True

    def __init__(self, weights: Any) -> None:
        n = int(weights.shape[0])
        self.shape, self.like = (n, n), np.empty((0, 0))
        self.degrees = np.asarray(weights.sum(axis=1), np.float64).ravel()
        root = np.sqrt(self.degrees)
        level = root / np.max(root)  # the sum of all degrees may be beyond the largest number
        self.direction = level / np.linalg.norm(level)
        self.s = _scaled(weights, 1.0 / root)
        longest = int(np.max(np.diff(weights.indptr))) if is_sparse(weights) else n
        self.error = EPS * (8 + 4 * np.sqrt(longest))

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: 2·nnz flops a column."""
        v = self.project(v)
        w = self.walked(v)
        w += v
        w *= 0.5
        return take_out(w, self.direction)

    def walked(self, v: Array) -> Array:
        """Return SV, the rows of a sparse S shared among threads."""
        if not is_sparse(self.s) or self.s.nnz < _SHARED:
            return np.asarray(self.s @ v)
        tiles, found = sparse_tiles(self.s), np.empty((self.shape[0], v.shape[1]))

        def work(_lane: int, parts: Iterator[slice]) -> None:
            for part in parts:
                found[part] = row_view(self.s, part) @ v

        Lanes(thread_count()).over(tiles, work)
        return found

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`."""
        return self.matmat(u)

    def project(self, v: Array) -> Array:
        """Return PV."""
        return take_out(np.array(v, np.float64), self.direction)

    def dense(self) -> Array:
        """See `Operator.dense`."""
        r = self.direction
        whole: Array = self.s.toarray() if is_sparse(self.s) else self.s.copy()
        whole[np.arange(len(r)), np.arange(len(r))] += 1.0
        whole *= 0.5
        whole -= r[:, None] * r[None, :]
        return whole

    def laplacian(self) -> Any:
        """Return I - S as a CSR matrix."""
        n = self.shape[0]
        return scipy.sparse.csr_array(scipy.sparse.eye_array(n, format="csr") - self.s)

    def values(self, mu: Array) -> Array:
        """Return λ = 2μ - 1, the eigenvalues of S."""
        return np.asarray(2.0 * np.asarray(mu) - 1.0)


def _scaled(weights: Any, root: Array) -> Any:
    """Return diag(root)·W·diag(root), of the kind of W."""
    if not is_sparse(weights):
        found = weights * root[:, None]
        found *= root
        return found
    rows = np.repeat(root, np.diff(weights.indptr))
    rows *= weights.data  # between the two roots: of tiny weights their product is infinite
    rows *= root[weights.indices]
    parts = (rows, weights.indices, weights.indptr)
    return scipy.sparse.csr_array(parts, shape=weights.shape)


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
