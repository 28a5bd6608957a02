"""The kernels and feature maps of the house, as types: each is data and nothing else.

Some hold a function of the user, and then they are not plain.
"""

from mercer.kernels._algebra import (
    Columns,
    Constant,
    Exp,
    Mapped,
    Normalized,
    Power,
    Product,
    Scaled,
    Sum,
    Warped,
)
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
from mercer.kernels.maps._feature_maps import (
    Chosen,
    Identity,
    Monomials,
    One,
    Stacked,
    Weighted,
)
from mercer.kernels.maps._ngrams_and_graphs import _Neighbourhoods, _Ngrams
from mercer.kernels.maps._random_maps import RandomMap

KERNELS = (
    AdditiveChiSquared,
    ArcCosine,
    ChiSquared,
    Columns,
    Constant,
    Cosine,
    Exp,
    FeatureMap,
    Function,
    Intersection,
    Laplacian,
    Linear,
    Log,
    Mapped,
    Matern,
    Multiquadric,
    NegativeChiSquared,
    NegativeDistance,
    NegativeHamming,
    Normalized,
    Overlap,
    Periodic,
    PeriodicDistance,
    Polynomial,
    Power,
    PowerExponential,
    Precomputed,
    Product,
    RBF,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
    Warped,
)
FEATURES = (Chosen, Identity, Monomials, One, Stacked, Weighted)
MAPS = (RandomMap, _Neighbourhoods, _Ngrams)
