"""Decoder: from coordinates back to rows, learned by ridge regression."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, eigh
from mercer.kernels import RBF

_LANDMARKS = 1000  # training rows whose kernel columns the regression may use
_BLOCK = 2048  # rows mapped at a time
_WIDTHS = (0.5, 1.0, 2.0)  # lengthscales tried, in units of the median
_CAUTION = 1.4  # what a parameter counts: at 1 few rows may be followed too closely
_PENALTIES = 10.0 ** np.arange(-12.0, 3.0)  # in units of the mean square of a feature


@dataclasses.dataclass(frozen=True)
class Decoder:
    """X̂(z) = mean + (z̃, k_S(z̃))·coefficients: linear in z, with kernel columns beside it.

    z̃ are the coordinates divided by the largest standard deviation, so that axes keep
    their proportions; S are training rows, the kernel a Gaussian with a lengthscale of its
    own. Lengthscale and penalty have the least generalised cross-validation error
    [Golub1979]_, in which a parameter counts 1.4 times [Kim2004]_.

    Parameters
    ----------
    unit : float
        What coordinates are divided by.
    kernel : RBF
        The kernel on coordinates.
    landmarks : ndarray of shape (m, k)
        z̃ of S.
    centre : ndarray of shape (k + m,)
        Mean of the features.
    coefficients : ndarray of shape (k + m, p)
        The regression.
    mean : ndarray of shape (p,)
        Mean of the training rows.
    """

    unit: float
    kernel: RBF
    landmarks: Array
    centre: Array
    coefficients: Array
    mean: Array

    def features(self, scores: Array) -> Array:
        """Return (z̃, k_S(z̃)) of shape (n, k + m)."""
        z = np.asarray(scores, np.float64) / self.unit
        return np.concatenate([z, self.kernel.block(z, self.landmarks)], axis=1)

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""
        out = np.empty((len(scores), len(self.mean)))
        tiles = Tiles(len(scores), _BLOCK)
        for number in range(len(tiles)):
            part = tiles[number]
            features = self.features(scores[part]) - self.centre
            out[part] = features @ self.coefficients + self.mean
        return out


def learn(scores: Array, rows: Any, weights: Array | None) -> Decoder:
    """Return the decoder learned from training coordinates (n, k) and rows (n, p).

    Cost: n(k + m)² flops for each lengthscale tried, m at most 1000 rows.
    """
    scores = np.asarray(scores, np.float64)
    n = len(scores)
    unit = float(np.max(np.std(scores, axis=0), initial=0.0)) or 1.0
    landmarks = scores[:: max(1, -(-n // _LANDMARKS))] / unit
    median = RBF().resolve(landmarks).lengthscale if _vary(landmarks) else 1.0
    assert isinstance(median, float)
    share = np.full(n, 1 / n) if weights is None else weights / np.sum(weights)
    best: tuple[float, Decoder] | None = None
    for width in _WIDTHS:
        shell = Decoder(
            unit, RBF(width * median), landmarks, np.zeros(0), np.zeros((0, 0)), np.zeros(0)
        )
        error, decoder = _regress(shell, scores, rows, share)
        if best is None or error < best[0]:
            best = error, decoder
    assert best is not None
    return best[1]


def _vary(z: Array) -> bool:
    return bool(np.any(z != z[:1]))


def _regress(shell: Decoder, scores: Array, rows: Any, share: Array) -> tuple[float, Decoder]:
    """Return the generalised cross-validation error and the decoder of the best penalty.

    With centred features F = (rows √share) and FᵀF = VΛVᵀ, the hat matrix has trace
    Σλ/(λ + α), and the residual is ‖X̃‖² - Σ(λ + 2α)/(λ + α)²·‖VᵀFᵀX̃‖².
    """
    n, size = len(scores), scores.shape[1] + len(shell.landmarks)
    tiles = Tiles(n, _BLOCK)
    centre, mean = np.zeros(size), np.zeros(rows.shape[1])
    for number in range(len(tiles)):
        part = tiles[number]
        centre += share[part] @ shell.features(scores[part])
        mean += share[part] @ dense(rows[part])
    gram, cross, power = np.zeros((size, size)), np.zeros((size, len(mean))), 0.0
    for number in range(len(tiles)):
        part = tiles[number]
        f = shell.features(scores[part]) - centre
        x = dense(rows[part]) - mean
        weighted = share[part, None] * f
        gram += weighted.T @ f
        cross += weighted.T @ x
        power += float(np.sum(share[part, None] * x * x))
    values, vectors = eigh(gram)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ cross
    energy = np.sum(turned**2, axis=1)
    unit = float(np.sum(values)) / size
    best, chosen = np.inf, unit
    for penalty in _PENALTIES * unit:
        shrunk = values + penalty
        trace = float(np.sum(values / shrunk)) + 1  # and one for the mean
        left = power - float(np.sum((values + 2 * penalty) / shrunk**2 * energy))
        if _CAUTION * trace >= 0.95 * n:
            continue
        error = max(left, 0.0) / (1 - _CAUTION * trace / n) ** 2
        if error < best:
            best, chosen = error, penalty
    coefficients = vectors @ (turned / (values + chosen)[:, None])
    made = dataclasses.replace(shell, centre=centre, coefficients=coefficients, mean=mean)
    return best, made


def dense(rows: Any) -> Array:
    """Return rows as a dense float64 array."""
    found = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(found, np.float64)
