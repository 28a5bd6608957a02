"""What each column is used for: what the user says, and else what its facts suggest."""

import re
from collections.abc import Sequence

from mercer.errors import InputError
from mercer.tables._asked import Asked
from mercer.tables._kinds import DISGUISES, Facts
from mercer.tables._told import Told, told
from mercer.tables._uses import refuse_table, use_of

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
_CATEGORIES = range(2, 13)  # a picture has no more colours that can be told apart
_FIRST_DAY, _LAST_DAY = 1900_01_01, 2099_12_31  # days written as numbers
_EXACT = 2.0**53
_ENCODED = 50  # categories that become columns of their own

Roles = list[tuple[str, str]]


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
    said = told(columns, asked, label)
    names = [column.name for column in columns]
    found: Roles = [_by_itself(i, one, names, asked) for i, one in enumerate(columns)]
    _name_rows(found, columns, said)
    _colour(found, columns, asked, said)
    for i, (role, why) in said.roles.items():
        found[i] = (role, why)
    if said.columns is not None:
        _only_asked(found, columns, said, asked)
    _refuse_kinds(found, columns, asked, label)
    _refuse_infinite(found, columns, label)
    refuse_table([(c, role) for c, (role, _) in zip(columns, found, strict=True)], asked, label)
    if not asked.crossed and not any(role == "active" for role, _ in found):
        raise _nothing_left(found, columns, asked, label)
    return found


def _by_itself(
    place: int, column: Facts, names: Sequence[str], asked: Asked
) -> tuple[str, str]:
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
    different = column.unique or (column.high or 0.0) >= _EXACT
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


def _of_date(asked: Asked) -> tuple[str, str]:
    if asked.dates == "number":
        return "active", "date, counted in days"
    return "out", "date: --dates number to use it"


def _of_text(column: Facts, asked: Asked) -> tuple[str, str]:
    count = column.distinct or 0
    many = f"{count:,}{' or more' if column.partly else ''}"
    encode = asked.categorical == "encode"
    if column.words.startswith("such as") and not encode:
        word = column.words.removeprefix("such as ")
        return "out", f"numbers, and text such as {word}: --na {word} if that is missing"
    if column.disguised:
        return "out", f"numbers {column.words}: {DISGUISES[column.words]}"
    if column.unique and column.words != "long":
        return "id", "all different"
    if count == 1:
        return "out", "text, always the same"
    if encode:
        if count <= _ENCODED:
            return "active", f"text of {many} categories: a column of 0 and 1 for each"
        return "out", f"text of {many} values: too many to encode"
    if column.words == "that spells numbers":
        return "out", "numbers written as text"
    if count in _CATEGORIES:
        return "out", f"text of {many} categories: --color or --categorical encode"
    return "out", "text, all different" if column.unique else f"text of {many} values"


def _name_rows(found: Roles, columns: Sequence[Facts], said: Told) -> None:
    """Leave one column that names the rows: the user's, else text, else the first."""
    taken = said.roles.keys() | {i for i in said.columns or () if columns[i].is_number}
    able = [i for i, (role, _) in enumerate(found) if role == "id" and i not in taken]
    able.sort(key=lambda i: columns[i].kind != "text")
    for rank, i in enumerate(able):
        if rank or said.has("id"):
            counts = "counts the rows" if columns[i].counts else "all different"
            found[i] = ("out", counts)


def _colour(found: Roles, columns: Sequence[Facts], asked: Asked, said: Told) -> None:
    """Let the first text of few categories colour pictures."""
    if said.has("color") or asked.categorical != "ignore" or asked.transpose:
        return
    if asked.table != "numbers":  # texts have another use, or the groups colour them
        return
    for i, column in enumerate(columns):
        few = column.kind == "text" and column.distinct in _CATEGORIES
        if few and found[i][0] == "out" and i not in said.roles and "categories" in found[i][1]:
            found[i] = ("color", found[i][1].partition(":")[0])
            return


def _only_asked(found: Roles, columns: Sequence[Facts], said: Told, asked: Asked) -> None:
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
