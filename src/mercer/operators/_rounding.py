"""What float32 products err by: measured on some blocks, charged to all."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import Array, eigvalsh, eps_of, gaussian

_EVERY = 128  # blocks
_LOUDER = 1.1  # times the mass of those that were checked
_WHOLE = 300  # order up to which the error of a product is known whole
_PROBES, _PRODUCTS = 20, 3
_STRIP = 64  # rows of a product that are widened at a time


class Probe:
    """Says which blocks of a lane have their float32 products repeated in float64.

    The first, every one that is louder than those before by a tenth, and after that every
    128th: a stretch of quiet rows must not speak for the loud ones. None for float64.
    """

    def __init__(self, products: np.dtype[Any]) -> None:
        self.wanted = products.itemsize == 4
        self.mass = -1.0
        self.since = 0

    def due(self, mass: float) -> bool:
        """Tell whether a block of this squared norm is to be checked."""
        self.since += 1
        if not self.wanted or (mass <= _LOUDER * self.mass and self.since < _EVERY):
            return False
        self.mass, self.since = max(mass, self.mass), 0
        return True


class Rounding:
    """The worst ratio ‖fl(YᵀY) - YᵀY‖ / ‖Y‖²_F over the blocks that were measured.

    Parameters
    ----------
    products : dtype
        Precision of the products; nothing is measured for float64.
    """

    def __init__(self, products: np.dtype[Any]) -> None:
        self.products, self.worst = products, 0.0
        self._probes: dict[int, Probe] = {}

    def due(self, lane: int, mass: float) -> bool:
        """Tell whether a block of this squared norm is to be measured; see `Probe`."""
        return self._probes.setdefault(lane, Probe(self.products)).due(mass)

    def take(self, ratio: float) -> None:
        """Take the ratio of one block in."""
        self.worst = max(self.worst, ratio)

    def keep(self) -> Array:
        """Return the worst ratio, and what each lane was last measured at, as numbers."""
        return np.concatenate([[self.worst], probes_kept(self._probes)])

    def restore(self, kept: Array) -> None:
        """Go back to what `keep` returned."""
        self.worst = float(kept[0])
        self._probes = probes_restored(kept[1:], self.products)

    @property
    def charged(self) -> float:
        """Twice the worst ratio, at least what float32 products must cost; 0 for float64."""
        if self.products.itemsize != 4:
            return 0.0
        return 2 * max(self.worst, eps_of(self.products) / 64)

    def about(self, sums: Array, squares: Array, total: float, blocks: float = 1.0) -> float:
        """Return `charged`, and what Σwy is wrong by in Σwyyᵀ - (Σwy)(Σwy)ᵀ/Σw.

        Float32 sums of a block are within 4ε√(Σw·Σwy²) of the truth, and blocks err in all
        directions. The nearer the mean is to the origin, the less that matters; that of few
        rows with weights may be anywhere.

        Parameters
        ----------
        sums, squares : ndarray of shape (p,)
            Σwy and Σwy².
        total : float
            Σw.
        blocks : float
            How many blocks the rows were added up in.
        """
        if self.products.itemsize != 4:
            return 0.0
        alive = squares > 0
        shares = sums[alive] ** 2 / (total * squares[alive])
        far = float(np.sqrt(np.max(shares, initial=0.0)))
        return self.charged + 8 * eps_of(self.products) * far / math.sqrt(blocks)


@dataclasses.dataclass(frozen=True)
class Charged:
    """What the rounding of products has cost a walk: the worst rate, and what was added."""

    rate: float
    sum: float

    def joined(self, other: "Charged") -> "Charged":
        """Return the cost of two walks over different rows."""
        return Charged(max(self.rate, other.rate), self.sum + other.sum)

    def charge(self, running: Any) -> None:
        """Let the worst block speak for those that came before it, too."""
        if running.whole:
            running.charge(max(0.0, self.rate * running.raw_trace - self.sum))


def probes_kept(probes: dict[int, Probe]) -> Array:
    """Return mass and age of the probes of lanes 0, 1, … in one row of numbers."""
    pairs = [(probes[lane].mass, probes[lane].since) for lane in sorted(probes)]
    return np.array(pairs, np.float64).ravel()


def probes_restored(kept: Array, products: np.dtype[Any]) -> dict[int, Probe]:
    """Return the probes that `probes_kept` has written down."""
    probes = dict[int, Probe]()
    for lane, (mass, since) in enumerate(kept.reshape(-1, 2)):
        probes[lane] = Probe(products)
        probes[lane].mass, probes[lane].since = float(mass), int(since)
    return probes


def in_float64(product: Array, z: Array) -> Array:
    """Return the product (p, p) times Z in float64, by strips: it is never widened whole."""
    parts = range(0, len(product), _STRIP)
    return np.concatenate([product[i : i + _STRIP].astype(np.float64) @ z for i in parts])


def gram_error(
    found: Array, exact: Callable[[Array], Array], factor: Array | None = None
) -> float:
    """Return ‖F(G - YᵀY)F‖₂ / tr(FGF) of a computed Gram matrix G (p, p), 0 where G is zero.

    Parameters
    ----------
    found : ndarray of shape (p, p)
        G.
    exact : function
        Returns YᵀYZ for Z of shape (p, b), float64.
    factor : ndarray of shape (p,) or None
        Diagonal of F; None for the identity.
    """
    squares = np.diagonal(found).astype(np.float64)
    scale = np.ones(len(squares)) if factor is None else factor
    size = float(np.sum(squares * scale**2))

    def wrong(z: Array) -> Array:
        z = scale[:, None] * z
        return scale[:, None] * (in_float64(found, z) - exact(z))

    return error_norm(len(squares), wrong) / size if size else 0.0


def error_norm(order: int, error: Callable[[Array], Array]) -> float:
    """Return an upper bound on ‖E‖₂ of a symmetric E (order, order) known by its products.

    Up to order 300 it is the norm itself. Beyond, (2·max‖E³z‖)^⅓ over 20 Gaussian z, which
    is too small with a chance below 5e-9: ‖E³z‖ ≥ ‖E‖³|z₁|, and some |z₁| exceeds ½.
    Errors are spread over all directions, so that ‖E‖_F would be a dozen times too large.
    0 where E is not finite: the sums of such cells show it, and name them.

    Parameters
    ----------
    order : int
        Of E.
    error : function
        Returns EZ for Z of shape (order, b), float64.
    """
    if order <= _WHOLE:
        wrong = error(np.eye(order))
        if not np.isfinite(wrong).all():
            return 0.0
        values = eigvalsh((wrong + wrong.T) / 2)
        return float(max(abs(values[0]), abs(values[-1])))
    z = gaussian((order, _PROBES), np.empty(0), 0)
    unit = 1.0
    for _ in range(_PRODUCTS):
        z = error(z)
        size = float(np.max(np.abs(z)))
        if size == 0 or not np.isfinite(size):
            return 0.0
        z, unit = z / size, unit * size ** (1 / _PRODUCTS)
    largest = float(np.max(np.linalg.norm(z, axis=0)))
    return float((2 * largest) ** (1 / _PRODUCTS) * unit)
