"""Kernels of a distance over a lengthscale: a new one is a field and a line."""

import dataclasses
import math
from abc import abstractmethod
from typing import ClassVar, Self, final

from mercer.arrays import Array, Measure, Node
from mercer.errors import InputError
from mercer.kernels._default_scales import median_length, median_of
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_value import Kernel
from mercer.kernels._parameter_checks import Lengthscale, inverse, lengths, number


@dataclasses.dataclass(frozen=True, repr=False)
class Isotropic(Kernel):
    """k(x, y) = f(d) with d the distance in lengthscales; subclass it and write f.

    The distance is Euclidean, or Σ|x-y| where ``metric = "l1"``. With one lengthscale for
    each column, every column is divided by its own first. A subclass says in `claim` what
    it knows of itself; the default claims nothing.

    Parameters
    ----------
    lengthscale : float, one for each column, or "median"
        ℓ. "median" takes ℓ² = ½·median of ‖x_i-x_j‖² (ℓ = median of Σ|x-y| for L1) from a
        sample.

    Examples
    --------
    >>> class Cauchy(Isotropic):
    ...     def of_distance(self, d):
    ...         return 1 / (1 + d**2)
    >>> print(Cauchy(2.0)([[0.0]], [[2.0]]))
    [[0.5]]
    """

    lengthscale: Lengthscale = "median"
    metric: ClassVar[str] = "dist"

    def __post_init__(self) -> None:
        found = lengths(self, "lengthscale", self.lengthscale)
        object.__setattr__(self, "lengthscale", found)

    @abstractmethod
    def of_distance(self, d: Node) -> Node:
        """Return f(d); ``d**2`` is the squared distance, at the price of one product."""

    @property
    def stationary(self) -> bool:
        """See `Kernel.stationary`."""
        return True

    @property
    def takes_sparse(self) -> bool:
        """See `Kernel.takes_sparse`."""
        return self.metric == "dist"

    @property
    def _open(self) -> bool:
        return self.lengthscale == "median"

    def _settle(self, sample: Array, weights: Array | None) -> Self:
        if self.metric == "dist":
            return dataclasses.replace(self, lengthscale=median_length(sample, weights))
        found = median_of(sample, self.metric, weights)
        return dataclasses.replace(self, lengthscale=found)

    def _formula(self) -> Node:
        return self.of_distance(Measure(self.metric, scale=inverse(self.lengthscale)))


@final
@dataclasses.dataclass(frozen=True, repr=False)
class RBF(Isotropic):
    """k(x, y) = exp(-‖x-y‖²/2ℓ²), the Gaussian kernel; the first choice for smooth structure.

    Parameters
    ----------
    lengthscale : float, one for each column, or "median"
        ℓ; see `Isotropic`. γ = 1/2ℓ² is what scikit-learn calls gamma.

    Examples
    --------
    >>> RBF.from_gamma(0.5)
    RBF(lengthscale=1.0)
    """

    claim: ClassVar[Flag] = Flag.PD

    def of_distance(self, d: Node) -> Node:
        """See `Isotropic.of_distance`."""
        return (-0.5 * d**2).exp()

    @classmethod
    def from_gamma(cls, gamma: float) -> "RBF":
        """Return exp(-γ‖x-y‖²): ℓ = 1/√(2γ)."""
        return cls(1 / math.sqrt(2 * number(cls, "gamma", gamma, least=0.0)))


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Laplacian(Isotropic):
    """k(x, y) = exp(-Σ|x-y|/ℓ), on the L1 distance; rough, robust to single odd columns."""

    metric: ClassVar[str] = "l1"
    claim: ClassVar[Flag] = Flag.PD

    def of_distance(self, d: Node) -> Node:
        """See `Isotropic.of_distance`."""
        return (-d).exp()

    @classmethod
    def from_gamma(cls, gamma: float) -> "Laplacian":
        """Return exp(-γΣ|x-y|): ℓ = 1/γ."""
        return cls(1 / number(cls, "gamma", gamma, least=0.0))


@final
@dataclasses.dataclass(frozen=True, repr=False)
class Matern(Isotropic):
    """Matérn kernel of the Euclidean distance d, between exp(-d/ℓ) and the Gaussian.

    ν = ½: e^-s with s = d/ℓ; 3/2: (1+s)e^-s with s = √3·d/ℓ; 5/2: (1+s+s²/3)e^-s with
    s = √5·d/ℓ. On L1 distances 3/2 and 5/2 are not positive definite, so there is no such
    option.

    Parameters
    ----------
    lengthscale : float, one for each column, or "median"
        ℓ; see `Isotropic`.
    nu : {0.5, 1.5, 2.5}
        Smoothness ν.
    """

    nu: float = 1.5
    claim: ClassVar[Flag] = Flag.PD

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise InputError(
                "`nu` of Matern must be 0.5, 1.5 or 2.5",
                got=f"nu={self.nu!r}",
                fix="choose one of the three; RBF() is the limit of large nu",
            )
        object.__setattr__(self, "nu", float(self.nu))

    def of_distance(self, d: Node) -> Node:
        """See `Isotropic.of_distance`."""
        coefficients = {0.5: (1.0,), 1.5: (1.0, 1.0), 2.5: (1.0, 1.0, 1 / 3)}
        return (math.sqrt(2 * self.nu) * d).decay(*coefficients[self.nu])


@final
@dataclasses.dataclass(frozen=True, repr=False)
class RationalQuadratic(Isotropic):
    """k(x, y) = (1 + d²/(2αℓ²))^-α, a mixture of Gaussians of many lengthscales.

    Parameters
    ----------
    lengthscale : float, one for each column, or "median"
        ℓ; see `Isotropic`.
    alpha : float
        α > 0; large α approaches the Gaussian.
    """

    alpha: float = 1.0
    claim: ClassVar[Flag] = Flag.PD

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", number(self, "alpha", self.alpha, least=0.0))

    def of_distance(self, d: Node) -> Node:
        """See `Isotropic.of_distance`."""
        return (-self.alpha * (d**2 / (2 * self.alpha)).log1p()).exp()


@final
@dataclasses.dataclass(frozen=True, repr=False)
class PowerExponential(Isotropic):
    """k(x, y) = exp(-(d/ℓ)^β): pd for 0 < β ≤ 2, indefinite beyond.

    Parameters
    ----------
    lengthscale : float, one for each column, or "median"
        ℓ; see `Isotropic`.
    power : float
        β > 0.
    """

    power: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "power", number(self, "power", self.power, least=0.0))

    @property
    def flag(self) -> Flag:
        """See `Kernel.flag`."""
        return Flag.PD if self.power <= 2 else Flag.INDEFINITE

    def of_distance(self, d: Node) -> Node:
        """See `Isotropic.of_distance`."""
        return (-(d**self.power)).exp()
