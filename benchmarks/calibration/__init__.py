"""How often what is said is true: ``./run bench calibration [--case PATTERN] [--list]``.

A statement in words, an interval and a limit have a rate at which they hold. Every statement
here is a case: tables of a known design are drawn from seeds, mercer speaks, and what it says
is compared with what is known. Rates go to ``benchmarks/results/calibration.json``, cases
that do not match stay as they are; ``./run bench table`` makes ``docs/calibration.md`` of
them.

To add statements, write a module with a tuple ``STATEMENTS`` and name it in ``FAMILIES``.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

from benchmarks.calibration.statement import (
    Statement,
    measured,
    read_cells,
    said,
    write_cells,
)

# Titles of the page, in its order: the module that holds the statements.
FAMILIES = {
    "How many components": "how_many",
    "Intervals": "intervals",
    "Limits for rows": "rows",
    "Groups and columns in words": "words",
}


def statements(title: str) -> tuple[Statement, ...]:
    """Return the statements of a family."""
    module = import_module(f"benchmarks.calibration.{FAMILIES[title]}")
    found: tuple[Statement, ...] = module.STATEMENTS
    return found


CASES = tuple(one for title in FAMILIES for one in statements(title))


def run(out: Path, pattern: str = "*") -> None:
    """Measure every statement that matches; cells of the others stay in the file."""
    for one in CASES:
        if not fnmatch(one.name, pattern):
            continue
        cell = measured(one)
        kept = {kept["case"]: kept for kept in read_cells(out)} | {one.name: cell}
        order = [case.name for case in CASES if case.name in kept]
        order += [name for name in kept if name not in order]
        write_cells([kept[name] for name in order], out)
        print(said(cell), file=sys.stderr, flush=True)
