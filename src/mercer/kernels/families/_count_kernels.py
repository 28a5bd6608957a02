"""Kernels of counts, histograms and categories."""

import dataclasses
from typing import ClassVar, Self, final

from mercer.arrays import Array, Measure, Node
from mercer.kernels._default_scales import median_of
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel
from mercer.kernels._parameter_checks import number


@dataclasses.dataclass(frozen=True, repr=False)
class _ByColumns(Kernel):
    """A kernel that looks at every column of two rows, zeros too."""

    @property
    def takes_sparse(self) -> bool:
        """See `Kernel.takes_sparse`."""
        return False


@final
@dataclasses.dataclass(frozen=True, repr=False)
class ChiSquared(_ByColumns):
    """k(x, y) = exp(-γΣ(x-y)²/(x+y)) for x, y ≥ 0; 0/0 counts as 0.

    Parameters
    ----------
    gamma : float or None
        γ > 0; None takes 1/median of the exponent's sum over the pairs of a sample.
    """

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None:
            object.__setattr__(self, "gamma", number(self, "gamma", self.gamma, least=0.0))

    claim: ClassVar[Flag] = Flag.PD

    @property
    def _open(self) -> bool:
        return self.gamma is None

    def _settle(self, sample: Array, weights: Array | None) -> Self:
        return dataclasses.replace(self, gamma=1 / median_of(sample, "chi2", weights))

    def _formula(self) -> Node:
        assert self.gamma is not None
        return (-self.gamma * Measure("chi2")).exp()


@final
@dataclasses.dataclass(frozen=True, repr=False)
class AdditiveChiSquared(_ByColumns):
    """k(x, y) = Σ2xy/(x+y) for x, y ≥ 0; 0/0 counts as 0."""

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return Measure("chi2sum")


@final
@dataclasses.dataclass(frozen=True, repr=False)
class NegativeChiSquared(_ByColumns):
    """k(x, y) = -Σ(x-y)²/(x+y) for x, y ≥ 0; conditionally positive definite."""

    claim: ClassVar[Flag] = Flag.CPD

    def _formula(self) -> Node:
        return -Measure("chi2")


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Intersection(_ByColumns):
    """k(x, y) = Σmin(x, y) for x, y ≥ 0: what two histograms share."""

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return Measure("minsum")


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Overlap(_ByColumns):
    """k(x, y) = the share of columns in which x and y are equal; for categories as codes."""

    claim: ClassVar[Flag] = Flag.PD

    def _formula(self) -> Node:
        return 1.0 + -Measure("hamming")


@final
@dataclasses.dataclass(frozen=True, repr=False)
class NegativeHamming(_ByColumns):
    """k(x, y) = -(the share of columns in which x and y differ); conditionally pd."""

    claim: ClassVar[Flag] = Flag.CPD

    def _formula(self) -> Node:
        return -Measure("hamming")
