"""report(): a fitted model and its rows in, a Report out.

The page of a model without its rows: spectrum, weights, and what is not known.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mercer import plots
from mercer.errors import NotSupportedError
from mercer.methods import method_of
from mercer.report._html_report import Report
from mercer.report._page_parts import Page, Part, Picture, Section, Table
from mercer.report._page_request import PageRequest
from mercer.report._page_words import axes_of, axis_in_words, count, percent
from mercer.report.facts._linear_summary import column_names
from mercer.sources import files_of

_LISTED = 20
_AXES = 4
_OWN = (
    "counts",
    "categories",
    "groups",
    "factors",
    "network",
)  # pages with alone(model): see `_own`
_OF = {
    "counts": "inertia",
    "categories": "inertia",
    "groups": "variance between the classes",
}


def page_of_model(model: Any, title: str, last: Section) -> Page:
    """Return what can be shown of a model by itself.

    Parameters
    ----------
    model : estimator
        Fitted.
    title : str
        Of the page.
    last : Section
        How it was computed.
    """
    k, kind = int(model.n_components_), method_of(model).page
    choice = getattr(model, "choice_", None)
    verdict = [
        _first(model, kind),
        "No rows were given. So there is no map, no outlying row, no look at the data; give "
        "the rows for these.",
    ]
    if choice is not None:
        verdict.insert(1, choice.reason)
    found: list[Section | None] = []
    if k:
        words, own = _own(model, kind)
        verdict[1:1] = words
        found = own or [_spectrum(model), _weights(model)]
    return Page(
        title,
        (*_facts(model), type(model).__name__),
        tuple(verdict),
        (*(section for section in found if section is not None), last),
    )


def _facts(model: Any) -> list[str]:
    known = [
        (getattr(model, "n_samples_", None), "rows at fit"),
        (getattr(model, "n_features_in_", None), "columns"),
    ]
    return [f"{int(number):,} {what}" for number, what in known if number is not None]


def _first(model: Any, kind: str) -> str:
    k, ratio = int(model.n_components_), getattr(model, "explained_variance_ratio_", None)
    many = count(k, "component") if kind in ("axes", "kernel") else axes_of(k)
    if ratio is None:
        return f"{many.capitalize()}; a share of the variance has no meaning here."
    held = percent(float(np.sum(ratio)))
    return f"{many.capitalize()} with {held} of the {_OF.get(kind, 'variance')}."


def _own(model: Any, kind: str) -> tuple[list[str], list[Section | None]]:
    """Return what the method says of itself; nothing where it is read as plain axes."""
    if kind not in _OWN:
        return [], []
    words, sections = import_module(PAGES[kind]).alone(model)
    return words, list(sections)


def _spectrum(model: Any) -> Section | None:
    """Return the eigenvalues with what is certified of them, as a table and as bars."""
    values = getattr(model, "eigenvalues_", None)
    values = getattr(model, "explained_variance_", None) if values is None else values
    if values is None:
        return None
    values = np.asarray(values, np.float64)
    certificate = getattr(model, "certificate_", None)
    ratio = getattr(model, "explained_variance_ratio_", None)
    called = "PC" if method_of(model).page in ("axes", "kernel", "factors") else "axis "
    head, columns = ["component", "value"], [values]
    if certificate is not None and len(certificate.lower) == len(values):
        head += ["at least", "at most"]
        columns += [np.asarray(certificate.lower), np.asarray(certificate.upper)]
    if ratio is not None:
        head.append("share %")
        columns.append(100 * np.asarray(ratio))
    rows = tuple(
        (f"{called}{i + 1}", *(float(column[i]) for column in columns))
        for i in range(min(len(values), _LISTED))
    )
    bounded = "at least" in head
    note = "The exact value lies between the two bounds." if bounded else "Not certified."
    parts: list[Part] = [Table("Spectrum", tuple(head), rows, note=note)]
    if ratio is not None and np.all(values >= 0) and values[0] > 0:
        low, high = columns[1:3] if bounded else (values, values)
        parts.insert(0, Picture(plots.scree(values, low, high, ratio)))
    return Section("components", "Components", (), tuple(parts))


def _weights(model: Any) -> Section | None:
    if not hasattr(model, "components_"):
        return None
    V = np.asarray(model.components_, np.float64)[:_AXES]
    names = column_names(model)
    words = tuple(f"PC{a + 1} {axis_in_words(row, names)}." for a, row in enumerate(V))
    order = np.argsort(-np.max(np.abs(V), axis=0), kind="stable")[:_LISTED]
    table = Table(
        "Weights",
        ("column", *(f"PC{a + 1}" for a in range(len(V)))),
        tuple((names[j], *(float(v) for v in V[:, j])) for j in order),
    )
    parts: tuple[Part, ...] = (Picture(plots.loadings(V, names)), table)
    return Section("variables", "Columns", words, parts)


# The page of every kind of method: a module with page_of(model, X, wanted).
PAGES = {
    "axes": "mercer.report.pages._axes_page",
    "kernel": "mercer.report.pages._kernel_page",
    "counts": "mercer.report.pages._counts_page",
    "categories": "mercer.report.pages._categories_page",
    "groups": "mercer.report.pages._groups_page",
    "factors": "mercer.report.pages._factors_page",
    "manifold": "mercer.report.pages._manifold_page",
    "network": "mercer.report.pages._network_page",
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
    account: str = "",
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
    account : str
        One paragraph on what was judged, left out, filled and standardised: the first of the
        verdict.
    opening : str
        Lines of Python that make `data`, for the code to reproduce.
    grid : (int, sequence of int) or None
        Where the columns are some pixels of square pictures: the pixels on a side, and the
        place of every column. Pictures of which no pixel is left out are told by the numbers.
    y : sequence of n labels, or None
        Groups of the rows, for discriminant analysis.
    """
    _refuse_without(model)
    wanted = PageRequest(
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
        account=account,
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
    page = import_module(PAGES[method_of(model).page])
    return Report(page.page_of(model, X, wanted), files_of(X))


def _refuse_without(model: Any) -> None:
    """Refuse a model of a method that no page shows."""
    if not method_of(model).page:
        raise NotSupportedError(
            "no page shows models of this class",
            got=type(model).__name__,
            fix="report a mercer.PCA, or mercer.TopicVectors(centred=False) of counts",
        )


def _title(model: Any, X: Any) -> str:
    kind = type(model).__name__
    return kind if X is None else f"{kind} of {int(model.n_samples_):,} rows"
