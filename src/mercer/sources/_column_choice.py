"""Which columns of a table are analysed, and which are left out and why."""

import dataclasses
import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mercer.errors import DataWarning, InputError, warn

Chosen = Iterable[Any] | None  # columns by their names or their positions


@dataclasses.dataclass(frozen=True)
class ColumnChoice:
    """A choice of columns.

    Attributes
    ----------
    at : tuple of int
        Positions in the file, in the order of the analysis.
    names : tuple of str
        Their names.
    dropped : tuple of (str, str)
        Names of the others, and why each is not used.
    """

    at: tuple[int, ...]
    names: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]


def text_of(label: object) -> str:
    """Return the label of a row or column as text; those of several levels in one line."""
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def choose_columns(
    names: Sequence[str],
    kinds: Sequence[str | None],
    columns: Chosen,
    drop: Chosen,
    label: str,
) -> ColumnChoice:
    """Return the columns to analyse.

    Parameters
    ----------
    names : sequence of str
        All columns of the table.
    kinds : sequence of str or None
        What a column holds where that is not numbers ("text", "dates"), None for numbers.
    columns : iterable of str or int, or None
        Columns wanted, by name or position; they must hold numbers. None takes all that do,
        and warns of those left out for what they hold.
    drop : iterable of str or int, or None
        Columns not wanted.
    label : str
        What messages call the table.
    """
    twins = sorted(name for name, count in Counter(names).items() if count > 1)
    if twins:
        raise InputError(
            "column names must be unique",
            got=f"{label}: more than one column is called {', '.join(map(repr, twins[:5]))}",
            fix="rename the columns in the file",
        )
    place = {name: i for i, name in enumerate(names)}
    wanted = None if columns is None else [_position(c, place, label) for c in _listed(columns)]
    if wanted is not None and len(set(wanted)) < len(wanted):
        again = next(i for i, times in Counter(wanted).items() if times > 1)
        raise InputError(
            "a column can be chosen only once",
            got=f"{label}: {names[again]!r} stands more than once in columns",
            fix="name every column once",
        )
    unwanted = {_position(c, place, label) for c in _listed(drop or ())}
    reasons = dict.fromkeys(unwanted, "dropped by name")
    if wanted is not None:
        _refuse_odd([i for i in wanted if i not in unwanted], names, kinds, label)
        others = sorted(set(range(len(names))) - set(wanted))
        reasons |= dict.fromkeys(others, "not asked for")
        at = [i for i in wanted if i not in unwanted]
    else:
        odd = {i: str(kind) for i, kind in enumerate(kinds) if kind and i not in unwanted}
        reasons |= {i: f"holds {kind}, not numbers" for i, kind in odd.items()}
        at = [i for i in range(len(names)) if i not in reasons]
        if odd and at:
            _say(odd, names, label)
    if not at:
        shown = ", ".join(f"{names[i]!r} ({why})" for i, why in list(reasons.items())[:5])
        raise InputError(
            "no column of numbers is left to analyse",
            got=f"{label}: {len(names)} columns; {shown or 'none'}",
            fix="choose columns of numbers with columns=[...]",
        )
    return ColumnChoice(
        tuple(at),
        tuple(names[i] for i in at),
        tuple((names[i], reasons[i]) for i in sorted(reasons)),
    )


def _listed(columns: Any) -> list[Any]:
    if isinstance(columns, str | int):
        return [columns]
    if not isinstance(columns, Iterable):
        raise InputError(
            "a column is chosen by its name or its position",
            got=f"{columns!r}",
            fix="pass a list of names, or of whole numbers from 0",
        )
    return list(columns)


def _position(column: Any, place: dict[str, int], label: str) -> int:
    if isinstance(column, str) and column in place:
        return place[column]
    names = list(place)
    if isinstance(column, str):
        near = difflib.get_close_matches(column, names, n=1)
        raise InputError(
            f"there is no column {column!r}",
            got=f"{label}: {len(names)} columns, {', '.join(map(repr, names[:5]))}"
            + (", ..." if len(names) > 5 else ""),
            fix=f"did you mean {near[0]!r}?" if near else "choose among the columns there",
        )
    if isinstance(column, bool) or not hasattr(column, "__index__"):
        raise InputError(
            "a column is chosen by its name or its position",
            got=f"{column!r}",
            fix="pass names, or whole numbers from 0",
        )
    number = int(column.__index__())
    if not -len(names) <= number < len(names):
        raise InputError(
            f"there is no column number {number}",
            got=f"{label}: {len(names)} columns",
            fix=f"pass numbers from 0 to {len(names) - 1}",
        )
    return number % len(names)


def _refuse_odd(
    at: list[int], names: Sequence[str], kinds: Sequence[str | None], label: str
) -> None:
    odd = [i for i in at if kinds[i]]
    if odd:
        raise InputError(
            "every column asked for must hold numbers",
            got=f"{label}: " + ", ".join(f"{names[i]!r} holds {kinds[i]}" for i in odd[:5]),
            fix="leave these columns out, or encode them as numbers",
        )


def _say(odd: dict[int, str], names: Sequence[str], label: str) -> None:
    shown = ", ".join(f"{names[i]!r} ({kind})" for i, kind in list(odd.items())[:5])
    more = "" if len(odd) <= 5 else f" and {len(odd) - 5} more"
    warn(
        "columns that do not hold numbers are left out",
        got=f"{label}: {shown}{more}",
        fix="name the columns with columns=[...], or these with drop=[...]",
        category=DataWarning,
    )
