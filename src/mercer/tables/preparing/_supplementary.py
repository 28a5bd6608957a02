"""Supplementary columns: not analysed, but set against the axes."""

import dataclasses
import warnings
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataWarning, InputError
from mercer.sources import KeptRows, schema_of
from mercer.tables._table_reading import held_rows, opened
from mercer.tables.preparing._prepared_rows import Prepared
from mercer.tables.preparing._recipe_choice import NUMBERS


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Supplementary:
    """The supplementary columns of the rows that are fitted.

    Attributes
    ----------
    names : tuple of str
        Columns of numbers.
    numbers : array of shape (n, s)
        Their cells, NaN where one is missing.
    labels : dict of str to array of str (n,)
        The others, as text.
    """

    names: tuple[str, ...]
    numbers: Array
    labels: dict[str, Array]


def supplementary(made: Prepared) -> Supplementary:
    """Return the supplementary columns of the table; one walk, and one for each of text.

    Parameters
    ----------
    made : Prepared
        What `prepared` returned.
    """
    if not made.sup:
        return Supplementary((), np.empty((made.shape[0], 0)), {})
    reading = made.recipe.reading
    kinds = {name: held.kind for name, held in schema_of(made.path, **reading).items()}
    names = tuple(name for name in made.sup if kinds[name] in NUMBERS)
    numbers = np.empty((made.shape[0], 0))
    if names:
        source = KeptRows(opened(made.path, names, reading), made._out, made.stop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # `look` has noted them
            held = held_rows(source, float("inf"))
        if held is None or len(held) != made.shape[0]:
            raise InputError(
                "supplementary columns must have a cell for every row (--sup)",
                got=f"{source.label}: {0 if held is None else len(held):,} rows beside"
                f" {made.shape[0]:,}",
                fix="let nothing write to the file meanwhile",
            )
        numbers = np.asarray(held, np.float64)
    others = [name for name in made.sup if name not in names]
    labels = {name: found for name in others if (found := made.labels(name)) is not None}
    return Supplementary(names, numbers, labels)
