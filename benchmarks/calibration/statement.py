"""One statement: what is said, of which tables, and the rate at which it should hold."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine

Cell = dict[str, Any]
Outcome = bool | float | tuple[float, float] | None


@dataclass(frozen=True)
class Statement:
    """A statement that can be wrong.

    Attributes
    ----------
    name : str
        Family, slash, design: "how-many/white-200x20".
    says : str
        What is counted: "no component is found".
    design : str
        How the tables are drawn.
    trial : function of a seed
        Draws a table, asks, and returns whether the statement held: True or False, the share
        of several (0 to 1), a pair (how many held, of how many), or None where nothing was
        said.
    least, most : float
        Rates between which the statement is as good as promised.
    nominal : float or None
        Rate that mercer itself names, such as .95 of an interval.
    runs : int
        Tables, one for each seed 0, 1, ….
    """

    name: str
    says: str
    design: str
    trial: Callable[[int], Outcome]
    least: float = 0.0
    most: float = 1.0
    nominal: float | None = None
    runs: int = 400


def measured(one: Statement) -> Cell:
    """Return the rate of a statement over its tables, with its standard error.

    Of pairs the rate is Σheld/Σasked, and its error that of a ratio: tables are the units
    that are drawn, what is asked within one hangs together.
    """
    start, found = time.perf_counter(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(one.runs):
            outcome = one.trial(seed)
            if outcome is not None:
                pair = outcome if isinstance(outcome, tuple) else (float(outcome), 1.0)
                found.append(pair)
    held, asked = np.array(found or [(0.0, 0.0)], np.float64).T
    rate = float(held.sum() / asked.sum()) if asked.sum() else None
    error = None
    if rate is not None:
        error = float(np.sqrt(np.sum((held - rate * asked) ** 2)) / asked.sum())
    return {
        "case": one.name,
        "says": one.says,
        "design": one.design,
        "nominal": one.nominal,
        "least": one.least,
        "most": one.most,
        "rate": None if rate is None else round(rate, 5),
        "standard_error": None if error is None else round(error, 5),
        "runs": one.runs,
        "asked": round(float(asked.sum()), 3),
        "holds": rate is not None and one.least <= rate <= one.most,
        "seconds": round(time.perf_counter() - start, 1),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine.commit(),
    }


def said(cell: Cell) -> str:
    """Return one cell as a line."""
    rate = "nothing was said" if cell["rate"] is None else f"{100 * cell['rate']:.1f} %"
    verdict = "holds" if cell["holds"] else "MISSED"
    return f"{cell['case']}: {rate}, {promised(cell)} ({cell['runs']} runs); {verdict}"


def promised(cell: Cell) -> str:
    """Return the rates between which the statement is as good as promised."""
    low, high = (f"{100 * cell[end]:g}" for end in ("least", "most"))
    if cell["least"] <= 0:
        return f"≤ {high}"
    return f"≥ {low}" if cell["most"] >= 1 else f"{low} to {high}"


def read_cells(out: Path) -> list[Cell]:
    """Return the cells of a result file; none where there is no file."""
    return list(json.loads(out.read_text())["cells"]) if out.exists() else []


def write_cells(cells: list[Cell], out: Path) -> None:
    """Write the result file: a line for each cell, so that changes of one are one line."""
    lines = ",\n".join(json.dumps(cell, ensure_ascii=False) for cell in cells)
    part = out.with_suffix(".part")
    part.write_text(f'{{"schema": 1, "cells": [\n{lines}\n]}}\n')
    part.replace(out)
