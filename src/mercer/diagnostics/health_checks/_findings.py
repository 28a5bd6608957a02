"""Finding: something about the data that changes how axes are read, under a code."""

import dataclasses
from typing import final

CODES = {
    "M101": "an axis is a curve of earlier ones (arch, horseshoe)",
    "M102": "rows next to each other are alike: a series",
    "M103": "one row, or a few, make an axis",
    "M104": "one column, or a few, have nearly all the variance: units",
    "M105": "the columns look chosen by the groups",
    "M106": "axes that cannot be told apart: planes",
    "M107": "far less of the variance is explained in rows left out",
    "M108": "rows are repeated",
    "M109": "columns are copies or sums of each other",
    "M110": "columns do not vary",
    "M111": "a few cells hold most of a column's variance: a long tail",
}


@final
@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing to know before axes are read.

    Attributes
    ----------
    code : str
        Short and stable, a key of `CODES`.
    what : str
        What was found, in one sentence.
    got : str
        The numbers and names behind it.
    fix : str
        What to do about it.

    Examples
    --------
    >>> print(Finding("M110", "a column does not vary", "column 3", "leave it out"))
    M110 a column does not vary
      got: column 3
      fix: leave it out
    """

    code: str
    what: str
    got: str
    fix: str

    def __str__(self) -> str:
        """Return the three lines."""
        return f"{self.code} {self.what}\n  got: {self.got}\n  fix: {self.fix}"

    @property
    def line(self) -> str:
        """It in one line, without the remedy."""
        return f"{self.code} {self.what}: {self.got}"

    def plain(self) -> dict[str, str]:
        """Return it as what JSON can hold."""
        return dataclasses.asdict(self)


def listed(names: list[str], most: int = 5) -> str:
    """Return "a, b and c", or the first few and how many more there are."""
    if len(names) > most:
        return ", ".join(names[:most]) + f" and {len(names) - most:,} more"
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + f" and {names[-1]}"
