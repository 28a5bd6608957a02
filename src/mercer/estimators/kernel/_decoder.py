"""Decoder: from coordinates back to rows, learned by ridge regression."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array, Tiles, eigh
from mercer.kernels import RBF

_LANDMARKS = 1000  # training rows whose kernel columns the regression may use
_BLOCK = 2048  # rows mapped at a time
_WIDTHS = (0.5, 1.0, 2.0)  # lengthscales tried, in units of the median
_CHECKED = 1000  # rows at most that are left out in turn
_FREE = 0.8  # parameters to a row at most: twins hide from being left out
_SURE = 1e-6  # a row whose leverage is nearer to one is one that nothing else foretells
_PENALTIES = 10.0 ** np.arange(-12.0, 3.0)  # in units of the mean square of a feature


@dataclasses.dataclass(frozen=True)
class Decoder:
    """X̂(z) = mean + (z̃, k_S(z̃))·coefficients: linear in z, with kernel columns beside it.

    z̃ are the coordinates divided by the largest standard deviation, so that axes keep
    their proportions; S are training rows, the kernel a Gaussian with a lengthscale of its
    own. Lengthscale and penalty have the least error on training rows that are left out one
    by one [Allen1974]_.

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

    Cost: 2n(k + m)² flops for each lengthscale tried, m at most 1000 rows.
    """
    scores = np.asarray(scores, np.float64)
    n = len(scores)
    spread = np.std(scores, axis=0)
    if weights is not None:
        mean = np.average(scores, axis=0, weights=weights)
        spread = np.sqrt(np.average((scores - mean) ** 2, axis=0, weights=weights))
    unit = float(np.max(spread, initial=0.0)) or 1.0
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
    """Return the leave-one-out error and the decoder of the best penalty.

    With centred features F (rows f_i, shares π_i) and FᵀΠF = VΛVᵀ, the row left out has the
    residual e_i/(1 - h_i), h_i = π_i(1 + f_iᵀV(Λ + α)⁻¹Vᵀf_i), with e_i that of the whole
    regression [Allen1974]_. The error is over at most 1000 rows, in units of their largest
    deviation. Σh_i is the number of free parameters.
    """
    n, size = len(scores), scores.shape[1] + len(shell.landmarks)
    tiles = Tiles(n, _BLOCK)
    centre, mean = np.zeros(size), np.zeros(rows.shape[1])
    for number in range(len(tiles)):
        part = tiles[number]
        centre += share[part] @ shell.features(scores[part])
        mean += share[part] @ dense(rows[part])
    gram, cross = np.zeros((size, size)), np.zeros((size, len(mean)))
    for number in range(len(tiles)):
        part = tiles[number]
        f = shell.features(scores[part]) - centre
        weighted = share[part, None] * f
        gram += weighted.T @ f
        cross += weighted.T @ (dense(rows[part]) - mean)
    values, vectors = eigh(gram)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ cross
    checked = slice(None, None, max(1, -(-n // _CHECKED)))
    f = (shell.features(scores[checked]) - centre) @ vectors
    x, each = dense(rows[checked]) - mean, share[checked]
    largest = float(np.max(np.abs(x), initial=0.0)) or 1.0  # its square must not vanish
    unit = float(np.sum(values)) / size
    best, chosen = np.inf, unit
    for penalty in _PENALTIES * unit:
        shrunk = values + penalty
        if float(np.sum(values / shrunk)) + 1 >= _FREE * n:
            continue
        lever = each * (1 + (f**2) @ (1 / shrunk))
        apart = (x - f @ (turned / shrunk[:, None])) / largest
        left = np.sum(apart**2, axis=1)
        error = float(each @ (left / np.maximum(1 - lever, _SURE) ** 2)) / float(np.sum(each))
        if error < best:
            best, chosen = error, penalty
    coefficients = vectors @ (turned / (values + chosen)[:, None])
    made = dataclasses.replace(shell, centre=centre, coefficients=coefficients, mean=mean)
    return best, made


def dense(rows: Any) -> Array:
    """Return rows as a dense float64 array."""
    found = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(found, np.float64)
