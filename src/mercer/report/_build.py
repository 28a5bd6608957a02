"""report(): a fitted model and its rows in, a Report out."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from mercer.report._alone import page_of_model
from mercer.report._parts import Section, Table
from mercer.report._report import Report
from mercer.report._wanted import Wanted

# The page of every kind of method: a module with page_of(model, X, wanted).
PAGES = {
    "axes": "mercer.report._axes",
    "kernel": "mercer.report._kernel",
    "counts": "mercer.report._counts",
    "categories": "mercer.report._categories_page",
    "groups": "mercer.report._groups_page",
    "factors": "mercer.report._factors_page",
    "manifold": "mercer.report._manifold",
}


def report(
    model: Any,
    X: Any = None,
    *,
    title: str | None = None,
    row_names: Any = None,
    colours: Mapping[str, Any] | None = None,
    choice: Any = None,
    sample_weight: Any = None,
    data: str = "X",
    command: str = "",
    seconds: Mapping[str, float] | None = None,
    said: Sequence[str] = (),
    foreseen: Sequence[str] = (),
    columns: Table | None = None,
    tuning: Any = None,
    more: Sequence[Section] = (),
    sup: Mapping[str, Any] | None = None,
    care: Sequence[str] = (),
    opening: str = "",
    grid: tuple[int, Sequence[int]] | None = None,
    y: Any = None,
) -> Report:
    """Return the page of a fitted model and its rows.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, frame, path or source of shape (n, p), or None
        The rows of the fit.
    title : str or None
        Of the page.
    row_names : sequence of n str, callable or None
        Names of the rows. A callable takes numbers of rows and returns a mapping of them to
        names: it is asked for those that stand out.
    colours : mapping of str to n values, or None
        Columns to colour the map by; text makes groups.
    choice : Choice or None
        How many components, as `mercer.how_many` returns it.
    sample_weight : array of shape (n,) or None
        As at fit.
    data, command : str
        What the code to reproduce calls the data, and the command that does the same.
    seconds : mapping of str to float, or None
        How long the parts of the fit took.
    said : sequence of str
        What was assumed of the data, a line each.
    foreseen : sequence of str
        What was foreseen of the page, a line each.
    columns : Table or None
        Every column of the file with its role.
    tuning : Tuning or None
        What `mercer.tune` returned, for kernel PCA.
    more : sequence of Section
        Further sections, before the last one.
    sup : mapping of str to n values, or None
        Supplementary columns: not analysed, but set against the axes.
    care : sequence of str
        What asks for care in reading, for the verdict.
    opening : str
        Lines of Python that make `data`, for the code to reproduce.
    grid : (int, sequence of int) or None
        Where the columns are some pixels of square pictures: the pixels on a side, and the
        place of every column. Pictures of which no pixel is left out are told by the numbers.
    y : sequence of n labels, or None
        Groups of the rows, for discriminant analysis.
    """
    wanted = Wanted(
        title=title or _title(model, X),
        row_names=row_names,
        colours=colours,
        choice=choice,
        sample_weight=sample_weight,
        said=tuple(said),
        columns=columns,
        tuning=tuning,
        more=tuple(more),
        sup=sup,
        care=tuple(care),
        grid=grid,
        y=y,
        seconds=dict(seconds or {}),
        foreseen=tuple(foreseen),
        data=data,
        command=command,
        opening=opening,
    )
    if X is None:
        return Report(page_of_model(model, wanted.title, wanted.last(model)))
    kind = getattr(model, "_page", "axes")
    return Report(import_module(PAGES[kind]).page_of(model, X, wanted))


def _title(model: Any, X: Any) -> str:
    kind = type(model).__name__
    return kind if X is None else f"{kind} of {int(model.n_samples_):,} rows"
