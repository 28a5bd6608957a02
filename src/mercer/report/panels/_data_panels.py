"""Data health: what changes how the axes are read, and what was made of the columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.diagnostics import Finding, health
from mercer.report._page_parts import Findings, Part, Section, Table
from mercer.report._page_request import PageRequest
from mercer.report._page_words import count
from mercer.report._row_labels import SomeNames, levels_of
from mercer.report.facts._linear_summary import LinearSummary

_MOST = 200  # columns that are listed


def findings_of(seen: LinearSummary) -> tuple[Finding, ...]:
    """Return the findings about the rows of a page."""
    values = np.asarray(seen.wide.explained_variance_, np.float64)
    shown = seen.Z.shape[1]
    few = seen.row_names is not None and not isinstance(seen.row_names, SomeNames)
    names = [seen.row_name(int(row)) for row in seen.at] if few else None
    return health(
        seen.held,
        np.asarray(seen.Z, np.float64),
        values[:shown],
        names=seen.names,
        row_names=names or seen.at + 1,
        groups=_groups(seen),
        inseparable=seen.wide.groups,
        following=float(values[shown]) if shown < len(values) else 0.0,
        rows=seen.n,
    )


def _groups(seen: LinearSummary) -> Any:
    for values in seen.colours.values():
        if values.dtype.kind in "fiu":
            continue
        levels, at, _ = levels_of(values)
        if 2 <= len(levels) <= 12:
            return levels[at[seen.held_at]]
    return None


def condition_section(
    findings: Sequence[Finding] | None, wanted: PageRequest
) -> Section | None:
    """Return the section on the data: findings, assumptions, and every column with its role.

    Parameters
    ----------
    findings : sequence of Finding or None
        What was found; None where nobody has looked.
    wanted : PageRequest
        Assumptions, and every column of the file.
    """
    if findings is None:
        words = ["Whether rows or columns are odd was not asked here: mercer.health does."]
    elif findings:
        words = [f"{count(len(findings), 'finding')}, the codes as in the documentation."]
    else:
        words = ["Nothing odd was found by the checks that mercer.health makes."]
    found = (Findings(tuple(findings)),) if findings else ()
    return data_section(words, wanted, found)


def data_section(
    words: Sequence[str], wanted: PageRequest, parts: Sequence[Part] = ()
) -> Section | None:
    """Return the section on the data: words, further parts, assumptions, every column.

    None where there is nothing to say.

    Parameters
    ----------
    words : sequence of str
        What is known of the data.
    wanted : PageRequest
        Assumptions, and every column of the file.
    parts : sequence of Part
        Shown first.
    """
    parts = list(parts)
    if wanted.said:
        lines = tuple((line,) for line in wanted.said)
        parts.append(Table("What was assumed", ("assumption",), lines))
    if wanted.columns is not None:
        parts.append(wanted.columns)
    return None if not (words or parts) else Section("data", "Data", tuple(words), tuple(parts))


def column_table(look: Any) -> Table:
    """Return the table of all columns of a file: kind, role, why, missing cells."""
    rows = tuple(
        (
            column.name,
            column.kind,
            column.role,
            column.missing,
            column.mean if column.role != "id" else None,
            column.deviation if column.role != "id" else None,
            column.why or None,
        )
        for column in look.columns[:_MOST]
    )
    left = len(look.columns) - len(rows)
    return Table(
        "Columns of the file",
        ("column", "kind", "role", "missing", "mean", "sd", "why"),
        rows,
        note=f"{left:,} more columns are not listed." if left else "",
    )
