"""What rounding does to the entries of a float64 tile, bounded through the program.

An entry k̂(x, y) is off by at most a + r·|k(x, y)| + d·√(k(x, x)·k(y, y)). A measure says
what its own arithmetic costs: ‖x-y‖² by one product has the absolute error of a cancellation,
xᵀy one of the size ‖x‖‖y‖. A scalar step f passes an error on through its slope, over all
values that its argument may have: e^t turns an absolute error into a relative one, so that
entries that are nearly zero cost nothing.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays._namespace import EPS, Array, as_numpy, is_sparse, namespace
from mercer.arrays.programs._distances import PointCloud, lost_to_products, reach
from mercer.arrays.programs._program_rows import row_sums, squares
from mercer.arrays.programs._program_tiles import EUCLIDEAN, Path, Side, key_of
from mercer.arrays.programs._tile_programs import (
    Apply,
    ConstantNode,
    Ends,
    Join,
    Measure,
    Node,
    Through,
    Unit,
)

_STEP = 4 * EPS  # of an elementary function, relative to its value
_FALL = math.exp(-1.0)  # the largest t·e⁻ᵗ


@dataclasses.dataclass(frozen=True)
class EntryRounding:
    """Where the entries of a tile lie, and what rounding may do to each.

    Attributes
    ----------
    low, high : float
        Bounds on k(x, y).
    flat : float
        a, the part of the error that is the same for all.
    own : float
        r, the part relative to |k(x, y)|.
    ends : float
        d, the part relative to √(k(x, x)·k(y, y)).
    peak : float
        A bound on k(x, x), where `ends` is not zero.
    """

    low: float
    high: float
    flat: float = 0.0
    own: float = 0.0
    ends: float = 0.0
    peak: float = 0.0

    @property
    def size(self) -> float:
        """The largest |k(x, y)|."""
        return max(abs(self.low), abs(self.high))

    @property
    def plain(self) -> "EntryRounding":
        """The same with nothing that is relative to the ends."""
        return dataclasses.replace(
            self, flat=self.flat + _times(self.ends, self.peak), ends=0.0
        )

    def norm(self, total: float, frobenius: float, trace: float) -> float:
        """Return a bound on ‖k̂ - k‖₂ for k = D_√w·K·D_√w.

        Parameters
        ----------
        total, frobenius, trace : float
            Σw, ‖k‖_F and tr k.
        """
        found = self.flat * total + self.own * frobenius + self.ends * max(trace, 0.0)
        return found if math.isfinite(found) else math.inf


def entry_rounding(program: Node, side: Side) -> EntryRounding:
    """Return what rounding may do to the entries k(x_i, x_j) of one set of rows.

    A user's function and a matrix that is given are taken at their word.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _of(program, (), side, _falls(program))


def _falls(node: Node) -> bool:
    """Tell whether a program holds eᵗ, in which what is far weighs nothing."""
    if isinstance(node, Apply):
        return node.step in ("exp", "decay") or _falls(node.argument)
    if isinstance(node, Join):
        return _falls(node.left) or _falls(node.right)
    return isinstance(node, Through | Ends | Unit) and _falls(node.argument)


def _of(node: Node, path: Path, side: Side, falls: bool) -> EntryRounding:
    if isinstance(node, Measure):
        return _measured(node, side.held[key_of(node)], falls)
    if isinstance(node, Apply):
        below = _of(node.argument, (*path, 0), side, falls)
        return _STEPS[node.step](below, *node.constants)
    if isinstance(node, Join):
        left = _of(node.left, (*path, 0), side, falls)
        right = _of(node.right, (*path, 1), side, falls)
        return _sum(left, right) if node.how == "add" else _product(left, right)
    if isinstance(node, Through):
        return _of(node.argument, (), side.held[path], falls)
    if isinstance(node, Ends):
        return _ended(_of(node.argument, (*path, 0), side, falls), side.held[path])
    if isinstance(node, Unit):
        below = _of(node.argument, (*path, 0), side, falls)
        return _normalised(below, side.held[path])
    if isinstance(node, ConstantNode):
        return EntryRounding(node.value, node.value)
    return EntryRounding(-math.inf, math.inf)


def _most(values: Array) -> float:
    """Return the largest of some numbers, 0 of none."""
    found = as_numpy(values)
    return float(np.max(found, initial=0.0))


def _times(a: float, b: float) -> float:
    """Return a·b, where nothing is known of b but nothing is wrong too: 0·∞ = 0."""
    return 0.0 if a == 0 or b == 0 else a * b


def _measured(measure: Measure, held: Any, falls: bool) -> EntryRounding:
    """Return the bound of a measure; sums over p columns round √p times, or a few."""
    rows = held.raw if isinstance(held, PointCloud) else held
    sums = EPS * (math.sqrt(int(rows.shape[1])) + 6)
    scale = measure.number
    if measure.kind in EUCLIDEAN:
        return _distance(measure, held, sums, falls)
    if measure.kind == "dot":
        most = _most(squares(held)) * scale**2
        return EntryRounding(-most, most, ends=sums, peak=most)
    if measure.kind == "hamming":
        return EntryRounding(0.0, 1.0, own=sums)
    size = abs(held) if is_sparse(held) else namespace(held).abs(held)
    return EntryRounding(0.0, 2 * abs(scale) * _most(row_sums(size)), own=sums)


def _distance(measure: Measure, cloud: PointCloud, sums: float, falls: bool) -> EntryRounding:
    """Return that of a distance, its square or an angle; see `lost_to_products`."""
    if measure.kind == "angle":
        return EntryRounding(0.0, math.pi, flat=sums / math.sqrt(1e-4))
    squared = reach(cloud, cloud, measure.number)
    smooth = measure.kind == "sqdist"
    flat, own = lost_to_products(cloud, measure.number, smooth=smooth, falls=falls)
    return EntryRounding(
        0.0,
        squared if measure.kind == "sqdist" else math.sqrt(squared),
        flat=sums * flat,
        own=sums * (1 + own),
    )


# -- scalar steps -------------------------------------------------------------------------


def _affine(t: EntryRounding, a: float, b: float) -> EntryRounding:
    low, high = sorted((_times(a, t.low) + b, _times(a, t.high) + b))
    rising = a > 0 and b >= 0  # then a√(k_xx·k_yy) ≤ √((ak_xx + b)(ak_yy + b))
    t = t if rising else t.plain
    # |a·t| ≤ |at + b| + |b|.
    flat = _times(abs(a), t.flat) + (t.own + 2 * EPS) * abs(b)
    return EntryRounding(low, high, flat, t.own + 2 * EPS, t.ends, _times(a, t.peak) + b)


def _exp(t: EntryRounding) -> EntryRounding:
    """e^(t + δ) = e^t(1 + δ): a is relative now, and so is r·|t|, or r·|t|·eᵗ ≤ r/e flat."""
    t = t.plain
    low, high = (math.exp(min(end, 700.0)) for end in (t.low, t.high))
    if t.size <= 1 or t.high > 0:
        return EntryRounding(low, high, own=_grown(t.flat + _times(t.own, t.size)) + _STEP)
    return EntryRounding(low, high, _FALL * t.own, _grown(t.flat) + _STEP)


def _grown(wrong: float) -> float:
    """Return e^δ - 1."""
    return math.expm1(wrong) if wrong < 700 else math.inf


def _power(t: EntryRounding, exponent: float) -> EntryRounding:
    """(t + δ)^q: relative errors count |q| times, absolute ones by the slope at one end."""
    q, whole = exponent, exponent == math.floor(exponent)
    if q >= 1 and whole:  # |t|^(q-1)√(…) ≤ √(…)^q
        size = t.size**q if t.size < math.inf else math.inf
        odd = bool(q % 2)
        low = -size if t.low < 0 and odd else (0.0 if t.low <= 0 else t.low**q)
        slope = q * t.size ** (q - 1) if t.size < math.inf else math.inf
        own = q * t.own + (q + 2) * EPS
        return EntryRounding(low, size, _times(slope, t.flat), own, q * t.ends, t.peak**q)
    t = t.plain
    low, high = max(t.low, 0.0), max(t.high, 0.0)
    own = abs(q) * t.own + _STEP
    if q >= 0:
        if low > t.flat or q >= 1:
            at = high if q >= 1 else low
            flat = _times(q * at ** (q - 1) if at < math.inf else math.inf, t.flat)
        else:
            flat = t.flat**q  # |(t + δ)^q - t^q| ≤ δ^q
        return EntryRounding(low**q, high**q, flat, own)
    if low <= t.flat:
        return EntryRounding(0.0, math.inf, math.inf if t.flat else 0.0, own)
    flat = abs(q) * (low - t.flat) ** (q - 1) * t.flat
    return EntryRounding(high**q, low**q, flat, own)


def _tanh(t: EntryRounding) -> EntryRounding:
    t = t.plain  # |t|·(1 - tanh²t) ≤ ½
    low, high = math.tanh(t.low), math.tanh(t.high)
    return EntryRounding(low, high, t.flat + min(0.5, t.size) * t.own, _STEP)


def _log1p(t: EntryRounding) -> EntryRounding:
    """The slope is 1/(1 + t), and t/(1 + t) ≤ log(1 + t) ≤ t for t ≥ 0."""
    t = t.plain
    low = max(t.low, -1.0 + EPS)
    slope, own = 1 / (1 + low), t.own if low >= 0 else 0.0
    flat = slope * (t.flat + (0.0 if low >= 0 else _times(t.own, t.size)))
    return EntryRounding(math.log1p(low), math.log1p(t.high), flat, own + _STEP)


def _squared_sine(t: EntryRounding) -> EntryRounding:
    t = t.plain
    return EntryRounding(0.0, 1.0, t.flat + _times(t.own, t.size), _STEP)


def _decay(t: EntryRounding, *coefficients: float) -> EntryRounding:
    """Σc_jt^j·e⁻ᵗ: the slope by terms, t^j·e⁻ᵗ being at most (j/e)^j."""
    t = t.plain
    top = [1.0 if j == 0 else (j / math.e) ** j for j in range(len(coefficients) + 1)]
    size = [abs(c) for c in coefficients]
    slope = sum(c * (j * top[max(j - 1, 0)] + top[j]) for j, c in enumerate(size))
    rest = sum(c * (j * top[j] + top[j + 1]) for j, c in enumerate(size))
    high = sum(c * top[j] for j, c in enumerate(size))
    low = 0.0 if min(coefficients) >= 0 else -high
    return EntryRounding(low, high, slope * t.flat + rest * t.own, (2 + len(size)) * _STEP)


def _arc(t: EntryRounding) -> EntryRounding:
    t = t.plain  # the slope is (π - θ)/π
    return EntryRounding(0.0, 1.0, t.flat + t.own + _STEP, _STEP)


_STEPS: dict[str, Callable[..., EntryRounding]] = {
    "affine": _affine,
    "exp": _exp,
    "power": _power,
    "tanh": _tanh,
    "log1p": _log1p,
    "squared_sine": _squared_sine,
    "decay": _decay,
    "arc": _arc,
}


# -- two kernels, and one between its ends ------------------------------------------------


def _sum(s: EntryRounding, t: EntryRounding) -> EntryRounding:
    if s.ends and t.ends and min(s.peak, t.peak) >= 0:  # √(ab) + √(cd) ≤ √((a + c)(b + d))
        ends, peak = max(s.ends, t.ends), s.peak + t.peak
    else:
        s, t, ends, peak = s.plain, t.plain, 0.0, 0.0
    flat, own = s.flat + t.flat, EPS
    if min(s.low, t.low) >= 0:
        own += max(s.own, t.own)
    else:
        flat += _times(s.own, s.size) + _times(t.own, t.size)
    return EntryRounding(s.low + t.low, s.high + t.high, flat, own, ends, peak)


def _product(s: EntryRounding, t: EntryRounding) -> EntryRounding:
    s, t = s.plain, t.plain
    corners = [_times(a, b) for a in (s.low, s.high) for b in (t.low, t.high)]
    flat = _times(s.size, t.flat) + _times(t.size, s.flat) + s.flat * t.flat
    own = s.own + t.own + EPS
    return EntryRounding(min(corners), max(corners), flat, own)


def _ended(t: EntryRounding, g: Array) -> EntryRounding:
    """g(x)·g(y)·k(x, y): an error relative to the ends stays so."""
    most = max(_most(g), -float(np.min(as_numpy(g), initial=0.0))) ** 2
    size = _times(most, t.size)
    low = 0.0 if t.low >= 0 and float(np.min(as_numpy(g), initial=0.0)) >= 0 else -size
    flat, own = _times(most, t.flat), t.own + 3 * EPS
    return EntryRounding(low, size, flat, own, t.ends, _times(most, t.peak))


def _normalised(t: EntryRounding, inverse: Array) -> EntryRounding:
    """k(x, y)/√(k(x, x)·k(y, y)): what is relative to the ends is the same for all."""
    most = _most(inverse) ** 2
    ends, own = t.ends + 2 * t.own + 6 * EPS, t.own + 6 * EPS
    return EntryRounding(-1.0 if t.low < 0 else 0.0, 1.0, 2 * most * t.flat + ends, own)
