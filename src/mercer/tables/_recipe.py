"""Recipe: what was made of a table, as plain data."""

import dataclasses
from typing import Any, final


@final
@dataclasses.dataclass(frozen=True)
class Recipe:
    """What was made of a table, as plain data, so that it can be made of another one.

    Attributes
    ----------
    columns : tuple of str
        The columns of the file that are read: numbers, dates, categories. Where rows and
        columns were exchanged, its rows if no column names them, else nothing.
    names : tuple of str
        The columns of the analysis; more than `columns` where categories were encoded.
    id : str or None
        The column that names the rows.
    dates : tuple of str
        Those that are dates and count in days since 1970.
    orders : dict of str to str
        How dates in text are written: "iso", "day" or "month" first.
    levels : dict of str to tuple of str
        The categories of every column that was encoded, in their order.
    transpose : bool
        Whether rows and columns were exchanged.
    reading : dict
        Options of `mercer.scan`.
    table : str
        What the method takes, see `Asked.table`.
    categories : dict of str to {"text", "whole"}
        Columns that are categories as they are: text, or whole numbers.
    cross : tuple of str
        Columns that were counted against each other: that of the rows, that of the columns,
        and that of the counts where there is one.
    scales : dict of str to float
        What columns are divided by, where the method itself does not.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    id: str | None = None
    dates: tuple[str, ...] = ()
    orders: dict[str, str] = dataclasses.field(default_factory=dict)
    levels: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    transpose: bool = False
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)
    table: str = "numbers"
    categories: dict[str, str] = dataclasses.field(default_factory=dict)
    cross: tuple[str, ...] = ()
    scales: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of the file that are numbers already."""
        made = {*self.dates, *self.levels, *self.categories}
        return tuple(name for name in self.columns if name not in made)

    def plain(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Recipe":
        """Return the recipe that `plain` was made of."""
        parts = dict(plain)
        for name in ("columns", "names", "dates", "cross"):
            parts[name] = tuple(parts.get(name, ()))
        levels = parts.get("levels", {})
        parts["levels"] = {name: tuple(found) for name, found in levels.items()}
        return cls(**parts)
