"""What a fit of kernel PCA found, as one frozen value; all that is asked later is of it."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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


@dataclasses.dataclass(frozen=True, eq=False)
class FittedKernel:
    """A fitted kernel PCA: z(x) = Bᵀk_X(x) - c₀, or PCA of explicit features.

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
    sample : tuple of array and array, or None
        Of a model on landmarks: numbers of some training rows where they are known, and these.
    eigenvalues, variances, ratio : ndarray of shape (k,)
        λ, λ/(n - 1), and shares of the trace.
    dtype : dtype
        Of coordinates.
    components, n_samples, rank, certificate, captured, choice, negative_share, ...
        As the attributes of the estimator.
    """

    given: Kernel
    seen: Kernel
    own: Kernel
    frame: KernelRows
    eigenvalues: Array
    variances: Array
    ratio: Array
    captured: tuple[float, float]
    certificate: Certificate
    components: int
    choice: Choice | None
    n_samples: int
    rank: int
    negative_share: float
    effective_rank: float
    alignment: float | None
    dtype: type[np.floating[Any]]
    coordinates: Array | None
    engine: "PCA | None"
    phi: Callable[[Array], Array] | None
    middle: float
    model: LandmarkModel | None
    sample: tuple[Array | None, Array] | None
    rows: Array
    dual: Array
    level: Array
    projection: Projection | None

    @classmethod
    def of(cls, model: object) -> "FittedKernel":
        """Return the value that the attributes of a fitted estimator hold."""
        found: dict[str, Any]
        found = {field: getattr(model, name, None) for name, field in _KEPT if field}
        return cls(**found)

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a fitted estimator, by the names that model files have.

        What a stream has gathered, or what was learned of the way back, is that of another
        fit, and goes.
        """
        found = {name: getattr(self, field) if field else None for name, field in _KEPT}
        if self.model is not None:
            found["landmarks_"] = self.model.landmarks.rows
            found["residual_trace_"] = self.model.residual
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
        tiles = Tiles(len(out), _BLOCK)
        for number in range(len(tiles)):
            part = tiles[number]
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


# Attributes of the estimator and the field that each holds, in the order of model files.
_KEPT = (
    ("_given", "given"),
    ("_frame", "frame"),
    ("_seen", "seen"),
    ("kernel_", "own"),
    ("eigenvalues_", "eigenvalues"),
    ("explained_variance_", "variances"),
    ("explained_variance_ratio_", "ratio"),
    ("captured_share_", "captured"),
    ("certificate_", "certificate"),
    ("n_components_", "components"),
    ("choice_", "choice"),
    ("n_samples_", "n_samples"),
    ("rank_", "rank"),
    ("negative_share_", "negative_share"),
    ("effective_rank_", "effective_rank"),
    ("alignment_", "alignment"),
    ("_dtype", "dtype"),
    ("_coordinates", "coordinates"),
    ("_engine", "engine"),
    ("_phi", "phi"),
    ("_middle", "middle"),
    ("_landmark_model", "model"),
    ("_decoder", ""),
    ("_before", ""),
    ("_sample", "sample"),
    ("_fixed", ""),
    ("_stream", ""),
    ("X_fit_", "rows"),
    ("dual_", "dual"),
    ("_level", "level"),
    ("_projection", "projection"),
)
