"""Limits for rows: new rows within them, and rows of a fit that are named."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.statement import Statement

Table = NDArray[np.float64]
_NEW = 400  # rows that a limit is tried on


def drawn(law: str, rng: np.random.Generator, n: int, p: int) -> Table:
    """Return rows of independent columns."""
    if law == "normal":
        return rng.standard_normal((n, p))
    return rng.standard_t(5, (n, p)) if law == "t5" else rng.exponential(size=(n, p))


def within(
    law: str, shape: tuple[int, int], k: int, strong: bool, level: float, which: str, seed: int
) -> float:
    """Return the share of new rows within the limit of T² or Q."""
    from mercer.diagnostics import outliers

    rng, (n, p) = np.random.default_rng([seed, *shape]), shape
    sizes = np.where(np.arange(p) < k, 5.0 if strong else 1.0, 1.0)
    rows, new = (drawn(law, rng, count, p) * sizes for count in (n, _NEW))
    limits = outliers(rows, k, level=level, seed=seed).new
    new = new - rows.mean(axis=0)
    _, s, v = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    z = new @ v[:k].T
    if which == "t2":
        return float(np.mean(z**2 @ ((n - 1) / s[:k] ** 2) <= limits.t2))
    return float(np.mean(np.sum(new**2, axis=1) - np.sum(z**2, axis=1) <= limits.q))


def none_named(n: int, p: int, k: int, seed: int) -> bool:
    """Tell whether no row of a clean normal table is named."""
    from mercer.diagnostics import outliers

    rows = np.random.default_rng([seed, n, p]).standard_normal((n, p))
    return not outliers(rows, k).flagged.size


def far_row_named(n: int, p: int, k: int, everywhere: bool, seed: int) -> bool:
    """Tell whether a row at 8 deviations, in all columns or in one, is named."""
    from mercer.diagnostics import outliers

    rows = np.random.default_rng([seed, n, p]).standard_normal((n, p))
    rows[0, : None if everywhere else 1] = 8.0
    return 0 in outliers(rows, k).flagged


def robust_named(n: int, p: int, method: str, seed: int) -> float:
    """Return the share of clean new rows that `RobustPCA.is_outlier` names."""
    from mercer import RobustPCA

    rng = np.random.default_rng([seed, n, p])
    sizes = np.where(np.arange(p) < 1, 5.0, np.where(np.arange(p) < 2, 3.0, 1.0))
    rows, new = (rng.standard_normal((count, p)) * sizes for count in (n, _NEW))
    return float(np.mean(RobustPCA(2, method=method).fit(rows).is_outlier(new)))


def _of_new_rows() -> list[Statement]:
    found = []
    for n, level, reach in ((40, 0.95, 0.025), (100, 0.95, 0.015), (100, 0.99, 0.007)):
        for law in ("normal", "t5", "exponential"):
            for p, k, strong in ((6, 2, True), (n // 2, 1, False), (2 * n, 2, False)):
                axes = "real" if strong else "of noise"
                for which, name in (("t2", "T²"), ("q", "Q")):
                    found.append(
                        Statement(
                            f"rows/{which}-{100 * level:g}-{law}-{n}x{p}",
                            f"a new row is within the limit of {name}",
                            f"{law}, {n} × {p}, {k} axes {axes}",
                            partial(within, law, (n, p), k, strong, level, which),
                            least=level - reach,
                            most=level + reach,
                            nominal=level,
                            runs=200,
                        )
                    )
    return found


def _of_the_fit() -> list[Statement]:
    found = []
    for n, p, k in ((40, 4, 2), (40, 80, 2), (100, 20, 1), (100, 100, 3), (400, 10, 2)):
        found.append(
            Statement(
                f"rows/named-clean-{n}x{p}",
                "no row is named",
                f"normal, {n} × {p}, {k} axes",
                partial(none_named, n, p, k),
                least=0.94,
            )
        )
    for n, p, k in ((40, 6, 2), (100, 6, 1), (200, 20, 3)):
        for everywhere in (True, False):
            where = "in all columns" if everywhere else "in one column"
            found.append(
                Statement(
                    f"rows/named-far-{'all' if everywhere else 'one'}-{n}x{p}",
                    "the row is named",
                    f"normal, {n} × {p}, {k} axes, one row at 8 deviations {where}",
                    partial(far_row_named, n, p, k, everywhere),
                    least=0.95,
                    runs=200,
                )
            )
    return found


def _robust() -> list[Statement]:
    return [
        Statement(
            f"rows/robust-{method}-{n}x{p}",
            "a clean new row is named",
            f"normal, {n} × {p}, two axes of deviations 5 and 3",
            partial(robust_named, n, p, method),
            least=0.01,
            most=0.03,
            nominal=0.02,
            runs=200,
        )
        for method in ("reweighted", "spherical")
        for n, p in ((40, 4), (40, 30), (100, 20), (400, 10))
    ]


STATEMENTS = (*_of_new_rows(), *_of_the_fit(), *_robust())
