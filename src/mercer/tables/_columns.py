"""Column: one column of a table, and what it is used for."""

import dataclasses
from typing import final


@final
@dataclasses.dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "integer", "flag", "text", "date", "empty", "other"}
        What it holds.
    role : str
        What it is used for: "active", "id", "color", "weights", "sup", "target", "rows",
        "columns", "count" or "out".
    why : str
        Why it has that role, in words; "" where there is nothing to say.
    missing : int
        Cells that are missing; of text and dates, among the first 10,000 rows.
    distinct : int or None
        Different values among the rows that were looked at; None where nobody counted.
    mean, deviation, low, high : float or None
        Of numbers: mean, standard deviation (n - 1), least and largest.
    words : str
        More of its kind: "with decimal commas"; of dates that are written as text, what
        comes first ("iso", "day", "month" or "unclear").
    """

    name: str
    kind: str
    role: str
    why: str = ""
    missing: int = 0
    distinct: int | None = None
    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    words: str = ""
