"""The command line on a large file, and its start: ``python -m benchmarks command_line``.

`mercer fit` of 1,000,000 x 50 numbers in Parquet runs in a process of its own, as it is typed.
What it took is compared with what it had foreseen before it began: seconds of all stages, and
the memory that it took above what its libraries take.

Starting is the median of five processes, on a machine that does nothing else: the whole of
`mercer --help` and of `mercer look`, and what the package's own modules take of an import, as
``python -X importtime`` counts it, other libraries left out.
"""

from __future__ import annotations

import json
import os
import re
import statistics
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


TIMES = 5
_UNCACHED = {"PYTHONDONTWRITEBYTECODE"}  # every start would compile all that it imports
_IMPORTED = re.compile(r"import time: +(\d+) \| +\d+ \| +mercer[.\w]*$", re.MULTILINE)
_PENGUINS = str(ROOT / "src" / "mercer" / "cli" / "data" / "penguins.csv")


def started(words: list[str], most: float) -> Cell:
    """Seconds of a whole process of `mercer`; the first, which fills caches, is not counted."""
    seconds = []
    for _ in range(TIMES + 1):
        begun = time.perf_counter()
        _python(["-m", "mercer", *words])
        seconds.append(time.perf_counter() - begun)
    return _told(seconds[1:], most, f"mercer {words[0]} starts, works and ends")


def own_modules(words: list[str], most: float) -> Cell:
    """Seconds that the package's own modules take to be imported in a process."""
    found = [_IMPORTED.findall(_python(["-X", "importtime", *words])) for _ in range(TIMES + 1)]
    seconds = [1e-6 * sum(map(int, each)) for each in found]
    return _told(seconds[1:], most, "own modules, imported") | {"modules": len(found[0])}


def _python(words: list[str]) -> str:
    """Run Python, with byte code as an installed package has it; return what stderr says."""
    outer = {name: one for name, one in os.environ.items() if name not in _UNCACHED}
    outer["PYTHONPYCACHEPREFIX"] = str(DATA / "bytecode")
    command = [sys.executable, *words]
    done = subprocess.run(
        command, cwd=ROOT, env=outer, capture_output=True, text=True, check=True
    )
    return done.stderr


def _told(seconds: list[float], most: float, what: str) -> Cell:
    median = statistics.median(seconds)
    return {
        "what": what,
        "seconds": median,
        "each": sorted(seconds),
        "error": 0,
        "holds": median <= most,
        "target": f"at most {most:g} s, median of {len(seconds)}",
    }


CASES: dict[str, Callable[[], Cell]] = {
    "fit-parquet": fit_parquet,
    "start-help": lambda: started(["--help"], 0.1),
    "start-look": lambda: started(["look", _PENGUINS], 0.6),
    "start-plan": lambda: started(["plan", _PENGUINS], 1.4),  # most of it is scikit-learn
    "own-look": lambda: own_modules(["-m", "mercer", "look", _PENGUINS], 0.15),
    "own-pca": lambda: own_modules(["-c", "import mercer; mercer.PCA"], 0.08),
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.command_line")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
