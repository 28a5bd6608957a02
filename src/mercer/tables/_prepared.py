"""prepared(): the rows to fit, made of a table by the roles of its columns."""

import dataclasses
import warnings
from pathlib import Path
from typing import Any, final

from mercer.arrays import Array
from mercer.errors import DataWarning
from mercer.sources import scan
from mercer.tables._look import Look


@final
@dataclasses.dataclass(frozen=True)
class Recipe:
    """What was made of a table, as plain data, so that it can be made of another one.

    Attributes
    ----------
    columns : tuple of str
        The columns of the file that are read, in their order.
    names : tuple of str
        The columns of the analysis; more than `columns` where categories were encoded.
    id : str or None
        The column that names the rows.
    dates : tuple of str
        Those that are dates and count in days since 1970.
    levels : dict of str to tuple of str
        The categories of every column that was encoded, in their order.
    transpose : bool
        Whether rows and columns were exchanged.
    reading : dict
        Options of `mercer.scan`.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    id: str | None = None
    dates: tuple[str, ...] = ()
    levels: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    transpose: bool = False
    reading: dict[str, Any] = dataclasses.field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Recipe":
        """Return the recipe that `plain` was made of."""
        lists = ("columns", "names", "dates")
        parts: dict[str, Any] = {k: tuple(v) if k in lists else v for k, v in plain.items()}
        return cls(**parts)


@final
@dataclasses.dataclass(frozen=True)
class Prepared:
    """Rows that can be fitted or projected.

    Attributes
    ----------
    rows : polars.DataFrame or BlockSource
        What to pass to `fit` or `transform`: held where it is small, read block by block
        where it is large. Columns have their names.
    shape : tuple of int
        (n, p); n is a forecast for text that was not walked.
    weights : array of shape (n,) or None
        Repeat counts.
    standardize : bool
        Whether columns are divided by their standard deviation.
    missing : {"raise", "em", "ppca"}
        What the method does about missing cells.
    said : tuple of str
        Every assumption that was made, a line each.
    recipe : Recipe
        How to make the same of another file.
    kept : array of int or None
        Which rows of the file these are; None for all.
    """

    rows: Any
    shape: tuple[int, int]
    weights: Array | None
    standardize: bool
    missing: str
    said: tuple[str, ...]
    recipe: Recipe
    kept: Array | None = None


def prepared(seen: Look) -> Prepared:
    """Return the rows to fit, by the roles and the user's word in `seen`.

    Parameters
    ----------
    seen : Look
        What `look` found.
    """
    names, asked = seen.named("active"), seen.asked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        source = scan(Path(seen.path), columns=names, **asked.reading)
    recipe = Recipe(columns=names, names=names, reading=dict(asked.reading))
    missing = "raise" if asked.missing in ("auto", "error") else asked.missing
    standardize = asked.standardize == "yes"
    return Prepared(source, source.shape, None, standardize, missing, (), recipe)


def prepared_again(path: Any, recipe: Recipe) -> Prepared:
    """Return the rows of another file, made as the recipe says.

    Parameters
    ----------
    path : path
        The file; it must have the columns of the recipe, in any order.
    recipe : Recipe
        How the rows of the fit were made.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        source = scan(Path(path), columns=recipe.columns, **recipe.reading)
    return Prepared(source, source.shape, None, False, "raise", (), recipe)
