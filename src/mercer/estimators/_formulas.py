"""Text that a spreadsheet must not take for a formula."""

import re
from typing import Any

# What a formula begins with in some spreadsheet, also as wide letters; a line break or a tab
# in front is skipped by some.
_FIRST = "=+-@\t\r\n＝＋－＠"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"  # text that is a number is no formula


def harmless(text: str) -> str:
    """Return `text` with ' before it where a spreadsheet would calculate it.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-5"), harmless("a=b")
    ("'=1+1", '-5', 'a=b')
    """
    risky = text[:1] != "" and text[0] in _FIRST and not re.match(_NUMBER, text, re.ASCII)
    return "'" + text if risky else text


def harmless_columns(frame: Any) -> Any:
    """Return a polars frame whose text cells and names are harmless; numbers stay.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of any kind. Categories become text.
    """
    import polars as pl

    pattern = f"^[{re.escape(_FIRST)}]"
    made = []
    for name, kind in frame.schema.items():
        column = pl.col(name)
        if kind in (pl.Categorical, pl.Enum):
            column, kind = column.cast(pl.String), pl.String
        if kind == pl.String:
            risky = column.str.contains(pattern) & ~column.str.contains(_NUMBER)
            column = pl.when(risky).then(pl.lit("'") + column).otherwise(column)
        made.append(column.alias(harmless(name)))
    return frame.select(made)
