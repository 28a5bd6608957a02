"""Upper bounds on eigenvalues from a subspace, its residual and the norm of the rest.

With Q orthonormal, Θ = QᵀAQ, E = AQ - QΘ = YT (QR) and any c ≥ ‖(I-QQᵀ)A(I-QQᵀ)‖₂,
the i-th eigenvalue of A is at most the i-th eigenvalue of [[Θ, Tᵀ], [T, cI]].

Outside: a bound on what a subspace leaves out, by a Krylov space of fresh random probes.

Sampled: a bound on the norm of a psd matrix of which only the trace and some rows are known.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy.special

from mercer.arrays import EPS, Array, as_numpy, eigvalsh, gaussian, namespace, orthonormal
from mercer.solvers._certificate import FloatArray

_FAILURE = 5e-9  # chance that a bound by random probes is too small
_DESCENTS = 500  # steps of an iteration that halves its distance in one or two


def probe_factor(probes: int, failure: float = _FAILURE) -> float:
    """Return α with P(all |z_i| < 1/α) ≤ `failure` for `probes` standard normal z_i.

    For psd R and a Gaussian vector z, ‖R^q z‖ ≥ ‖R‖^q·|vᵀz| with v the top axis, so that
    ‖R‖ ≤ (α·max_i‖R^q z_i‖)^(1/q) except with that chance. Twenty probes give α = 2.
    """
    return float(1 / scipy.special.ndtri(0.5 * (1 + failure ** (1 / probes))))


def complement_norm(norms: FloatArray, products: int, failure: float = _FAILURE) -> float:
    """Return the bound on ‖R‖ from ‖R^q z_i‖ (probes,) after q = `products` products."""
    if products == 0:
        return math.inf
    return float((probe_factor(len(norms), failure) * np.max(norms)) ** (1 / products))


def lanczos_norm(
    ritz: float, products: int, probes: int, order: int, failure: float = _FAILURE
) -> float:
    """Return the bound on ‖R‖, R psd of this order, from the largest Ritz value found.

    For one uniformly random start, P(‖R‖ - ritz > ε‖R‖) ≤ 1.648·√order·exp(-√ε(2q - 1))
    after q = `products` products [Kuczynski1992]_; all `probes` independent starts must fail.
    """
    if products == 0:
        return math.inf
    chance = failure ** (1 / probes)
    root = math.log(1.648 * math.sqrt(max(order, 1)) / chance) / (2 * products - 1)
    return ritz / (1 - root**2) if root < 1 else math.inf


def products_needed(distance: float, probes: int, order: int) -> float:
    """Return q after which `lanczos_norm` is within `distance`, relative, of the Ritz value."""
    chance = _FAILURE ** (1 / probes)
    if distance <= 0:
        return math.inf
    log = math.log(1.648 * math.sqrt(max(order, 1)) / chance)
    return (log / math.sqrt(distance) + 1) / 2


def sampled_norm(norm: float, trace: float, draws: int, failure: float) -> float:
    """Return x ≥ ‖C‖ but for a chance of `failure`, from the norm of a sample of psd C.

    C = Σψ_iψ_iᵀ with ‖ψ_i‖² ≤ t·p_i for chances p_i that sum to one, and
    Ĉ = Σ_j ψ_jψ_jᵀ/(s·p_j) over s independent draws. C - Ĉ is a sum of s independent terms
    (C - Y)/s, Y psd with ‖Y‖ ≤ t: none exceeds ‖C‖/s, and their variances sum to at most
    t·C/s. The matrix Bernstein inequality for one side, with the intrinsic dimension
    tr C/‖C‖ ≤ t/‖C‖ [Tropp2015]_ (section 7.7), says for x = ‖C‖

        x ≤ ‖Ĉ‖ + τ,   τ²/2 / (t·x/s + τ·x/(3s)) = log(4t/(x·failure)).

    The right side grows with x, so that an iteration from t downwards only meets bounds.

    Parameters
    ----------
    norm : float
        An upper bound on ‖Ĉ‖.
    trace : float
        t ≥ tr C.
    draws : int
        s.
    failure : float
        The chance that ‖C‖ is larger.

    Examples
    --------
    >>> 0.2 < sampled_norm(0.2, 1.0, 10_000, 1e-9) < 0.24
    True
    >>> sampled_norm(0.2, 1.0, 10, 1e-9)  # ten rows tell nothing
    1.0
    """
    x = trace
    for _ in range(_DESCENTS if draws > 0 and trace > 0 else 0):
        length = math.log(4 * trace / (x * failure))
        half = x * length / (3 * draws)
        below = norm + half + math.sqrt(half * half + 2 * trace * x * length / draws)
        if not below < x * (1 - 1e-12):
            break
        x = below
    return x


def bordered_upper(theta: FloatArray, tail: FloatArray, c: float, count: int) -> FloatArray:
    """Return upper bounds on the `count` largest eigenvalues.

    Parameters
    ----------
    theta : ndarray of shape (m,)
        Ritz values, descending.
    tail : ndarray of shape (r, m)
        T, the coordinates of the residuals.
    c : float
        Bound on the norm of the operator outside the subspace.
    count : int
        How many bounds are wanted; at most m + r.
    """
    m, r = len(theta), tail.shape[0]
    if not np.isfinite(c):
        return np.full(count, np.inf)
    matrix = np.zeros((m + r, m + r))
    matrix[np.arange(m), np.arange(m)] = theta
    matrix[m:, :m], matrix[:m, m:] = tail, tail.T
    matrix[np.arange(m, m + r), np.arange(m, m + r)] = c
    # The residuals use r directions of the rest; the others may hold eigenvalues up to c too.
    merged = np.concatenate([eigvalsh(matrix), np.full(count, c)])
    return np.sort(merged)[::-1][:count]


def psd_norm(
    trace: float, frobenius: float, order: int, least: FloatArray | None = None
) -> float:
    """Return the largest norm ρ that a psd matrix R of this order can have.

    The other eigenvalues x_2, x_3, … sum to at least τ - ρ and are at least those known; their
    squares are then smallest where all that can be are at one level h, x_j = max(least_j, h).
    So ρ² ≤ f² - Σx_j² at the lowest level with ρ + Σx_j ≥ τ. With nothing known of them that
    is [Samuelson1968]_, and f itself where τ ≤ f.

    Parameters
    ----------
    trace : float
        τ, a lower bound on the trace.
    frobenius : float
        f, an upper bound on the Frobenius norm.
    order : int
        r.
    least : ndarray of shape (m,) or None
        Lower bounds on the eigenvalues, descending, the first of which is the norm.
    """
    if order < 2 or frobenius <= 0:
        return frobenius
    # In units of f, whose square may not be a number; both bounds are loosened by rounding.
    others = np.zeros(0) if least is None else least[1:order] / frobenius
    empty, tau = order - 1 - len(others), (1 - 8 * EPS) * trace / frobenius

    def largest(level: float) -> tuple[float, bool]:
        """Return ρ with the others at this level, and whether that reaches the trace."""
        x = np.maximum(others, level)
        rho = math.sqrt(max(0.0, 1 + 8 * EPS - float(x @ x) - empty * level**2))
        return rho, rho + float(np.sum(x)) + empty * level >= tau

    low, high = 0.0, 1.0 / math.sqrt(order)
    for _ in range(0 if largest(low)[1] else 60):
        level = (low + high) / 2
        rho, reached = largest(level)
        low, high = (low, level) if reached or rho < level else (level, high)
    # No level reaches a trace that is too large by rounding: it then tells nothing.
    return min(largest(low if largest(high)[1] else 0.0)[0], 1.0) * frobenius


PROBES = 16
FEW_PROBES = 4
MOST_COLUMNS = 400  # columns after which a bound that is still too large is given up


class Outside:
    """Bounds ‖R‖₂, R = (I - QQᵀ)C(I - QQᵀ), C symmetric, without forming either.

    Gaussian vectors z, drawn afresh and independently of Q, span a block Krylov space of R:
    sixteen, or four where what is left comes near to what was found, so that many products
    are needed whatever their number. Two bounds hold, each but for a chance of `failure`; the
    smaller is used: that of powers, (α·max‖R^q z‖)^(1/q), which is sharp when little is left,
    and, for psd C, that of the largest Ritz value [Kuczynski1992]_, which is sharp when much
    is left at one level.

    Parameters
    ----------
    apply : callable or None
        V -> CV for blocks (n, b); None where the products come to `take` from elsewhere.
    basis : Array of shape (n, m)
        Q, orthonormal.
    like : Array
        Carries the library and the device.
    seed, stream : int
        The random numbers; `stream` must not have been used before.
    psd : bool
        Whether C has no negative eigenvalue.
    probes : int
        How many vectors z.
    failure : float
        The chance of each of the two bounds to be too small.
    """

    def __init__(
        self,
        apply: Callable[[Array], Array] | None,
        basis: Array,
        like: Array,
        seed: int,
        stream: int,
        *,
        psd: bool = True,
        probes: int = PROBES,
        failure: float = _FAILURE,
    ) -> None:
        self.apply, self.q, self.psd = apply, basis, psd
        self.probes, self.failure = probes, failure
        self.room = int(basis.shape[0] - basis.shape[1])
        z = self._project_out(gaussian((int(basis.shape[0]), probes), like, seed, stream))
        self.block, first = orthonormal(z, None, 0.0)
        self.space = self.block[:, :0]
        self.h: FloatArray = np.zeros((0, 0))
        # Coordinates of R^q z, scaled to norm one; the logarithms of what was taken out.
        self.power: FloatArray = as_numpy(first)
        self.log = 0.0
        self.products = 0
        self.ritz = 0.0
        self.bound = math.inf

    def _project_out(self, block: Array) -> Array:
        for _ in range(2):
            block = block - self.q @ (self.q.T @ block)
        return block

    def step(self) -> None:
        """Multiply by R once more: one pass with a column for each probe."""
        assert self.apply is not None
        self.take(self.apply(self.block))

    def take(self, image: Array) -> None:
        """Take in the product of C with `block`, wherever it was made."""
        xp = namespace(image)
        m, b = self.space.shape[1], self.block.shape[1]
        self.space = xp.concat([self.space, self.block], axis=1)
        column = as_numpy(self.space.T @ image)  # the space is orthogonal to Q
        h = np.zeros((m + b, m + b))
        h[:m, :m], h[:, m:], h[m:, :m] = self.h, column, column[:m].T
        h[m:, m:] = (column[m:] + column[m:].T) / 2
        self.h = h
        self.products += 1
        self.ritz = float(np.max(np.abs(eigvalsh(h))))
        both = xp.concat([self.q, self.space], axis=1)
        self.block, t = orthonormal(image, both, 1e-14 * self.ritz)
        self._raise_power(as_numpy(t), b)
        if self.block.shape[1] == 0:  # invariant: but for chance zero the top axis is inside
            self.bound = min(self.bound, self.ritz * (1 + 1e-8))
        if self.psd:
            lanczos = lanczos_norm(self.ritz, self.products, self.probes, self.room)

            lanczos = lanczos_norm(self.ritz, self.products, PROBES, self.room, self.failure)
            self.bound = min(self.bound, lanczos)

    def _raise_power(self, t: FloatArray, b: int) -> None:
        """R·(space·a) = space·(H a) + next·(T a_last): powers need no products of their own."""
        top = self.h @ self.power
        below = t @ self.power[-b:] if t.shape[0] else np.zeros((0, self.probes))
        coordinates = np.concatenate([top, below])
        norms = np.linalg.norm(coordinates, axis=0)
        largest = float(np.max(norms))
        if largest <= 0:
            self.bound = 0.0
            return
        self.log += math.log(largest)
        self.power = coordinates / largest
        root = math.exp(self.log / self.products)
        power = complement_norm(norms / largest, self.products, self.failure)
        self.bound = min(self.bound, power * root)

    @property
    def exhausted(self) -> bool:
        """Whether more products would not improve the bound much."""
        return self.block.shape[1] == 0 or self.probes * self.products >= MOST_COLUMNS
