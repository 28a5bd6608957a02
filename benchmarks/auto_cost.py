"""What "auto" adds to a fit on the Gram path: ``python -m benchmarks auto_cost [--case P]``.

n = 100·p rows with five factors in noise that differs by column. A fit with the number given,
one with n_components="auto", and one where only the rule that decides is asked take turns in
one process. The extra is a difference of a few per cent, less than the times of one fit differ
by on a shared machine, so that it is taken where other work disturbed least: between the means
of the quickest quarter of either; the difference of the medians stands beside it. The target is
on the rule that decides: the others are there for comparison. Every case runs in a process of
its own; up to about 100 columns such fits take the SVD path.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases
from mercer.selection import _choice

FACTORS = 5
ROWS_PER_COLUMN = 100
LIMIT = 0.10  # of the fit
_AT_ONCE = 20_000  # rows made in one go
_TURNS = 240
_LONG = (40.0, 9)  # seconds after which no more turns are made, and how many there are at least


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


@contextmanager
def _other_rules(asked: bool) -> Iterator[None]:
    """Leave out the rules that only stand beside the one that decides, unless asked."""
    rules = _choice.spectrum_rules
    if not asked:
        _choice.spectrum_rules = lambda *_: ()
    try:
        yield
    finally:
        _choice.spectrum_rules = rules


def cost(p: int, dtype: str, turns: int = _TURNS) -> Cell:
    """Return the times of the fits, in turns, and the extra of "auto"."""
    from mercer import PCA

    rows = table(p, dtype)
    found = PCA("auto").fit(rows)  # and all is warm
    k = int(found.n_components_)
    PCA(k).fit(rows)
    names = ("plain", "deciding", "auto")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    processor: dict[str, list[float]] = {name: [] for name in names}
    begun = time.perf_counter()
    for turn in range(turns):
        if turn >= _LONG[1] and time.perf_counter() - begun > _LONG[0]:
            break
        for name in names if turn % 2 else names[::-1]:
            with _other_rules(name == "auto"):
                start, work = time.perf_counter(), time.process_time()
                PCA(k if name == "plain" else "auto").fit(rows)
                processor[name].append(time.process_time() - work)
                seconds[name].append(time.perf_counter() - start)
    plain, deciding, auto = (_undisturbed(seconds[name]) for name in names)
    half_way = {name: float(np.median(seconds[name])) for name in names}
    extra = (deciding - plain) / plain
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
        "extra_with_all_rules": (auto - plain) / plain,
        "extra_of_medians": half_way["deciding"] / half_way["plain"] - 1,
        "processor_extra": _undisturbed(processor["deciding"])
        / _undisturbed(processor["plain"])
        - 1,
        "all_seconds": {name: np.round(all_, 6).tolist() for name, all_ in seconds.items()},
        "holds": bool(extra <= LIMIT and abs(k - FACTORS) <= 1),
        "target": "the rule that decides costs at most 10 % of the fit",
    }


def _undisturbed(seconds: list[float]) -> float:
    """Return the mean of the quickest quarter."""
    return float(np.mean(sorted(seconds)[: max(1, len(seconds) // 4)]))


CASES: dict[str, Callable[[], Cell]] = {
    f"p{p}-{dtype}": partial(cost, p, dtype)
    for p in (200, 400, 1000)
    for dtype in ("float64", "float32")
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.auto_cost")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
