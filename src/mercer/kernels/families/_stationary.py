"""Kernels of a plain distance: periodic ones, and the conditionally positive definite."""

import dataclasses
import math
from typing import Any, ClassVar, final

import numpy as np

from mercer.arrays import Array, Measure, Node, Through, as_rows, asarray_like, namespace
from mercer.errors import InputError
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel
from mercer.kernels._parameter_checks import Lengthscale, inverse, lengths, number


@dataclasses.dataclass(frozen=True, repr=False)
class _Stationary(Kernel):
    """A kernel of x - y."""

    @property
    def stationary(self) -> bool:
        """See `Kernel.stationary`."""
        return True


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Periodic(_Stationary):
    """k(x, y) = Π_j exp(-2·sin²(π(x_j-y_j)/T_j)/ℓ_j²): every column on its own circle.

    It is the Gaussian kernel of points on circles, so it is positive definite.

    Parameters
    ----------
    lengthscale : float or one for each column
        ℓ, in units of the circle's radius.
    period : float or one for each column
        T.
    """

    lengthscale: Lengthscale = 1.0
    period: Lengthscale = 1.0

    def __post_init__(self) -> None:
        for name in ("lengthscale", "period"):
            found = lengths(self, name, getattr(self, name), median=False)
            object.__setattr__(self, name, found)

    claim: ClassVar[Flag] = Flag.PD

    @property
    def takes_sparse(self) -> bool:
        """See `Kernel.takes_sparse`."""
        return False

    def _formula(self) -> Node:
        circles = _Circles(self.period)
        scale = inverse(self.lengthscale)
        if isinstance(scale, tuple):
            scale = scale + scale  # the cosines, then the sines
        return Through(circles, (-0.5 * Measure("sqdist", scale=scale)).exp())


@final
@dataclasses.dataclass(frozen=True)
class _Circles:
    """x_j → (cos 2πx_j/T_j, sin 2πx_j/T_j): |difference|² = 4·sin²(π(x_j-y_j)/T_j)."""

    period: Lengthscale

    def __call__(self, rows: Any) -> Array:
        rows = as_rows(rows)
        if hasattr(rows, "toarray"):
            raise InputError(
                "a periodic kernel is not defined on sparse rows",
                got=f"a sparse matrix of shape {rows.shape}",
                fix="pass X.toarray()",
            )
        xp = namespace(rows)
        several = self.period if isinstance(self.period, tuple) else (self.period,)
        if len(several) not in (1, int(rows.shape[1])):
            raise InputError(
                "there must be one period for each column",
                got=f"{len(several)} periods, rows with {int(rows.shape[1])} columns",
                fix="give as many periods as columns, or one number for all",
            )
        period = asarray_like(np.asarray(several, dtype=np.float64), rows, xp.float64)[None, :]
        # The remainder is exact, so that a large offset costs nothing.
        turns = xp.remainder(xp.astype(rows, xp.float64), period) / period
        angle = 2 * math.pi * turns
        circles = xp.concat([xp.cos(angle), xp.sin(angle)], axis=1)
        return xp.astype(circles, rows.dtype)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class PeriodicDistance(_Stationary):
    """k(x, y) = exp(-2·sin²(πd/T)/ℓ²) of the Euclidean distance d: indefinite for p > 1.

    It is here because it is met in the wild; `Periodic` is the kernel to use.

    Parameters
    ----------
    lengthscale, period : float
        ℓ and T.
    """

    lengthscale: float = 1.0
    period: float = 1.0

    def __post_init__(self) -> None:
        for name in ("lengthscale", "period"):
            found = number(self, name, getattr(self, name), least=0.0)
            object.__setattr__(self, name, found)

    claim: ClassVar[Flag] = Flag.INDEFINITE

    def _formula(self) -> Node:
        turned = (math.pi * Measure("dist", scale=1 / self.period)).squared_sine()
        return (-2 / self.lengthscale**2 * turned).exp()


@final
@dataclasses.dataclass(frozen=True, repr=False)
class NegativeDistance(_Stationary):
    """k(x, y) = -‖x-y‖^β: cpd for 0 < β ≤ 2, indefinite beyond; energy distance at β = 1.

    Parameters
    ----------
    power : float
        β > 0; at β = 2 kernel PCA is PCA with variances doubled.
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", number(self, "power", self.power, least=0.0))

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return Flag.CPD if self.power <= 2 else Flag.INDEFINITE

    def _formula(self) -> Node:
        return -(Measure("dist") ** self.power)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Multiquadric(_Stationary):
    """k(x, y) = -√(c² + ‖x-y‖²), conditionally positive definite [Micchelli1986]_.

    Parameters
    ----------
    c : float
        c > 0; `NegativeDistance` is the limit c = 0.
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", number(self, "c", self.c, least=0.0))

    claim: ClassVar[Flag] = Flag.CPD

    def _formula(self) -> Node:
        return -self.c * (Measure("sqdist", scale=1 / self.c) + 1.0) ** 0.5


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Log(_Stationary):
    """k(x, y) = -log(1 + ‖x-y‖²), conditionally positive definite."""

    claim: ClassVar[Flag] = Flag.CPD

    def _formula(self) -> Node:
        return -Measure("sqdist").log1p()
