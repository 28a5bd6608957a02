"""The page of the rates: ``docs/calibration.md``, made of the result file alone."""

from __future__ import annotations

from benchmarks.calibration import FAMILIES, statements
from benchmarks.calibration.statement import Cell, promised

_HEAD = """# How often it is right

Made by `./run bench table` from `benchmarks/results/calibration.json`, which
`./run bench calibration` measures. Do not edit by hand.

Numbers of components, intervals, limits and sentences are wrong at some rate. Here is that
rate, by simulation: tables of a known design are drawn, mercer speaks, and what it says is
compared with what is known. *Promised* is the range in which the rate must lie, in %;
*measured* is the rate, with one standard error; *tables* is how many were drawn. A line that
does not hold stays here, marked.
"""


def page(cells: list[Cell]) -> str:
    """Return the page, in the order of the families; cells without a statement are left out."""
    known = {cell["case"]: cell for cell in cells}
    parts = [_HEAD]
    for title in FAMILIES:
        here = [known[one.name] for one in statements(title) if one.name in known]
        if here:
            parts += [f"## {title}", "", *_table(here), ""]
    return "\n".join(parts)


def _table(cells: list[Cell]) -> list[str]:
    lines = [
        "| case | tables drawn | what is counted | promised | measured | tables | holds |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for cell in cells:
        rate = "–"
        if cell["rate"] is not None:
            rate = f"{100 * cell['rate']:.1f} ± {100 * cell['standard_error']:.1f}"
        row = [cell["case"], cell["design"], cell["says"], promised(cell), rate]
        row += [str(cell["runs"]), "yes" if cell["holds"] else "**no**"]
        lines.append("| " + " | ".join(row) + " |")
    return lines
