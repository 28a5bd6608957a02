"""What the user says of a table, and which columns are meant by it.

Columns are named by their names, by patterns and by places counted from 1.
"""

import dataclasses
import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any, final

from mercer.errors import InputError
from mercer.tables._table_gaps import WAYS

# What the options that choose among words may say.
# fmt: off
_WORDS = {
    "missing": ("auto", *WAYS, "rows", "columns", "error"),
    "standardize": ("auto", "yes", "no"),
    "dates": ("ignore", "number", "error"),
    "categorical": ("ignore", "encode", "error"),
    "table": (
        "numbers", "counts", "categories", "mixed", "groups", "distances", "correlations",
        "auto",
    ),
}
# fmt: on


@final
@dataclasses.dataclass(frozen=True)
class Asked:
    """The user's word on a table. Every default means: find out, and say what was found.

    Columns are named by their names, by patterns (``q*``) or by places counted from 1
    (``3``, ``5-9``, ``5-`` to the last).

    Attributes
    ----------
    columns : tuple of str or None
        The columns to analyse; None for all that hold numbers.
    drop : tuple of str
        Columns to leave out.
    id : str or None
        Column that names the rows.
    color : tuple of str
        Columns that pictures are coloured by; not analysed.
    weights : str or None
        Column of repeat counts; not analysed.
    sup : tuple of str
        Supplementary columns: not analysed, but their correlations with the axes are given.
    missing : {"auto", "em", "ppca", "passive", "level", "fill", "rows", "columns", "error"}
        Missing cells: fill them, and where more than 5 % are missing leave out columns and rows
        of which most is (auto), fill, leave out rows or columns that have some, or refuse. Of
        categories: count nowhere (passive), be a category (level), be filled.
    standardize : {"auto", "yes", "no"}
        Divide columns by their standard deviation; auto does unless they say that they share a
        unit.
    dates : {"ignore", "number", "error"}
        Leave dates out, count them in days, or refuse them.
    categorical : {"ignore", "encode", "error"}
        Leave text out, turn each category into a column of 0 and 1, or refuse it.
    transpose : bool
        Whether the table holds variables in rows, as tables of genes do.
    rows : int or None
        Read only so many rows; None reads all.
    reading : mapping
        Further options of `mercer.scan`: delimiter, header, na, encoding, key.
    table : {"numbers", "counts", "categories", "mixed", "groups", "distances", \
"correlations", "auto"}
        What the method takes: numbers, counts that are not negative, categories, numbers and
        categories, numbers with a column of groups, a matrix of distances or of correlations;
        "auto" for what the table itself is taken for.
    target : str or None
        Column of the groups.
    category : tuple of str
        Columns of whole numbers that are codes: taken as categories.
    rows_by, columns_by : str or None
        Two columns of a long table that are counted against each other.
    count : str or None
        How often each line of the long table counts; None for once.
    groups : tuple of (str, tuple of str)
        Names of groups of columns, and their columns.
    levels : int
        Different texts of a column that is taken for categories unasked, at most.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    id: str | None = None
    color: tuple[str, ...] = ()
    weights: str | None = None
    sup: tuple[str, ...] = ()
    missing: str = "auto"
    standardize: str = "auto"
    dates: str = "ignore"
    categorical: str = "ignore"
    transpose: bool = False
    rows: int | None = None
    reading: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    table: str = "numbers"
    target: str | None = None
    category: tuple[str, ...] = ()
    rows_by: str | None = None
    columns_by: str | None = None
    count: str | None = None
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    levels: int = 50

    @property
    def crossed(self) -> bool:
        """Whether two columns of a long table are counted against each other."""
        return self.rows_by is not None or self.columns_by is not None

    def __post_init__(self) -> None:
        """Refuse words that an option does not have."""
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise InputError(
                    f"--{name} does not know this word",
                    got=f"{name}={getattr(self, name)!r}",
                    fix=f"take one of {', '.join(words)}",
                )
        if self.rows is not None and self.rows < 2:
            raise InputError(
                "an analysis needs two rows (--rows)", got=f"rows={self.rows}", fix="read more"
            )


def words_of(asked: Asked, name: str) -> tuple[str, ...]:
    """Return what was said under a name of `Asked`: several words, one or none."""
    given = getattr(asked, name)
    return (given,) if isinstance(given, str) else given or ()


def meant(
    words: Sequence[str], names: Sequence[str], option: str, label: str
) -> tuple[dict[int, bool], ...]:
    """Return, word by word, the places of the columns, and whether each was meant by itself.

    A word is a name, a pattern (``q*``), a place counted from 1 (``3``), or a range of places
    or of names (``5-9``, ``5-``, ``q1-q9``). A name goes before all else, since a column may be
    called "3" or "a-b".

    Parameters
    ----------
    words : sequence of str
        What the user wrote.
    names : sequence of str
        All columns, in the order of the file.
    option : str
        The option that holds the words, for messages: "--columns".
    label : str
        What messages call the file.
    """
    place = {name: i for i, name in enumerate(names)}
    return tuple(_one(word, names, place, option, label) for word in words)


def _one(
    word: str, names: Sequence[str], place: dict[str, int], option: str, label: str
) -> dict[int, bool]:
    if word in place:
        return {place[word]: True}
    if any(mark in word for mark in "*?["):
        found = [i for i, name in enumerate(names) if fnmatch.fnmatchcase(name, word)]
        if found:
            return dict.fromkeys(found, False)
        raise _unknown(word, names, option, label, "no column fits the pattern")
    for dash in (i for i, letter in enumerate(word) if letter == "-" and i):
        left, right = word[:dash], word[dash + 1 :]
        first = _end(left, place, len(names))
        last = _end(right, place, len(names)) if right else len(names) - 1
        if first is not None and last is not None:
            return dict.fromkeys(_between(first, last, word, option, label), False)
    at = _end(word, place, len(names))
    if at is None:
        raise _unknown(word, names, option, label, "there is no column")
    return {at: True}


def _end(word: str, place: dict[str, int], count: int) -> int | None:
    """Return the place of a name or of a number counted from 1, or None."""
    if word in place:
        return place[word]
    if word.isdecimal() and word.isascii() and 1 <= int(word) <= count:
        return int(word) - 1
    return None


def _between(first: int, last: int, word: str, option: str, label: str) -> range:
    if first > last:
        raise InputError(
            f"a range of columns goes from left to right ({option})",
            got=f"{label}: {word!r}, places {first + 1} to {last + 1}",
            fix="exchange its ends",
        )
    return range(first, last + 1)


def _unknown(word: str, names: Sequence[str], option: str, label: str, what: str) -> InputError:
    small = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower().strip("*?"), list(small), n=1, cutoff=0.5)
    more = ", ..." if len(names) > 5 else ""
    got = f"{label}: {len(names)} columns, {', '.join(map(repr, names[:5]))}{more}"
    fix = "`mercer look` lists the columns; places count from 1"
    return InputError(
        f"{what} {word!r} ({option})",
        got=got,
        fix=f"did you mean {small[near[0]]!r}?" if near and not word.isdecimal() else fix,
    )


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
