"""Pre-images of kernel PCA: rows whose image lies near a point of the feature space.

Coordinates z stand for the point Pφ = φ̄ + Σ_j z_j v_j. A regression maps them to rows, for any
kernel. Or the point is taken as it is: a sum of images of known rows, Pφ = Σ_i γ_i φ(x_i). Its
distance to them needs no kernel at all: ‖Pφ - φ(x_i)‖² = ‖z - z_i‖² + r_i, with r_i the part of
φ(x_i) that no axis holds.
"""

import dataclasses
from typing import Protocol

import numpy as np

from mercer.arrays import (
    Apply,
    Array,
    ConstantNode,
    Join,
    Measure,
    Node,
    Side,
    Tiles,
    eigh,
    prepare,
    tile,
)
from mercer.estimators.kernel._known_rows import Known
from mercer.estimators.kernel._row_samples import dense
from mercer.kernels import RBF, Isotropic, Kernel

_CELLS = 2**21  # numbers of a block of points by known rows
_STEPS = 200  # of the fixed point at most
_STILL = 1e-5  # a step in lengthscales that counts as none
_SHORTEST = 2.0**-10  # part of a step under which none is taken
_LONGEST = 8.0  # a step may grow while the aim does
_LOST = 1e-8  # Σγk/Σ|γ|k under which its digits are rounding
_NEIGHBOURS = 10  # known rows that a point is laterated from [Kwok2004]_
_FLAT = 1e-6  # eigenvalue of the neighbours' spread under which a direction is left out
_SAME = 1e-10  # part of the extent of the rows under which they are one row
_HALVINGS = 60  # of an interval that holds a distance
_LANDMARKS = 1000  # training rows whose kernel columns the regression may use
_BLOCK = 2048  # rows mapped at a time
_WIDTHS = (0.5, 1.0, 2.0)  # lengthscales tried, in units of the median
_CHECKED = 1000  # rows at most that are left out in turn
_FREE = 0.8  # parameters to a row at most: twins hide from being left out
_SURE = 1e-6  # a row whose leverage is nearer to one is one that nothing else foretells
_PENALTIES = 10.0 ** np.arange(-12.0, 3.0)  # in units of the mean square of a feature


class Preimage(Protocol):
    """What all maps from coordinates to rows have in common."""

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""


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
        for part in Tiles(len(scores), _BLOCK):
            features = self.features(scores[part]) - self.centre
            out[part] = features @ self.coefficients + self.mean
        return out


def learn(scores: Array, rows: Array, weights: Array | None) -> Decoder:
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
    vary = bool(np.any(landmarks != landmarks[:1]))
    median = RBF().resolve(landmarks).lengthscale if vary else 1.0
    assert isinstance(median, float)
    share = np.full(n, 1 / n) if weights is None else weights / np.sum(weights)
    kernels = [RBF(width * median) for width in _WIDTHS]
    empty = np.zeros(0), np.zeros((0, 0)), np.zeros(0)
    shells = [Decoder(unit, kernel, landmarks, *empty) for kernel in kernels]
    tried = [_regress(shell, scores, rows, share) for shell in shells]
    return min(tried, key=lambda found: found[0])[1]


def _regress(shell: Decoder, scores: Array, rows: Array, share: Array) -> tuple[float, Decoder]:
    """Return the leave-one-out error and the decoder of the best penalty.

    With centred features F (rows f_i, shares π_i) and FᵀΠF = VΛVᵀ, the row left out has the
    residual e_i/(1 - h_i), h_i = π_i(1 + f_iᵀV(Λ + α)⁻¹Vᵀf_i), with e_i that of the whole
    regression [Allen1974]_. The error is over at most 1000 rows, in units of their largest
    deviation. Σh_i is the number of free parameters.
    """
    n, size = len(scores), scores.shape[1] + len(shell.landmarks)
    tiles = Tiles(n, _BLOCK)
    centre, mean = np.zeros(size), np.zeros(rows.shape[1])
    for part in tiles:
        centre += share[part] @ shell.features(scores[part])
        mean += share[part] @ dense(rows[part])
    gram, cross = np.zeros((size, size)), np.zeros((size, len(mean)))
    for part in tiles:
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
    x, answered = x / largest, turned / largest
    unit = float(np.sum(values)) / size or 1.0  # no axis: nothing varies, the mean is all
    best, chosen = np.inf, unit
    for penalty in _PENALTIES * unit:
        shrunk = values + penalty
        if float(np.sum(values / shrunk)) + 1 >= _FREE * n:
            continue
        lever = each * (1 + (f**2) @ (1 / shrunk))
        left = np.sum((x - f @ (answered / shrunk[:, None])) ** 2, axis=1)
        error = float(each @ (left / np.maximum(1 - lever, _SURE) ** 2)) / float(np.sum(each))
        if error < best:
            best, chosen = error, penalty
    coefficients = vectors @ (turned / (values + chosen)[:, None])
    made = dataclasses.replace(shell, centre=centre, coefficients=coefficients, mean=mean)
    return best, made


@dataclasses.dataclass(frozen=True)
class FixedPoint:
    """x ← Σγ_i k(x, x_i)x_i / Σγ_i k(x, x_i), for the Gaussian kernel [Mika1999]_.

    The step is along the gradient of ⟨Pφ, φ(x)⟩ = Σγ_i k(x, x_i), which is the denominator.
    A step is taken only if that grows, and halved until it does. So the aim is never left,
    and no point can run away: far off the sum is zero. Where the sum is not positive to begin
    with, the start is kept.

    Cost: 4mp flops for a point and a step.

    Parameters
    ----------
    kernel : RBF
        With numbers for lengthscales.
    known : Known
        The rows that are averaged.
    start : Preimage
        Where the steps begin.
    """

    kernel: RBF
    known: Known
    start: Preimage

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""
        rows, origin = self.known.centred
        side = prepare(self.kernel.program(), rows)
        out = self.start.decode(scores) - origin
        for part in Tiles(len(scores), max(1, _CELLS // max(1, rows.shape[0]))):
            out[part] = self._climbed(self.known.weights(scores[part]), out[part], side)
        return out + origin

    def _climbed(self, weights: Array, x: Array, side: Side) -> Array:
        """Return where the steps from x (b, p) end."""
        unit = np.asarray(self.kernel.lengthscale)
        aim, to = self._aimed(weights, x, side)
        length = np.ones(len(x))
        going = np.flatnonzero(aim > 0)
        for _ in range(_STEPS):
            far = np.linalg.norm((to[going] - x[going]) / unit, axis=1)
            going = going[(far > _STILL) & (length[going] >= _SHORTEST)]
            if not going.size:
                break
            trial = x[going] + length[going, None] * (to[going] - x[going])
            found, then = self._aimed(weights[going], trial, side)
            better = found > aim[going]
            taken = going[better]
            x[taken], aim[taken], to[taken] = trial[better], found[better], then[better]
            length[taken] = np.minimum(2 * length[taken], _LONGEST)
            length[going[~better]] /= 4
        return x

    def _aimed(self, weights: Array, x: Array, side: Side) -> tuple[Array, Array]:
        """Return Σγk (b,), 0 where it is lost in rounding, and the mean that is stepped to."""
        program = self.kernel.program()
        new = prepare(program, x, other=side)
        terms = tile(program, new, side, slice(0, new.n), slice(0, side.n))
        terms *= weights
        aim = terms.sum(axis=1)
        aim[aim <= _LOST * np.abs(terms).sum(axis=1)] = 0.0
        sure = aim > 0
        to = x.copy()
        to[sure] = np.asarray(terms[sure] @ side.rows) / aim[sure, None]
        return aim, to


@dataclasses.dataclass(frozen=True)
class DistanceConstraints:
    """The point at given distances from its neighbours, in closed form [Kwok2004]_.

    Distances to the ten nearest images become distances to their rows, since
    ‖φ(x) - φ(y)‖² = 2κ(0) - 2κ(‖x - y‖) has one solution; the point with these distances d_i
    solves 2(x_i - x̄)ᵀ(x - x̄) = ‖x_i - x̄‖² - d_i² less its mean, by least squares.

    Cost: 2mk flops for a point.

    Parameters
    ----------
    radial : Radial
        κ.
    known : Known
        The rows that are neighbours, with residuals.
    """

    radial: "Radial"
    known: Known

    def decode(self, scores: Array) -> Array:
        """Return the rows (n, p) that coordinates (n, k) stand for."""
        rows, origin = self.known.centred
        unit = self.radial.unit
        out = np.empty((len(scores), rows.shape[1]))
        p, count = rows.shape[1], min(_NEIGHBOURS, rows.shape[0])
        cells = max(rows.shape[0], count * p)
        for part in Tiles(len(scores), max(1, _CELLS // max(1, cells))):
            near, apart = self._nearest(np.asarray(scores[part], np.float64), count)
            around = dense(rows[near.ravel()]).reshape(*near.shape, p) / unit
            distances = self.radial.distances(apart)
            out[part] = _laterated(around, distances, _SAME * self.radial.reach) * unit
        return out + origin

    def _nearest(self, z: Array, count: int) -> tuple[Array, Array]:
        """Return which images are nearest (b, count), and their squared distances."""
        known, residuals = self.known.scores, self.known.residuals
        assert residuals is not None
        rough = (np.sum(known**2, axis=1) + residuals) - 2 * (z @ known.T)
        near = np.argpartition(rough, count - 1, axis=1)[:, :count]
        near.sort(axis=1)
        apart = np.empty(near.shape)
        for column in range(count):  # by differences: these distances must not cancel
            which = near[:, column]
            apart[:, column] = np.sum((z - known[which]) ** 2, axis=1) + residuals[which]
        return near, apart


def _laterated(around: Array, distances: Array, same: float) -> Array:
    """Return the points (b, p) at distances (b, m) from their neighbours (b, m, p).

    With C the neighbours less their mean and CCᵀ = VΛVᵀ, y = CᵀVΛ⁺Vᵀt is the point about
    that mean, t = ½(diag CCᵀ - d²) less its mean. Directions in which the neighbours hardly
    differ, or by less than `same`, are left out. No point with these distances is further
    from the mean than min(d_i + ‖C_i‖).
    """
    mean = around.mean(axis=1)
    c = around - mean[:, None, :]
    gram = c @ c.transpose(0, 2, 1)
    squares = np.einsum("bii->bi", gram)
    aim = 0.5 * (squares - distances**2)
    aim = aim - aim.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(gram)  # rising, one small problem for each point
    kept = values > np.maximum(_FLAT * values[:, -1:], same**2)
    inverse = kept / np.where(kept, values, 1.0)
    turned = inverse * np.einsum("bmi,bm->bi", vectors, aim)
    out = np.einsum("bm,bmp->bp", np.einsum("bi,bmi->bm", turned, vectors), c)
    size = np.linalg.norm(out, axis=1)
    most = np.min(distances + np.sqrt(np.maximum(squares, 0.0)), axis=1)
    shrink = np.where(size > most, most / np.where(size > 0, size, 1.0), 1.0)
    return np.asarray(mean + shrink[:, None] * out)


@dataclasses.dataclass(frozen=True)
class Radial:
    """κ of a kernel k(x, y) = κ(‖x - y‖), decreasing up to a largest distance.

    Parameters
    ----------
    kernel : Kernel
        k on rows that were divided by `unit`.
    unit : float or ndarray of shape (p,)
        What columns are divided by.
    reach : float
        The largest distance that is looked for.
    """

    kernel: Kernel
    unit: float | Array
    reach: float

    def __call__(self, distances: Array) -> Array:
        """Return κ of distances (m,)."""
        return np.asarray(self.kernel.block(np.zeros((1, 1)), distances[:, None])[0])

    def distances(self, apart: Array) -> Array:
        """Return d with 2κ(0) - 2κ(d) equal to squared distances of images, by bisection."""
        aim = self(np.zeros(1))[0] - 0.5 * apart.ravel()
        low, high = np.zeros(len(aim)), np.full(len(aim), self.reach)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            further = self(middle) > aim
            low, high = np.where(further, middle, low), np.where(further, high, middle)
        return (0.5 * (low + high)).reshape(apart.shape)

    @property
    def decreasing(self) -> bool:
        """Whether κ falls, or stays, all the way."""
        values = self(np.linspace(0.0, self.reach, 257))
        slack = 1e-12 * float(np.max(np.abs(values)))
        return bool(values[0] > values[-1] and np.all(np.diff(values) <= slack))


def radial_of(kernel: Kernel, rows: Array) -> Radial | None:
    """Return κ of a kernel of one Euclidean distance that falls with it, or None.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    rows : array or sparse matrix of shape (m, p)
        The rows, whose extent bounds the distances.
    """
    unit: float | Array = 1.0
    if isinstance(kernel, Isotropic):  # in lengthscales no square overflows
        unit = np.asarray(kernel.lengthscale, np.float64)
        kernel = dataclasses.replace(kernel, lengthscale=1.0)
    if not _of_distance(kernel.program()):
        return None
    found = Radial(kernel, unit, _extent(rows, unit))
    return found if found.reach > 0 and found.decreasing else None


def _of_distance(node: Node) -> bool:
    """Tell whether a program sees its rows through their Euclidean distance alone."""
    if isinstance(node, Apply):
        return _of_distance(node.argument)
    if isinstance(node, Join):
        return _of_distance(node.left) and _of_distance(node.right)
    if isinstance(node, Measure):
        plain = node.columns is None and node.multipliers is None
        return plain and node.kind in ("dist", "sqdist")
    return isinstance(node, ConstantNode)


def _extent(rows: Array, unit: float | Array) -> float:
    """Return the length of the diagonal of the box that holds the rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    if hasattr(low, "toarray"):
        low, high = low.toarray(), high.toarray()
    wide = (np.asarray(high, np.float64) - np.asarray(low, np.float64)).ravel() / unit
    return float(np.linalg.norm(wide))
