"""Told: the user's word on the columns, settled to places; contradictions are refused."""

import dataclasses
from collections.abc import Sequence
from typing import final

from mercer.errors import InputError
from mercer.tables._asked import Asked
from mercer.tables._kinds import Facts
from mercer.tables._names import meant
from mercer.tables._uses import refuse_no_category

_WHY = {"out": "dropped by name"}


@final
@dataclasses.dataclass(frozen=True)
class Told:
    """What the user said.

    Attributes
    ----------
    roles : dict of int to (str, str)
        Role and reason of the columns that have one by the user's word.
    columns : frozenset of int or None
        Places of the columns to analyse; None where the user did not say.
    """

    roles: dict[int, tuple[str, str]]
    columns: frozenset[int] | None

    def has(self, role: str) -> bool:
        """Tell whether the user gave some column this role."""
        return any(given == role for given, _ in self.roles.values())


def told(columns: Sequence[Facts], asked: Asked, label: str) -> Told:
    """Return the user's word on these columns.

    Parameters
    ----------
    columns : sequence of Facts
        All columns of the file.
    asked : Asked
        What was said.
    label : str
        What messages call the file.
    """
    names = [column.name for column in columns]
    given = {
        "out": ("--drop", asked.drop),
        "id": ("--id", () if asked.id is None else (asked.id,)),
        "weights": ("--weights", () if asked.weights is None else (asked.weights,)),
        "color": ("--color", asked.color),
        "sup": ("--sup", asked.sup),
        **{role: (option, _alone(word)) for role, option, word in _named_alone(asked)},
    }
    settled: dict[int, _Word] = {}
    for role, (option, words) in given.items():
        for places in meant(words, names, option, label):
            for i, alone in places.items():
                new = _Word(role, option, alone)
                settled[i] = _stronger(settled.get(i, new), new, names[i], label)
    wanted = meant(asked.columns or (), names, "--columns", label)
    for places in wanted:
        for i, alone in places.items():
            _settle_wanted(settled, i, columns[i], alone, asked, label)
    roles = {i: (word.role, _WHY.get(word.role, "asked for")) for i, word in settled.items()}
    _refuse_many(roles, names, label)
    _refuse_weights(roles, columns, label)
    if asked.columns is None:
        return Told(roles, None)
    return Told(roles, frozenset(i for places in wanted for i in places))


def _named_alone(asked: Asked) -> tuple[tuple[str, str, str | None], ...]:
    """Return the roles that one column has: role, option, and the word of the user."""
    return (
        ("target", "--target", asked.target),
        ("rows", "--rows-by", asked.rows_by),
        ("columns", "--columns-by", asked.columns_by),
        ("count", "--count", asked.count),
    )


def _alone(word: str | None) -> tuple[str, ...]:
    return () if word is None else (word,)


@final
@dataclasses.dataclass(frozen=True)
class _Word:
    """A role that an option gives; `alone` where it names the column by itself."""

    role: str
    option: str
    alone: bool


def _stronger(first: _Word, second: _Word, name: str, label: str) -> _Word:
    """Return the word that counts: a name goes before a pattern or a range."""
    if first.option == second.option or not second.alone:
        return first
    if first.alone:
        raise InputError(
            f"a column has one use, not two ({first.option} and {second.option})",
            got=f"{label}: {name!r} is named by both",
            fix=f"take it out of {first.option} or of {second.option}",
        )
    return second


def _settle_wanted(
    settled: dict[int, _Word], i: int, column: Facts, alone: bool, asked: Asked, label: str
) -> None:
    """Settle a column that --columns names; --drop takes columns out of it."""
    word = settled.get(i)
    if word is None and alone:
        _refuse_kind(column, asked, label)
    if word is None or word.role == "out":
        return
    if _stronger(word, _Word("active", "--columns", alone), column.name, label) is not word:
        del settled[i]


def _refuse_many(roles: dict[int, tuple[str, str]], names: Sequence[str], label: str) -> None:
    options = {"rows": "rows-by", "columns": "columns-by"}
    for role in ("id", "weights", "target", "rows", "columns", "count"):
        several = [names[i] for i, (given, _) in roles.items() if given == role]
        if len(several) > 1:
            raise InputError(
                f"one column is needed, not {len(several)} (--{options.get(role, role)})",
                got=f"{label}: {', '.join(map(repr, several[:5]))}",
                fix="name one of them",
            )


def _refuse_weights(
    roles: dict[int, tuple[str, str]], columns: Sequence[Facts], label: str
) -> None:
    """Refuse weights that are no numbers, or below zero, or missing."""
    for i, (role, _) in roles.items():
        column = columns[i]
        if role != "weights":
            continue
        why = None
        if not column.is_number:
            why = f"holds {column.kind if column.kind != 'empty' else 'nothing'}"
        elif column.low is not None and column.low < 0:
            why = f"holds {column.low:g}"
        elif column.missing:
            why = f"has {column.missing:,} missing cells"
        if why is not None:
            raise InputError(
                "weights are numbers that are not below zero, one in every row (--weights)",
                got=f"{label}: {column.name!r} {why}",
                fix="name another column, or leave --weights out",
            )


def _refuse_kind(column: Facts, asked: Asked, label: str) -> None:
    """Refuse a column that was named by itself and cannot be analysed."""
    if asked.table in ("categories", "mixed"):
        refuse_no_category(column, asked, label)
        return
    if column.is_number or (column.kind == "text" and asked.categorical == "encode"):
        return
    if column.kind == "date" and asked.dates == "number":
        return
    fix = {
        "text": "--categorical encode makes columns of 0 and 1 of it; or leave it out",
        "date": "--dates number counts its days; or leave it out",
    }.get(column.kind, "leave it out")
    if asked.table == "counts" and column.kind == "text":
        fix = "a table with a line per case is counted by --rows-by COL --columns-by COL"
    if asked.table == "groups" and column.kind == "text":
        fix = "leave it out; the groups themselves are named by --target"
    held = {"empty": "nothing", "other": column.words or "no numbers"}.get(
        column.kind, f"{column.kind} {column.words}".strip()
    )
    raise InputError(
        "a column to analyse must hold numbers (--columns)",
        got=f"{label}: {column.name!r} holds {held}",
        fix=fix,
    )
