"""RunningMoments: the sums of all rows so far; a file, a stream, a checkpoint, a cluster."""

import math
from typing import Any, Self, final

import numpy as np

from mercer.arrays import EPS, Array, as_numpy, binary_exponent
from mercer.errors import InputError
from mercer.operators._centring import Moments
from mercer.operators._scaling import LEAST_SPREAD
from mercer.operators.rows._dense_rows import SAFE, Rows

_WEIGHTS = 1e-6  # share of Σw that rounding may leave after the last row has gone
_FAR = 4.0  # squared distance of mean and origin, in variances, from which it is moved
_STRIP = 4e6  # bytes of a rank-one correction that are made at a time
_LEAST = 1e-290  # squares of a column, beside which there is nothing left to compare
_NOTHING = 1e-12  # share of the weight that is rounding when all else was taken out


@final
class RunningMoments:
    """Count, mean and centred scatter of rows that come in parts; parts merge in any order.

    A part is Σw, an origin o, e = mean - o and S = Σw(x - mean)(x - mean)ᵀ, each about its
    own origin. Two merge by S = S_a + S_b + (n_a·n_b/n)δδᵀ with δ = (o_a - o_b) + (e_a - e_b),
    and (o, e) = (o_a, e_a - (n_b/n)δ): never from rounded means, which lose the digits that
    matter far from the origin. o is the origin of the heaviest block seen: about that of one
    that weighs next to nothing, and lies far away, e would have no digits left. Everything
    is in units of 2^exponent; a part in other units is rescaled, which is exact.

    Parameters
    ----------
    whole : bool
        Whether S is kept whole (p, p), or its diagonal alone (p,).

    Attributes
    ----------
    rows : int
        Rows seen.
    total : float
        Σw.
    origin, offset : ndarray of shape (p,) or None
        o, in the units of the data, and e; None before the first row.
    exponent : int
        Power of two taken out of the rows.
    scatter : ndarray of shape (p, p) or (p,)
        S.
    anchor : float
        Σw of the block whose origin is o.
    safe : int
        Exponents up to this one need no unit: 28 where products are float32.
    raw_trace, error : float
        Σw‖x - o‖² over the parts, each about its own origin; and a bound on the norm of the
        error of S.
    drift : float
        Bound on the norm of the error of e: what is wrong with a mean goes into S with δ.
    vanished : ndarray of shape (p,) or None
        Which columns had squares that are nothing in the unit of the sums; see `Rows.vanished`.
    errors, drifts : ndarray of shape (p,) or None
        The same column by column, for columns that are scaled: with factors f the error of S
        has a norm of at most Σf²·errors. A column that is small beside the others, or has
        lost rows that were not, has an error of its own. None in models of older files.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import rows_of
    >>> from mercer.sources import scan
    >>> X = np.arange(12.0).reshape(6, 2) + 1e8
    >>> one, two = RunningMoments(), RunningMoments()
    >>> _, _ = one.add(rows_of(scan(X[:2]))), two.add(rows_of(scan(X[2:])))
    >>> one.merge(two).moments().variances
    array([14., 14.])
    """

    vanished: Array | None = None  # of sums in files that do not have it
    errors: Array | None = None
    drifts: Array | None = None

    def __init__(self, whole: bool = True) -> None:
        self.whole = whole
        self.rows, self.total, self.exponent = 0, 0.0, 0
        self.raw_trace = self.error = 0.0
        self.anchor, self.safe, self.drift = 0.0, SAFE[8], 0.0
        self.errors = self.drifts = None
        self.origin: Array | None = None
        self.offset: Array = np.zeros(0)
        self.scatter: Array = np.zeros(0)
        self.vanished = None

    @classmethod
    def of(cls, rows: Rows, found: Moments, count: int | None = None) -> Self:
        """Return the sums that one part has left, without a copy: of `count` rows, or all."""
        count = rows.shape[0] if count is None else count
        self = cls(found.scatter.ndim == 2)
        self.rows, self.total, self.exponent = count, found.total, rows.exponent
        self.origin = as_numpy(rows.origin).astype(np.float64)
        self.offset = as_numpy(found.offset)
        self.scatter = as_numpy(found.scatter)
        self.raw_trace, self.error = found.raw_trace, found.error
        self.anchor, self.safe = found.total, SAFE[rows.products.itemsize]
        if rows.scaling is not None and rows.scaling.standardize:
            self._vanish(rows.vanished(self._diagonal))
        if found.total > 0:
            rms = math.sqrt(max(found.raw_trace, 0.0) / found.total)
            self.drift = EPS * (2 + math.sqrt(self.rows)) * rms
            self._by_columns()
        return self

    @property
    def _squares(self) -> Array:
        """The diagonal of S (p,), at least 0."""
        return np.maximum(self._diagonal, 0.0)

    def _by_columns(self) -> tuple[Array, Array]:
        """Return `errors` and `drifts`; at first they are as the squares of columns about o."""
        if self.errors is None or self.drifts is None:
            raw = self._squares + self.total * self.offset**2
            share = raw / max(float(np.sum(raw)), 1e-300)
            self.errors, self.drifts = self.error * share, self.drift * np.sqrt(share)
        return self.errors, self.drifts

    def charge(self, more: float) -> None:
        """Let the products of all rows have erred by more, each column by its share."""
        if self.origin is None:  # there were none
            return
        errors, _ = self._by_columns()
        raw = self._squares + self.total * self.offset**2
        self.errors = errors + more * raw / max(float(np.sum(raw)), 1e-300)
        self.error += more

    def add(self, rows: Rows) -> Self:
        """Take rows in: one pass over them."""
        return self.merge(type(self).of(rows, rows.scatter() if self.whole else rows.moments()))

    def copy(self) -> Self:
        """Return sums that can be changed without changing these."""
        other = type(self)(self.whole)
        other.__dict__.update(vars(self))
        other.scatter = self.scatter.copy()
        return other

    def merge(self, other: "RunningMoments") -> Self:
        """Take the rows of another in; `other` must not be used afterwards."""
        self._refuse_width(other)
        if other.origin is None or other.total == 0:
            self.rows += other.rows
            return self
        if self.origin is None or self.total == 0:
            seen = self.rows
            self.__dict__.update(vars(other))
            self.rows += seen
            return self
        delta = self.together(other)
        if other.vanished is not None:
            self._vanish(other.vanished)
        total = self.total + other.total
        share = other.total / total
        self.scatter += other.scatter
        moved = self._correct(delta, self.total * share, other, 1.0)
        self._drift(other, 1 - share, share, delta)
        if other.anchor > self.anchor:
            self.origin, self.anchor = other.origin, other.anchor
            self.offset = other.offset + (self.total / total) * delta
        else:
            self.offset = self.offset - share * delta
        self._account(other, moved, self._squares)
        self.total, self.rows = total, self.rows + other.rows
        return self

    def remove(self, other: "RunningMoments") -> Self:
        """Take rows out that were added before: S = S_all - S_b - (n_a·n_b/n)δδᵀ.

        δ = mean_a - mean_b with the mean of those that stay, mean_a = mean + (n_b/n_a)
        (mean - mean_b). Digits are lost where those that go have far more variance than
        those that stay; `error` says how many.
        """
        self._refuse_width(other)
        if other.origin is None or other.total == 0:
            self.rows -= other.rows
            return self
        left = self.total - other.total
        alike = other.rows == self.rows
        if abs(left) <= (_WEIGHTS if alike else _NOTHING) * self.total:
            left = 0.0
        more = other.rows > self.rows or (alike and left != 0)
        if self.origin is None or left < 0 or more:
            raise InputError(
                "more rows are taken out than were put in",
                got=f"{other.rows} rows of weight {other.total:g} out of {self.rows}"
                f" of weight {self.total:g}",
                fix="remove only rows that were added before",
            )
        if left == 0:
            rows = self.rows - other.rows
            self.__dict__.update(vars(type(self)(self.whole)) | {"rows": rows})
            return self
        apart = self.together(other)  # mean of all minus mean of those that go
        share = other.total / left
        delta = apart * (1 + share)
        before = self._squares
        self.scatter -= other.scatter
        moved = self._correct(delta, -left * other.total / self.total, other, 1 + share)
        self._drift(other, 1 + share, share, delta)
        self.offset = self.offset + share * apart
        self._account(other, moved, before)
        self.total, self.rows = left, self.rows - other.rows
        self._refuse_foreign()
        self._slide()
        return self

    def fade(self, share: float) -> Self:
        """Let every row seen so far count `share` times as much as before."""
        self.scatter *= share
        self.total *= share
        self.anchor *= share
        self.raw_trace *= share
        self.error *= share
        self.errors = None if self.errors is None else self.errors * share
        return self

    def moments(self) -> Moments:
        """Return what the paths of PCA take; S is shared, not copied."""
        assert self.origin is not None
        sums = self.total, self.offset, self.scatter, self.raw_trace, self.error
        return Moments(*sums, self.vanished, self.errors)

    def recentred(self, dtype: Any) -> Self:
        """Move the origin to the mean, rounded to `dtype`; S stays what it is."""
        assert self.origin is not None
        with np.errstate(over="ignore"):
            step = np.ldexp(self.offset, self.exponent)
            nearer = (self.origin + step).astype(dtype).astype(np.float64)
        keep = (step == 0) | ~np.isfinite(nearer)  # what is constant stays exactly zero
        nearer = np.where(keep, self.origin, nearer)
        self.offset = self.offset + _apart(self.origin, nearer, self.exponent)
        self.origin = nearer
        return self

    def keep(self) -> dict[str, Array]:
        """Return the sums as arrays, for a checkpoint; they are shared, not copied."""
        if self.origin is None:
            return {"seen": np.array([float(self.rows)] + 7 * [0.0])}
        seen = [self.rows, self.total, self.exponent, self.raw_trace, self.error]
        seen += [self.anchor, self.safe, self.drift]
        errors, drifts = self._by_columns()
        sums = {
            "seen": np.array(seen, np.float64),
            "origin": self.origin,
            "offset": self.offset,
            "scatter": self.scatter,
            "errors": errors,
            "drifts": drifts,
        }
        return sums if self.vanished is None else sums | {"vanished": self.vanished}

    def restore(self, kept: dict[str, Array], *, ended: bool = False) -> bool:
        """Go back to what `keep` returned."""
        rows, total, exponent, raw_trace, error, anchor, safe, drift = kept["seen"].tolist()
        self.rows, self.total, self.exponent = int(rows), total, int(exponent)
        self.raw_trace, self.error = raw_trace, error
        self.anchor, self.safe, self.drift = anchor, int(safe), drift
        if "origin" in kept:
            self.origin, self.offset = kept["origin"], kept["offset"]
            self.scatter, self.vanished = kept["scatter"], kept.get("vanished")
            self.errors, self.drifts = kept.get("errors"), kept.get("drifts")
        return True

    @property
    def _diagonal(self) -> Array:
        return self.scatter if not self.whole else np.diagonal(self.scatter)

    def _vanish(self, columns: Array) -> None:
        """Remember which columns (p,) have squares that are nothing here; most often none."""
        if np.any(columns):
            self.vanished = columns if self.vanished is None else self.vanished | columns

    def _refuse_width(self, other: "RunningMoments") -> None:
        if other.origin is None:
            return
        mine = len(other.origin if self.origin is None else self.origin)
        theirs = len(other.origin)
        if mine != theirs or self.whole != other.whole:
            kind = {True: "whole", False: "diagonal"}
            raise InputError(
                "sums of different columns cannot be added",
                got=f"{mine} columns ({kind[self.whole]} scatter) and {theirs} columns"
                f" ({kind[other.whole]} scatter)",
                fix="pass rows with the same columns",
            )

    def together(self, other: "RunningMoments") -> Array:
        """Bring both to one unit and return δ (p,), the mean minus the other mean."""
        assert self.origin is not None
        assert other.origin is not None
        exponent = self._unit(other)
        for part in (self, other):
            part._by_columns()
            part.in_unit(exponent)
        self.safe = min(self.safe, other.safe)
        delta = _apart(self.origin, other.origin, exponent) + (self.offset - other.offset)
        level = LEAST_SPREAD * math.sqrt(self.total + other.total)
        moved = (delta != 0) | (self.origin != other.origin)
        self._vanish(moved & (np.abs(delta) < level))
        return delta

    def _unit(self, other: "RunningMoments") -> int:
        """Return the coarser unit, or a still coarser one where the parts lie far apart.

        A part of equal rows has no unit of its own: it says nothing of the scale.
        """
        assert self.origin is not None
        assert other.origin is not None
        known = [part.exponent for part in (self, other) if part.raw_trace > 0]
        half = np.abs(self.origin * 0.5 - other.origin * 0.5)
        apart = binary_exponent(float(np.max(half, initial=0.0))) + 2
        safe = min(self.safe, other.safe)
        if not known:
            return apart if np.any(half) and abs(apart) > safe else 0
        coarser = max(known)
        return apart if np.any(half) and apart - coarser > safe else coarser

    def in_unit(self, exponent: int) -> None:
        """Count in units of 2^exponent from now on."""
        down = self.exponent - exponent
        if down:
            before = self._diagonal > 0
            self.scatter = np.ldexp(self.scatter, 2 * down)
            self._vanish(before & (self._diagonal < LEAST_SPREAD**2 * self.total))
            self.offset = np.ldexp(self.offset, down)
            self.raw_trace = math.ldexp(self.raw_trace, 2 * down)
            self.error = math.ldexp(self.error, 2 * down)
            self.drift = math.ldexp(self.drift, down)
            if self.errors is not None and self.drifts is not None:
                self.errors = np.ldexp(self.errors, 2 * down)
                self.drifts = np.ldexp(self.drifts, down)
            self.exponent = exponent

    def _correct(
        self, delta: Array, weight: float, other: "RunningMoments", grow: float
    ) -> float:
        """Add weight·δδᵀ to S by strips; return |weight|·‖δ‖².

        Both means are wrong by their drifts, and δ by `grow` times as much.
        """
        if not self.whole:
            self.scatter += weight * delta**2
        else:
            scaled = weight * delta
            strip = max(1, int(_STRIP // (8 * max(len(delta), 1))))
            for start in range(0, len(delta), strip):
                part = slice(start, start + strip)
                self.scatter[part] += scaled[part, None] * delta[None, :]
        size, wrong = math.sqrt(float(delta @ delta)), grow * (self.drift + other.drift)
        self.error += abs(weight) * wrong * (2 * size + wrong)
        (errors, drifts), (_, theirs) = self._by_columns(), other._by_columns()
        wrongs = grow * (drifts + theirs)
        # δdᵀ + dδᵀ ≤ cδδᵀ + ddᵀ/c, with the c that is best where columns have one deviation.
        unit = np.maximum(self._squares, errors)
        unit = 1 / np.where(unit > _LEAST, unit, np.inf)
        c = math.sqrt(float(wrongs**2 @ unit) / max(float(delta**2 @ unit), 1e-300))
        both = c * delta**2 + (wrongs**2 / c if c > 0 else 0.0)
        self.errors = errors + abs(weight) * (both + wrongs**2)
        return abs(weight) * size * size

    def _drift(self, other: "RunningMoments", mine: float, theirs: float, delta: Array) -> None:
        """Let e err by `mine` of its error, `theirs` of the other's, and its own rounding."""
        (_, drifts), (_, others) = self._by_columns(), other._by_columns()
        self.drift = mine * self.drift + theirs * other.drift + _rounded(delta, self.offset)
        fresh = 2 * EPS * (np.abs(delta) + np.abs(self.offset))
        self.drifts = mine * drifts + theirs * others + fresh

    def _account(self, other: "RunningMoments", moved: float, squares: Array) -> None:
        """Count the error of the other, and of adding to a diagonal as large as `squares`."""
        self.raw_trace += other.raw_trace + moved
        # Adding rounds each entry once: at most EPS/2 of what is there, in norm of the trace.
        self.error += other.error + 2 * EPS * self.raw_trace
        self.errors = self._by_columns()[0] + other._by_columns()[0] + 2 * EPS * squares

    def _slide(self) -> None:
        """Let the origin follow a window, so that what has gone rounds nothing to come."""
        squares = self._squares
        far = self.total * self.offset**2 > _FAR * squares
        if np.any(far):
            origin, offset = self.origin, self.offset
            self.recentred(np.float64)
            self.origin = np.where(far, self.origin, origin)
            self.offset = np.where(far, self.offset, offset)
        self.raw_trace = float(np.sum(squares)) + self.total * float(self.offset @ self.offset)

    def _refuse_foreign(self) -> None:
        diagonal = self._diagonal
        worst = float(np.min(diagonal, initial=0.0))
        if worst < -4 * self.error:
            column = int(np.argmin(diagonal))
            raise InputError(
                "rows were taken out that were never put in",
                got=f"a variance below zero in column {column}",
                fix="remove only rows that were added before",
            )


def _apart(a: Array, b: Array, exponent: int) -> Array:
    """Return (a - b)·2^-exponent; by halves, since a difference may overflow."""
    return np.ldexp(a * 0.5 - b * 0.5, 1 - exponent)


def _rounded(delta: Array, offset: Array) -> float:
    """Return what the new offset may be wrong by: a few roundings of its terms."""
    return 2 * EPS * (math.sqrt(float(delta @ delta)) + math.sqrt(float(offset @ offset)))
