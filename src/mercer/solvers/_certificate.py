"""Certificate: intervals that hold the true eigenvalues, and what they say of the axes."""

import dataclasses
from typing import Any

import numpy as np

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


@dataclasses.dataclass(frozen=True, eq=False)
class Certificate:
    """How accurate k eigenpairs are, proved rather than hoped.

    Attributes
    ----------
    lower, upper : ndarray of shape (k,)
        The i-th largest eigenvalue lies in [lower_i, upper_i].
    residual : ndarray of shape (k,)
        Bound on ‖Cv_i - θ_iv_i‖, arithmetic included.
    gap : ndarray of shape (k,)
        Distance from θ_i to the intervals of all other eigenvalues.
    sine : ndarray of shape (k,)
        Bound residual_i / gap_i on the sine of the angle between v_i and the true axis.
    converged : ndarray of shape (k,) of bool
        Whether the value is within `tol`, or the interval below the level that counts as zero.
    groups : tuple of tuples of int
        Axes that cannot be told apart: only the space they span is determined. An index
        equal to k means that the group reaches beyond the axes asked for.
    tol : float
        Distance that was asked for, from a value to the far end of its interval, relative to
        the near end: no eigenvalue is farther from the value that is given.
    reached : float
        Largest such distance over the eigenvalues that are not zero for certain.
    zero_level : float
        At and below it an eigenvalue counts as zero.
    far : ndarray of shape (k,) or None
        These distances; None in models of older files.
    failure : float
        The chance, over the draws of the fit, that an interval does not hold; 0 where rows
        were not drawn for it.
    sure_upper : ndarray of shape (k,) or None
        Upper ends that hold without any chance, where `upper` has one.
    """

    lower: FloatArray
    upper: FloatArray
    residual: FloatArray
    gap: FloatArray
    sine: FloatArray
    converged: BoolArray
    groups: tuple[tuple[int, ...], ...]
    tol: float
    reached: float
    zero_level: float
    next_upper: float = 0.0
    far: FloatArray | None = None
    failure: float = 0.0
    sure_upper: FloatArray | None = None

    @classmethod
    def of(
        cls,
        values: FloatArray,
        upper: FloatArray,
        residual: FloatArray,
        *,
        error: float | FloatArray,
        tol: float,
        zero_level: float,
        lower: FloatArray | None = None,
        psd: bool = False,
    ) -> "Certificate":
        """Return the certificate of Ritz values θ (k,) from upper bounds (k + 1,).

        Without arithmetic θ_i ≤ λ_i ≤ upper_i; `error`, a number or (k,), widens both
        ends. upper_{k+1} bounds every eigenvalue that was not asked for.
        """
        k = len(values)
        lower = (values if lower is None else lower) - error
        lower = np.maximum(lower, 0.0) if psd else lower
        tops = np.maximum(upper[:k], values) + error
        last = error[-1] if isinstance(error, np.ndarray) and error.ndim else error
        after = float(upper[k]) + float(last) if len(upper) > k else -np.inf
        far = _distances(values, lower, tops, zero_level)
        nonzero, converged = np.abs(values) > zero_level, far <= tol
        if not (nonzero.all() and converged.all()):
            ends = np.maximum(tops, -lower)
            near = ~nonzero & (ends <= 2 * (zero_level + error))
            converged |= near | (ends <= zero_level)
        residual, gap = residual + error, _gaps(values, lower, tops, after)
        return cls(
            lower=lower,
            upper=tops,
            residual=residual,
            gap=gap,
            sine=_sines(residual, gap),
            converged=converged,
            groups=_groups(lower, tops, after, nonzero),
            tol=tol,
            reached=float(far[nonzero | ~converged].max(initial=0.0)),
            zero_level=zero_level,
            next_upper=max(after, 0.0),
            far=far,
        )

    @property
    def met(self) -> bool:
        """Whether every pair asked for has converged."""
        return bool(np.all(self.converged))

    def judged_by(self, tol: float) -> "Certificate":
        """Return the certificate as if another tolerance had been asked for."""
        return dataclasses.replace(self, tol=tol, converged=self.converged | (self._far <= tol))

    @property
    def _far(self) -> FloatArray:
        """Distances from the values; where these are not known, from anywhere in between."""
        if self.far is not None:
            return self.far
        return _distances(self.upper, self.lower, self.upper, self.zero_level)

    def between(
        self, values: FloatArray, lower: FloatArray, upper: FloatArray, *, zero_level: float
    ) -> "Certificate":
        """Return the certificate of the same pairs with other numbers for their eigenvalues."""
        far = _distances(values, lower, upper, zero_level)
        zero = np.maximum(upper, -lower) <= zero_level
        zero |= self.converged & (np.abs(values) <= zero_level)
        converged = zero | (far <= self.tol)
        counted = (np.abs(values) > zero_level) | ~converged
        return dataclasses.replace(
            self,
            lower=lower,
            upper=upper,
            converged=converged,
            reached=float(np.max(far[counted], initial=0.0)),
            zero_level=zero_level,
            far=far,
            sure_upper=None,
        )

    def with_residual(self, residual: FloatArray) -> "Certificate":
        """Return the certificate of other vectors for the same eigenvalues."""
        return dataclasses.replace(self, residual=residual, sine=_sines(residual, self.gap))

    def of_pairs(
        self, values: FloatArray, lower: FloatArray, residual: FloatArray
    ) -> "Certificate":
        """Return the certificate of other pairs for the same eigenvalues.

        Parameters
        ----------
        values : ndarray of shape (k,)
            The new values, descending.
        lower : ndarray of shape (k,)
            Lower bounds that hold as well, arithmetic included; the better of two stays.
        residual : ndarray of shape (k,)
            Bounds on ‖Cv_i - values_i·v_i‖ for the new vectors, which have norm one.
        """
        new = Certificate.of(
            values,
            np.append(self.upper, self.next_upper),
            residual,
            error=0.0,
            tol=self.tol,
            zero_level=self.zero_level,
            lower=np.maximum(self.lower, lower),
        )
        return dataclasses.replace(
            new, converged=self.converged | new.converged, failure=self.failure
        )

    def widened(self, values: FloatArray, error: FloatArray, beyond: float) -> "Certificate":
        """Return the certificate of the exact matrix from that of a rounded one.

        Parameters
        ----------
        values : ndarray of shape (k,)
            The Ritz values θ.
        error : ndarray of shape (k,)
            Bounds on ‖(Â - A)q_i‖.
        beyond : float
            Bound on ‖Â - A‖, charged to all that was not asked for; where that reaches θ_k
            it widens every interval.
        """
        after = self.next_upper + beyond
        if len(values) and after >= values[-1]:
            error = np.maximum(error, beyond)
        wide = Certificate.of(
            values,
            np.append(self.upper, after),
            self.residual,
            error=error,
            tol=self.tol,
            zero_level=self.zero_level,
            lower=self.lower,
            psd=bool(np.all(self.lower >= 0)),
        )
        return dataclasses.replace(wide, failure=self.failure)

    def rounded(self, unit: float) -> "Certificate":
        """Return the certificate of axes that were stored with relative rounding `unit`."""
        if unit == 0:
            return self
        return dataclasses.replace(self, sine=np.minimum(self.sine + unit, 1.0))

    def scaled(self, factor: float, exponent: int = 0) -> "Certificate":
        """Return the certificate of the matrix multiplied by `factor`·2^`exponent`."""
        arrays: tuple[str, ...] = ("lower", "upper", "residual", "gap")
        if self.sure_upper is not None:
            arrays = (*arrays, "sure_upper")
        if exponent == 0 and self._far_from_zero(factor):
            plain: dict[str, Any] = {
                name: getattr(self, name) * factor
                for name in (*arrays, "zero_level", "next_upper")
            }
            return dataclasses.replace(self, **plain)
        with np.errstate(over="ignore", under="ignore"):
            new = {n: np.ldexp(getattr(self, n) * factor, exponent) for n in arrays}
            new["lower"] = np.minimum(new["lower"], np.finfo(np.float64).max)
            for name in ("zero_level", "next_upper"):
                new[name] = float(np.ldexp(getattr(self, name) * factor, exponent))
            for name, way in (("lower", 0.0), ("upper", np.inf)):
                few = np.abs(new[name]) < np.finfo(np.float64).tiny  # few digits: round outward
                new[name] = np.where(few, np.nextafter(new[name], way), new[name])
        return dataclasses.replace(self, **new)

    def _far_from_zero(self, factor: float) -> bool:
        """Tell whether no bound comes near the ends of float64 when it is multiplied."""
        if not len(self.lower):
            return True
        least, most = float(self.lower.min()), float(self.upper.max())
        small, large = min(least, self.zero_level), max(most, self.next_upper)
        return small * factor > 1e-280 and large * factor < 1e280

    def first(self, k: int) -> "Certificate":
        """Return the certificate of the first k of these pairs."""
        if k == len(self.lower):
            return self
        names = ("lower", "upper", "residual", "gap", "sine", "converged")
        cut = {name: getattr(self, name)[:k] for name in names} | {"far": self._far[:k]}
        if self.sure_upper is not None:
            cut["sure_upper"] = self.sure_upper[:k]
        counted = (cut["lower"] > self.zero_level) | ~cut["converged"]
        groups = tuple(tuple(i for i in g if i <= k) for g in self.groups)
        following = self.upper[k] if k < len(self.upper) else self.next_upper
        return dataclasses.replace(
            self,
            **cut,
            groups=tuple(g for g in groups if len(g) > 1 and g[0] < k),
            reached=float(np.max(cut["far"][counted], initial=0.0)),
            next_upper=float(following),
        )

    def padded(self, short: int) -> "Certificate":
        """Return the certificate with `short` eigenvalues more that are zero for certain."""
        more = dict.fromkeys(("lower", "upper", "residual", "gap"), np.zeros(short))
        more |= {"sine": np.ones(short), "converged": np.ones(short, bool)}
        longer: dict[str, Any] = {
            n: np.concatenate([getattr(self, n), part]) for n, part in more.items()
        }
        longer["far"] = np.concatenate([self._far, np.zeros(short)])
        if self.sure_upper is not None:
            longer["sure_upper"] = np.concatenate([self.sure_upper, np.zeros(short)])
        return dataclasses.replace(self, **longer)

    @property
    def shortfall(self) -> str:
        """How far the worst value may be off, and how many may be anything down to zero."""
        lost = ~self.converged & (self.lower <= self.zero_level)
        known = self._far[~lost & (self.upper > self.zero_level)]
        words = [f"worst {max(known, default=0.0):.1e}"] if len(known) or not lost.any() else []
        if lost.any():
            most = float(np.max(self.upper[lost]))
            words.append(f"{np.sum(lost)} cannot be told from zero, at most {most:.1e}")
        return "; ".join(words)

    @property
    def chance(self) -> str:
        """What the draws of the fit leave to chance, in a sentence, or nothing."""
        if not self.failure:
            return ""
        words = f"these intervals fail with a probability of at most {self.failure:.0e}"
        if self.sure_upper is None:
            return words
        far = _distances(self.lower, self.lower, self.sure_upper, self.zero_level)
        return f"{words}; without any, they reach to {float(np.max(far, initial=0.0)):.1e}"

    def __str__(self) -> str:
        """Return one sentence for the whole and one for each group."""
        done = int(np.sum(self.converged))
        of = f"certificate: {done} of {len(self.lower)} eigenvalues within {self.tol:.0e}"
        lines = [f"{of} ({self.shortfall})"]
        for group in self.groups:
            names = ", ".join(str(i + 1) for i in group)
            lines.append(f"  axes {names} cannot be told apart: only their span is determined")
        if self.failure:
            lines.append(f"  {self.chance}")
        return "\n".join(lines)


def _distances(
    values: FloatArray, lower: FloatArray, upper: FloatArray, zero_level: float
) -> FloatArray:
    """Return max(upper - θ, θ - lower)/size, the size of an interval its distance to zero."""
    tiny = float(np.finfo(np.float64).tiny)
    size = np.maximum(np.maximum(lower, -upper), zero_level or tiny)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.maximum(upper - values, values - lower) / size)


def _gaps(values: FloatArray, lower: FloatArray, upper: FloatArray, after: float) -> FloatArray:
    """Return the distance (k,) from each value to the intervals of all others, at least 0."""
    gaps = np.array(values - after)  # -inf: there are no others
    if len(values) > 1:
        above = np.minimum.accumulate(lower)[:-1]
        below = np.maximum.accumulate(upper[::-1])[::-1][1:]
        gaps[1:] = np.minimum(gaps[1:], above - values[1:])
        gaps[:-1] = np.minimum(gaps[:-1], values[:-1] - below)
    return np.maximum(gaps, 0.0, out=gaps)


def _sines(residual: FloatArray, gap: FloatArray) -> FloatArray:
    """Return residual / gap (k,), and 1 where that proves nothing."""
    if (gap > residual).all():
        return np.asarray(residual / gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = np.where(gap > 0, residual / gap, 1.0)
    return np.asarray(np.minimum(sine, 1.0))


def _groups(
    lower: FloatArray, upper: FloatArray, after: float, nonzero: BoolArray
) -> tuple[tuple[int, ...], ...]:
    """Return runs of consecutive axes whose intervals overlap; zero axes are left out."""
    if not len(lower) or (lower[-1] > after and (lower[:-1] > upper[1:]).all()):
        return ()
    tops = np.append(upper[1:], after)[: len(lower)]
    joined = nonzero & (lower <= tops)  # with the next one
    joined[:-1] &= nonzero[1:]
    at = np.flatnonzero(joined)
    if at.size == 0:
        return ()
    runs = np.split(at, np.flatnonzero(np.diff(at) > 1) + 1)
    return tuple(tuple(range(int(run[0]), int(run[-1]) + 2)) for run in runs)
