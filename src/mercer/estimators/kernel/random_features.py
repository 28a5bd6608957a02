"""Random features: a kernel as a short random map, for data that come bit by bit."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.estimators.kernel._feature_table import FeatureTable
from mercer.estimators.kernel._kernel_rows import apart, replaced
from mercer.estimators.kernel._row_samples import dense, stand_ins
from mercer.estimators.walk._parameters import check_parameters, learned, publish, seed_of
from mercer.estimators.walk._spectral_estimator import repeat_counts
from mercer.kernels import RBF, Kernel, as_kernel, random_map
from mercer.sources import Source

_SAMPLE = 1000  # rows that settle a kernel


class RandomFeatures(FeatureTable):
    """φ(x) = √(2/m)·cos(Ωᵀx + β) with E φ(x)ᵀφ(y) = k(x, y): the kernel as m random columns.

    Use it where rows come one batch at a time and none can be kept; a linear method on φ(X),
    such as `PCA`, is then the kernel method, nearly. **There is no certificate**: a product
    of features misses k by about 1/√m, whatever the data, and nothing bounds it in a given
    case. Where the rows can be kept `KernelPCA` is exact. The map knows nothing of the data
    but the lengthscale, so that with a number for it `fit` learns nothing at all.

    Parameters
    ----------
    n_features : int
        m, columns made.
    kernel : Kernel or str
        RBF, Laplacian, Matern or RationalQuadratic (cosines), or ArcCosine (steps and
        ramps), also times a number. "median" lengthscales are taken from the rows of `fit`,
        or of the first `partial_fit`.
    orthogonal : bool
        Whether directions are orthogonal in blocks of p, which has less error at no cost.
        The Laplacian kernel has no directions, and takes no notice.
    random_state : int, Generator, RandomState or None
        What Ω and β are drawn from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its parameters as numbers.
    certificate_ : None
        There is none.
    n_features_in_ : int
        p, columns of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RandomFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> phi = RandomFeatures(4000, kernel="rbf(lengthscale=1)").fit_transform(X)
    >>> phi.shape, bool(abs(phi[0] @ phi[1] - np.exp(-1)) < 0.05)
    ((2, 4000), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, HasMethods("block")],
        "orthogonal": ["boolean"],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_features: int = 1000,
        *,
        kernel: Kernel | str = RBF(),  # noqa: B008 - a frozen value
        orthogonal: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_features = n_features
        self.kernel = kernel
        self.orthogonal = orthogonal
        self.random_state = random_state

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__lengthscale=2`` replaces the kernel, which is a value."""
        own, nested = apart(params)
        if nested:
            own["kernel"] = replaced(own.get("kernel", self.kernel), nested)
        return super().set_params(**own)

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Draw the map; a "median" lengthscale is taken from at most 1000 rows of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features_in)
            Rows; none is kept.
        y : None
            Ignored; there for pipelines.
        sample_weight : array of shape (n_samples,) or None
            Repeat counts, for the "median".
        """
        blank = clone(self)
        check_parameters(blank)
        source = blank._admit(X, reset=True)
        blank._draw(source, repeat_counts(sample_weight, source.shape[0]))
        publish(self, learned(blank))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map at the first batch; later ones are checked and change nothing."""
        if not hasattr(self, "kernel_"):
            return self.fit(X)
        self._admit(X, reset=False)
        return self

    def transform(self, X: Any) -> Array:
        """Return φ(X), of shape (n_samples, n_features): 2pm flops and m cosines a row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features_in)
            Rows; float32 gives float32.
        """
        check_is_fitted(self)
        source = self._admit(X, reset=False)
        return self._map.features(source.array, source.products)

    def _draw(self, source: Source, weights: Any) -> None:
        counts = None
        if weights is None:
            sample = source.sample(_SAMPLE)
        else:
            at, counts = stand_ins(source.array, weights, _SAMPLE)
            sample = dense(source.array[at])
        sample = np.asarray(sample, np.float64)
        self.kernel_ = as_kernel(self.kernel).resolve(sample, counts)
        drawn = random_map(
            self.kernel_,
            source.shape[1],
            int(self.n_features),
            orthogonal=bool(self.orthogonal),
            seed=seed_of(self.random_state),
        )
        self._map = drawn.around(None if source.nnz is not None else sample.mean(axis=0))
        self.certificate_ = None

    @property
    def _n_features_out(self) -> int:
        return int(self._map.weights.shape[1])
