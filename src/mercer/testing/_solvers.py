"""check_solver and check_lapack_types: what every solver must prove on known truth."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.arrays import EPS, Array, as_numpy, asarray_like
from mercer.operators import Dense
from mercer.solvers import Certificate, Floor, Goal, Outcome, Solver, Spectrum, fix_signs
from mercer.testing import matrices

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
_PASS = 30.0  # what LAPACK's own tests let pass: errors in units of size·eps
_FEW = 5  # pairs that every solver must certify where eigenvalues halve from one to the next


def check_solver(
    solver: Solver,
    *,
    order: int = 32,
    indefinite: bool = False,
    like: Array | None = None,
    tol: float = 1e-6,
    seed: int = 0,
) -> None:
    """Check that `solver` is right about matrices whose eigenvalues are known exactly.

    Even, graded, clustered, repeated, flat and zero spectra, stored symmetric and as tall and
    wide rectangular matrices, k = 1, 5 and all. The laws: the i-th eigenvalue lies in its
    interval, compared without any slack; ‖Av - θv‖ is at most the residual claimed; the
    sine to the true axis is at most the one claimed; vectors are orthonormal; values
    descend; signs follow the rule; `converged` and `groups` say what the intervals say; an
    easy spectrum is certified; two identical calls give the same bits.

    Parameters
    ----------
    solver : Solver
        The solver on trial.
    order : int
        Number of columns, a power of two.
    indefinite : bool
        Whether to try negative eigenvalues too, which a solver for positive semidefinite
        matrices need not know.
    like : Array or None
        An array of the library to work in; None takes NumPy.
    tol : float
        Largest certified relative error that is asked for.
    seed : int
        Start of the random numbers.

    Raises
    ------
    AssertionError
        When a law is broken; it names the matrix, k, the law and the numbers.

    Examples
    --------
    >>> from mercer.solvers import Exact
    >>> from mercer.testing import check_solver
    >>> check_solver(Exact(), order=16)
    """
    for name, a, truth, axes in _cases(order, indefinite, seed):
        symmetric = name.startswith("symmetric")
        held = a if like is None else asarray_like(a, like, dtype=None)
        op = Dense(held, symmetric=symmetric)
        psd = bool(truth[-1] >= 0)
        trace = float(np.sum(truth)) if psd else None
        floor = Floor(4.0 * max(a.shape) * EPS)
        for k in sorted({1, min(_FEW, len(truth)), len(truth)}):
            goal = Goal(k, tol, floor, trace, 0.0, seed, psd=psd)
            found = solver.solve(op, goal)
            trial = _SolverTrial(f"{name}, k = {k}", found, truth, k)
            trial.form()
            trial.intervals()
            trial.vectors(a, axes, symmetric)
            trial.words()
            if "graded" in name and k <= _FEW:
                trial.easy(solver.solve(op, goal))


def check_lapack_types(
    solver: Solver,
    *,
    order: int = 20,
    indefinite: bool = False,
    exact: bool = False,
    dtype: Any = np.float64,
    seed: int = 0,
) -> None:
    """Check `solver` on the matrices of LAPACK's own tests: 21 symmetric, 16 rectangular.

    Stored symmetric, tall and wide, k = 1, 5 and all. The laws: the i-th eigenvalue, known to
    eighteen digits, lies in its interval; ‖Av - θv‖ is at most the residual claimed; axes are
    orthonormal to 30·p·eps. Rectangular matrices near the ends of the range are left out: an
    operator brings its rows to a unit in which squares can be formed.

    Parameters
    ----------
    solver : Solver
        The solver on trial.
    order : int
        Number of columns.
    indefinite : bool
        Whether to try matrices with negative eigenvalues, which a solver for positive
        semidefinite ones need not know.
    exact : bool
        Whether all pairs together must give the matrix back as LAPACK's must:
        ‖A - VΛVᵀ‖ < 30·p·eps·‖A‖ for symmetric A, and for the others with AᵀA instead.
    dtype : {float64, float32}
        The type of the entries.
    seed : int
        Start of the random numbers.

    Raises
    ------
    AssertionError
        When a law is broken; it names the matrix, k, the law and the numbers.

    Examples
    --------
    >>> from mercer.solvers import Exact
    >>> from mercer.testing import check_lapack_types
    >>> check_lapack_types(Exact(), order=8, exact=True)
    """
    for name, a, symmetric, psd in _lapack_cases(order, seed, dtype):
        if not (psd or indefinite):
            continue
        truth = matrices.eigenvalues(a) if symmetric else matrices.singular_values(a) ** 2
        truth = np.maximum(truth, 0) if psd else truth  # it was written with rounding
        trace, floor = float(np.sum(truth)) if psd else None, Floor(4.0 * max(a.shape) * EPS)
        for k in sorted({1, min(_FEW, *a.shape), min(a.shape)}):
            goal = Goal(k, 1e-6, floor, trace, 0.0, seed, psd=psd)
            found = solver.solve(Dense(a.copy(), symmetric=symmetric), goal)
            trial = _SolverTrial(f"{name}, k = {k}", found, truth, k)
            trial.form()
            trial.inside()
            trial.ratios(a, symmetric, exact and k == order)


def _lapack_cases(
    order: int, seed: int, dtype: Any
) -> Iterator[tuple[str, FloatArray, bool, bool]]:
    """Yield a name, the matrix, whether it is symmetric, and whether it is psd."""
    for number, words in matrices.LAPACK_TYPES.items():
        a = matrices.lapack(number, order, seed, dtype).astype(np.float64)
        psd = number in (1, 2, 21) or "positive" in words
        yield f"symmetric {number} ({words})", a, True, psd
    for number, words in matrices.LAPACK_RECTANGULAR_TYPES.items():
        for n in (2 * order, max(1, order // 2)):
            if "near" not in words:
                a = matrices.lapack_rectangular(number, (n, order), seed, dtype)
                yield f"{n} × {order}, {number} ({words})", a.astype(np.float64), False, True


def _cases(
    order: int, indefinite: bool, seed: int
) -> Iterator[tuple[str, FloatArray, FloatArray, FloatArray]]:
    """Yield a name, the matrix, its eigenvalues (of A or AᵀA) and its unit axes."""
    for name, values in matrices.spectra(order).items():
        a, signs = matrices.dyadic_symmetric(values, seed)
        yield f"symmetric {name}", a, values, signs / np.sqrt(order)
        for label, shape in (("tall", (4 * order, order)), ("wide", (order // 4, order))):
            s = values[: min(shape)]
            a, signs = matrices.dyadic_rows(s, shape, seed)
            yield f"{label} {name}", a, s**2, signs / np.sqrt(order)
    if indefinite:
        values = matrices.spectra(order)["even"] - order // 2
        a, signs = matrices.dyadic_symmetric(values, seed)
        yield "symmetric indefinite", a, values, signs / np.sqrt(order)


class _SolverTrial:
    """One result beside the truth; every method checks one law and says which."""

    def __init__(self, name: str, found: Spectrum, truth: Any, k: int) -> None:
        self.name, self.found, self.k = name, found, k
        self.truth, self.rest = truth[:k], truth[k:]
        self.certificate: Certificate = found.certificate
        self.right = as_numpy(found.right)

    def broken(self, law: str) -> AssertionError:
        return AssertionError(f"{self.name}: {law}")

    def form(self) -> None:
        """Shapes, order and signs."""
        found, k = self.found, self.k
        n = self.right.shape[0]
        if found.values.shape != (k,) or self.right.shape != (n, k):
            raise self.broken(f"{k} pairs wanted, values have shape {found.values.shape}")
        if found.values.dtype != np.float64 or self.right.dtype != np.float64:
            raise self.broken("pairs are not float64")
        if np.any(np.diff(found.values) > 0):
            raise self.broken("values do not descend")
        if not np.array_equal(as_numpy(fix_signs(found.right)), self.right):
            raise self.broken("the entry of largest modulus of an axis is negative")

    def easy(self, again: Spectrum) -> None:
        """A quickly falling spectrum is certified, and found twice with the same bits."""
        if not self.certificate.met:
            raise self.broken(f"an easy spectrum reached only {self.certificate.reached:.1e}")
        same = np.array_equal(self.found.values, again.values)
        if not (same and np.array_equal(self.right, as_numpy(again.right))):
            raise self.broken("two identical calls differ")

    def intervals(self) -> None:
        """The truth inside, and tolerances met where they are said to be met."""
        self.inside()
        c = self.certificate
        far = np.maximum(c.upper - self.found.values, self.found.values - c.lower)
        size = np.maximum(np.maximum(c.lower, -c.upper), c.zero_level)
        allowed = np.maximum(c.tol * size, 4 * c.zero_level)
        if np.any(c.converged & (far > allowed)):
            raise self.broken("an interval with an end farther than tol is called converged")
        if (self.found.outcome is Outcome.CONVERGED) is not c.met:
            raise self.broken(f"outcome {self.found.outcome} with met = {c.met}")

    def inside(self) -> None:
        """Every eigenvalue lies in its interval."""
        c = self.certificate
        outside = np.flatnonzero((self.truth < c.lower) | (self.truth > c.upper))
        if outside.size:
            i = int(outside[0])
            raise self.broken(
                f"eigenvalue {i + 1} is {self.truth[i]!r}, outside"
                f" [{float(c.lower[i])!r}, {float(c.upper[i])!r}]"
            )

    def vectors(self, a: FloatArray, axes: FloatArray, symmetric: bool) -> None:
        """Orthonormality, residuals and angles, measured in extended precision."""
        wide = self.right.astype(np.longdouble)
        k, c = self.k, self.certificate
        oblique = float(np.max(np.abs(wide.T @ wide - np.eye(k))))
        if oblique > 8 * len(wide) * EPS:
            raise self.broken(f"axes are not orthonormal: off by {oblique:.1e}")
        self.residuals(a, symmetric)
        true = axes[:, :k].astype(np.longdouble)
        true = true / np.sqrt(np.sum(true**2, axis=0))
        sine = np.sqrt(np.sum((wide - true * np.sum(true * wide, axis=0)) ** 2, axis=0))
        wrong = (sine > c.sine) & (c.sine < 1)  # a sine of one claims nothing
        if np.any(wrong):
            i = int(np.argmax(wrong))
            raise self.broken(
                f"axis {i + 1} is off by {float(sine[i]):.1e}, claimed {c.sine[i]:.1e}"
            )

    def residuals(self, a: FloatArray, symmetric: bool) -> None:
        """‖Av - θv‖ as claimed, in extended precision."""
        wide, c = self.right.astype(np.longdouble), self.certificate
        unit = float(np.max(np.abs(a), initial=0.0)) or 1.0
        scaled = a.astype(np.longdouble) / unit
        square = unit if symmetric else np.longdouble(unit) ** 2
        image = scaled @ wide if symmetric else scaled.T @ (scaled @ wide)
        rest = image - wide * (self.found.values / square)
        residual = np.sqrt(np.sum(rest**2, axis=0)) * square
        if np.any(residual > c.residual):
            i = int(np.argmax(residual - c.residual))
            raise self.broken(
                f"residual {i + 1} is {float(residual[i]):.1e}, claimed {c.residual[i]:.1e}"
            )

    def ratios(self, a: FloatArray, symmetric: bool, whole: bool) -> None:
        """LAPACK's own marks: orthogonality, and the matrix that all pairs give back."""
        self.residuals(a, symmetric)
        wide, order = self.right.astype(np.longdouble), len(self.right)
        oblique = float(np.max(np.abs(wide.T @ wide - np.eye(self.k))))
        if oblique >= _PASS * order * EPS:
            raise self.broken(f"axes are not orthonormal: off by {oblique:.1e}")
        largest = float(np.max(np.abs(a), initial=0.0))
        if not whole or largest == 0:
            return
        scaled = a.astype(np.longdouble) / largest
        square = scaled if symmetric else scaled.T @ scaled
        values = self.found.values / largest / (1 if symmetric else largest)
        back = (wide * values) @ wide.T
        wrong = float(np.linalg.norm((square - back).astype(np.float64), 1))
        ratio = wrong / (float(np.linalg.norm(square.astype(np.float64), 1)) * order * EPS)
        if ratio >= _PASS:
            raise self.broken(f"the pairs give the matrix back with ratio {ratio:.1f}")

    def words(self) -> None:
        """Equal eigenvalues must be named as axes that cannot be told apart."""
        whole = np.concatenate([self.truth, self.rest[:1]])
        for i in range(len(whole) - 1):
            if whole[i] != whole[i + 1] or whole[i] <= 2 * self.certificate.zero_level:
                continue
            if not any(i in group and i + 1 in group for group in self.certificate.groups):
                raise self.broken(f"axes {i + 1} and {i + 2} have one eigenvalue; no group")
