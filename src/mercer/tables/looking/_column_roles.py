"""What each column is used for: what the user says, and else what its facts suggest."""

import dataclasses
import re
from collections.abc import Sequence
from typing import final

from mercer.arrays import EXACT
from mercer.errors import InputError
from mercer.tables.looking._column_facts import DISGUISES, UNCLEAR, Facts
from mercer.tables.looking._set_aside import COLOURS, set_aside
from mercer.tables.looking._table_request import Asked, meant, words_of

Role = tuple[str, str]  # and the reason for it
Roles = list[Role]
FEW = 12  # whole numbers that are taken for codes without being asked
LEVELS = 50  # texts that are taken for categories without being asked
_WHY = {"out": "dropped by name"}
_ALONE = ("id", "weights", "target", "rows", "columns", "count")  # of one column
_NAMES = {"out": "drop", "rows": "rows_by", "columns": "columns_by"}  # in `Asked`, of roles


@final
@dataclasses.dataclass(frozen=True)
class RolesTold:
    """What the user said.

    Attributes
    ----------
    roles : dict of int to (str, str)
        Role and reason of the columns that have one by the user's word.
    columns : frozenset of int or None
        Places of the columns to analyse; None where the user did not say.
    """

    roles: dict[int, Role]
    columns: frozenset[int] | None

    def has(self, role: str) -> bool:
        """Tell whether the user gave some column this role."""
        return any(given == role for given, _ in self.roles.values())


def told(columns: Sequence[Facts], asked: Asked, label: str) -> RolesTold:
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
    settled: dict[int, _Word] = {}
    for role in ("out", "id", "weights", "color", "sup", *_ALONE[2:]):
        option = _option(role)
        for places in meant(words_of(asked, _NAMES.get(role, role)), names, option, label):
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
        return RolesTold(roles, None)
    return RolesTold(roles, frozenset(i for places in wanted for i in places))


def _option(role: str) -> str:
    return f"--{_NAMES.get(role, role).replace('_', '-')}"


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


def _refuse_many(roles: dict[int, Role], names: Sequence[str], label: str) -> None:
    for role in _ALONE:
        several = [names[i] for i, (given, _) in roles.items() if given == role]
        if len(several) > 1:
            raise InputError(
                f"one column is needed, not {len(several)} ({_option(role)})",
                got=f"{label}: {', '.join(map(repr, several[:5]))}",
                fix="name one of them",
            )


def _refuse_weights(roles: dict[int, Role], columns: Sequence[Facts], label: str) -> None:
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


_ROW_NAMES = re.compile(
    r"index|idx|rows?|row[ _.]?(id|ids|nr|num|number|names?)|level_0|unnamed.*", re.IGNORECASE
)
_COUNTS = re.compile(r"nr|no|number|num|obs|case|key|#", re.IGNORECASE)
_ENDS_IN_ID = re.compile(
    r"(?:|.*[_ .\-])(?:id|ID|Id)|.*[a-z0-9]I[Dd]"
    r"|(?:user|patient|customer|client|order|subject|sample|person|student|item|product|record"
    r"|case|row|obs|object|account|device|session|house|household|member|employee)id"
)
_CODES = re.compile(
    r"(?:.*[_ .\-])?(year|yr|month|mnth|day|weekday|hour|zip|zip_?code|postcode|plz|code"
    r"|cluster|group|class)",
    re.IGNORECASE,
)
_CATEGORIES = range(2, FEW + 1)  # a picture has no more colours that can be told apart
_FIRST_DAY, _LAST_DAY = 1900_01_01, 2099_12_31  # days written as numbers
_ENCODED = 50  # categories that become columns of their own


def names_rows(name: str, place: int, names: Sequence[str]) -> bool:
    """Tell whether a column is called as those are that name the rows: id, index, user_id.

    A column without a name in the header is called by its place.

    Parameters
    ----------
    name : str
        Of the column.
    place : int
        Where it stands, from 0.
    names : sequence of str
        Of all columns.
    """
    no_header = (names[0], names[-1]) == ("0", str(len(names) - 1))
    if name == str(place) and not no_header:
        return True
    return bool(_ROW_NAMES.fullmatch(name) or _ENDS_IN_ID.fullmatch(name))


def is_code(name: str) -> bool:
    """Tell whether numbers under this name are often codes: year, zip, user_id."""
    return bool(_CODES.fullmatch(name) or _ENDS_IN_ID.fullmatch(name))


def roles(columns: Sequence[Facts], asked: Asked, label: str) -> Roles:
    """Return role and reason of every column.

    Parameters
    ----------
    columns : sequence of Facts
        All columns, in the order of the file.
    asked : Asked
        What the user says; it goes before all that is found.
    label : str
        What messages call the file.
    """
    found = suggested(columns, asked, label)
    _refuse_kinds(found, columns, asked, label)
    _refuse_infinite(found, columns, label)
    refuse_table([(c, role) for c, (role, _) in zip(columns, found, strict=True)], asked, label)
    if not asked.crossed and not any(role == "active" for role, _ in found):
        raise _nothing_left(found, columns, asked, label)
    return found


def suggested(columns: Sequence[Facts], asked: Asked, label: str) -> Roles:
    """Return what `roles` does, of a table that may not be fit for the method.

    Parameters
    ----------
    columns, asked, label
        As for `roles`.
    """
    said = told(columns, asked, label)
    names = [column.name for column in columns]
    found: Roles = [_by_itself(i, one, names, asked) for i, one in enumerate(columns)]
    _name_rows(found, columns, said)
    _colour(found, columns, asked, said)
    if asked.table in ("numbers", "mixed", "groups") and not (asked.transpose or asked.crossed):
        alone = {i for i in said.columns or () if columns[i].is_number}
        picks = asked.table == "numbers" and not said.has("color")
        taken = {*said.roles, *alone, *_of_categories(columns, asked)}
        set_aside(found, columns, taken, picks=picks, flags=asked.table == "numbers")
    for i, (role, why) in said.roles.items():
        found[i] = (role, why)
    if said.columns is not None:
        _only_asked(found, columns, said, asked)
    return found


def _of_categories(columns: Sequence[Facts], asked: Asked) -> set[int]:
    """Return the whole numbers that are analysed as categories."""
    return {i for i, column in enumerate(columns) if column.name in asked.category}


def _by_itself(place: int, column: Facts, names: Sequence[str], asked: Asked) -> Role:
    """Return what a column would be without the others; "id" for all that name the rows."""
    if column.kind in ("empty", "other"):
        return "out", column.words or "empty"
    identifies = column.kind == "integer" and _identifies(place, column, names)
    own = use_of(column, asked, first=place == 0, identifies=identifies)
    if own is not None:
        return own
    if column.kind == "date":
        return _of_date(asked)
    if column.kind == "text":
        return _of_text(column, asked)
    if identifies:
        return "id", "counts the rows" if column.counts else "all different"
    if asked.transpose:
        return "active", ""
    if column.constant and column.low is not None:  # one that was not read may hold anything
        return "out", f"constant {column.low:g}"
    return "active", _doubt(column)


def _identifies(place: int, column: Facts, names: Sequence[str]) -> bool:
    if column.counts and (place == 0 or _COUNTS.fullmatch(column.name)):
        return True
    # Integers beyond 2^53 are rounded, so that different ones may seem the same.
    different = column.unique or column.nearly or (column.high or 0.0) >= EXACT
    return different and names_rows(column.name, place, names)


def _doubt(column: Facts) -> str:
    """Return what makes a number look like a code; nobody is asked to believe it."""
    if column.kind != "integer" or column.distinct is None:
        return ""
    if column.words == "with leading zeros":
        return f"written with leading zeros; if it is a code: --drop {column.name}"
    assert column.low is not None
    assert column.high is not None
    if _FIRST_DAY <= column.low < column.high <= _LAST_DAY:
        return f"read as numbers; if they are dates like {column.low:.0f}: --drop {column.name}"
    if not is_code(column.name):
        return ""
    return f"{column.distinct:,} values; if it is a code: --drop {column.name}"


def _different(column: Facts) -> str:
    return "all different" if column.unique else f"{_many(column)} different"


def _of_date(asked: Asked) -> Role:
    if asked.dates == "number":
        return "active", "date, counted in days"
    return "out", "date: --dates number to analyse it"


def _of_text(column: Facts, asked: Asked) -> Role:
    count, many = column.distinct or 0, _many(column)
    encode = asked.categorical == "encode"
    if column.words.startswith("such as") and not encode:
        word = column.words.removeprefix("such as ")
        return "out", f"numbers, and text such as {word}: --na {word} if that is missing"
    if column.disguised:
        return "out", f"numbers {column.words}: {DISGUISES[column.words]}"
    if (column.unique or column.nearly) and column.words != "long":
        return "id", _different(column)
    if count == 1:
        return "out", "text, always the same"
    if encode:
        if count <= _ENCODED:
            return "active", f"text of {many} categories: a column of 0 and 1 for each"
        return "out", f"text of {many} values: too many to encode"
    if column.words == "that spells numbers":
        return "out", "numbers written as text"
    if count in _CATEGORIES:
        return "out", f"text of {many} categories: --categorical encode to analyse it"
    return "out", "text, all different" if column.unique else f"text of {many} values"


def _name_rows(found: Roles, columns: Sequence[Facts], said: RolesTold) -> None:
    """Leave one column that names the rows: the user's, else text, else the first."""
    taken = said.roles.keys() | {i for i in said.columns or () if columns[i].is_number}
    able = [i for i, (role, _) in enumerate(found) if role == "id" and i not in taken]
    able.sort(key=lambda i: _names_worse(columns[i]))
    for rank, i in enumerate(able):
        if rank or said.has("id"):
            counts = "counts the rows" if columns[i].counts else _different(columns[i])
            found[i] = ("out", counts)


def _names_worse(column: Facts) -> int:
    """Return how far a column is from naming the rows well: text first, counters last."""
    if column.kind == "text":
        return int(not column.unique)
    return 3 if column.counts else 2


def _colour(found: Roles, columns: Sequence[Facts], asked: Asked, said: RolesTold) -> None:
    """Let dates, and texts of few categories, colour pictures."""
    if said.has("color") or asked.categorical != "ignore" or asked.transpose:
        return
    if asked.table != "numbers":  # texts have another use, or the groups colour them
        return
    count = 0
    for i, column in enumerate(columns):
        few = column.kind == "text" and column.distinct in _CATEGORIES
        texts = few and found[i][0] == "out" and "categories" in found[i][1]
        dates = column.kind == "date" and asked.dates == "ignore" and column.words != UNCLEAR
        if (texts or dates) and i not in said.roles and count < COLOURS:
            found[i] = ("color", found[i][1])
            count += 1


def _only_asked(found: Roles, columns: Sequence[Facts], said: RolesTold, asked: Asked) -> None:
    """Analyse what --columns names, and nothing else."""
    assert said.columns is not None
    for i, (role, why) in enumerate(found):
        if i in said.roles:
            continue
        if i not in said.columns:
            found[i] = (role, why) if role in ("id", "color") else ("out", "not asked for")
        elif asked.table in ("categories", "mixed") and columns[i].kind == "text":
            found[i] = ("active", why if role == "active" else "asked for")
        elif asked.table == "categories":
            pass  # numbers that are no categories were refused by name, or are left out
        elif columns[i].constant:
            found[i] = ("active", f"constant {columns[i].low:g}, but asked for")
        elif columns[i].is_number:
            found[i] = ("active", why if role == "active" else "asked for")


def _refuse_kinds(found: Roles, columns: Sequence[Facts], asked: Asked, label: str) -> None:
    """Refuse dates and text where the user wants that."""
    for kind, wish, option in (
        ("date", asked.dates, "--dates"),
        ("text", asked.categorical, "--categorical"),
    ):
        pairs = zip(columns, found, strict=True)
        odd = [c.name for c, (role, _) in pairs if c.kind == kind and role == "out"]
        if wish == "error" and odd:
            raise InputError(
                f"columns of {kind} are refused ({option} error)",
                got=f"{label}: {', '.join(map(repr, odd[:5]))}",
                fix=f"leave them out with --drop, or {option} ignore",
            )


def _refuse_infinite(found: Roles, columns: Sequence[Facts], label: str) -> None:
    odd = [
        column
        for column, (role, _) in zip(columns, found, strict=True)
        if column.infinite and role in ("active", "weights", "sup")
    ]
    if odd:
        shown = ", ".join(f"{column.name!r} {column.infinite:,}" for column in odd[:5])
        raise InputError(
            "infinite cells cannot be analysed",
            got=f"{label}, infinite cells by column: {shown}",
            fix=f"correct them, or leave the column out: --drop {odd[0].name}",
        )


def _nothing_left(
    found: Roles, columns: Sequence[Facts], asked: Asked, label: str
) -> InputError:
    shown = "; ".join(
        f"{column.name!r} {why or role}"
        for column, (role, why) in list(zip(columns, found, strict=True))[:4]
    )
    more = f"; and {len(columns) - 4} more" if len(columns) > 4 else ""
    if asked.table == "categories":
        fix = "--as-category COL takes whole numbers as categories; numbers take --method pca"
    elif asked.table == "counts" and sum(column.kind == "text" for column in columns) > 1:
        fix = "a table with a line per case is counted by --rows-by COL --columns-by COL"
    elif asked.columns is not None or asked.drop:
        option = "--columns" if asked.columns is not None else "--drop"
        fix = f"choose columns of numbers: {option}"
    elif any(column.disguised for column in columns):
        words = next(column.words for column in columns if column.disguised)
        fix = f"numbers {words} are not read: {DISGUISES[words]}"
    elif any(why.startswith("numbers, and text") for _, why in found):
        fix = "correct these cells, or say with --na that they are missing"
    elif any(column.kind == "text" for column in columns):
        fix = "--categorical encode makes columns of 0 and 1 of text"
    else:
        fix = "check how the file was written; --delimiter and --header say how it is read"
    what = {"counts": "counts", "categories": "categories"}.get(asked.table, "numbers")
    return InputError(
        f"no column of {what} is left to analyse", got=f"{label}: {shown}{more}", fix=fix
    )


def use_of(column: Facts, asked: Asked, *, first: bool, identifies: bool) -> Role | None:
    """Return role and reason of a column; None where it is used as by methods of numbers.

    Parameters
    ----------
    column : Facts
        What it holds; neither nothing nor lists.
    asked : Asked
        What the method takes, and the user's word.
    first : bool
        Whether it is the first column of the file.
    identifies : bool
        Whether its whole numbers name the rows.
    """
    if asked.crossed:
        return "out", "not asked for"
    if asked.table in ("counts", "distances", "correlations"):
        return _of_counts(column, asked, first=first, identifies=identifies)
    if asked.table in ("categories", "mixed"):
        if column.name in asked.category and column.kind != "date":
            return "active", f"{_many(column)} categories, asked for"
        if column.kind == "text":
            return _category_of_text(column, asked.levels)
        if asked.table == "categories" and column.kind != "date":
            return _category_of_number(column, identifies=identifies)
    return None


def is_category(name: str, kind: str, asked: Asked) -> bool:
    """Tell whether an active column is a category as it is."""
    if asked.table == "categories":
        return True
    return asked.table == "mixed" and (kind == "text" or name in asked.category)


def _of_counts(column: Facts, asked: Asked, *, first: bool, identifies: bool) -> Role | None:
    if column.kind == "text":
        if column.disguised:
            return "out", f"numbers {column.words}: {DISGUISES[column.words]}"
        if column.unique or first:
            return "id", "all different" if column.unique else "the first column"
        return "out", f"text of {_many(column)} values: no counts"
    if column.kind == "date":
        return "out", "date: no counts"
    if identifies:
        return None
    if column.low == column.high == 0 and asked.table == "counts":
        return "out", "only zeros"
    return "active", ""


def _category_of_text(column: Facts, levels: int) -> Role:
    if column.disguised:
        return "out", f"numbers {column.words}: {DISGUISES[column.words]}"
    if (column.unique or column.nearly) and column.words != "long":
        return "id", _different(column)
    if column.distinct == 1:
        return "out", "text, always the same"
    if (column.distinct or 0) > levels or column.unique:
        return "out", f"text of {_many(column)} values: --as-category {column.name} to use it"
    return "active", f"{_many(column)} categories"


def _category_of_number(column: Facts, *, identifies: bool) -> Role | None:
    if column.kind == "number":
        return "out", "numbers: no categories"
    if identifies:
        return None
    if column.low == column.high:
        return "out", f"constant {column.low:g}"
    if (column.distinct or 0) <= FEW:
        return "active", f"{_many(column)} categories, whole numbers"
    return "out", f"more than {FEW} whole numbers: --as-category if they are codes"


def _many(column: Facts) -> str:
    return f"{column.distinct or 0:,}{' or more' if column.partly else ''}"


def refuse_no_category(column: Facts, asked: Asked, label: str) -> None:
    """Refuse a column that was named by itself and is no category, where one is needed."""
    if column.kind in ("empty", "other", "date"):
        held = {"empty": "nothing", "other": column.words or "lists"}.get(column.kind, "dates")
        raise InputError(
            "a column to analyse must hold categories or numbers (--columns)",
            got=f"{label}: {column.name!r} holds {held}",
            fix="leave it out",
        )
    if asked.table == "mixed" or column.kind == "text" or column.name in asked.category:
        return
    if column.kind == "number":
        raise InputError(
            "a column of categories does not hold numbers with decimals (--columns)",
            got=f"{label}: {column.name!r}, {column.low:g} to {column.high:g}",
            fix="leave it out, or take --method famd, which has numbers and categories",
        )
    if (column.distinct or 0) > FEW:
        raise InputError(
            f"whole numbers of more than {FEW} values are not taken for categories (--columns)",
            got=f"{label}: {column.name!r} has {_many(column)} values",
            fix=f"--as-category {column.name} if they are codes; else leave it out",
        )


def refuse_table(columns: list[tuple[Facts, str]], asked: Asked, label: str) -> None:
    """Refuse a table that the method cannot take, by the roles of its columns.

    Parameters
    ----------
    columns : list of (Facts, str)
        All columns with their roles.
    asked : Asked
        What the method takes.
    label : str
        What messages call the file.
    """
    if asked.crossed:
        _refuse_half(asked, label)
        return
    active = [column for column, role in columns if role == "active"]
    if asked.table == "counts":
        _refuse_negative([c for c, role in columns if role in ("active", "sup")], label)
    if asked.table == "categories" and len(active) == 1:
        raise InputError(
            "two columns of categories are needed, and one is there",
            got=f"{label}: {active[0].name!r} alone; {_others(columns)}",
            fix="--as-category COL takes whole numbers as categories; see mercer look",
        )
    if asked.table == "groups":
        _refuse_target(columns, asked, label)


def _refuse_half(asked: Asked, label: str) -> None:
    if asked.rows_by is None or asked.columns_by is None:
        given, other = ("--rows-by", "--columns-by")
        given, other = (given, other) if asked.rows_by is not None else (other, given)
        raise InputError(
            "two columns are counted against each other",
            got=f"{label}: {given} {asked.rows_by or asked.columns_by} alone",
            fix=f"name the other one too: {other} COL",
        )


def _refuse_negative(active: list[Facts], label: str) -> None:
    below = [column for column in active if column.low is not None and column.low < 0]
    if below:
        shown = ", ".join(f"{column.name!r} holds {column.low:g}" for column in below[:5])
        raise InputError(
            "counts are not negative",
            got=f"{label}: {shown}",
            fix=f"leave the column out: --drop {below[0].name}; numbers of any sign take"
            " --method pca",
        )


def _refuse_target(columns: list[tuple[Facts, str]], asked: Asked, label: str) -> None:
    if asked.target is None:
        able = [
            column.name
            for column, _ in columns
            if column.kind in ("text", "integer", "flag") and column.distinct in _CATEGORIES
        ]
        some = f"; {', '.join(map(repr, able[:5]))} could be" if able else ""
        raise InputError(
            "the method needs to know the groups of the rows",
            got=f"{label}: no column of groups is named{some}",
            fix=f"--target {able[0] if able else 'COL'}",
        )
    target = next(column for column, role in columns if role == "target")
    count = target.distinct
    if target.kind in ("number", "date", "empty", "other") or count == 1:
        held = {"number": "numbers with decimals", "date": "dates", "empty": "nothing"}
        what = "one value alone" if count == 1 else held.get(target.kind, "no text")
        raise InputError(
            "a column of groups holds two or more words or codes (--target)",
            got=f"{label}: {target.name!r} holds {what}",
            fix="name another column",
        )
    if target.unique or (target.kind == "integer" and (count or 0) > LEVELS):
        raise InputError(
            "a column of groups holds few different values (--target)",
            got=f"{label}: {target.name!r} has {_many(target)}",
            fix="name another column; see mercer look",
        )


def _others(columns: list[tuple[Facts, str]]) -> str:
    others = [f"{c.name!r} ({c.kind})" for c, role in columns if role != "active"]
    more = f" and {len(others) - 4} more" if len(others) > 4 else ""
    return f"not used: {', '.join(others[:4])}{more}" if others else "no other column"
