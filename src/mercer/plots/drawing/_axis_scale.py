"""From data units to pixels: round ticks, equal units, and a straight map."""

import math
from dataclasses import dataclass

Range = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """The map from data [low, high] to pixels [start, stop]: a + b·value, or a + b·√value."""

    low: float
    high: float
    start: float
    stop: float
    root: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of ``value``."""
        low, high = self.low, self.high
        if self.root:
            low, high, value = (math.sqrt(max(v, 0.0)) for v in (low, high, value))
        share = (value - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def back(self, pixel: float) -> float:
        """Return the value whose pixel this is; what lies below a root scale is zero."""
        low, high = self.low, self.high
        if self.root:
            low, high = math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
        value = low + (pixel - self.start) / (self.stop - self.start) * (high - low)
        return max(value, 0.0) ** 2 if self.root else value


def pad(span: Range, share: float) -> Range:
    """Widen [low, high] by ``share`` of its length on both sides."""
    room = share * (span[1] - span[0])
    return span[0] - room, span[1] + room


def equalise(x: Range, y: Range, width: float, height: float) -> tuple[Range, Range]:
    """Widen one of two ranges so that a unit is as long in x as in y.

    Parameters
    ----------
    x, y : (float, float)
        Limits in data units.
    width, height : float
        Pixels at hand in the two directions.

    Returns
    -------
    x, y : (float, float)
        Limits with (x₁−x₀)/width = (y₁−y₀)/height, both containing the given ones.
    """
    unit = max((x[1] - x[0]) / width, (y[1] - y[0]) / height)
    return _widen(x, unit * width), _widen(y, unit * height)


def _widen(span: Range, length: float) -> Range:
    middle = (span[0] + span[1]) / 2
    return middle - length / 2, middle + length / 2


def round_step(length: float, count: int = 5) -> float:
    """Return 1, 2 or 5 times a power of ten, about ``length / count``.

    Examples
    --------
    >>> round_step(1.0), round_step(33.0)
    (0.2, 5.0)
    """
    rough = length / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= 0.7 * rough)


def ticks(low: float, high: float, step: float | None = None) -> tuple[tuple[float, str], ...]:
    """Return round numbers in [low, high] with their labels.

    Parameters
    ----------
    low, high : float
        Limits.
    step : float, optional
        Distance between ticks; by default a round one that gives about five.

    Examples
    --------
    >>> [label for _, label in ticks(0.0, 1.0)]
    ['0', '0.2', '0.4', '0.6', '0.8', '1.0']
    """
    if step is None:
        step = round_step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return tuple((i * step, _label(i * step, digits)) for i in range(first, last + 1))


def root_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Return numbers in [low, high] that stand well apart on a root scale, zero with them.

    Examples
    --------
    >>> [label for _, label in root_ticks(0.0, 100.0)]
    ['0', '5', '20', '50', '100']
    """
    top = math.sqrt(max(high, 0.0))
    chosen: list[float] = []
    power = math.floor(math.log10(high)) if high > 0 else 0
    # From the largest down, so that the far end, where readers look, always has its number.
    for exponent in range(power, power - 6, -1):
        for value in (m * 10.0**exponent for m in (5, 2, 1)):
            apart = not chosen or math.sqrt(chosen[-1]) - math.sqrt(value) > 0.17 * top
            if low <= value <= high * (1 + 1e-9) and apart and math.sqrt(value) > 0.12 * top:
                chosen.append(value)
    marks = [(value, f"{value:g}") for value in reversed(chosen)]
    return ((0.0, "0"), *marks) if low <= 0 else tuple(marks)


def _label(value: float, digits: int) -> str:
    if value != 0 and (abs(value) >= 1e5 or digits > 4):
        return f"{value:.3g}"
    return "0" if abs(value) < 0.5 * 10.0**-digits else f"{value:.{digits}f}"
