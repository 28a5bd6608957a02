"""Kernels of inner products: linear, polynomial, cosine, arc-cosine, sigmoid."""

import dataclasses
import math
from typing import ClassVar, Self, final

from mercer.arrays import (
    Apply,
    Array,
    Ends,
    Measure,
    Node,
    Through,
    not_zero,
    row_norms,
    unit_rows,
)
from mercer.errors import InputError
from mercer.kernels._default_scales import inverse_variance
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel
from mercer.kernels._parameter_checks import number
from mercer.kernels.maps._feature_maps import Features, Identity, Monomials, few_monomials


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Linear(Kernel):
    """k(x, y) = xᵀy. Kernel PCA with it is PCA."""

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return Measure("dot")

    def features(self, p: int) -> Features:
        """See `Kernel.features`: the rows themselves."""
        return Identity()


def _check_slope(kernel: "Polynomial | Sigmoid") -> None:
    """Make γ and c plain numbers; a missing γ waits for a sample."""
    for name in ("gamma", "coef0"):
        value = getattr(kernel, name)
        if value is not None or name == "coef0":
            object.__setattr__(kernel, name, number(kernel, name, value))


class _OfProduct(Kernel):
    """A kernel of γxᵀy + c, whose γ a sample may give."""

    gamma: float | None
    coef0: float

    @property
    def _open(self) -> bool:
        return self.gamma is None

    def _settle(self, sample: Array, weights: Array | None) -> Self:
        return self.with_params(gamma=inverse_variance(sample, weights))

    def _product(self) -> Node:
        assert self.gamma is not None
        return self.gamma * Measure("dot") + self.coef0


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Polynomial(_OfProduct):
    """k(x, y) = (γxᵀy + c)^q: products of up to q columns.

    Positive definite if γ ≥ 0, c ≥ 0 and q is whole; for q = 1 and c < 0 conditionally so;
    indefinite otherwise. With C(p+q, q) ≤ 8192 it has an explicit map.

    Parameters
    ----------
    degree : float
        q > 0.
    gamma : float or None
        γ; None takes 1/mean‖x-x̄‖² of a sample.
    coef0 : float
        c.
    """

    degree: float = 3
    gamma: float | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        _check_slope(self)
        q = number(self, "degree", self.degree, least=0.0)
        object.__setattr__(self, "degree", int(q) if q == int(q) else q)

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        q, c = self.degree, self.coef0
        gamma = 1.0 if self.gamma is None else self.gamma  # a sample gives a positive one
        if not isinstance(q, int):
            return Flag.INDEFINITE
        if (gamma >= 0 and c >= 0) or (q % 2 == 0 and 0 in (gamma, c)):
            return Flag.PD  # an even power takes the sign away where it stands alone
        return Flag.CPD if gamma == 0 or (gamma > 0 and q == 1) else Flag.INDEFINITE

    def _formula(self) -> Node:
        return self._product() ** self.degree

    def features(self, p: int) -> Features | None:
        """See `Kernel.features`: all monomials up to degree q."""
        if self.flag is not Flag.PD or not few_monomials(p, self.degree):
            return None
        self._refuse_open()
        assert self.gamma is not None
        if self.gamma < 0 or self.coef0 < 0:
            return None
        return Monomials(int(self.degree), self.gamma, self.coef0)


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Sigmoid(_OfProduct):
    """k(x, y) = tanh(γxᵀy + c). It is indefinite, although it is often listed as a kernel.

    Parameters
    ----------
    gamma : float or None
        γ; None takes 1/mean‖x-x̄‖² of a sample.
    coef0 : float
        c.
    """

    gamma: float | None = None
    coef0: float = 0.0

    def __post_init__(self) -> None:
        _check_slope(self)

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        if self.gamma == 0:  # a constant
            return Flag.PD if self.coef0 >= 0 else Flag.CPD
        return Flag.INDEFINITE

    def _formula(self) -> Node:
        return self._product().tanh()


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Cosine(Kernel):
    """k(x, y) = xᵀy/(‖x‖‖y‖), the angle alone; 0 for a row of zeros, which has none."""

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return Through(unit_rows, Measure("dot"))


@final
@dataclasses.dataclass(frozen=True, repr=False)
class ArcCosine(Kernel):
    """Arc-cosine kernel: an infinitely wide layer of steps (0) or ramps (1) [Cho2009]_.

    With θ the angle between x and y: order 0 is 1 - θ/π, order 1 is
    ‖x‖‖y‖(sin θ + (π-θ)cos θ)/π. A row of zeros has no angle: k = 0 there.

    Parameters
    ----------
    order : {0, 1}
        The power of the activation.
    """

    order: int = 1

    def __post_init__(self) -> None:
        if self.order not in (0, 1):
            raise InputError(
                "`order` of ArcCosine must be 0 or 1",
                got=f"order={self.order!r}",
                fix="choose 0 (steps) or 1 (ramps)",
            )
        object.__setattr__(self, "order", int(self.order))

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        if self.order == 0:  # not from the cosine, which loses half the digits at 0 and π
            angle = Measure("angle") / math.pi
            return Ends(not_zero, Through(unit_rows, 1 + -angle))
        return Ends(row_norms, Through(unit_rows, Apply("arc", Measure("dot"))))
