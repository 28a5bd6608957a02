"""Kernels: functions of two rows, as immutable values that add and multiply and own no data.

Every kernel carries a flag that says what is known of it for all data (`Flag`), and a tile
program that `mercer.arrays` runs in place. Strings such as ``"rbf(lengthscale=2) + linear"``
are read by `as_kernel`.
"""

from mercer.kernels._algebra import Constant, Selection, exp, mapped, normalize, warp
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_comparison import cka, hsic, mmd
from mercer.kernels._kernel_evidence import Evidence, evidence
from mercer.kernels._kernel_text import as_kernel, parse
from mercer.kernels._kernel_types import FEATURES, KERNELS, MAPS
from mercer.kernels._kernel_value import Kernel
from mercer.kernels.families._count_kernels import (
    AdditiveChiSquared,
    ChiSquared,
    Intersection,
    NegativeChiSquared,
    NegativeHamming,
    Overlap,
)
from mercer.kernels.families._inner_products import (
    ArcCosine,
    Cosine,
    Linear,
    Polynomial,
    Sigmoid,
)
from mercer.kernels.families._isotropic import (
    RBF,
    Isotropic,
    Laplacian,
    Matern,
    PowerExponential,
    RationalQuadratic,
)
from mercer.kernels.families._stationary import (
    Log,
    Multiquadric,
    NegativeDistance,
    Periodic,
    PeriodicDistance,
)
from mercer.kernels.families._user_kernels import FeatureMap, Function, Precomputed
from mercer.kernels.maps._feature_maps import Features
from mercer.kernels.maps._ngrams_and_graphs import neighbourhoods, ngrams
from mercer.kernels.maps._random_maps import RandomMap, random_map

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
