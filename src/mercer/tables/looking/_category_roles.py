"""What a column is used for by methods that take counts, categories, or both."""

from mercer.errors import InputError
from mercer.tables.looking._column_facts import DISGUISES, Facts
from mercer.tables.looking._table_request import Asked

FEW = 12  # whole numbers that are taken for codes without being asked
LEVELS = 50  # texts that are taken for categories without being asked
_GROUPS = range(2, FEW + 1)

Role = tuple[str, str]


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
    if asked.table == "counts":
        return _of_counts(column, first=first, identifies=identifies)
    if asked.table in ("categories", "mixed"):
        if column.name in asked.category and column.kind != "date":
            return "active", f"{_many(column)} categories, asked for"
        if column.kind == "text":
            return _of_text(column)
        if asked.table == "categories" and column.kind != "date":
            return _of_number(column, identifies=identifies)
    return None


def is_category(name: str, kind: str, asked: Asked) -> bool:
    """Tell whether an active column is a category as it is."""
    if asked.table == "categories":
        return True
    return asked.table == "mixed" and (kind == "text" or name in asked.category)


def _of_counts(column: Facts, *, first: bool, identifies: bool) -> Role | None:
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
    if column.low == column.high == 0:
        return "out", "only zeros"
    return "active", ""


def _of_text(column: Facts) -> Role:
    if column.disguised:
        return "out", f"numbers {column.words}: {DISGUISES[column.words]}"
    if column.unique and column.words != "long":
        return "id", "all different"
    if column.distinct == 1:
        return "out", "text, always the same"
    if (column.distinct or 0) > LEVELS or column.unique:
        return "out", f"text of {_many(column)} values: --as-category {column.name} to use it"
    return "active", f"{_many(column)} categories"


def _of_number(column: Facts, *, identifies: bool) -> Role | None:
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
            if column.kind in ("text", "integer", "flag")
            and column.distinct in range(2, FEW + 1)
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
