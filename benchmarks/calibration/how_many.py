"""How many components "auto" keeps: of noise none, of structure as many as there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.statement import Statement

Table = NDArray[np.float64]
Law = Callable[[np.random.Generator, int, int], Table]


def normal(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return white normal noise."""
    return rng.standard_normal((n, p))


def unequal(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return normal noise whose variances differ by column, uniform in .1 to 4."""
    return rng.standard_normal((n, p)) * np.sqrt(rng.uniform(0.1, 4.0, p))


def student(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return noise with Student's law of three degrees of freedom."""
    return rng.standard_t(3, (n, p))


def uniform(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return uniform noise."""
    return rng.uniform(-1.0, 1.0, (n, p))


def binary(rng: np.random.Generator, n: int, p: int) -> Table:
    """Return zeros and ones, with shares of ones from .1 to .9 by column."""
    return (rng.random((n, p)) < rng.uniform(0.1, 0.9, p)).astype(np.float64)


LAWS: dict[str, Law] = {
    "white": normal,
    "unequal": unequal,
    "t3": student,
    "uniform": uniform,
    "binary": binary,
}
SHAPES = ((20, 100), (50, 100), (60, 60), (100, 20), (200, 20), (500, 10))


def chosen(table: Table) -> int:
    """Return the number of components that "auto" finds."""
    from mercer import PCA

    return int(PCA("auto").fit(table).choice_.k)


def none_of_noise(law: Law, n: int, p: int, seed: int) -> bool:
    """Tell whether no component is found in noise."""
    return chosen(law(np.random.default_rng([seed, n, p]), n, p)) == 0


def _of_noise() -> list[Statement]:
    return [
        Statement(
            f"how-many/{name}-{n}x{p}",
            "no component is found",
            f"noise, {name}, {n} × {p}",
            partial(none_of_noise, law, n, p),
            least=0.93,
        )
        for name, law in LAWS.items()
        for n, p in SHAPES
    ]


STATEMENTS = (*_of_noise(),)
