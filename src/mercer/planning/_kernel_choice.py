"""What it costs to choose the number of kernel axes: matrices of shuffled tables, at first."""

import dataclasses

from mercer.planning._paths import Path
from mercer.planning._problem import Problem

_TABLES = 40  # the rows themselves and 39 shuffled tables, at most
_ROWS = (100, 500)  # of a table, fewest and most
_CELLS = 2e6  # of a table, unless it has the fewest rows
_SHUFFLE = 1.5e8  # cells shuffled in a second
_VALUES = 4.0  # how much quicker eigenvalues are without their vectors


def shuffled_rows(rows: int, cols: int) -> int:
    """Return how many rows the tables have that are shuffled."""
    fewest, most = _ROWS
    return min(rows, max(fewest, min(most, int(_CELLS // max(cols, 1)))))


def shuffled_seconds(p: Problem) -> float:
    """Return the seconds of all shuffled tables: columns moved, matrices, eigenvalues."""
    kernel, machine = p.kernel, p.rates
    if kernel is None or not kernel.shuffled:
        return 0.0
    n = float(kernel.shuffled)
    made = (
        n
        * n
        * (
            kernel.flops / machine.rate(machine.symmetric, 8)
            + kernel.exponentials / machine.rate(machine.exponentials, 8)
        )
    )
    values = n**3 / (_VALUES * machine.eigen * machine.threads)
    return _TABLES * (n * p.cols / _SHUFFLE + made + values)


def with_choice(path: Path, p: Problem) -> Path:
    """Return the path with what choosing the number of axes adds to it."""
    seconds = shuffled_seconds(p)
    if not seconds:
        return path
    n = float(p.kernel.shuffled) if p.kernel is not None else 0.0
    held = max(path.bytes, int(32 * n * n + 24 * n * p.cols))
    return dataclasses.replace(path, seconds=path.seconds + seconds, bytes=held)


def choice_line(p: Problem) -> str:
    """Return what a plan says of the choice, or nothing."""
    seconds = shuffled_seconds(p)
    if not seconds or p.kernel is None:
        return ""
    return (
        f"     first {_TABLES} kernel matrices of {p.kernel.shuffled:,} rows at most,"
        f" {seconds:.2g} s of these: how many axes are beyond noise"
    )
