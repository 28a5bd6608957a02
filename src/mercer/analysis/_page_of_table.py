"""What a page tells of a table beside the model and its rows.

The account: what was judged, left out, filled and standardised, in one paragraph.
"""

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.estimators import PCA
from mercer.report import MISSING, Levels, Report, column_table, report
from mercer.sources import NA, BlockSource
from mercer.studies import how_many
from mercer.tables import Look, Prepared, supplementary

_ROWS = 20_000  # rows whose names go into the page
_NAMED = 5  # columns that are named
_MANY = 0.05  # share of cells that are guessed, of which there is a word
_LEVELS = 12  # different values that are groups; more are numbers, or dates
_TESTED = 1000  # texts that tell whether all are dates
_YEAR = 365.2425  # days


def page_of_table(model: Any, seen: Look, made: Prepared, **given: Any) -> Report:
    """Return the page of a table and the model that was fitted to it.

    Parameters
    ----------
    model : estimator
        Fitted.
    seen : Look
        The table.
    made : Prepared
        Its rows.
    **given
        Further arguments of `mercer.report.report`.
    """
    pixels = made.pixels
    known: dict[str, Any] = {
        "title": f"{type(model).__name__} of {seen.label}",
        "row_names": row_names(made),
        "colours": {name: values_of(*made.coded(name)) for name in made.color},
        "y": made.y,
        "data": "made.rows",
        "choice": choice_of(model, made),
        "sample_weight": made.weights,
        "opening": python_rows(seen.path, seen.asked),
        "columns": column_table(seen),
        "sup": sup_of(made),
        "care": care_of(seen),
        "account": account(seen, made, model),
        "grid": pixels and (pixels.side, pixels.places),
    }
    return report(model, made.rows, **known | given)


def row_names(made: Prepared) -> Any:
    """Return the names of the rows, or a way to those of few; else their numbers, from 1.

    Parameters
    ----------
    made : Prepared
        The rows.
    """
    if made.shape[0] > _ROWS and made.row_names is None:
        if made.id is not None:
            return made.names_at
        return None if made.kept is None else lambda rows: _numbered(made, rows)
    labels = made.labels()
    if labels is None:
        return [f"row {row}" for row in made.numbers_at(np.arange(made.shape[0])).tolist()]
    return labels


def _numbered(made: Prepared, rows: Any) -> dict[int, str]:
    """Return some rows by their numbers in the file, from 1."""
    found = made.numbers_at(rows).tolist()
    return {int(row): f"row {number}" for row, number in zip(rows, found, strict=True)}


def values_of(at: Any, levels: Any) -> Any:
    """Return a column as numbers where all cells are, and more than twelve; else as text.

    A missing cell is NaN among numbers and has a level of its own among text. Dates are years
    with their fraction.

    Parameters
    ----------
    at : array of int (n,)
        Places among the levels.
    levels : array of str
        The texts of the column.
    """
    lacks = np.array([text in NA for text in levels.tolist()], bool)
    years = _years(levels[~lacks])
    if years is not None:
        whole = np.full(len(levels), np.nan)
        whole[~lacks] = years
        return whole[at]
    try:
        numbers = np.array([float(text) for text in levels[~lacks].tolist()])
    except ValueError:
        numbers = np.empty(0)
    if len(np.unique(numbers[np.isfinite(numbers)])) > _LEVELS:
        whole = np.full(len(levels), np.nan)
        whole[~lacks] = numbers
        return whole[at]
    first = int(np.argmax(lacks)) if lacks.any() else 0
    place = np.where(lacks, first, np.arange(len(levels)))  # all that lack are one level
    return Levels(place[at], np.where(lacks, MISSING, levels))


def _years(texts: Any) -> Any:
    """Return dates as years with their fraction, None where they are none."""
    import polars as pl

    from mercer.tables import date_order, days

    order = date_order([str(text) for text in texts[:_TESTED]])
    if order is None or order == "unclear" or len(texts) <= _LEVELS:
        return None
    found = days(pl.Series(texts.tolist(), dtype=pl.String), order).fill_null(np.nan)
    return 1970.0 + found.to_numpy() / _YEAR


def sup_of(made: Prepared) -> dict[str, Any]:
    """Return the supplementary columns by name.

    Parameters
    ----------
    made : Prepared
        The rows.
    """
    found = supplementary(made)
    return dict(zip(found.names, found.numbers.T, strict=True)) | {
        name: values_of(*np.unique(labels, return_inverse=True)[::-1])
        for name, labels in found.labels.items()
    }


def care_of(seen: Look) -> list[str]:
    """Return a line on columns that were analysed as numbers and may be codes.

    Parameters
    ----------
    seen : Look
        The table.
    """
    codes = [c.name for c in seen.columns if c.role == "active" and "if it is a code" in c.why]
    if not codes:
        return []
    named = ", ".join(codes[:5]) + (f" and {len(codes) - 5} more" if len(codes) > 5 else "")
    if len(codes) == 1:
        return [f"{named} has few values; if it is a code, leave it out (--drop)"]
    return [f"{named} have few values; if they are codes, leave them out (--drop)"]


def python_rows(path: str, asked: Any) -> str:
    """Return the lines of Python that read the rows of a table as the command line does.

    Parameters
    ----------
    path : str
        The file.
    asked : Asked
        What was said of it, or found.
    """
    blank = type(asked)()
    given = {
        field.name: getattr(asked, field.name)
        for field in dataclasses.fields(asked)
        if getattr(asked, field.name) != getattr(blank, field.name)
    }
    words = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return (
        "from mercer.tables import Asked, look, prepared\n\n"
        f"made = prepared(look({path!r}, Asked({words})))\n"
    )


def choice_of(model: Any, made: Prepared) -> Any:
    """Return how many components by every rule, where the rows are complete and in memory.

    Parameters
    ----------
    model : estimator
        Fitted.
    made : Prepared
        Its rows.
    """
    if type(model) is not PCA or model.n_components != "auto" or made.weights is not None:
        return None
    if isinstance(made.rows, BlockSource) or made.missing != "raise":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return how_many(made.rows, standardize=model.standardize)


def account(seen: Look, made: Prepared, model: Any) -> str:
    """Return one paragraph on what was done with a table, the same on terminal and page.

    Parameters
    ----------
    seen : Look
        The table.
    made : Prepared
        Its rows.
    model : estimator
        Fitted, or to be fitted.
    """
    what = type(model).__name__
    first = f"{what} of {made.shape[0]:,} rows and {len(made.recipe.names):,} columns."
    if seen.judged is not None:
        first = _sentence(f"{seen.label}: {seen.judged.why}")
    said = [first, *_filled(made), *_left_out(seen), *_beside(seen)]
    lines = [*seen.notes, *made.said]
    said += [_sentence(_begun(line, seen)) for line in lines]
    return " ".join(dict.fromkeys(said))


def _filled(made: Prepared) -> list[str]:
    """Say first that many cells are guessed."""
    share = made.n_missing / max(1, made.shape[0] * made.shape[1])
    if share <= _MANY or made.missing not in ("em", "fill", "ppca"):
        return []
    return [f"Care: {100 * share:.0f} % of the cells are guessed, not measured."]


def _left_out(seen: Look) -> list[str]:
    """Say which columns are left out, and why; those of one reason share it."""
    reasons = dict[str, list[str]]()
    for column in seen.columns:
        if column.role == "out":
            why = column.why.partition(": --")[0]
            reasons.setdefault(why, []).append(column.name)
    if not reasons:
        return []
    parts = [f"{_listed(names)} ({why})" for why, names in reasons.items()]
    more = f", and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
    return [f"Left out: {', '.join(parts[:_NAMED])}{more}."]


def _beside(seen: Look) -> list[str]:
    """Say which columns name, colour and weigh the rows."""
    said = list[str]()
    for role, verb in (("id", "names"), ("weights", "weighs")):
        said += [f"{_called(name, seen)} {verb} the rows." for name in seen.named(role)]
    colours = seen.named("color")
    if colours:
        said.append(
            f"{_listed(colours)} {'colours' if len(colours) == 1 else 'colour'} the map."
        )
    return said


def _called(name: str, seen: Look) -> str:
    """Return the name of a column; one without a name is called by its place there."""
    places = [str(place) for place, column in enumerate(seen.columns) if column.name == name]
    return f"Column {int(name) + 1}, which has no name," if name in places else name


def _begun(line: str, seen: Look) -> str:
    """Return a line with a capital, unless it begins with the name of a column."""
    word = line.replace(",", " ").split(" ", 1)[0]
    named = any(column.name.startswith(word) for column in seen.columns)
    return line if named else line[:1].upper() + line[1:]


def _listed(names: Sequence[str]) -> str:
    shown = [name if name.strip() else repr(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return ", ".join(shown) + f" and {len(names) - _NAMED:,} more"
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]


def _sentence(line: str) -> str:
    """Return a line as a sentence: a full stop at its end."""
    return line if line.endswith((".", "!", "?")) else line + "."
