"""Run the cells: load, refer, time, weigh, judge, and write after every cell."""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from scipy import sparse

from benchmarks import machine, peak, reference, timing, verdict
from benchmarks.cases import Case
from benchmarks.rivals import RIVALS, Fit, Rival, warm

FOLDER = Path(__file__).resolve().parent
REFERENCES = FOLDER / "data" / "references"
# A rival that takes longer is not run a second time to watch its memory.
WEIGHED_SECONDS = 60.0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(
    cases: Sequence[Case],
    rivals: Sequence[str],
    out: Path,
    *,
    quick: bool = False,
    weigh_rivals: bool = True,
    say: Callable[[str], None] = _say,
) -> Path:
    """Measure every rival on every case, write the result file and return its path.

    Parameters
    ----------
    cases : sequence of Case
        Cells that share data follow one another, so that data are made once.
    rivals : sequence of str
    out : Path
        JSON result file, rewritten after every cell.
    quick : bool
        One repeat, and nobody's memory but ours is watched.
    weigh_rivals : bool
        Whether the memory of rivals is watched too, which takes each one more fit.
    """
    result = _header(rivals)
    for data_name, group in groupby(cases, key=lambda case: case.data_name):
        cells = list(group)
        try:
            x = cells[0].data.load()
        except FileNotFoundError as error:
            say(f"{data_name}: skipped, {error}")
            result["skipped"][data_name] = str(error)
            continue
        most = max(case.components for case in cells)
        truth = reference.remembered(x, most, REFERENCES)
        with tempfile.TemporaryDirectory() as scratch:
            path = peak.save(x, Path(scratch))
            for case in cells:
                cell = measure(
                    case, x, truth, path, rivals, result["roofs"], quick, weigh_rivals
                )
                result["cells"].append(cell)
                result["summary"] = verdict.summarise(result["cells"])
                write(result, out)
                say(line(cell))
    write(result, out)
    return out


def _header(rivals: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine.commit(),
        "machine": machine.describe(),
        "versions": machine.versions(tuple(RIVALS[name].package for name in rivals)),
        "roofs": machine.roofs(),
        "rivals": list(rivals),
        "skipped": {},
        "cells": [],
        "summary": {},
    }


def measure(
    case: Case,
    x: Any,
    truth: reference.Reference,
    path: Path,
    rivals: Iterable[str],
    roofs: dict[str, float],
    quick: bool,
    weigh_rivals: bool = True,
) -> dict[str, Any]:
    """One cell: times, errors, peaks, floors and verdict."""
    records: dict[str, dict[str, Any]] = {}
    fits: dict[str, Callable[[], Fit]] = {}
    for name in rivals:
        reason = _prepare(RIVALS[name], case)
        if reason is None:
            fits[name] = partial(RIVALS[name].fit, x, case.components)
        else:
            records[name] = {"skipped": reason}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        timed = timing.interleaved(fits, once=quick)
    for name, record in timed.items():
        records[name] = _record(case, truth, record)
        if record.seconds and _weighs(case, name, record.seconds[0], quick or not weigh_rivals):
            bytes_, reason = peak.peak_of_fit(path, name, case.components)
            records[name]["peak_bytes"] = bytes_
            if reason:
                records[name]["peak_reason"] = reason
    nbytes = peak.stored_bytes(x)
    cell: dict[str, Any] = {
        "case": case.name,
        "group": case.group,
        "rows": case.rows,
        "columns": case.columns,
        "stored": int(x.nnz) if sparse.issparse(x) else case.rows * case.columns,
        "components": case.components,
        "dtype": case.dtype,
        "offset": case.offset,
        "tolerance": case.tolerance,
        "floors": machine.floors(case.rows, case.columns, nbytes, case.dtype, roofs),
        "rivals": records,
    }
    cell["verdict"] = verdict.judge(cell)
    return cell


def _weighs(case: Case, name: str, seconds: float, quick: bool) -> bool:
    """Whether to run the fit again to watch its memory: ours always, rivals at offset 1."""
    if name == verdict.OURS:
        return True
    return not quick and case.offset in (None, 1.0) and seconds <= WEIGHED_SECONDS


def _prepare(rival: Rival, case: Case) -> str | None:
    """Reason to skip the rival, or None once it has been warmed."""
    reason = rival.why_not(case)
    if reason is None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warm(rival, case.dtype, is_sparse=case.group == "sparse")
        except Exception as error:  # a library that cannot start is a result
            reason = f"does not start: {type(error).__name__}: {error}"
    return reason


def _record(case: Case, truth: reference.Reference, timed: timing.Timed) -> dict[str, Any]:
    if timed.fit is None:
        return {"failed": timed.failed}
    error = reference.value_error(timed.fit.values, truth)
    return {
        "seconds": [round(seconds, 6) for seconds in timed.seconds],
        "median": timed.median,
        "error": error,
        "sine": reference.subspace_sine(timed.fit.components, truth),
        "correct": error <= case.tolerance,
        "facts": timed.fit.facts,
    }


def write(result: dict[str, Any], out: Path) -> None:
    """Write the result through a temporary file, so that a reader never sees half of it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    part.write_text(json.dumps(result, indent=1) + "\n")
    part.replace(out)


def line(cell: dict[str, Any]) -> str:
    """One line per cell for the terminal."""
    parts = []
    for name, record in cell["rivals"].items():
        if record.get("median") is not None:
            mark = "" if record["correct"] else f" wrong by {record['error']:.0e}"
            parts.append(f"{name} {record['median']:.3g} s{mark}")
        elif record.get("failed"):
            parts.append(f"{name} failed")
    judged = cell["verdict"]
    ratio = f"; {judged['ratio']:.2f}x of {judged['rival']}" if "ratio" in judged else ""
    holds = {True: "holds", False: "MISSED", None: "no target"}[judged["holds"]]
    return f"{cell['case']}: {', '.join(parts)}{ratio}; {holds}"
