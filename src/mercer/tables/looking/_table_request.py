"""Asked: what the user says of a table; what is not said is found."""

import dataclasses
from collections.abc import Mapping
from typing import Any, final

from mercer.errors import InputError

# What the options that choose among words may say.
_WORDS = {
    "missing": (
        "auto",
        "em",
        "ppca",
        "passive",
        "level",
        "fill",
        "rows",
        "columns",
        "error",
    ),
    "standardize": ("auto", "yes", "no"),
    "dates": ("ignore", "number", "error"),
    "categorical": ("ignore", "encode", "error"),
    "table": ("numbers", "counts", "categories", "mixed", "groups"),
}


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
        Missing cells: fill up to 5 % (auto), fill, leave out rows or columns that have some,
        or refuse. Of categories: count nowhere (passive), be a category (level), be filled.
    standardize : {"auto", "yes", "no"}
        Divide columns by their standard deviation; auto does where the largest is more than ten
        times the smallest.
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
    table : {"numbers", "counts", "categories", "mixed", "groups"}
        What the method takes: numbers, counts that are not negative, categories, numbers and
        categories, or numbers with a column of groups.
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
