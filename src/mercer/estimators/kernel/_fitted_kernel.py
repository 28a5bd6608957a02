"""What a fit of kernel PCA found, as one frozen value; all that is asked later is of it."""

import dataclasses
import enum
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from mercer.arrays import Array, Tiles
from mercer.errors import NotSupportedError
from mercer.estimators.kernel._kernel_rows import KernelRows
from mercer.estimators.kernel._landmark_model import LandmarkModel
from mercer.estimators.kernel._projection import Projection
from mercer.estimators.kernel._row_samples import dense
from mercer.kernels import Kernel, Precomputed
from mercer.selection import Choice
from mercer.solvers import Certificate

if TYPE_CHECKING:
    from mercer.estimators.linear.pca import PCA

_BLOCK = 2048  # rows whose features are made at a time


class Later(enum.Enum):
    """What a fit leaves to be computed when it is asked for."""

    ALIGNMENT = "the alignment with the linear kernel, from the rows that are kept"


@dataclasses.dataclass(frozen=True, eq=False)
class FittedKernel:
    """A fitted kernel PCA: z(x) = Bᵀk_X(x) - c₀, or PCA of explicit features.

    Beside each field stands the attribute of the estimator that holds it.

    Attributes
    ----------
    given, seen : Kernel
        The kernel as it was asked for, and on rows in the frame, with numbers for parameters.
    own : Kernel
        The kernel on rows as the user has them, which `kernel_` shows.
    frame : KernelRows
        How a source becomes rows that the kernel sees.
    rows : array or sparse matrix of shape (m, p), or None
        Training rows or landmarks, as the kernel sees them; None for a given matrix.
    dual : ndarray of shape (m, k)
        B.
    level : ndarray of shape (k,)
        c₀.
    projection : Projection or None
        The same, prepared; `rows` None has none.
    coordinates : ndarray of shape (n, k) or None
        Of the training rows; not finite for rows of weight zero.
    engine, phi : PCA and callable, or None
        PCA of the explicit features, and the map to them.
    middle : float
        πᵀKπ.
    model : LandmarkModel or None
        Where the axes are combinations of landmarks.
    left : float or None
        What landmarks leave of tr K.
    columns : ndarray of shape (m,) or None
        Which columns of a given matrix they are.
    sample : tuple of array and array, or None
        Of a model on landmarks: numbers of some training rows where they are known, and these.
    eigenvalues, variances, ratio : ndarray of shape (k,)
        λ, λ/(n - 1), and shares of the trace.
    dtype : dtype
        Of coordinates.
    components, n_samples, rank, certificate, captured, choice, negative_share, ...
        As the attributes of the estimator.
    """

    given: Annotated[Kernel, "_given"]
    frame: Annotated[KernelRows, "_frame"]
    seen: Annotated[Kernel, "_seen"]
    own: Annotated[Kernel, "kernel_"]
    eigenvalues: Annotated[Array, "eigenvalues_"]
    variances: Annotated[Array, "explained_variance_"]
    ratio: Annotated[Array, "explained_variance_ratio_"]
    captured: Annotated[tuple[float, float], "captured_share_"]
    certificate: Annotated[Certificate, "certificate_"]
    components: Annotated[int, "n_components_"]
    choice: Annotated[Choice | None, "choice_"]
    n_samples: Annotated[int, "n_samples_"]
    rank: Annotated[int, "rank_"]
    negative_share: Annotated[float, "negative_share_"]
    effective_rank: Annotated[float, "effective_rank_"]
    alignment: Annotated[float | Later | None, "alignment_"]
    dtype: Annotated[type[np.floating[Any]], "_dtype"]
    coordinates: Annotated[Array | None, "_coordinates"]
    engine: Annotated["PCA | None", "_engine"]
    phi: Annotated[Callable[[Array], Array] | None, "_phi"]
    middle: Annotated[float, "_middle"]
    model: Annotated[LandmarkModel | None, "_landmark_model"]
    sample: Annotated[tuple[Array | None, Array] | None, "_sample"]
    rows: Annotated[Array, "X_fit_"]
    dual: Annotated[Array, "dual_"]
    level: Annotated[Array, "_level"]
    projection: Annotated[Projection | None, "_projection"]
    left: Annotated[float | None, "residual_trace_"] = None
    columns: Annotated[Array | None, "landmark_indices_"] = None

    @classmethod
    def of(cls, model: object) -> "FittedKernel":
        """Return the value that the attributes of a fitted estimator hold."""
        found: Any = {
            field: getattr(model, name, None)
            for name, field in _KEPT.items()
            if field != "alignment"
        }
        return cls(**found, alignment=vars(model).get("alignment_", Later.ALIGNMENT))

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a fitted estimator, by the names that model files have.

        What a stream has gathered, or what was learned of the way back, is that of another
        fit, and goes.
        """
        found: dict[str, Any] = {}
        for name, field in _KEPT.items():
            if field in _OF_LANDMARKS and getattr(self, field) is None:
                continue
            found[name] = getattr(self, field)
            found |= dict.fromkeys(_GONE.get(name, ()))
        if self.alignment is Later.ALIGNMENT:
            del found["alignment_"]
        if self.model is not None:
            found["landmarks_"] = self.model.landmarks.rows
        return found

    # -- the rows that the axes are combinations of -----------------------------------

    @property
    def counted(self) -> Array | slice:
        """Which of `rows` have coordinates: those of weight zero have none."""
        if self.frame.weights is None or self.coordinates is None:
            return slice(None)
        return self.frame.weights > 0

    @property
    def known_rows(self) -> Array:
        """The rows (m, p) that have coordinates."""
        return self.rows[self.counted]

    @property
    def known_share(self) -> Array:
        """Their shares π (m,), with φ̄ = Σπ_i φ(x_i)."""
        weights = self.frame.weights
        if weights is None or self.coordinates is None:
            weights = np.ones(self.rows.shape[0])
        share = weights[self.counted]
        return np.asarray(share / np.sum(share))

    @property
    def known_dual(self) -> Array:
        """Their B (m, k): v_j = Σ_i B_ij φ(x_i)."""
        return self.dual[self.counted]

    # -- what no axis holds -----------------------------------------------------------

    def mean_products(self, rows: Array) -> Array:
        """Return Σπ_i k(x, x_i) (n,): a pass over all pairs with the known rows."""
        share = self.known_share[:, None]
        return Projection(self.seen, self.known_rows, share).products(rows)[:, 0]

    def unexplained(self, rows: Array, scores: Array, means: Array | None = None) -> Array:
        """Return r(x) = k̃(x, x) - ‖z(x)‖² (n,) of rows with these coordinates, at least 0.

        `means` is Σπ_i k(x, x_i) where it is known.
        """
        if self.engine is not None:
            whole = self._centred_squares(rows)
        elif self.model is not None:
            f, r = self.model.landmarks.features(rows)
            whole = r + np.sum((f - self.model.mean) ** 2, axis=1)
        else:
            means = self.mean_products(rows) if means is None else means
            whole = self.seen.diag(rows) - 2 * means + self.middle
        return np.asarray(np.maximum(whole - np.sum(scores**2, axis=1), 0.0))

    def _centred_squares(self, rows: Array) -> Array:
        """Return ‖φ(x) - φ̄‖² of explicit features."""
        assert self.phi is not None
        assert self.engine is not None
        out = np.empty(rows.shape[0])
        for part in Tiles(len(out), _BLOCK):
            about = dense(self.phi(rows[part])) - self.engine.mean_
            out[part] = np.sum(about**2, axis=1)
        return out

    def refuse_no_numbers(self, what: str) -> None:
        """Refuse what only a table of numbers has, where there is none."""
        if isinstance(self.own, Precomputed) or not self.frame.numeric:
            raise NotSupportedError(
                f"there are no {what}",
                got=f"{self.given!r}",
                fix="fit with a kernel on a table of numbers",
            )


# Attributes of the estimator and the field that each holds; in the order of model files, and
# so those behind them that another fit may have left.
_KEPT = {kind.__metadata__[0]: field for field, kind in FittedKernel.__annotations__.items()}
_OF_LANDMARKS = ("left", "columns")  # which other fits do not have
_GONE = {"_landmark_model": ("_decoder", "_before"), "_sample": ("_fixed", "_stream")}


def type_of(itemsize: int, eigenvalues: Array) -> type[np.floating[Any]]:
    """Return the type of coordinates, which are as √λ: that of the rows, if it holds them.

    k(x, y) of float32 rows may be a power of them.
    """
    size, ends = float(np.max(eigenvalues, initial=0.0)) ** 0.5, np.finfo(np.float32)
    narrow = itemsize == 4 and (size == 0 or float(ends.tiny) <= size <= float(ends.max))
    return np.float32 if narrow else np.float64


def in_type(found: Array, dtype: type[np.floating[Any]]) -> Array:
    """Return numbers as `dtype`, or as float64 where some are beyond it."""
    largest = np.max(np.abs(found), where=np.isfinite(found), initial=0.0)
    return np.asarray(found, dtype if largest <= float(np.finfo(dtype).max) else np.float64)
