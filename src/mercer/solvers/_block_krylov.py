"""Fused block Krylov iteration with thick restart, certified by its own last products."""

import dataclasses
import math
from contextlib import nullcontext
from typing import final

import numpy as np

from mercer.arrays import (
    EPS,
    Array,
    as_numpy,
    asarray_like,
    binary_exponent,
    eigh,
    gaussian,
    in_units,
    namespace,
    orthonormal,
    single_threaded_blas,
    task,
)
from mercer.operators import Operator
from mercer.solvers._certificate import Certificate, FloatArray
from mercer.solvers._eigenvalue_bounds import (
    FEW_PROBES,
    MOST_COLUMNS,
    PROBES,
    Outside,
    bordered_upper,
    products_needed,
    psd_norm,
)
from mercer.solvers._solver import Floor, Goal, Solver
from mercer.solvers._spectrum import Outcome, Spectrum

_HOPED = 0.6  # share of θ_k that the norm outside is hoped to be at least
_ABOVE = 1.03  # how far above the norm a bound by probes stays in the end
_NEAR = 0.9  # share of θ_k from which the norm outside takes many products, of few probes
_KEPT = 4  # one column in so many is kept at a restart: what they hold is not outside
_LARGE = 96  # columns of a basis from which its eigenpairs cost something beside a pass
_SKIPPED = 6  # passes at most between two looks at them
_LOOKED = 4  # passes over which the speed of convergence is measured
_LEAST = 1e-3  # distance from θ_k, relative, to which the norm outside is bounded
_PATIENCE = 2.0  # products of a few probes for each pass before them, at most
_ENDING = 10  # passes that end an iteration which converges slowly: they bound what is outside
_IN_RANGE = 400  # powers of two whose squares and ratios are far from the ends of float64
_ROUNDING = 64 * EPS  # of float64 products and sums, relative to the trace


@final
@dataclasses.dataclass(frozen=True)
class BlockKrylov(Solver):
    """Rayleigh-Ritz on the block Krylov space of A (symmetric) or AᵀA [Musco2015]_.

    Each step is one pass: W = C·V_j, then V_{j+1} from W after two projections against the
    whole basis. Because CV = VH + V_{j+1}T, residuals of all Ritz pairs come free. What
    lies outside the subspace is bounded by the trace where C is psd, by the Frobenius norm
    where that is known, or, once the pairs have settled, by passes that carry sixteen random
    probes alone; a start that misses an axis is therefore found out.

    This differs from the textbook method in: 1. the stop is a proved interval, not a
    residual; 2. a full basis restarts from its best Ritz vectors (thick restart), so that
    flat spectra converge in bounded memory; 3. directions that vanish are dropped, and
    fresh random ones enter when the space closes on itself; 4. it foresees its end from the
    speed at which residuals fall, and stops where a direct method is quicker.

    Parameters
    ----------
    block : int
        b, columns per pass.
    max_passes : int
        Passes after which the bound reached is returned as it is.
    max_basis : int
        Columns kept before a restart.
    worth : float
        Passes that what follows costs as much as: no more than that are begun.
    start : Array of shape (n, b) or None
        First block; None draws Gaussian numbers, and turns them to the leading axes of a
        part of the data where the operator can do that cheaply.
    image : Array of shape (n, b) or None
        C·start where that is known already; `start` must then be orthonormal. It counts as
        the first pass.
    outside : Outside or None
        Probes outside `start` that were multiplied with it; every later pass carries them.
        For operators whose products cost much whatever the number of columns.
    """

    block: int
    max_passes: int = 60
    max_basis: int = 1000
    worth: float = math.inf
    start: Array | None = None
    image: Array | None = None
    outside: Outside | None = None

    def solve(self, op: Operator, goal: Goal, /) -> Spectrum:
        """See `Solver.solve`."""
        # Threads of OpenBLAS keep spinning for a while after each small product here, and take
        # the cores from the next pass where that runs on threads of its own.
        with nullcontext() if op.by_blas else single_threaded_blas():
            run = _Run(op, goal, self)
            while not run.done():
                run.step()
            return run.spectrum()


class _Run:
    """The state of one solve: basis V, its projected matrix H, and the probes."""

    def __init__(self, op: Operator, goal: Goal, solver: BlockKrylov) -> None:
        self.op, self.goal, self.solver = op, goal, solver
        self.psd = goal.psd or not op.symmetric
        self.frobenius = op.frobenius if op.symmetric else None
        self.exponent = 0  # everything here is in units of 2^exponent
        n = op.shape[1]
        self.n, self.k = n, goal.components
        self.width = max(1, min(solver.block, n))
        self.most = min(n, max(solver.max_basis, goal.components + 2 * self.width))
        first = self._first() if solver.start is None else solver.start
        xp = namespace(first)
        self.basis = xp.empty((n, 0), dtype=xp.float64)  # V, whose products are known
        # V_j, the next to be multiplied
        self.block = first if solver.image is not None else orthonormal(first, None, 0.0)[0]
        self.h: FloatArray = np.zeros((0, 0))
        self.loud: FloatArray = np.zeros(0)  # ‖Av_j‖², with which the error of a product grows
        self.theta: FloatArray = np.zeros(0)
        self.z: FloatArray = np.zeros((0, 0))
        self.tail: FloatArray = np.zeros((0, 0))
        self.passes = 0
        self.certificate: Certificate | None = None
        self.at_floor = False
        self.outside = math.inf  # proved bound on the norm of C outside the basis
        self.probe: Outside | None = None
        self._carry(solver.outside)
        self.held = 0  # leading Ritz vectors that the probes are outside of; 0: the whole basis
        self.hope = 0.0  # the best guess of that norm, 0 before there is one
        self.far = 0.0  # how far from the goal after the last product
        self.fall: list[tuple[int, float]] = []  # steps, and the logarithm of that, of late
        self.steps = 0  # passes that enlarged the space
        self.due = 0  # steps until which the eigenpairs of H are not looked at
        self.fresh = True  # whether they are those of H

    def _carry(self, probe: Outside | None) -> None:
        """Let probes go along with every pass, or no longer."""
        self.carried = probe is not None
        self.probe, self.outside = probe, math.inf if probe is None else probe.bound
        if probe is not None:
            probe.apply = self.apply

    def _first(self) -> Array:
        """Return Gaussian columns, turned towards the leading axes of a part of the data."""
        block = gaussian((self.n, self.width), self.op.like, self.goal.seed)
        for _ in range(0 if self.op.symmetric else self.op.tastes):
            turned, _ = orthonormal(self.op.taste(block), None, 0.0)
            if turned.shape[1] < self.width:  # that part has fewer directions
                break
            block = turned
        return block

    def apply(self, v: Array) -> Array:
        """Return CV; the first product tells the unit in which squares stay in range."""
        if self.passes == 1 and self.solver.image is not None:
            w = self.solver.image
        else:
            w = self.op.matmat(v) if self.op.symmetric else self.op.gram_matmat(v)
        if self.passes == 1:
            size = binary_exponent(float(namespace(w).max(namespace(w).abs(w))))
            self._change_unit(size if abs(size) > _IN_RANGE else 0)
        return w if self.exponent == 0 else in_units(w, self.exponent)

    def _change_unit(self, exponent: int) -> None:
        if exponent == 0:
            return
        self._carry(None)  # they are in other units
        goal, self.exponent = self.goal, exponent
        self.goal = dataclasses.replace(
            goal,
            floor=Floor(goal.floor.relative, math.ldexp(goal.floor.absolute, -exponent)),
            trace=None if goal.trace is None else math.ldexp(goal.trace, -exponent),
            error=math.ldexp(goal.error, -exponent),
            known=None if goal.known is None else np.ldexp(goal.known, -exponent),
        )
        if self.frobenius is not None:
            self.frobenius = math.ldexp(self.frobenius, -exponent)

    def done(self) -> bool:
        """Tell whether the goal is certified or the budget is spent."""
        if self.certificate is not None and (self.certificate.met or self.at_floor):
            return True
        if self.basis.shape[1] >= self.n:  # the whole space: nothing can be added
            self.at_floor = True
            return True
        return self.passes >= self.solver.max_passes or self._foreseen() > self.solver.worth

    def _foreseen(self) -> float:
        """Return the passes that are still to come, at the speed of those behind."""
        if self.far <= 1 or self.steps <= _LOOKED:
            return 0.0
        speed = self._speed()
        return math.log(self.far) / speed + _ENDING if speed > 0 else math.inf

    def _speed(self) -> float:
        """Return the decrease of log far in a pass, 0 where it is not known."""
        if len(self.fall) < 2:
            return 0.0
        (first, before), (last, now) = self.fall[0], self.fall[-1]
        return (before - now) / (last - first)

    def step(self) -> None:
        """Make one pass: it enlarges the space, or multiplies the probes outside it."""
        self.passes += 1
        reached = "" if self.certificate is None else f"{self.certificate.reached:.0e} reached"
        with task(f"pass {self.passes}", reached):
            if self._should_probe():
                self._probe()
            else:
                self._enlarge()
            self.certificate = self._certify()

    def _enlarge(self) -> None:
        if not self.carried:
            self.probe = None  # what it proved stays true for a larger space
        self.held = 0
        if self.block.shape[1] == 0:
            self._refill()
        if self.basis.shape[1] + self.block.shape[1] > self.most:
            self._look()
            self._restart()
            self.due = 0
        block, b = self.block, self.block.shape[1]
        self._admit()
        if self.probe is None and self._soon():  # the space is settled before the pass
            self.probe = self._probes()
        along = self.probe is not None and not (self.carried and self.passes == 1)
        if along:  # probes come with it
            assert self.probe is not None
            block = namespace(block).concat([block, self.probe.block], axis=1)
        w = self.apply(block)
        self._extend(w[:, :b])
        if self.steps >= self.due or self.basis.shape[1] >= self.n:
            self._look()
        if along and self.probe is not None:
            self.probe.take(w[:, b:])
            self.outside = min(self.outside, self.probe.bound)

    def _probe(self) -> None:
        if self.probe is None:
            self.probe = self._probes()
        self.probe.step()
        if not self.held:
            self.outside = min(self.outside, self.probe.bound)

    def _probes(self) -> Outside:
        like, seed, stream = self.op.like, self.goal.seed, 1 + self.passes
        basis, probes = self.basis, PROBES
        if self.held:
            basis = basis @ asarray_like(self.z[:, : self.held].copy(), basis)
            probes = FEW_PROBES
        return Outside(self.apply, basis, like, seed, stream, psd=self.psd, probes=probes)

    def _soon(self) -> bool:
        """Tell whether the pairs will have settled after this pass, if they go on as before."""
        if len(self.fall) < 2 or self.basis.shape[1] >= self.n or self.steps < self.due:
            return False
        (first, before), (last, now) = self.fall[-2:]
        left = 1 - self._hoped() / float(self.theta[self.k - 1])
        enough = 0.0 if left >= 1 - _NEAR else math.log(max(left, _LEAST) / 2)
        return now - (before - now) / (last - first) <= enough

    def _hoped(self) -> float:
        """Return the best guess of the norm outside.

        Residuals that fall by e^-s in a pass tell of a gap of about (s/4)² (Chebyshev).
        """
        level = float(self.theta[self.k - 1])
        if self.hope > 0:
            return self.hope
        speed = self._speed()
        return max(_HOPED, 1 - (speed / 4) ** 2) * level if speed > 0 else _HOPED * level

    def _admit(self) -> None:
        """Take the block into the basis, its product being due."""
        self.basis = namespace(self.block).concat([self.basis, self.block], axis=1)

    def _extend(self, w: Array) -> None:
        """Take the product of the last block in: H grows by VᵀW, the rest of W comes next."""
        b = w.shape[1]
        m = self.basis.shape[1] - b
        inside = self.basis.T @ w
        rest = w - self.basis @ inside
        column = as_numpy(inside)  # (m + b, b)
        h = np.zeros((m + b, m + b))
        h[:m, :m] = self.h
        h[:, m:], h[m:, :m] = column, column[:m].T
        h[m:, m:] = (column[m:] + column[m:].T) / 2
        self.h, self.fresh, self.steps = h, False, self.steps + 1
        self.loud = np.append(self.loud, np.abs(np.diagonal(h)[m:]))
        top = float(np.max(np.abs(np.diagonal(h)), initial=0.0))
        room = self.n - self.basis.shape[1]
        # What is smaller may lie in the span of what was taken.
        lost = 4 * EPS * float(namespace(w).linalg.vector_norm(w)) * math.sqrt(self.n)
        self.block, coefficients = orthonormal(
            rest, self.basis, max(self._noise(top), lost), projected=True
        )
        self.coefficients = as_numpy(coefficients)
        if self.block.shape[1] > room:  # rounding left more directions than there are
            self.block, self.coefficients = self.block[:, :room], self.coefficients[:room]

    def _noise(self, top: float) -> float:
        """Return the norm below which a direction of the residual is rounding."""
        size = self._size(top)
        return max(_ROUNDING * size, 0.25 * self.op.product_error * math.sqrt(size * top))

    def _size(self, otherwise: float) -> float:
        """Return what rounding is relative to: ‖C‖, the trace, ‖C‖_F, or else a guess."""
        if self.op.sharp and len(self.theta):
            return float(np.max(np.abs(self.theta)))
        if self.psd and self.goal.trace is not None:
            return self.goal.trace
        return self.frobenius if self.frobenius is not None else otherwise

    def _rayleigh_ritz(self) -> None:
        (self.theta, self.z), self.fresh = eigh(self.h), True
        b = self.coefficients.shape[1]
        self.tail = self.coefficients @ self.z[-b:, :]  # (r, m): C·ritz = ritz·θ + next·tail
        self.far = self._distance() if len(self.theta) >= self.k else 0.0
        if self.far > 0:
            self.fall = [*self.fall[1 - _LOOKED :], (self.steps, math.log(self.far))]
        foreseen = self._foreseen() - _ENDING
        self.due = self.steps + 1
        if len(self.theta) >= _LARGE and 2 < foreseen < math.inf:
            self.due += min(_SKIPPED, int(foreseen / 3))

    def _look(self) -> None:
        """Find the eigenpairs of H, if passes have been made since."""
        if not self.fresh:
            self._rayleigh_ritz()

    def _restart(self) -> None:
        """Keep the best Ritz vectors only: C·U = UΘ + V_{j+1}·tail still holds."""
        keep = max(self.k + max(self.width, self.k // 2), self.most // _KEPT)
        keep = max(self.k, min(keep, self.most - 2 * self.width))
        rotate = asarray_like(self.z[:, :keep].copy(), self.basis)
        self.basis = self.basis @ rotate
        self.h, self.loud = np.diag(self.theta[:keep]), self._loudness(keep)
        self._carry(None)  # the space has become smaller

    def _should_probe(self) -> bool:
        """Tell whether a bound on the norm outside, and nothing else, is missing.

        The goal must be met if that norm is what it is hoped, or was found, to be.
        """
        if not self.fresh or not self.k <= len(self.theta) < self.n:
            return False
        if self.held and self.probe is not None:
            return self.probe.ritz < self._ceiling(self.held) and not self.probe.exhausted
        if self.probe is not None and self.probe.products > 1:
            self.hope = _ABOVE * self.probe.ritz
            if self.probe.exhausted:
                return False
        if self.far > 1:
            return False
        return self._judged(self._hoped()).met or self._hold()

    def _ceiling(self, held: int) -> float:
        """Return the bound on the norm outside the first Ritz vectors that is to be proved."""
        return float(self.theta[self.k - 1] + self.theta[held - 1]) / 2

    def _hold(self) -> bool:
        """Hold the leading Ritz vectors, if the norm outside them can be bounded below θ_k.

        Outside the whole basis it is smaller; but a bound near θ_k does not tell the pairs of
        a flat spectrum from what their neighbours, still far from settled, may become. Those
        are held whose residuals are below a quarter of their distance from θ_k.
        """
        if not self.psd or self.carried:
            return False
        theta, level = self.theta, float(self.theta[self.k - 1])
        rest = np.linalg.norm(self.tail[:, self.k :], axis=0)
        loose = rest > np.maximum((level - theta[self.k :]) / 4, _LEAST * level)
        held = self.k + int(np.argmax(np.append(loose, True)))
        ceiling = self._ceiling(held)
        needed = products_needed(
            1 - float(theta[held - 1]) / ceiling, FEW_PROBES, self.n - held
        )
        if needed > _PATIENCE * self.passes or FEW_PROBES * needed > MOST_COLUMNS:
            return False
        if not self._judged(ceiling, held=held).met:
            return False
        self.held, self.probe = held, None
        return True

    def _distance(self) -> float:
        """Return how far the residuals are from where the goal can be met, at most 1 there."""
        theta = np.abs(self.theta[: self.k])
        allowed = self.goal.tol * np.maximum(theta, self.goal.floor.at(float(self.theta[0])))
        residual = np.sum(self.tail[:, : self.k] ** 2, axis=0)
        enough = 2 * allowed * theta + allowed**2
        return float(np.max(residual / np.maximum(enough, np.finfo(np.float64).tiny)))

    def _refill(self) -> None:
        """The space is invariant: let fresh random directions in, if any are left."""
        room = min(self.width, self.n - self.basis.shape[1])
        if room == 0:
            return
        fresh = gaussian((self.n, room), self.op.like, self.goal.seed, 1000 + self.passes)
        self.block, _ = orthonormal(fresh, self.basis, 1e-8)

    def _outside(self) -> float:
        """Return the smallest proved bound on the norm of C outside the basis."""
        if self.basis.shape[1] >= self.n:
            return 0.0
        bounds = [self.outside]
        if self.psd and self.goal.trace is not None:
            bounds.append(max(0.0, self.goal.trace - float(np.sum(self.theta))))
        if self.frobenius is not None:
            rest = self.frobenius**2 - np.sum(self.theta**2) - 2 * np.sum(self.tail**2)
            norm = math.sqrt(max(0.0, float(rest)) + EPS * self.frobenius**2)
            bounds.append(self._norm_left(norm) if self.psd else norm)
        return min(bounds)

    def _norm_left(self, frobenius: float) -> float:
        """Return the largest norm of R, which is C outside the basis, from ‖R‖_F and tr R.

        Where eigenvalues of C are known, those of R are too: λ_j(R) ≥ λ_{m+j}(C).
        """
        room, least = self.n - int(self.basis.shape[1]), self.goal.known
        if least is not None:
            least = np.maximum(least[self.basis.shape[1] :] - self.goal.error, 0.0)
        return psd_norm(self._left(), frobenius, room, least)

    def _left(self) -> float:
        """Return a lower bound on the trace outside the basis, 0 where it is not known."""
        if self.goal.trace is None:
            return 0.0
        wrong = _ROUNDING * self.goal.trace + 2 * self.n * self.goal.error
        return max(0.0, self.goal.trace - float(np.sum(self.theta)) - wrong)

    def _certify(self) -> Certificate | None:
        if len(self.theta) < self.k or not self.fresh:  # nothing is known that is new
            return self.certificate
        level = float(self.theta[self.k - 1])
        if self.held and self.certificate and self.probe and self.probe.bound >= level:
            return self.certificate
        found = self._judged(self._outside())
        if self.held and self.probe is not None:
            beside = self._judged(self.probe.bound, held=self.held)
            return beside if beside.reached < found.reached else found
        # Nothing but arithmetic stands in the way: more passes would not help.
        size = np.maximum(self.theta[: self.k], found.zero_level)
        out_of_reach = bool(np.any(self._error() > self.goal.tol * size))
        self.at_floor = out_of_reach and not found.met and self._judged(None, exact=True).met
        return found

    def _judged(
        self, outside: float | None, *, exact: bool = False, held: int | None = None
    ) -> Certificate:
        """Return the certificate if the norm outside were `outside` (None: as proved).

        Outside the whole basis, or its first `held` Ritz vectors.
        """
        k, top = self.k, float(self.theta[0])
        c = self._outside() if outside is None else outside
        dropped = 0.0 if exact else self._noise(abs(top))  # directions called rounding
        return Certificate.of(
            self.theta[:k],
            self._upper(min(k + 1, self.n), c, held),
            np.linalg.norm(self.tail[:, :k], axis=0) + dropped,
            error=0.0 if exact else self._error(),
            tol=self.goal.tol,
            zero_level=self.goal.floor.at(top),
            psd=self.psd,
        )

    def _error(self) -> FloatArray:
        """Return the arithmetic error (k,) of each Ritz value.

        A float32 product AᵀAv_j errs by ‖A‖_F·‖Av_j‖ times its ratio, and that of a Ritz vector
        u = Σz_jv_j is made of those. What rounds anew in every product adds up as
        Σz_j²‖Av_j‖². What is rounded once, in A itself, is a linear map of v, the same in all
        products, and adds up to that of Au: θ. The ratio holds both; the larger is charged.
        """
        size = self._size(float(np.max(np.abs(self.theta))) * self.n)
        rounding = self.goal.error + _ROUNDING * size
        return rounding + self.op.product_error * np.sqrt(size * self._loudness(self.k))

    def _loudness(self, count: int) -> FloatArray:
        """Return max(Σz_j²‖Av_j‖², θ) of the leading Ritz vectors."""
        apart = self.z[:, :count].T ** 2 @ self.loud
        return np.maximum(apart, np.abs(self.theta[:count]))

    def _upper(self, count: int, c: float, held: int | None) -> FloatArray:
        if c >= self.theta[self.k - 1]:  # nothing outside is excluded: no need to solve for it
            upper = np.concatenate([np.maximum(self.theta[:count], c), np.full(count, c)])
            return upper[:count] + float(np.linalg.norm(self.tail))
        return bordered_upper(self.theta[:held], self.tail[:, :held], c, count)

    def spectrum(self) -> Spectrum:
        """Return the leading pairs as they are, with what is proved of them."""
        if not self.fresh:
            self._look()
            self.certificate = self._certify()
        assert self.certificate is not None
        self.probe = None  # it knows this run, and a circle would keep the operator alive
        k = self.k
        rotate = asarray_like(self.z[:, :k].copy(), self.basis)
        outcome = Outcome.FLOOR if self.at_floor else Outcome.BUDGET
        outcome = Outcome.CONVERGED if self.certificate.met else outcome
        values, certificate, total = self.theta[:k].copy(), self.certificate, self.goal.trace
        right = self.basis @ rotate
        # CV = VH + V_{j+1}T: the products of the pairs need no further pass.
        rest = asarray_like(self.tail[:, :k].copy(), self.basis)
        image = right * asarray_like(values, self.basis) + self.block @ rest
        if self.exponent:
            image = in_units(image, -self.exponent)
            values = np.ldexp(values, self.exponent)
            certificate = certificate.scaled(1.0, self.exponent)
            total = None if total is None else math.ldexp(total, self.exponent)
        return Spectrum.of(
            asarray_like(values, self.basis),
            right,
            certificate,
            total=total,
            passes=self.passes,
            outcome=outcome,
            squares=None if self.frobenius is None or self.exponent else self.frobenius**2,
            image=image,
        )
