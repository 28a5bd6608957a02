"""IncrementalPCA with scikit-learn's signature, attributes and conventions, and exact."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.utils import metadata_routing
from sklearn.utils._param_validation import Interval

from mercer import estimators
from mercer.arrays import Array
from mercer.dropin.pca import completed
from mercer.errors import InputError, InputTypeError
from mercer.estimators.linear._batches import Batches
from mercer.estimators.linear._pca_stream import late
from mercer.estimators.walk._admission import refuse_bad_cells, refuse_parts
from mercer.estimators.walk._parameters import learned, publish
from mercer.operators import RunningSvd, block_length, fetched
from mercer.solvers import Spectrum
from mercer.sources import BlockSource, Source, in_memory


class IncrementalPCA(estimators.PCA, auto_wrap_output_keys=None):
    r"""`mercer.PCA` of batches behind scikit-learn's signature: the axes of all rows so far.

    scikit-learn keeps k directions and forgets the rest of every batch, so that its axes
    depend on the order and the size of the batches. Here the sums of all rows are kept (p×p
    numbers, see `mercer.PCA.partial_fit`), and the axes are those of a fit of all rows.

    Parameters
    ----------
    n_components : int or None
        Number of axes; None keeps min(rows of the first batch, p).
    whiten : bool
        Scale the coordinates to variance one. Axes without variance give 0.
    copy : bool
        No effect: the data are never written to.
    batch_size : int or None
        No effect but on `batch_size_` and, with ``n_components=None``, on the number of
        axes; None is 5p.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        Axes, orthonormal rows.
    explained_variance_, explained_variance_ratio_, singular_values_ : ndarray of shape (k,)
        λ dividing by n - 1; λ over the total variance; √((n - 1)λ).
    mean_, var_ : ndarray of shape (p,)
        Column means and variances, the latter dividing by n.
    noise_variance_ : float
        Mean of the min(n, p) - k variances left out.
    n_components_, n_samples_seen_, batch_size_, n_features_in_ : int
        Axes kept, rows seen, rows of a batch of `fit`, columns.
    certificate_, plan_
        As in `mercer.PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.dropin import IncrementalPCA
    >>> X = np.array([[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> IncrementalPCA().partial_fit(X[:4]).partial_fit(X[4:]).singular_values_.round(4)
    array([6.3006, 0.5498])
    """

    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {
        "check_input": metadata_routing.UNUSED
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "whiten": ["boolean"],
        "copy": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
    }
    var_: Array = late()
    _axes: int | None = None  # settled by the first batch

    # What mercer.PCA takes as parameters and scikit-learn does not have.
    standardize: bool = False
    feature_weight = None
    tol = None
    memory = None
    time = None
    device = None
    random_state = 0
    forget = None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Fit the model to X, and forget what was there before.

        Parameters
        ----------
        X : array, sparse matrix, frame, path, source or iterator of blocks
            Training rows, of shape (n_samples, n_features). They are walked over in place;
            files and streams are read once, block by block.
        y : None
            Ignored; there for pipelines.
        """
        blank = clone(self)
        blank._check_parameters()
        source = blank._admit(X, reset=True)
        stream = blank._summed(source)
        n, p = source.shape  # of a file: counted only now
        size = self.batch_size or 5 * p
        settled = blank._settled_by(source, True)
        if self.n_components is None:
            settled["_axes"] = min(size, n, p)
        blank._follow(stream, settled | {"batch_size_": size}, True)
        blank.__dict__.update(blank._looked())
        publish(self, learned(blank))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Fit to X and return its coordinates, the same as ``fit(X).transform(X)``."""
        return super().fit_transform(X, y)

    def transform(self, X: Any) -> Any:  # type: ignore[override]
        """Return the coordinates of X, of shape (n_samples, n_components)."""
        return super().transform(X)

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Take a batch of rows in; the model is that of all rows seen so far.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows; the first batch needs as many as there are components.
        y : None
            Ignored.
        check_input : bool
            No effect: a batch is always checked, so that one that is refused changes
            nothing.
        """
        if scipy.sparse.issparse(X):
            raise InputTypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data"
                " to dense or use IncrementalPCA.fit to do so in batches.",
                got=f"{type(X).__name__} of shape {X.shape}",
                fix="use mercer.PCA.partial_fit, which takes sparse rows",
            )
        size = vars(self).get("batch_size_")
        super().partial_fit(X, y)
        if size is not None:
            self.batch_size_ = size
        return self

    def _summed(self, source: Source) -> Batches:
        """Return the stream of all rows of a source, every cell looked at."""
        refuse_parts(source)
        stream = self._begun(source)
        if not isinstance(source, BlockSource):
            refuse_bad_cells(source, self._names)
            return stream.with_rows(source, np.ones(source.shape[0]))
        done = 0
        for block in fetched(source, block_length(source, self._block_bytes(source))):
            self._refuse_block(source, block, done)
            stream = stream.with_rows(in_memory(block), np.ones(block.shape[0]))
            done += block.shape[0]
        return stream

    # -- rules of scikit-learn --------------------------------------------------------

    def _settled_by(self, source: Source, first: bool) -> dict[str, Any]:
        (n, p), wanted = source.shape, self.n_components
        assert wanted is None or isinstance(wanted, Integral)
        if wanted is not None and wanted > p:
            raise InputError(
                f"n_components={wanted} invalid for n_features={p}, need more rows than"
                " columns for IncrementalPCA processing",
                got=f"a batch of shape {(n, p)}",
                fix=f"ask for at most {p} components",
            )
        if wanted is not None and first and wanted > n:
            raise InputError(
                f"n_components={wanted} must be less or equal to the batch number of samples"
                f" {n} for the first partial_fit call.",
                got=f"a batch of shape {(n, p)}",
                fix=f"give {wanted} rows first, or use mercer.PCA, which waits for them",
            )
        if not first and wanted is not None and wanted != self._axes:
            raise InputError(
                f"Number of input features has changed from {self._axes} to {wanted} between"
                " calls to partial_fit! Try setting n_components to a fixed value.",
                got=f"n_components={wanted}",
                fix=f"set n_components={self._axes}, or begin a new model",
            )
        axes = {"_axes": min(n, p) if wanted is None else wanted} if first else {}
        return super()._settled_by(source, first) | axes

    def _most_components(self, shape: tuple[int, int]) -> int:
        if self.n_components is None and self._axes is not None:
            return min(self._axes, *shape)
        return super()._most_components(shape)

    def _modelled(self, stream: Any) -> dict[str, Any]:
        state = super()._modelled(stream)
        sums = stream.sums.sums if isinstance(stream.sums, RunningSvd) else stream.sums
        diagonal = sums.scatter if sums.scatter.ndim == 1 else np.diagonal(sums.scatter)
        with np.errstate(over="ignore", under="ignore"):
            variances = np.maximum(diagonal, 0.0) / sums.total
            state["var_"] = np.ldexp(variances, 2 * sums.exponent)
        return state

    def _scale(self, spectrum: Spectrum, found: Any, source: Source) -> dict[str, Any]:
        fitted = super()._scale(spectrum, found, source)
        fitted["components_"] = completed(fitted["components_"], fitted["_alive"])
        return fitted
