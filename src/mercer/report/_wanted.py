"""Wanted: what a page is given beside the model and its rows."""

import dataclasses
from collections.abc import Mapping
from typing import Any, final

from mercer.report._method import method_section
from mercer.report._parts import Section, Table


@final
@dataclasses.dataclass(frozen=True)
class Wanted:
    """The arguments of `mercer.report.report`, as every kind of page takes them.

    Attributes
    ----------
    title : str
        Of the page.
    row_names : sequence of n str, callable or None
        Names of the rows.
    colours : mapping of str to n values, or None
        Columns to colour the map by.
    choice, tuning : Choice and Tuning, or None
        How many components; what was tuned.
    sample_weight, y : sequences of length n, or None
        Weights and groups of the rows.
    said, care, foreseen : tuple of str
        What was assumed, what asks for care, what was foreseen: a line each.
    columns : Table or None
        Every column of the file with its role.
    more : tuple of Section
        Further sections, before the last one.
    sup : mapping of str to n values, or None
        Supplementary columns.
    grid : (int, sequence of int) or None
        Pixels on a side, and the place of every column.
    seconds : dict of str to float
        How long the parts of the fit took.
    data, command, opening : str
        For the code that does it again.
    """

    title: str
    row_names: Any = None
    colours: Mapping[str, Any] | None = None
    choice: Any = None
    tuning: Any = None
    sample_weight: Any = None
    y: Any = None
    said: tuple[str, ...] = ()
    care: tuple[str, ...] = ()
    foreseen: tuple[str, ...] = ()
    columns: Table | None = None
    more: tuple[Section, ...] = ()
    sup: Mapping[str, Any] | None = None
    grid: Any = None
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    data: str = "X"
    command: str = ""
    opening: str = ""

    @property
    def listed_names(self) -> Any:
        """The names of all rows where they are at hand, else None."""
        return None if callable(self.row_names) else self.row_names

    def last(self, model: Any, spent: Mapping[str, float] | None = None) -> Section:
        """Return the last section: how it was computed.

        Parameters
        ----------
        model : estimator
            Fitted.
        spent : mapping of str to float or None
            Seconds of the page itself.
        """
        weights = ""
        if self.sample_weight is not None:
            weights = "made.weights" if self.opening else "sample_weight"
        return method_section(
            model,
            data=self.data,
            seconds={**self.seconds, **(spent or {})},
            command=self.command,
            foreseen=self.foreseen,
            opening=self.opening,
            weights=weights,
        )
