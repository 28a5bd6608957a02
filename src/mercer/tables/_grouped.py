"""Columns that options name in groups, settled to names."""

import dataclasses
from collections.abc import Sequence

from mercer.errors import InputError
from mercer.tables._asked import Asked
from mercer.tables._names import meant


def by_name(asked: Asked, names: Sequence[str], label: str) -> Asked:
    """Return the user's word with --as-category and --group as names of columns.

    Groups of columns say which columns are analysed, where --columns does not.

    Parameters
    ----------
    asked : Asked
        What was said: names, patterns, places.
    names : sequence of str
        All columns of the file.
    label : str
        What messages call the file.
    """
    category = _names(asked.category, names, "--as-category", label)
    groups = tuple((g, _names(words, names, "--group", label)) for g, words in asked.groups)
    owner = dict[str, str]()
    for group, members in groups:
        for name in members:
            if name in owner:
                raise InputError(
                    "a column belongs to one group (--group)",
                    got=f"{label}: {name!r} is in {owner[name]!r} and in {group!r}",
                    fix="take it out of one of them",
                )
            owner[name] = group
    columns = asked.columns if asked.columns is not None or not owner else tuple(owner)
    return dataclasses.replace(asked, category=category, groups=groups, columns=columns)


def groups_of(asked: Asked, active: Sequence[str], label: str) -> dict[str, list[str]] | None:
    """Return the columns of every group, None where no groups were named.

    Parameters
    ----------
    asked : Asked
        As `by_name` settled it.
    active : sequence of str
        The columns of the analysis.
    label : str
        What messages call the file.
    """
    if not asked.groups:
        return None
    there = set(active)
    found = {group: [n for n in members if n in there] for group, members in asked.groups}
    empty = [group for group, members in found.items() if not members]
    if empty:
        raise InputError(
            "no column of a group is left to analyse (--group)",
            got=f"{label}: {empty[0]!r}",
            fix="see mercer look for why its columns are left out",
        )
    return found


def _names(
    words: Sequence[str], names: Sequence[str], option: str, label: str
) -> tuple[str, ...]:
    places = {i for found in meant(words, names, option, label) for i in found}
    return tuple(names[i] for i in sorted(places))
