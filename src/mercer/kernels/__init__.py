"""Kernels: functions of two rows, as immutable values that add and multiply and own no data.

Every kernel carries a flag that says what is known of it for all data (`Flag`), and a tile
program that `mercer.arrays` runs in place. Strings such as ``"rbf(lengthscale=2) + linear"``
are read by `as_kernel`.
"""

from mercer.kernels._algebra import Constant, Selection, exp, mapped, normalize, warp
from mercer.kernels._base import Kernel
from mercer.kernels._basis import neighbourhoods, ngrams
from mercer.kernels._compare import cka, hsic, mmd
from mercer.kernels._counts import (
    AdditiveChiSquared,
    ChiSquared,
    Intersection,
    NegativeChiSquared,
    NegativeHamming,
    Overlap,
)
from mercer.kernels._distance import (
    Log,
    Multiquadric,
    NegativeDistance,
    Periodic,
    PeriodicDistance,
)
from mercer.kernels._evidence import Evidence, evidence
from mercer.kernels._features import Features
from mercer.kernels._flags import Flag
from mercer.kernels._given import FeatureMap, Function, Precomputed
from mercer.kernels._inner import ArcCosine, Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels._isotropic import (
    RBF,
    Isotropic,
    Laplacian,
    Matern,
    PowerExponential,
    RationalQuadratic,
)
from mercer.kernels._plain import FEATURES, KERNELS, MAPS
from mercer.kernels._random import RandomMap, random_map
from mercer.kernels._text import as_kernel, parse

__all__ = [
    "FEATURES",
    "KERNELS",
    "MAPS",
    "RBF",
    "AdditiveChiSquared",
    "ArcCosine",
    "ChiSquared",
    "Constant",
    "Cosine",
    "Evidence",
    "FeatureMap",
    "Features",
    "Flag",
    "Function",
    "Intersection",
    "Isotropic",
    "Kernel",
    "Laplacian",
    "Linear",
    "Log",
    "Matern",
    "Multiquadric",
    "NegativeChiSquared",
    "NegativeDistance",
    "NegativeHamming",
    "Overlap",
    "Periodic",
    "PeriodicDistance",
    "Polynomial",
    "PowerExponential",
    "Precomputed",
    "RandomMap",
    "RationalQuadratic",
    "Selection",
    "Sigmoid",
    "as_kernel",
    "cka",
    "evidence",
    "exp",
    "hsic",
    "mapped",
    "mmd",
    "neighbourhoods",
    "ngrams",
    "normalize",
    "parse",
    "random_map",
    "warp",
]
