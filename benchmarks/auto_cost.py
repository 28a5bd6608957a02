"""What "auto" adds to a fit on the Gram path: ``python -m benchmarks auto_cost [--case P]``.

n = 100·p rows with five factors in noise that differs by column. A fit with n_components="auto"
and one with the number that it finds take turns in one process; the extra is the difference of
the medians as a share of the plain fit. Every case runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases

FACTORS = 5
ROWS_PER_COLUMN = 100
LIMIT = 0.10  # of the fit
_AT_ONCE = 20_000  # rows made in one go
_TURNS = 9
_LONG = (3.0, 7)  # seconds of a fit from which fewer turns are enough, and how many


def table(p: int, dtype: str) -> NDArray[Any]:
    """Return five factors in noise of sd 0.3 to 1.7, (100p, p)."""
    rng = np.random.default_rng(0)
    n, loadings = ROWS_PER_COLUMN * p, rng.standard_normal((FACTORS, p))
    sizes = rng.uniform(0.3, 1.7, p)
    rows = np.empty((n, p), dtype)
    for start in range(0, n, _AT_ONCE):
        part = rows[start : start + _AT_ONCE]
        noise = rng.standard_normal(part.shape) * sizes
        part[:] = rng.standard_normal((len(part), FACTORS)) @ loadings + noise
    return rows


def cost(p: int, dtype: str, turns: int = _TURNS) -> Cell:
    """Return the medians of both fits, in turns, and the extra of "auto"."""
    from mercer import PCA

    rows = table(p, dtype)
    found = PCA("auto").fit(rows)  # and all is warm
    k = int(found.n_components_)
    PCA(k).fit(rows)
    seconds: dict[str, list[float]] = {"auto": [], "plain": []}
    processor: dict[str, list[float]] = {"auto": [], "plain": []}
    for turn in range(turns):
        if turn >= _LONG[1] and seconds["plain"][0] >= _LONG[0]:
            break
        for name in ("auto", "plain") if turn % 2 else ("plain", "auto"):
            start, work = time.perf_counter(), time.process_time()
            PCA("auto" if name == "auto" else k).fit(rows)
            processor[name].append(time.process_time() - work)
            seconds[name].append(time.perf_counter() - start)
    auto, plain = (float(np.median(seconds[name])) for name in ("auto", "plain"))
    extra = (auto - plain) / plain
    return {
        "path": found.plan_.chosen.name,
        "rows": len(rows),
        "columns": p,
        "dtype": dtype,
        "components": k,
        "seconds": auto,
        "rival": "the same fit with the number given",
        "rival_seconds": plain,
        "turns": len(seconds["auto"]),
        "extra": extra,
        "processor_extra": min(processor["auto"]) / min(processor["plain"]) - 1,
        "all_seconds": seconds,
        "holds": bool(extra <= LIMIT and abs(k - FACTORS) <= 1),
        "target": "at most 10 % more than the fit",
    }


CASES: dict[str, Callable[[], Cell]] = {
    f"p{p}-{dtype}": partial(cost, p, dtype)
    for p in (50, 200, 400, 1000)
    for dtype in ("float64", "float32")
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.auto_cost")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
