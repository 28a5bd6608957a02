"""What a method takes of a table, and options that only some methods have."""

import dataclasses
from typing import Any

from mercer.cli._usage import UsageError
from mercer.methods import COMMANDS
from mercer.tables import Asked

_TAKES = {
    "numbers": "columns of numbers",
    "counts": "a table of counts",
    "categories": "columns of categories",
    "mixed": "numbers and categories",
    "groups": "numbers and a column of groups",
}
# Options, and the kinds of tables they belong to.
_OWN = {
    "target": ("--target", ("groups",)),
    "category": ("--as-category", ("categories", "mixed")),
    "groups": ("--group", ("mixed",)),
    "rows_by": ("--rows-by", ("counts",)),
    "columns_by": ("--columns-by", ("counts",)),
    "count": ("--count", ("counts",)),
}
_FIXES = {
    "target": "for colours take --color; groups are for --method lda and kda",
    "category": "categories are for --method mca, famd and mfa",
    "groups": "groups of columns are for --method mfa",
}


def asked_for(method: str, asked: Asked, model: Any = None) -> Asked:
    """Return the user's word with the kind of table that a method takes.

    Options that the method has no use for are refused as wrong usage.

    Parameters
    ----------
    method : str
        Its name.
    asked : Asked
        The user's word.
    model : estimator or None
        Of that method, whose parameters may say what an option would.
    """
    table, also = COMMANDS[method].takes, COMMANDS[method].also
    for name, (option, tables) in _OWN.items():
        if getattr(asked, name) and table not in tables:
            raise UsageError(
                f"{method} takes {_TAKES[table]}, and has no use for {option}",
                got=f"{option} with --method {method}",
                fix=_FIXES.get(name, "tables are counted for --method ca"),
            )
    grouped = "groups" in also and getattr(model, "groups", None) is None
    if grouped and not asked.groups:
        raise UsageError(
            f"{method} needs groups of columns",
            got=f"--method {method} without --group",
            fix="name each: --group taste=q1,q2,q3 --group smell=q4,q5",
        )
    if asked.groups and not grouped:
        raise UsageError(
            f"{method} has no groups of columns",
            got=f"--group with --method {method}",
            fix=_FIXES["groups"],
        )
    if asked.weights and "weights" not in also:
        raise UsageError(
            f"{method} does not weigh rows",
            got=f"--weights {asked.weights} with --method {method}",
            fix="leave --weights out",
        )
    if asked.standardize == "yes" and scales_of(method) == "none":
        raise UsageError(
            f"units make no difference to {method}",
            got=f"--standardize yes with --method {method}",
            fix="leave --standardize out",
        )
    if asked.count and not asked.crossed:
        raise UsageError(
            "--count belongs to a table that is counted",
            got="--count without --rows-by and --columns-by",
            fix="name the two columns, or repeat counts of rows by --weights",
        )
    return dataclasses.replace(asked, table=table)


def scales_of(method: str) -> str:
    """Return who divides columns by their standard deviations; see `mercer.tables.prepared`."""
    known = COMMANDS[method]
    if "standardize" in known.also:
        return "method"
    # Discriminant axes are the same in all units, unless a kernel measures distances.
    return "table" if known.takes == "numbers" or "kernel" in known.also else "none"
