"""Missing cells: ``python -m benchmarks missing [--case PATTERN] [--quick] [--limit SECONDS]``.

A table of rank 5 plus noise loses cells at random; every method sees the same table and must
return it filled. The error is the root mean square over the hidden cells, against the values
they had (noise included) and against the signal alone. The time is that of fit and filled
table together. Signal-to-noise is a ratio of variances: 1 means as much noise as signal.

The quick methods share a process and are interleaved; the slow ones have one each and a time
limit. Going over it is recorded, and is a lower bound of their time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import machine, timing
from benchmarks.missing_rivals import FILLERS
from benchmarks.runner import FOLDER, write

Cell = dict[str, Any]
RANK = 5
SEEDS = (0, 1, 2)
LIMIT = 600.0  # seconds of a slow rival
OURS = "mercer-em"
TARGET = "error ≤ 1.02x the best rival, ≥ 5x faster than the fastest within 5 % of it"
CASES = {
    f"snr{snr}-missing{percent}": (float(snr), percent / 100)
    for snr in (1, 5)
    for percent in (5, 20, 40)
}


def table(
    n: int, p: int, snr: float, share: float, seed: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return (signal, values, hidden), each (n, p): signal of variance 1 about its means."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((p, RANK)) * np.linspace(1, 0.5, RANK)
    loadings /= np.sqrt(np.mean(np.sum(loadings**2, axis=1)))
    signal = rng.standard_normal((n, RANK)) @ loadings.T + 3 * rng.standard_normal(p)
    values = signal + rng.standard_normal((n, p)) / np.sqrt(snr)
    return signal, values, rng.random((n, p)) < share


def measure(case: str, seed: int, names: list[str], *, quick: bool) -> Cell:
    """Return what each of the named methods does on one table."""
    snr, share = CASES[case]
    signal, values, hidden = table(*_shape(quick), snr, share, seed)
    seen = np.where(hidden, np.nan, values)
    seen.flags.writeable = False
    small, _, gaps = table(500, 20, snr, share, 0)
    warm = np.where(gaps, np.nan, small)
    fits: dict[str, Any] = {}
    records: dict[str, Cell] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:  # imports and thread pools are paid for before the clock
                FILLERS[name].fill(warm, 2)
            except Exception as error:  # a library that cannot start is a result
                records[name] = {"failed": f"{type(error).__name__}: {error}"}
            else:
                fits[name] = partial(_counted, FILLERS[name].fill, seen)
        timed = timing.interleaved(fits, once=quick)
    for name, record in timed.items():
        if record.failed:
            records[name] = {"failed": record.failed}
            continue
        filled, facts = record.fit  # type: ignore[misc]
        changed = float(np.max(np.abs(np.asarray(filled)[~hidden] - values[~hidden])))
        records[name] = {
            "seconds": [round(seconds, 6) for seconds in record.seconds],
            "rmse": _rms((filled - values)[hidden]),
            "rmse_signal": _rms((filled - signal)[hidden]),
            "observed_changed": changed,
            "facts": facts,
        }
    return records


def _counted(fill: Any, seen: NDArray[Any]) -> tuple[Any, Cell]:
    """Fill, and add the processor's seconds to the facts: others may use the machine."""
    start = time.process_time()
    filled, facts = fill(seen, RANK)
    return filled, facts | {"cpu_seconds": round(time.process_time() - start, 6)}


def _rms(errors: NDArray[Any]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _shape(quick: bool) -> tuple[int, int]:
    return (2_000, 30) if quick else (50_000, 100)


def run(
    out: Path,
    pattern: str = "*",
    *,
    names: list[str] | None = None,
    quick: bool = False,
    limit: float = LIMIT,
) -> None:
    """Measure every case that matches; cases measured before stay in the file.

    With `names` only these methods are measured, and what the file knows of the others stays:
    hours of slow rivals need not be spent again. Methods named together are timed together.
    """
    before = json.loads(out.read_text()) if out.exists() else {"cells": []}
    known = {cell["case"]: cell for cell in before["cells"]}
    result: Cell = {
        "schema": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine.commit(),
        "machine": machine.describe(),
        "versions": machine.versions(tuple(sorted({f.package for f in FILLERS.values()}))),
        "cells": [cell for cell in before["cells"] if not fnmatch(cell["case"], pattern)],
    }
    for case in CASES:
        if fnmatch(case, pattern):
            cell = _cell(case, names or list(FILLERS), quick, limit)
            if names is not None and case in known:
                cell["rivals"] = known[case]["rivals"] | cell["rivals"]
            result["cells"].append(cell | verdict(cell["rivals"]))
            result["cells"].sort(key=lambda cell: list(CASES).index(cell["case"]))
            write(result, out)
            print(line(cell | verdict(cell["rivals"])), file=sys.stderr, flush=True)


def _cell(case: str, names: list[str], quick: bool, limit: float) -> Cell:
    quickly = [name for name in names if not FILLERS[name].slow]
    seeds = SEEDS[:1] if quick else SEEDS
    found: dict[str, list[Cell]] = {name: [] for name in names}
    for seed in seeds if quickly else ():
        for name, record in _apart(case, seed, quickly, quick, None).items():
            found[name].append(record)
    for name in names:
        if FILLERS[name].slow:
            found[name] = [_apart(case, seeds[0], [name], quick, limit)[name]]
    rows, columns = _shape(quick)
    snr, share = CASES[case]
    made = {
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        **machine.commit(),
    }
    return {
        "case": case,
        "rows": rows,
        "columns": columns,
        "rank": RANK,
        "snr": snr,
        "share_missing": share,
        "seeds": list(seeds),
        "rivals": {name: summary(records) | made for name, records in found.items()},
        "target": TARGET,
    }


def _apart(
    case: str, seed: int, names: list[str], quick: bool, limit: float | None
) -> dict[str, Cell]:
    """Return the records of the named methods from a process of their own."""
    command = [sys.executable, "-m", "benchmarks.missing", case, str(seed), ",".join(names)]
    command += ["--quick"] if quick else []
    try:
        done = subprocess.run(
            command,
            cwd=FOLDER.parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {name: {"exceeded": limit} for name in names}
    if done.returncode:
        return {name: {"failed": done.stderr.strip()[-300:]} for name in names}
    found: dict[str, Cell] = json.loads(done.stdout.splitlines()[-1])
    return found


def summary(records: list[Cell]) -> Cell:
    """Return one record of all seeds: medians of seconds, means of errors."""
    bad = [record for record in records if "rmse" not in record]
    if bad:
        return bad[0]
    return {
        "median": median(median(record["seconds"]) for record in records),
        "rmse": mean(record["rmse"] for record in records),
        "rmse_signal": mean(record["rmse_signal"] for record in records),
        "seeds": records,
    }


def verdict(rivals: dict[str, Cell]) -> Cell:
    """Return our error over the best rival's, and how many times faster we are.

    Errors are compared on the seeds both have: a slow rival knows the first seed only.
    """
    judged = {
        name: record
        for name, record in rivals.items()
        if not name.startswith("mercer") and "rmse" in record
    }
    ours = rivals.get(OURS, {})
    if not judged or "rmse" not in ours:
        return {"holds": None}

    def over(name: str) -> float:
        theirs = judged[name]["seeds"]
        mine = ours["seeds"][: len(theirs)]
        return mean(m["rmse"] for m in mine) / mean(t["rmse"] for t in theirs)

    best = max(judged, key=over)
    near = [name for name in judged if over(name) >= over(best) / 1.05]
    fastest = min(near, key=lambda name: judged[name]["median"])
    faster = judged[fastest]["median"] / ours["median"]
    return {
        "best": best,
        "error_over_best": over(best),
        "fastest_near_best": fastest,
        "faster": faster,
        "holds": bool(over(best) <= 1.02 and faster >= 5),
    }


def line(cell: Cell) -> str:
    """Return one cell as a line."""
    parts = []
    for name, record in cell["rivals"].items():
        if "rmse" in record:
            parts.append(f"{name} {record['median']:.3g} s {record['rmse']:.5f}")
        else:
            parts.append(f"{name} {'over the limit' if 'exceeded' in record else 'failed'}")
    said = {True: "holds", False: "MISSED", None: "not judged"}[cell["holds"]]
    if "faster" in cell:
        said = f"error {cell['error_over_best']:.4f}x, {cell['faster']:.2f}x faster; {said}"
    return f"{cell['case']}: {', '.join(parts)}; {said}"


def section(result: Cell) -> list[str]:
    """Return the lines of the docs page."""
    lines = [
        "## Missing cells",
        "",
        "`benchmarks/results/missing.json`; made by `python -m benchmarks missing`. A table of"
        " rank 5 plus noise loses cells at random; the error is the root mean square over the"
        " hidden cells, noise included; the time is that of fit and filled table.",
        "",
        "| case | method | seconds | error | error of the signal | our error | our speed |"
        " holds |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for cell in result["cells"]:
        for name, record in cell["rivals"].items():
            row = [cell["case"], name, *_shown(record)]
            row += ["", "", ""]
            if name == OURS and "faster" in cell:
                row[-3:] = [
                    f"{cell['error_over_best']:.4f}x of {cell['best']}",
                    f"{cell['faster']:.2f}x of {cell['fastest_near_best']}",
                    "yes" if cell["holds"] else "**no**",
                ]
            lines.append("| " + " | ".join(row) + " |")
    return [*lines, ""]


def _shown(record: Cell) -> list[str]:
    if "exceeded" in record:
        return [f"over {record['exceeded']:g}", "", ""]
    if "rmse" not in record:
        return ["failed", "", ""]
    return [f"{record['median']:.3g}", f"{record['rmse']:.4f}", f"{record['rmse_signal']:.4f}"]


if __name__ == "__main__":
    found = measure(
        sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), quick="--quick" in sys.argv
    )
    sys.stdout.write(json.dumps(found) + os.linesep)
