"""The reference: singular values of the exactly centred data by one-sided Jacobi rotations.

In extended precision (64-bit mantissa on x86) the centring and the rotations are about two
thousand times more accurate than float64, and small singular values keep their digits: each
is right to a few units of rounding of the largest one [Demmel1992]_.
"""

import dataclasses

import numpy as np

WIDE = np.longdouble
EPS = float(np.finfo(WIDE).eps)


@dataclasses.dataclass(frozen=True)
class Reference:
    """Eigenvalues λ (r,) of the covariance, axes (p, r), mean (p,) and total variance.

    All in extended precision; `slack` bounds the error of every √(λ/λ₁).
    """

    values: np.ndarray
    axes: np.ndarray
    mean: np.ndarray
    total: WIDE
    slack: float

    def interval(self, i):
        """Return bounds on the i-th eigenvalue that contain the truth."""
        top = np.sqrt(self.values[0])
        root = np.sqrt(self.values[i]) if i < len(self.values) else WIDE(0)
        low = max(root - self.slack * top, WIDE(0))
        return low**2, (root + self.slack * top) ** 2


def reference(X, weights=None, factor=None):
    """Return the principal components of X (n, p), taken as exact, with repeat counts (n,).

    Centred columns are multiplied by `factor` (p,); "std" divides by their deviations.
    """
    x = np.asarray(X).astype(WIDE)
    w = np.ones(len(x), WIDE) if weights is None else np.asarray(weights).astype(WIDE)
    freedom = max(w.sum() - 1, WIDE(1))
    mean = x[0] + (w[:, None] * (x - x[0])).sum(axis=0) / w.sum()
    x = x - mean
    x = x - (w[:, None] * x).sum(axis=0) / w.sum()  # what the rounded mean left over
    x = x * np.sqrt(w)[:, None]
    if isinstance(factor, str):
        deviation = np.sqrt((x**2).sum(axis=0) / freedom)
        factor = 1 / np.where(deviation > 0, deviation, 1)
    if factor is not None:
        x = x * np.asarray(factor).astype(WIDE)
    s, v = singular(x)
    return Reference(s**2 / freedom, v, mean, (x**2).sum() / freedom, 64 * EPS * len(s) ** 0.5)


def singular(x):
    """Return singular values, descending, and right vectors (p, min(n, p)) of x (n, p)."""
    n, p = x.shape
    largest = np.abs(x).max(initial=0)
    unit = WIDE(2) ** int(np.frexp(largest)[1]) if largest > 0 else WIDE(1)
    x = x / unit
    if n < p:  # rotate the shorter side; right vectors follow from the columns
        s, _, rows = _rotated(x.T)
        v = rows / np.where(s > 0, s, 1)
        return s * unit, v
    s, v, _ = _rotated(x)
    return s * unit, v


def _rotated(x):
    """Return s (p,), V (p, p) and XV for x (n, p), n ≥ p, its columns turned orthogonal."""
    p = x.shape[1]
    start = np.linalg.svd(x.astype(np.float64), full_matrices=False)[2].T.astype(WIDE)
    for _ in range(2):  # orthonormal again, to the last digit
        start = start @ (1.5 * np.eye(p, dtype=WIDE) - 0.5 * (start.T @ start))
    tall = _shortened(x @ start)
    rows = len(tall)
    work = np.ascontiguousarray(np.concatenate([tall, start]).T)  # columns of both, one a line
    rounds = _rounds(p)
    for _ in range(30):
        largest = np.sqrt(np.einsum("ij,ij->i", work[:, :rows], work[:, :rows]).max())
        turned = [_turn(work, rows, i, j, largest) for i, j in rounds]
        if not any(turned):
            break
    s = np.sqrt((work[:, :rows] ** 2).sum(axis=1))
    order = np.argsort(-s, kind="stable")
    v = work[order, rows:].T
    return s[order], v, x @ v


def _shortened(y):
    """Return R (p, p) of y = QR for tall y: the rotations then cost nothing per row."""
    n, p = y.shape
    if n <= p + 8:
        return y
    y = y.copy()
    for j in range(p):  # Householder, in extended precision
        v = y[j:, j].copy()
        size = np.sqrt((v**2).sum())
        if size == 0:
            continue
        v[0] += size if v[0] >= 0 else -size
        y[j:, j:] -= np.outer(v, (2 / (v**2).sum()) * (v @ y[j:, j:]))
    return np.triu(y[:p])


def _rounds(p):
    """Return the rounds of a tournament: every pair of columns meets once, many at a time."""
    places = list(range(p + p % 2))
    half = len(places) // 2
    rounds = []
    for _ in range(max(len(places) - 1, 0)):
        meets = zip(places[:half], reversed(places[half:]), strict=True)
        pairs = [pair for pair in meets if max(pair) < p]
        rounds.append(tuple(np.array(side, dtype=np.intp) for side in zip(*pairs, strict=True)))
        places = [places[0], places[-1], *places[1:-1]]
    return [r for r in rounds if r]


def _turn(work, rows, i, j, largest):
    """Make lines i and j orthogonal, pair by pair; tell whether any was not."""
    a, b = work[i, :rows], work[j, :rows]
    aa, bb = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    ab = np.einsum("ij,ij->i", a, b)
    active = np.abs(ab) > EPS * largest * np.sqrt(np.maximum(aa, bb))
    if not active.any():
        return False
    i, j, aa, bb, ab = i[active], j[active], aa[active], bb[active], ab[active]
    zeta = (bb - aa) / (2 * ab)
    t = np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.sqrt(1 + zeta**2))
    c = 1 / np.sqrt(1 + t * t)
    left, right = work[i], work[j]
    work[i] = c[:, None] * left - (c * t)[:, None] * right
    work[j] = (c * t)[:, None] * left + c[:, None] * right
    return True


def sine(found, axes):
    """Return the sine of the largest angle between the rows of `found` and `axes` (p, k)."""
    found = np.atleast_2d(np.asarray(found)).astype(WIDE)
    rest = found.T - axes @ (axes.T @ found.T)
    return float(np.linalg.norm(rest.astype(np.float64), 2)) if rest.size else 0.0
