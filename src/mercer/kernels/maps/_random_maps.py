"""Random maps: finitely many random features whose products are k(x, y) on average."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from mercer.arrays import Array, Lanes, Tiles, as_csr, is_sparse, thread_count
from mercer.errors import InputError
from mercer.kernels._algebra import Scaled
from mercer.kernels._kernel_value import Kernel
from mercer.kernels._parameter_checks import inverse
from mercer.kernels.families._inner_products import ArcCosine
from mercer.kernels.families._isotropic import (
    RBF,
    Isotropic,
    Laplacian,
    Matern,
    RationalQuadratic,
)
from mercer.kernels.maps._ngrams_and_graphs import _Neighbourhoods, _Ngrams

_TILE_BYTES = 1e6  # of features made in one go, near the core
_WORTH_LANES = 2e6  # features below which starting threads costs more than it saves
_KNOWN = "RBF, Laplacian, Matern, RationalQuadratic and ArcCosine, times a number"


@final
@dataclasses.dataclass(frozen=True, eq=False)
class RandomMap:
    """φ(x) = √(2c/m)·a(Ωᵀ(x-o) + Ωᵀo + β), a being cos, a step (t > 0) or a ramp max(t, 0).

    Parameters
    ----------
    weights : ndarray of shape (p, m)
        Ω.
    phases : ndarray of shape (m,) or None
        β; None for steps and ramps, which have neither phases nor an origin.
    origin : ndarray of shape (p,) or None
        o, a point inside the data. It changes no feature, but far from zero x - o keeps
        digits that Ωᵀx loses.
    turned : ndarray of shape (m,) or None
        Ωᵀo up to whole turns.
    order : {0, 1} or None
        Step or ramp; None is the cosine.
    factor : float
        c ≥ 0.
    """

    weights: Array
    phases: Array | None
    origin: Array | None = None
    turned: Array | None = None
    order: int | None = None
    factor: float = 1.0

    def features(self, rows: Any, dtype: Any) -> Array:
        """Return φ of every row, (n, m); made in float64, kept as `dtype`."""
        rows = as_csr(rows) if is_sparse(rows) else rows
        n, m = int(rows.shape[0]), int(self.weights.shape[1])
        out: Array = np.empty((n, m), dtype)
        tiles = Tiles.of(n, m, 8, most_bytes=_TILE_BYTES, longest=4096)
        lanes = Lanes(min(thread_count(), len(tiles)) if n * m > _WORTH_LANES else 1)

        def work(_lane: int, parts: Iterator[slice]) -> None:
            # What overflows is looked for afterwards, and lanes have settings of their own.
            with np.errstate(over="ignore", invalid="ignore"):
                for part in parts:
                    out[part] = self._of(rows[part])

        lanes.over(tiles, work)
        return out

    def _of(self, rows: Any) -> Array:
        moved = self.origin is not None and not is_sparse(rows)
        rows = rows - self.origin if moved else rows
        t = np.asarray(rows @ self.weights, np.float64)
        if not np.isfinite(t.sum()):
            raise InputError(
                "rows are too far away to be counted in lengthscales",
                got="a row whose random features are not finite",
                fix="rescale the columns, or pass a longer lengthscale",
            )
        if self.order == 0:
            t = (t > 0).astype(np.float64)
        elif self.order == 1:
            np.maximum(t, 0.0, out=t)
        else:
            assert self.phases is not None
            t += self.phases + self.turned if moved else self.phases
            np.cos(t, out=t)
        t *= math.sqrt(2 * self.factor / self.weights.shape[1])
        return t

    def around(self, origin: Array | None) -> "RandomMap":
        """Return the same map, computed around a point `origin` (p,) inside the data."""
        if origin is None or self.phases is None:
            return self
        turned = np.remainder(origin @ self.weights, 2 * math.pi)
        return dataclasses.replace(self, origin=origin, turned=turned)


def random_map(kernel: Kernel, p: int, m: int, *, orthogonal: bool, seed: int) -> RandomMap:
    """Return m random features with E φ(x)ᵀφ(y) = k(x, y) for rows of p columns.

    Frequencies follow the spectral density of the kernel, counted in lengthscales: N(0, I)
    for RBF; the same times √(2ν/χ²_2ν) for Matérn (Student's t) and times √Gamma(α, 1/α)
    for the rational quadratic; independent Cauchy numbers for the L1 Laplacian. Steps and
    ramps take N(0, I).

    Parameters
    ----------
    kernel : Kernel
        Resolved; others than those above are refused.
    p, m : int
        Columns and features.
    orthogonal : bool
        Whether directions are orthogonal in blocks of p, lengths being drawn as before. Each
        feature has the same law, and the error is smaller. The Laplacian has no directions.
    seed : int
        Start of the random numbers.
    """
    factor = 1.0
    while isinstance(kernel, Scaled) and kernel.factor >= 0:
        factor *= kernel.factor
        kernel = kernel.kernel
    rng = np.random.default_rng(seed)
    if isinstance(kernel, ArcCosine):
        weights = _normal(rng, p, m, orthogonal)
        return RandomMap(weights, None, order=kernel.order, factor=factor)
    if not isinstance(kernel, RBF | Laplacian | Matern | RationalQuadratic):
        raise InputError(
            "there are no random features for this kernel",
            got=repr(kernel),
            fix=f"use one of {_KNOWN}; or mercer.KernelPCA, which takes any kernel",
        )
    if isinstance(kernel, Laplacian):
        weights = rng.standard_cauchy((p, m))
    else:
        weights = _normal(rng, p, m, orthogonal) * _mixing(kernel, rng, m)
    with np.errstate(over="ignore"):
        weights *= _inverse_lengths(kernel, p)
    if not np.isfinite(weights).all():
        raise InputError(
            "the frequencies of this kernel leave the range of float64",
            got=repr(kernel),
            fix="multiply the rows, and the lengthscale, by a constant",
        )
    return RandomMap(weights, rng.uniform(0.0, 2 * math.pi, m), factor=factor)


def _mixing(kernel: Isotropic, rng: np.random.Generator, m: int) -> Array | float:
    """Return the random lengths (m,) that turn a Gaussian kernel into a mixture of them."""
    if isinstance(kernel, Matern):
        return np.sqrt(2 * kernel.nu / rng.chisquare(2 * kernel.nu, m))
    if isinstance(kernel, RationalQuadratic):
        return np.sqrt(rng.gamma(kernel.alpha, 1 / kernel.alpha, m))
    return 1.0


def _normal(rng: np.random.Generator, p: int, m: int, orthogonal: bool) -> Array:
    """Return columns (p, m) that are N(0, I) each, orthogonal in blocks of p if asked for."""
    if not orthogonal:
        return rng.standard_normal((p, m))
    blocks = []
    for start in range(0, m, p):
        q, r = np.linalg.qr(rng.standard_normal((p, min(p, m - start))))
        blocks.append(q * np.where(np.diagonal(r) < 0, -1.0, 1.0))  # uniform directions
    return np.concatenate(blocks, axis=1) * np.sqrt(rng.chisquare(p, m))


def _inverse_lengths(kernel: Isotropic, p: int) -> Any:
    """Return 1/ℓ as a number or a column (p, 1)."""
    scale = inverse(kernel.lengthscale)
    if not isinstance(scale, tuple):
        return scale
    if len(scale) != p:
        raise InputError(
            "there must be one lengthscale for each column",
            got=f"{len(scale)} lengthscales, rows with {p} columns",
            fix="give as many lengthscales as columns, or one number for all",
        )
    return np.array(scale)[:, None]


MAPS = (RandomMap, _Neighbourhoods, _Ngrams)  # those of the house: data and nothing else
