"""What kind of table it is, and the method that fits it; said with how to get another."""

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.tables.looking._column_facts import Facts
from mercer.tables.looking._set_aside import two_values, words_of_name
from mercer.tables.looking._table_request import Asked

AUTO = "auto"
_LEVELS = 20  # texts of a column that are taken for categories unasked
_FEW = 12  # whole numbers that are codes in a table of counts
_LACKS = 0.5  # share of missing cells from which on a column decides nothing
_ROUNDING = 1e-6  # of the largest cell, by which two sides of a symmetric matrix may differ
_COUNT_WORDS = ("freq", "frequency", "freqs", "count", "counts", "n", "number", "num", "cases")
_SPARSE = 0.1  # share of zeros from which on columns of counts may differ in size
_SIZES = 100.0  # of the largest mean of a column of counts to the smallest
_DISPERSED = 1.0  # χ² per degree of freedom that counts have at least; answers have less
_ANSWERS = 10  # largest answer on a scale
# What no column of a cross table is called: these are quantities of different kinds.
_QUANTITIES = {
    "age", "year", "income", "salary", "wage", "price", "cost", "height", "weight", "length",
    "width", "depth", "area", "temp", "temperature", "speed", "score", "points", "rating",
    "rate", "percent", "pct", "ratio", "index", "size", "distance", "time", "duration", "rank",
    "mean", "gdp", "mpg", "hp", "calories", "mm", "cm", "kg",
}  # fmt: skip


@final
@dataclasses.dataclass(frozen=True)
class Judgement:
    """What a table is taken for.

    Attributes
    ----------
    kind : str
        "numbers", "categories", "numbers and categories", "cross table", "long counts",
        "distances" or "correlations".
    method : str
        The command of the method that fits.
    why : str
        A sentence: what the table is, what fits it, and how to get another.
    """

    kind: str
    method: str
    why: str


@final
@dataclasses.dataclass(frozen=True)
class TableEvidence:
    """What is known of a table before it is judged.

    Attributes
    ----------
    facts : tuple of Facts
        All columns.
    roles : tuple of str
        What they would be used for by a method of numbers.
    rows : int
        Their number.
    names : tuple of str
        Columns of numbers that were walked.
    head : array (h, p)
        Their first rows.
    """

    facts: tuple[Facts, ...]
    roles: tuple[str, ...]
    rows: int
    names: tuple[str, ...]
    head: Array

    def having(self, role: str) -> list[Facts]:
        """Return the columns with a role."""
        return [one for one, own in zip(self.facts, self.roles, strict=True) if own == role]


def judged(seen: TableEvidence, asked: Asked, label: str) -> tuple[Judgement, Asked]:
    """Return what a table is taken for, and the user's word made whole for that.

    Parameters
    ----------
    seen : Evidence
        The table.
    asked : Asked
        What the user says; its `table` is "auto".
    label : str
        What the file is called.
    """
    by_word = _by_word(asked)
    if by_word is not None:
        return by_word
    free = asked.columns is None and not asked.transpose and asked.categorical != "encode"
    if free and asked.weights is None:
        for kind in (_matrix, _long_counts, _cross_table):
            found = kind(seen, asked, label)
            if found is not None:
                return found
    return _by_columns(seen, asked, label, free)


def _by_word(asked: Asked) -> tuple[Judgement, Asked] | None:
    """Return what options say by themselves: groups, two columns to count."""
    if asked.target is not None:
        why = "groups are named by --target: discriminant axes (LDA)"
        return _told("numbers", "lda", why, asked, table="groups")
    if asked.crossed:
        why = "two columns are counted against each other: correspondence analysis (CA)"
        return _told("long counts", "ca", why, asked, table="counts")
    if asked.groups:
        why = "groups of columns are named: multiple factor analysis (MFA)"
        return _told("numbers and categories", "mfa", why, asked, table="mixed")
    return None


def _told(
    kind: str, method: str, why: str, asked: Asked, /, **more: object
) -> tuple[Judgement, Asked]:
    return Judgement(kind, method, why), dataclasses.replace(asked, **more)  # type: ignore[arg-type]


def _cells(seen: TableEvidence) -> tuple[tuple[str, ...], Array]:
    """Return the numbers of the table but for a column that names the rows, and their names."""
    gone = {one.name for one in seen.having("id")}
    gone |= {one.name for one in seen.facts if one.counts and one is seen.facts[0]}
    at = [j for j, name in enumerate(seen.names) if name not in gone]
    return tuple(seen.names[j] for j in at), seen.head[:, at]


def _matrix(seen: TableEvidence, asked: Asked, label: str) -> tuple[Judgement, Asked] | None:
    """Return a matrix of distances or correlations: square, symmetric, with its diagonal."""
    names, cells = _cells(seen)
    others = [one for one in seen.facts if one.name not in names and one.kind != "empty"]
    n = len(names)
    if n < 3 or seen.rows != n or cells.shape != (n, n) or len(others) > 1:
        return None
    size = float(np.max(np.abs(cells))) if np.isfinite(cells).all() else 0.0
    if not size or float(np.max(np.abs(cells - cells.T))) > _ROUNDING * size:
        return None
    diagonal = np.diag(cells)
    if not diagonal.any() and cells.min() >= 0:
        why = (
            f"square, symmetric, zeros in the diagonal: distances of {n} points, placed on a"
            f" map (MDS); as {n} rows of numbers: mercer pca {label}"
        )
        return _told("distances", "mds", why, asked, table="distances")
    if np.abs(diagonal - 1).max() <= _ROUNDING and size <= 1 + _ROUNDING:
        why = (
            f"square, symmetric, ones in the diagonal: correlations of {n} columns, the columns"
            f" placed on a map (MDS of √(2 - 2r)); as {n} rows of numbers: mercer pca {label}"
        )
        return _told("correlations", "mds", why, asked, table="correlations")
    return None


def _long_counts(
    seen: TableEvidence, asked: Asked, label: str
) -> tuple[Judgement, Asked] | None:
    """Return a table with a line for each cell: categories, and how often they met."""
    counts = [one for one in seen.facts if _may_count(one)]
    if not counts or any(one.kind == "date" for one in seen.facts):
        return None
    count = min(counts, key=_rank)
    places = {one.name for one in seen.having("id")}
    cats, rest = list[str](), list[Facts]()
    for one in seen.facts:
        if one is count or one.name in places or one.counts:
            continue
        if _is_level(one):
            cats.append(one.name)
        elif one.kind in ("number", "integer"):
            rest.append(one)
    if len(cats) < 2 or len(rest) > 1 or any(one.kind == "number" for one in rest):
        return None
    if len(cats) == 2:
        a, b = cats
        why = (
            f"a long table, {a} and {b} and how often ({count.name}): correspondence analysis"
            f" (CA); its columns one by one: mercer pca {label}"
        )
        more = {"rows_by": a, "columns_by": b, "count": count.name}
        return _told("long counts", "ca", why, asked, table="counts", **more)
    why = (
        f"a long table, {len(cats)} categories and how often they come together"
        f" ({count.name}): multiple correspondence analysis (MCA); for two of them: mercer ca"
        f" {label} --rows-by {cats[0]} --columns-by {cats[1]}"
    )
    coded = tuple(one.name for one in seen.facts if one.name in cats and one.kind != "text")
    return _told(
        "long counts", "mca", why, asked, table="categories", weights=count.name, category=coded
    )


def with_count(facts: Sequence[Facts], asked: Asked) -> tuple[Asked, tuple[str, ...]]:
    """Return the user's word with the column of counts of a long table, and a line on it.

    Parameters
    ----------
    facts : sequence of Facts
        All columns.
    asked : Asked
        What was said.
    """
    if not asked.crossed or asked.count is not None:
        return asked, ()
    known = {asked.rows_by, asked.columns_by, *asked.drop}
    able = [one for one in facts if one.name not in known and _may_count(one)]
    if not able:
        return asked, ()
    name = min(able, key=_rank).name
    line = f"each line counts as often as {name} says (--drop {name} to count every line once)"
    return dataclasses.replace(asked, count=name), (line,)


def _rank(column: Facts) -> int:
    return _COUNT_WORDS.index(words_of_name(column.name)[-1])


def _may_count(column: Facts) -> bool:
    """Tell whether a column is called as counts are, and holds nothing else."""
    words = words_of_name(column.name)
    whole = column.kind in ("integer", "flag") and not column.missing and not column.serial
    if not words or words[-1] not in _COUNT_WORDS or not whole or (column.low or 0.0) < 0:
        return False
    return words[-1] in _COUNT_WORDS[:5] or not column.unique


def _is_level(column: Facts) -> bool:
    if column.kind == "text":
        return not column.unique and 2 <= (column.distinct or 0) <= _LEVELS
    return column.kind in ("integer", "flag") and 2 <= (column.distinct or 0) <= _FEW


def _cross_table(
    seen: TableEvidence, asked: Asked, label: str
) -> tuple[Judgement, Asked] | None:
    """Return a cross table: named rows, columns of counts alike, nothing else."""
    names, cells = _cells(seen)
    label_of = [one for one in seen.facts if one.name not in names and one.kind != "empty"]
    named = len(label_of) == 1 and (label_of[0].unique or label_of[0].counts)
    if not named or len(names) < 2 or min(cells.shape) < 2 or seen.rows != len(cells):
        return None
    if not np.isfinite(cells).all() or cells.min() < 0 or np.any(cells != np.rint(cells)):
        return None
    words = [words_of_name(name) for name in names]
    if any(set(word) & _QUANTITIES for word in words) or not _alike(cells):
        return None
    square = cells.shape[0] == cells.shape[1]
    if label_of[0].kind != "text" and not square and not _numbered(names):
        return None
    why = (
        f"a cross table, {len(names)} columns of counts with named rows: correspondence"
        f" analysis (CA); as numbers: mercer pca {label}"
    )
    return _told("cross table", "ca", why, asked, table="counts")


def _numbered(names: Sequence[str]) -> bool:
    """Tell whether columns are called by numbers, as levels are."""
    return all(name.replace(".", "", 1).isdigit() for name in names)


def _alike(cells: Array) -> bool:
    """Tell whether columns count the same thing: of a size, and dispersed as counts are."""
    total, rows, columns = cells.sum(), cells.sum(axis=1), cells.sum(axis=0)
    live = cells[np.ix_(rows > 0, columns > 0)]
    if min(live.shape) < 2 or total <= 0 or live.max() <= 1:
        return False
    if live.min() >= 1 and live.max() <= _ANSWERS:
        return False  # answers or marks, from 1 on
    means = live.mean(axis=0)
    if means.max() > _SIZES * means.min() and np.mean(live == 0) < _SPARSE:
        return False
    expected = np.outer(live.sum(axis=1), live.sum(axis=0)) / total
    degrees = (live.shape[0] - 1) * (live.shape[1] - 1)
    return bool(((live - expected) ** 2 / expected).sum() >= _DISPERSED * degrees)


def _by_columns(
    seen: TableEvidence, asked: Asked, label: str, free: bool
) -> tuple[Judgement, Asked]:
    """Return numbers, categories or both, whichever there are more of."""
    coded = tuple(
        one.name
        for one, role in zip(seen.facts, seen.roles, strict=True)
        if one.name in asked.category
        or (two_values(one) and role in ("active", "color", "out") and not one.serial)
    )
    able = [one for one in seen.having("active") if one.is_number and one.name not in coded]
    numbers = [one for one in able if one.missing <= _LACKS * seen.rows]
    texts = [
        one
        for one, role in zip(seen.facts, seen.roles, strict=True)
        if role in ("color", "out") and _decides(one, seen.rows)
    ]
    q, c = len(numbers), len(texts) + len(coded)
    if not free or not (c > q or (q <= 2 and c)) or (not q and c < 2):
        return _numbers(asked, q, bool(c), label)
    more = {"category": (*asked.category, *coded), "levels": _LEVELS}
    if not q:
        why = (
            f"{c} columns of categories: multiple correspondence analysis (MCA); counts of two"
            f" of them: mercer ca {label} --rows-by COL --columns-by COL"
        )
        return _told("categories", "mca", why, asked, table="categories", **more)
    beside = f"{c} column{'s' * (c > 1)} of categories beside {q} of numbers"
    why = f"{beside}: both together (FAMD); the numbers alone: mercer pca {label}"
    return _told("numbers and categories", "famd", why, asked, table="mixed", **more)


def _numbers(asked: Asked, q: int, beside: bool, label: str) -> tuple[Judgement, Asked]:
    what = f"{q:,} columns of numbers" if q != 1 else "one column of numbers"
    why = f"{what}: principal components (PCA)"
    if beside:
        why += f"; with the categories: mercer famd {label}"
    return _told("numbers", "pca", why, asked, table="numbers")


def _decides(column: Facts, rows: int) -> bool:
    """Tell whether a column of text has categories that speak for a method of categories."""
    few = column.kind == "text" and 2 <= (column.distinct or 0) <= _LEVELS
    looked = min(rows, 10_000)
    return (
        few
        and not column.disguised
        and not column.unique
        and not column.nearly
        and not column.words.startswith("such as")
        and column.missing <= _LACKS * looked
    )
