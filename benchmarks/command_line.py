"""The command line on a large file: ``python -m benchmarks command_line``.

`mercer fit` of 1,000,000 x 50 numbers in Parquet runs in a process of its own, as it is typed.
What it took is compared with what it had foreseen before it began: seconds of all stages, and
the memory that it took above what its libraries take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import ROOT
from benchmarks.peak import POLL_SECONDS, rss_anon
from benchmarks.runner import FOLDER
from benchmarks.scale import Cell, run_cases

DATA = FOLDER / "data" / "command_line"
_RANK = 8  # axes above the noise


def fit_parquet() -> Cell:
    """1,000,000 x 50 float64 in Parquet: time within a factor 2 of the plan, memory below."""
    return _fit(1_000_000)


def _fit(n: int) -> Cell:
    path, few = _made(n), _made(500)
    scores = DATA / "scores.parquet"
    base = _run(["fit", str(few), "--json", "-q"])[1]
    words = ["fit", str(path), "--scores", str(scores), "--force", "--json", "-q"]
    seconds, peak, said = _run(words)
    # What is foreseen counts from the start of the process, and so does what is measured.
    foreseen = sum(said["foreseen"].values())
    ratio = seconds / foreseen
    return {
        "rows": n,
        "columns": 50,
        "file_bytes": path.stat().st_size,
        "path": said["plan"]["chosen"]["name"],
        "components": said["components"],
        "seconds": seconds,
        "planned_seconds": foreseen,
        "stages": said["seconds"],
        "planned_stages": said["foreseen"],
        "peak_bytes": peak - base,
        "libraries_bytes": base,
        "planned_bytes": said["plan"]["bytes"],
        "error": abs(said["components"] - _RANK),
        "holds": bool(
            0.5 <= ratio <= 2.0
            and peak - base < said["plan"]["bytes"]
            and said["components"] == _RANK
        ),
        "target": "time within 2x of the plan, memory below its figure",
    }


def _run(words: list[str]) -> tuple[float, int, dict[str, Any]]:
    """Return seconds, the highest anonymous memory, and what the command said."""
    command = [sys.executable, "-m", "mercer", *words]
    start, highest = time.perf_counter(), 0
    out = DATA / "said.json"
    with out.open("wb") as file, subprocess.Popen(command, cwd=ROOT, stdout=file) as child:
        while child.poll() is None:
            highest = max(highest, rss_anon(child.pid) or 0)
            time.sleep(POLL_SECONDS)
    return time.perf_counter() - start, highest, json.loads(out.read_text(encoding="utf-8"))


def _made(n: int) -> Path:
    """Return a file of n rows with eight axes above noise; made once."""
    import polars as pl

    path = DATA / f"{n}.parquet"
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        axes = rng.standard_normal((_RANK, 50)) * np.linspace(3, 1, _RANK)[:, None]
        rows = rng.standard_normal((n, _RANK)) @ axes + rng.standard_normal((n, 50))
        frame = pl.from_numpy(rows, schema=[f"x{i}" for i in range(50)])
        frame.write_parquet(path)
    return path


CASES: dict[str, Callable[[], Cell]] = {"fit-parquet": fit_parquet}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.command_line")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
