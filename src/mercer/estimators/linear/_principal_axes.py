"""PrincipalAxes: what a fit of PCA has found, and what follows from it for rows.

Behind it stands a Gaussian: rows ~ N(mean, S), S = D⁻¹(V diag(λ - σ²) Vᵀ + σ²I)D⁻¹ with D the
column factors, and σ² the mean of the variances left out [Tipping1999]_.
"""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, final

import numpy as np
from sklearn.base import BaseEstimator

from mercer.arrays import Array, eps_of
from mercer.errors import DataWarning, InputError, warn
from mercer.estimators.linear._pca_recipe import Found, decade
from mercer.estimators.walk._admission import refuse_bad_cells
from mercer.estimators.walk._parameters import Attributes, Names
from mercer.operators import Centring, block_length, centred, fetched, rows_of
from mercer.solvers import Spectrum, signs_of_sums
from mercer.sources import BlockSource, Source, in_memory


@final
@dataclasses.dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Axes V of p features, in the order of the variances along them.

    Beside each field stands the attribute of the estimator that holds it.

    Parameters
    ----------
    components : ndarray of shape (k, p)
        Vᵀ; rows without variance are zero.
    variances : ndarray of shape (k,)
        λ, in units of the data squared.
    noise : float
        Mean of the variances left out.
    mean, scale : ndarray of shape (p,), or None for the scale
        What columns lose, and what they are divided by.
    centring : Centring
        Both, with all digits and in a unit that stays in range.
    deviations, unit_deviations : ndarray of shape (k,)
        √λ in units of the data, and in the unit of the centring.
    alive : ndarray of shape (k,)
        Which axes have variance.
    whitened : bool or "zca"
        What is done to coordinates.
    names : sequence of p str or None
        Columns, for messages.
    """

    components: Annotated[Array, "components_"]
    variances: Annotated[Array, "explained_variance_"]
    noise: Annotated[float, "noise_variance_"]
    mean: Annotated[Array, "mean_"]
    scale: Annotated[Array | None, "scale_"]
    centring: Annotated[Centring, "_centring"]
    deviations: Annotated[Array, "_deviations"]
    unit_deviations: Annotated[Array, "_unit_deviations"]
    alive: Annotated[Array, "_alive"]
    whitened: Annotated[bool | str, "_whitened"]
    names: Names = None

    @classmethod
    def of(cls, model: BaseEstimator, names: Names = None) -> "PrincipalAxes":
        """Return the axes of a fitted model, or of anything with its attributes."""
        found: Any = {field: getattr(model, name) for field, name in _HELD.items()}
        return cls(**found, names=names)

    @property
    def shape(self) -> tuple[int, int]:
        """Axes and features, k and p."""
        k, p = self.components.shape
        return int(k), int(p)

    def unit_scores(self, source: Source) -> Array:
        """Return X̃V (n, k) in the unit of the centring."""
        centring = self.centring
        axes = self.components.T.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            rows = rows_of(source, exponent=centring.exponent, origin=centring.origin)
            scores = centred(rows, centring).scores(axes)
        if not scores.size or not np.isfinite(scores).all():  # no axis has seen the cells
            refuse_bad_cells(source, self.names)
        return scores

    def scores(self, source: Source) -> Array:
        """Return X̃V (n, k), not whitened."""
        scores, exponent = self.unit_scores(source), self.centring.unit
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(scores, exponent) if exponent else scores

    def projected(self, source: Source) -> Array:
        """Return the coordinates of rows, whitened where that was asked for."""
        if self.whitened is False:
            return self.scores(source)
        # In the unit of the fit: at the ends of the range √λ itself may have no digits left.
        scores = self.unit_scores(source)
        safe = np.where(self.alive, self.unit_deviations, 1.0)
        white = scores * np.where(self.alive, 1 / safe, 0.0).astype(scores.dtype)
        return white @ self.components if self.whitened == "zca" else white

    def rows_from(self, Z: Array) -> Array:
        """Return the rows (n, p) that have the coordinates Z (n, k): (ZVᵀ)∘scale + mean."""
        if self.whitened == "zca":
            Z = Z @ self.components.T
        if self.whitened is not False:
            Z = Z * self.deviations.astype(Z.dtype)
        back = Z @ self.components.astype(Z.dtype)
        if self.scale is not None:
            back = back * self.scale.astype(Z.dtype)
        return (back + self.mean).astype(Z.dtype, copy=False)

    def directions(self, other: Centring) -> tuple[Array, int]:
        """Return A (p, q) and e: coordinates are 2^e·yA for y centred and scaled by `other`."""
        axes, own_unit = self.components.T.astype(np.float64), self.centring.unit
        exponent = other.exponent - self.centring.exponent + own_unit
        if self.whitened is not False:
            # In the unit of the fit: at the ends of the range √λ may have no digits left.
            safe = np.where(self.alive, self.unit_deviations, 1.0)
            axes = axes * np.where(self.alive, 1 / safe, 0.0)
            exponent -= own_unit
        if self.whitened == "zca":
            axes = axes @ self.components.astype(np.float64)
        own = 1.0 if self.centring.factor is None else self.centring.factor
        factor = 1.0 if other.factor is None else other.factor
        ratio = np.broadcast_to(own / factor, (len(axes),))
        return axes * ratio[:, None], exponent

    def row_norms(self, source: Source) -> Array:
        """Return ‖x̃‖² (n,) of the centred, scaled rows, a block at a time."""
        array, n = source.array, source.shape[0]
        out = np.empty(n)
        for start in range(0, n, 1024):
            block: Array = array[start : start + 1024]
            block = block.toarray() if hasattr(block, "toarray") else block
            gone = block - self.mean
            if self.scale is not None:
                gone = gone / self.scale
            out[start : start + 1024] = np.einsum("ij,ij->i", gone, gone)
        return out

    @property
    def is_regular(self) -> bool:
        """Whether the covariance of the model, VΛVᵀ + σ²(I - VVᵀ), has an inverse."""
        k, p = self.shape
        return bool(np.all(self.alive)) and (k == p or self.noise > 0)

    def refuse_range(self) -> None:
        """Refuse variances that float64 cannot hold with all their digits."""
        held = self.variances[self.alive]
        held = np.append(held, self.noise) if self.noise > 1e300 else held
        if np.any((held < 1e-300) | (held > 1e300)):
            raise InputError(
                "variances leave the range of float64: there is no density to speak of",
                got=f"variances from {held.min():.3g} to {held.max():.3g}",
                fix="divide the data by a constant and fit again",
            )

    def refuse_singular(self) -> None:
        """Refuse a model without a density."""
        self.refuse_range()
        if not self.is_regular:
            raise InputError(
                "the covariance of the model is singular: it has no density",
                got=f"rank {int(np.sum(self.alive))} with {self.shape[1]} features, noise"
                f" variance {self.noise:.3g}",
                fix="keep fewer components than the rank, so that noise is left",
            )

    def covariance(self) -> Array:
        """Return the covariance S (p, p) of the model, in the units of the data."""
        self.refuse_range()
        v = self.components.astype(np.float64)
        extra = np.maximum(self.variances - self.noise, 0.0)
        s = (v.T * extra) @ v
        s.flat[:: s.shape[0] + 1] += self.noise
        return s if self.scale is None else s * self._products_of_scales()

    def precision(self) -> Array:
        """Return S⁻¹ (p, p): (I - V diag((λ - σ²)/λ) Vᵀ)/σ², by the lemma of Woodbury."""
        self.refuse_singular()
        v, values = self.components.astype(np.float64), self.variances
        k, p = self.shape
        if k == p:
            inverse = (v.T / values) @ v
        else:
            share = np.maximum(values - self.noise, 0.0) / values
            inverse = -(v.T * share) @ v
            inverse.flat[:: inverse.shape[0] + 1] += 1.0
            inverse /= self.noise
        return inverse if self.scale is None else inverse / self._products_of_scales()

    def _products_of_scales(self) -> Array:
        """Return s_i·s_j (p, p), or refuse covariances that float64 cannot hold."""
        assert self.scale is not None
        low, high = np.min(self.scale), np.max(self.scale)
        if low < 1e-150 or high > 1e150:
            raise InputError(
                "covariances leave the range of float64",
                got=f"deviations of columns from {low:.3g} to {high:.3g}",
                fix="divide the data by a constant and fit again",
            )
        return np.outer(self.scale, self.scale)

    def log_densities(self, source: Source) -> Array:
        """Return the log-likelihood (n,) of rows in memory.

        With z the coordinates and x̃ the centred row,
        -½(p ln 2π + ln|S| + Σ z_i²/λ_i + (‖x̃‖² - ‖z‖²)/σ²).
        """
        k, p = self.shape
        scores, values = self.scores(source).astype(np.float64), self.variances
        with np.errstate(over="ignore", invalid="ignore"):  # rows so far have no density
            distance = np.sum(scores**2 / values, axis=1)
            if k < p:
                left = np.fmax(self.row_norms(source) - np.sum(scores**2, axis=1), 0.0)
                distance = distance + left / self.noise
        volume = float(np.sum(np.log(values)))
        if k < p:
            volume += (p - k) * float(np.log(self.noise))
        if self.scale is not None:
            volume += 2 * float(np.sum(np.log(self.scale)))
        return np.asarray(-0.5 * (p * np.log(2 * np.pi) + volume + distance))

    def block_densities(
        self,
        source: BlockSource,
        size: float,
        refuse: Callable[[BlockSource, Array, int], None],
    ) -> Array:
        """Return the log-likelihood (n,) of rows that are read in blocks of so many bytes.

        `refuse` names the bad cell of a block that begins at a row, if there is one.
        """
        found, done = [np.empty(0)], 0
        for block in fetched(source, block_length(source, size)):
            refuse(source, block, done)
            found.append(self.log_densities(in_memory(block)))
            done += block.shape[0]
        return np.concatenate(found)


_KINDS = PrincipalAxes.__annotations__.items()
_HELD = {field: kind.__metadata__[0] for field, kind in _KINDS if field != "names"}


def warn_of_range(variances: Array, inner: Array, alive: Array, unit: int) -> None:
    """Warn where variances (k,) of axes that are alive are no numbers of float64.

    `inner` (k,) are the same in units of 4^unit.
    """
    if np.any(np.isinf(variances)) or np.any((variances == 0) & alive):
        warn(
            "variances leave the range of float64",
            got=f"explained_variance_ of order 10^{decade(inner[0], unit)}",
            fix="divide the data by a constant; axes and ratios are right as they are",
            category=DataWarning,
        )


def attributes(
    spectrum: Spectrum, found: Found, source: Source, whiten: bool | str, sign: str
) -> Attributes:
    """Return the fitted attributes of PCA from the leading pairs of X̃ᵀX̃."""
    k = len(spectrum.certificate.lower)
    freedom = found.total - 1
    unit = found.centring.unit
    values = np.maximum(spectrum.values[:k], 0.0)
    level = spectrum.certificate.zero_level
    alive = values > level
    dtype = np.float32 if source.products.itemsize == 4 else np.float64
    left = max(min(int(found.total * (1 + 1e-12)), source.shape[1]) - k, 0)
    rest = max(found.trace - float(np.sum(values)), 0.0) if left else 0.0
    # As an axis that is no more than rounding has no variance, what they leave has none.
    rest = rest if rest > max(level, 4 * eps_of("float64") * found.trace) else 0.0
    inner, inner_noise = values / freedom, rest / freedom / max(left, 1)
    inner_deviations = np.sqrt(inner)
    variances, singular, deviations, noise = (
        inner,
        np.sqrt(values),
        inner_deviations,
        inner_noise,
    )
    if unit:
        with np.errstate(over="ignore", under="ignore"):
            variances, singular = np.ldexp(inner, 2 * unit), np.ldexp(singular, unit)
            deviations = np.ldexp(inner_deviations, unit)
            noise = float(np.ldexp(inner_noise, 2 * unit))
        each = np.append(inner, inner_noise)  # the noise beside the axes
        warn_of_range(np.append(variances, noise), each, np.append(alive, False), unit)
    axes = spectrum.right[:, :k]
    if sign == "factominer":
        axes = axes * signs_of_sums(axes)
    shrunk = freedom / found.total if found.centring.scale is None else 1.0
    return {
        "choice_": found.settled.get("choice_"),
        # An axis without variance has no direction: its row is zero, not an invention.
        "components_": np.ascontiguousarray(axes.T * alive[:, None], dtype),
        "explained_variance_": variances,
        "inertia_": variances * shrunk,
        "explained_variance_ratio_": values / found.trace,
        "singular_values_": singular,
        "mean_": found.centring.mean,
        "scale_": found.centring.scale,
        "noise_variance_": noise,
        "n_components_": k,
        "n_samples_": source.shape[0],
        "rank_": int(alive.sum()),
        "certificate_": spectrum.certificate.scaled(1 / freedom, 2 * unit).rounded(
            eps_of(dtype) if dtype == np.float32 else 0.0
        ),
        "_stream": None,
        "_centring": found.centring,
        "_squares": spectrum.squares and spectrum.squares / found.trace / found.trace,
        "_whitened": whiten,
        "_deviations": deviations,
        "_unit_deviations": inner_deviations,
        "_alive": alive,
    }
