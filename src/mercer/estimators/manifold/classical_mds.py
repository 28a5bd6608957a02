"""Classical scaling: points whose distances are those given, as nearly as few axes can."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from mercer.arrays import Array, Tiles, is_sparse
from mercer.errors import InputError
from mercer.estimators.kernel._eigenproblem import POLICIES, KernelFound, Task
from mercer.estimators.kernel._kernel_rows import most_components
from mercer.estimators.kernel._matrix_paths import needs_whole, solve
from mercer.estimators.linear.pca import PCA
from mercer.estimators.manifold._distance_kernel import (
    Placing,
    PlacingTask,
    described,
    placed,
    refuse_negative,
    refuse_odd_distances,
    unit_of,
)
from mercer.estimators.manifold._embedding import Embedding
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import COUNT_OR_SHARE, RESOURCES
from mercer.kernels import Flag, Linear
from mercer.planning import KernelCost, Path, Problem
from mercer.solvers import Spectrum
from mercer.sources import Source, scan

Found = tuple[KernelFound, Placing | None, int]
_MEASURES = ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine")
_LENGTHS = ("chebyshev", "cityblock")  # d(cx, cy) = c·d(x, y); of the others d(x, y)
_METRICS = ("euclidean", "precomputed", *_MEASURES)
_WHOLE = 500  # points up to which all eigenvalues are found, the negative ones too
_SHARED = 3000  # and where a share of the variance is asked for
_ROWS = 512  # whose distances are made in one go


class ClassicalMDS(Embedding):
    """Coordinates from distances: -½H(D∘D)H = UΛUᵀ, Z = UΛ^½.

    Use it where all that is known are distances: between cities, sequences, answers. Of
    Euclidean distances of rows it is PCA, and is solved as that. Distances that no points
    in any space have give negative eigenvalues; `negative_share_` says how far off they are.

    Parameters
    ----------
    n_components : int or float in (0, 1)
        Axes to keep; a share keeps as many as reach that part of Σ|λ|.
    metric : str
        "euclidean", "precomputed" (X is the matrix D, and new points are rows of distances
        to the fitted ones), or another distance of rows: "cityblock", "chebyshev",
        "canberra", "braycurtis", "cosine", "correlation".
    indefinite : {"clip", "raise", "flip", "shift"}
        What to do about negative eigenvalues. "clip" leaves them out; "raise" refuses a
        negative share above 1e-3; "flip" counts them by modulus; "shift" adds the lowest to
        all, the additive constant of Lingoes, and then ``transform(X)`` differs from
        ``embedding_``.
    tol, memory, time, device, random_state
        See `PCA`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, k)
        The coordinates, mean zero.
    eigenvalues_ : ndarray of shape (k,)
        λ of -½H(D∘D)H.
    explained_variance_ : ndarray of shape (k,)
        |λ|/(n - 1), the variance of each coordinate.
    explained_variance_ratio_ : ndarray of shape (k,)
        λ/Σ|λ| over all axes.
    negative_share_ : float
        Σ|λ⁻|/Σ|λ|: 0 for distances that points in some space have.
    certificate_ : Certificate
        Intervals that hold the eigenvalues, residuals, gaps, axes that cannot be told apart.
    n_components_, n_samples_, n_features_in_, rank_ : int
        Axes kept, points, columns, and kept axes with length above rounding.
    plan_ : Plan
        The path taken and the others.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ClassicalMDS
    >>> D = np.abs(np.subtract.outer([0.0, 3.0, 4.0], [0.0, 3.0, 4.0]))
    >>> model = ClassicalMDS(1, metric="precomputed").fit(D)
    >>> [round(float(z), 6) for z in np.diff(model.embedding_[:, 0])]
    [-3.0, -1.0]
    >>> model.transform([[1.0, 2.0, 3.0]]).shape
    (1, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": COUNT_OR_SHARE,
        "metric": [StrOptions(set(_METRICS))],
        "indefinite": [StrOptions(set(POLICIES))],
        **RESOURCES,
    }
    _engine: PCA
    _placing: Placing | None
    _rows: Array | None
    _exponent: int = 0

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        metric: str = "euclidean",
        indefinite: str = "clip",
        tol: float | None = None,
        memory: int | str | None = None,
        time: float | None = None,
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.indefinite = indefinite
        super().__init__(tol, memory, time, device, random_state)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: a matrix of distances is pairwise input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric == "euclidean"
        return tags

    # -- describe ---------------------------------------------------------------------

    def _admit(self, X: Any, *, reset: bool) -> Source:
        given = self.metric == "precomputed" and isinstance(X, np.ndarray)
        if given and X.ndim == 2 and X.dtype.kind in "fiub":
            refuse_bad_cells(scan(X))  # before columns are counted
        source = super()._admit(X, reset=reset)
        if source.nnz is not None and self.metric != "euclidean":
            raise InputError(
                "these distances need dense rows",
                got=f'a sparse matrix of shape {source.shape}, metric="{self.metric}"',
                fix='pass X.toarray(), or take metric="euclidean"',
            )
        if self.metric == "precomputed":
            d = np.asarray(source.array)
            d = d.astype(np.float64) if d.dtype.kind == "b" else d
            (refuse_odd_distances if reset else refuse_negative)(d)
        return source

    def _problem(self, source: Source, weights: Array | None = None) -> Problem:
        n, p = source.shape
        linear = self.metric == "euclidean"
        most = _SHARED if isinstance(self.n_components, float) else _WHOLE
        cost = KernelCost(
            flops=2.0 * p + 8 if not linear else 2.0 * p,
            features=p if linear else None,
            finite=linear,
            given=linear,
            whole=needs_whole(Flag.UNKNOWN, self.indefinite, n, most),
            centred=False,
        )
        named = ("primal", "lapack") if n <= most else ("primal", "lapack", "stored")
        return self._problem_of(
            source,
            source.shape,
            most_components(self.n_components, n),
            itemsize=source.products.itemsize if linear else 8,
            nnz=source.nnz,
            kernel=cost,
            allowed=named,
        )

    # -- operator and pairs -----------------------------------------------------------

    def _solve(
        self, source: Source, path: Path, weights: Array | None
    ) -> tuple[Spectrum, Found]:
        asked = PlacingTask.of(self, source, source.shape[0])
        if self.metric == "euclidean":
            rows, exponent = self._in_units(source.array)
            task = Task(Linear(), rows, None, **vars(asked))
            spectrum, found = solve(task, path)
            return spectrum, (found, None, exponent)
        distances = self._distances(source.array, source.array, whole=True)
        spectrum, found, placing = placed(distances, path, asked)
        return spectrum, (found, placing, placing.exponent)

    def _in_units(self, rows: Any, exponent: int | None = None) -> tuple[Any, int]:
        """Return rows in units of 2^exponent, and the exponent, where none is given."""
        if exponent is None:
            exponent = unit_of(rows.data if is_sparse(rows) else rows)
        if not exponent:
            return rows, exponent
        if not is_sparse(rows):
            return np.ldexp(rows, -exponent), exponent
        parts = (np.ldexp(rows.data, -exponent), rows.indices, rows.indptr)
        return type(rows)(parts, shape=rows.shape), exponent

    def _distances(self, rows: Array, known: Array, *, whole: bool = False) -> Array:
        """Return distances of rows (r, p) to known ones, of shape (r, n), as a new array."""
        from scipy.spatial.distance import cdist

        if self.metric == "precomputed":
            return np.array(rows, np.float64)
        found = np.empty((len(rows), len(known)))
        there, exponent = self._in_units(np.asarray(known, np.float64))
        for part in Tiles(len(rows), _ROWS):
            here, _ = self._in_units(np.asarray(rows[part], np.float64), exponent)
            found[part] = cdist(here, there, self.metric)
        if self.metric in _LENGTHS:
            with np.errstate(over="ignore"):  # what is not finite is told below
                np.ldexp(found, exponent, out=found)
        if whole:
            np.fill_diagonal(found, 0.0)
        _refuse_undefined(found, self.metric)
        return np.maximum(found, 0.0, out=found)

    # -- scale and project ------------------------------------------------------------

    def _scale(self, spectrum: Spectrum, found: Found, source: Source) -> dict[str, object]:
        kernel, placing, exponent = found
        kept = np.float32 if source.products.itemsize == 4 else np.float64
        rows = None if self.metric in ("euclidean", "precomputed") else source.array.copy()
        state = described(spectrum, kernel, exponent)
        return state | {
            "embedding_": np.asarray(state["embedding_"], kept),
            "n_samples_": source.shape[0],
            "_engine": kernel.engine,
            "_placing": placing,
            "_rows": rows,
            "_kept": kept,
            "_exponent": exponent,
        }

    def _project(self, source: Source) -> Array:
        """Return the coordinates of rows, or of rows of distances to the fitted points."""
        if self._placing is None:
            rows, exponent = self._in_units(source.array, self._exponent)
            found = np.ldexp(self._engine._project(scan(rows)), exponent)
            short = self.n_components_ - found.shape[1]
            return np.asarray(np.pad(found, ((0, 0), (0, short))), self._kept)
        known = source.array[:0] if self._rows is None else self._rows
        return np.asarray(self._placing.of(self._distances(source.array, known)), self._kept)


def _refuse_undefined(found: Array, metric: str) -> None:
    """Refuse rows that have no distance of this kind, such as zero rows and "cosine"."""
    if np.isfinite(found).all():
        return
    i, j = np.unravel_index(int(np.argmax(~np.isfinite(found))), found.shape)
    raise InputError(
        f'the distance "{metric}" is not defined for all rows',
        got=f"{found[i, j]} between row {i} and training row {j}",
        fix="drop rows that are constant or zero, or take another metric",
    )
