"""Intervals of variances, shares and loadings, and axes that are called stable."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.statement import Outcome, Statement

Table = NDArray[np.float64]
RUNS, DRAWS = 200, 100
SHAPES = ((200, 10), (200, 50), (100, 100), (100, 200))
TIMES = (2.0, 6.0, 20.0)  # of √(p/n): the spikes less one, in units of noise
TAILED = (200, 20)
LAWS = {"t5": 0.88, "exponential": 0.88, "lognormal .5": 0.88, "lognormal 1": 0.80}


def drawn(rng: np.random.Generator, law: str, n: int, p: int) -> Table:
    """Return cells of mean zero and variance one."""
    if law == "t5":
        return rng.standard_t(5, (n, p)) / np.sqrt(5 / 3)
    if law == "exponential":
        return rng.exponential(size=(n, p)) - 1
    if law.startswith("lognormal"):
        size = float(law.split()[1])
        cells = np.exp(size * rng.standard_normal((n, p))) - np.exp(size**2 / 2)
        return cells / np.sqrt(np.exp(size**2) * (np.exp(size**2) - 1))
    return rng.standard_normal((n, p))


@lru_cache(maxsize=4096)
def said(law: str, n: int, p: int, seed: int) -> dict[str, Outcome]:
    """Return what the intervals of three spikes held."""
    from mercer import PCA, bootstrap

    rng = np.random.default_rng([seed, n, p, 21])
    k, extra = len(TIMES), np.sort(np.array(TIMES) * np.sqrt(p / n))[::-1]
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0].T
    table = drawn(rng, law, n, k) * np.sqrt(extra) @ axes + drawn(rng, law, n, p)
    found = bootstrap(PCA(k), table, draws=DRAWS, seed=seed)
    true = 1 + extra
    share = true / (p + np.sum(extra))
    model = PCA(k).fit(table)
    cosines = np.sum(model.components_ * axes, axis=1)
    loadings = (np.sign(cosines) * np.sqrt(true))[:, None] * axes
    given = np.isfinite(found.signed.low.T)
    held = (loadings >= found.signed.low.T) & (loadings <= found.signed.high.T)
    apart = np.degrees(np.arccos(np.minimum(np.abs(cosines), 1)))
    stable = np.zeros(k, bool)
    stable[[one.axes[0] for one in found.planes if one.stable and len(one.axes) == 1]] = True
    return {
        "variances": (float(np.sum(_in(found.variances, true))), k),
        "shares": (float(np.sum(_in(found.shares, share))), k),
        "loadings": (float(np.sum(held[given])), float(np.sum(given))),
        "false": (float(np.sum(stable & (apart > 30))), float(np.sum(stable))),
        "found": (float(np.sum(stable & (apart < 15))), float(np.sum(apart < 15))),
    }


def _in(span: object, true: Table) -> NDArray[np.bool_]:
    low, high = span.low, span.high  # type: ignore[attr-defined]
    return np.asarray((low <= true) & (true <= high))


def one(law: str, n: int, p: int, what: str, seed: int) -> Outcome:
    """Return one of what was said."""
    return said(law, n, p, seed)[what]


def _normal() -> list[Statement]:
    ends = {
        "variances": ("variances within 95 % intervals", 0.92, 0.975, 0.95),
        "shares": ("shares within 95 % intervals", 0.92, 0.975, 0.95),
        "loadings": ("loadings of stable axes within 95 % intervals", 0.92, 0.975, 0.95),
        "false": ("axes called stable more than 30° away", 0.0, 0.05, None),
        "found": ("axes within 15° called stable", 0.8, 1.0, None),
    }
    return [
        Statement(
            f"intervals/{what}-{n}x{p}",
            says,
            f"normal, {n} × {p}, spikes of 1 + 2, 6 and 20 √(p/n)",
            partial(one, "normal", n, p, what),
            least=least,
            most=most,
            nominal=nominal,
            runs=RUNS,
        )
        for n, p in SHAPES
        for what, (says, least, most, nominal) in ends.items()
    ]


def _tailed() -> list[Statement]:
    n, p = TAILED
    return [
        Statement(
            f"intervals/{what}-{law.replace(' ', '-')}",
            f"{what} within 95 % intervals",
            f"{law} cells and spikes, {n} × {p}, spikes of 1 + 2, 6 and 20 √(p/n)",
            partial(one, law, n, p, what),
            least=least,
            nominal=0.95,
            runs=RUNS,
        )
        for law, least in LAWS.items()
        for what in ("variances", "shares", "loadings")
    ]


STATEMENTS = (*_normal(), *_tailed())
