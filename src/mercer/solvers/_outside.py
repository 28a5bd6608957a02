"""Outside: a bound on what a subspace leaves out, by a Krylov space of fresh random probes."""

import math
from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, as_numpy, eigvalsh, gaussian, namespace, orthonormal
from mercer.solvers._bounds import complement_norm, lanczos_norm
from mercer.solvers._certificate import FloatArray

PROBES = 16
_MOST = 24  # products after which a bound that is still too large is given up


class Outside:
    """Bounds ‖R‖₂, R = (I - QQᵀ)C(I - QQᵀ), C symmetric, without forming either.

    Sixteen Gaussian vectors z, drawn afresh and independently of Q, span a block Krylov space
    of R. Two bounds hold, each but for a chance of 5e-9, and the smaller is used: that of
    powers, (α·max‖R^q z‖)^(1/q), which is sharp when little is left, and, for psd C, that of
    the largest Ritz value [Kuczynski1992]_, which is sharp when much is left at one level.

    Parameters
    ----------
    apply : callable or None
        V -> CV for blocks (n, b); None where the products come to `take` from elsewhere.
    basis : Array of shape (n, m)
        Q, orthonormal.
    like : Array
        Carries the library and the device.
    seed, stream : int
        The random numbers; `stream` must not have been used before.
    psd : bool
        Whether C has no negative eigenvalue.
    """

    def __init__(
        self,
        apply: Callable[[Array], Array] | None,
        basis: Array,
        like: Array,
        seed: int,
        stream: int,
        *,
        psd: bool = True,
    ) -> None:
        self.apply, self.q, self.psd = apply, basis, psd
        self.room = int(basis.shape[0] - basis.shape[1])
        z = self._project_out(gaussian((int(basis.shape[0]), PROBES), like, seed, stream))
        self.block, first = orthonormal(z, None, 0.0)
        self.space = self.block[:, :0]
        self.h: FloatArray = np.zeros((0, 0))
        # Coordinates of R^q z, scaled to norm one; the logarithms of what was taken out.
        self.power: FloatArray = as_numpy(first)
        self.log = 0.0
        self.products = 0
        self.ritz = 0.0
        self.bound = math.inf

    def _project_out(self, block: Array) -> Array:
        for _ in range(2):
            block = block - self.q @ (self.q.T @ block)
        return block

    def step(self) -> None:
        """Multiply by R once more: one pass with sixteen columns."""
        assert self.apply is not None
        self.take(self.apply(self.block))

    def take(self, image: Array) -> None:
        """Take in the product of C with `block`, wherever it was made."""
        xp = namespace(image)
        m, b = self.space.shape[1], self.block.shape[1]
        self.space = xp.concat([self.space, self.block], axis=1)
        column = as_numpy(self.space.T @ image)  # the space is orthogonal to Q
        h = np.zeros((m + b, m + b))
        h[:m, :m], h[:, m:], h[m:, :m] = self.h, column, column[:m].T
        h[m:, m:] = (column[m:] + column[m:].T) / 2
        self.h = h
        self.products += 1
        self.ritz = float(np.max(np.abs(eigvalsh(h))))
        both = xp.concat([self.q, self.space], axis=1)
        self.block, t = orthonormal(image, both, 1e-14 * self.ritz)
        self._raise_power(as_numpy(t), b)
        if self.block.shape[1] == 0:  # invariant: but for chance zero the top axis is inside
            self.bound = min(self.bound, self.ritz * (1 + 1e-8))
        if self.psd:
            lanczos = lanczos_norm(self.ritz, self.products, PROBES, self.room)
            self.bound = min(self.bound, lanczos)

    def _raise_power(self, t: FloatArray, b: int) -> None:
        """R·(space·a) = space·(H a) + next·(T a_last): powers need no products of their own."""
        top = self.h @ self.power
        below = t @ self.power[-b:] if t.shape[0] else np.zeros((0, PROBES))
        coordinates = np.concatenate([top, below])
        norms = np.linalg.norm(coordinates, axis=0)
        largest = float(np.max(norms))
        if largest <= 0:
            self.bound = 0.0
            return
        self.log += math.log(largest)
        self.power = coordinates / largest
        root = math.exp(self.log / self.products)
        self.bound = min(self.bound, complement_norm(norms / largest, self.products) * root)

    @property
    def exhausted(self) -> bool:
        """Whether more products would not improve the bound much."""
        return self.block.shape[1] == 0 or self.products >= _MOST
