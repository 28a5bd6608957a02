"""A plain page about a fit of counts, categories, groups or a map: words, map, tables."""

from typing import Any

import numpy as np

from mercer.cli._axis_lines import certified_lines, how_many, shares_of, values_of
from mercer.cli._columns_out import places_of
from mercer.cli._coordinates import fit_coordinates
from mercer.cli._family_findings import column_names, family_lines
from mercer.cli._fitted import Fitted
from mercer.cli._names import axis_names
from mercer.plots import scores
from mercer.report import Report, column_table
from mercer.report._method import method_section
from mercer.report._parts import Page, Part, Picture, Section, Table

_LISTED = 200  # columns of a table
_AXES = 4  # coordinates of a table
_GROUPS = 12  # colours that can be told apart


def family_page(done: Fitted, title: str, command: str = "", opening: str = "") -> Report:
    """Return the page of a fit: what was found, the map of the rows, axes, columns, data.

    Parameters
    ----------
    done : Fitted
        The model and the table.
    title : str
        Of the page.
    command, opening : str
        The command line that does it again, and the Python that reads the rows.
    """
    model, made = done.model, done.made
    labels = made.labels()
    found = family_lines(done, None if labels is None else labels.tolist())
    at = found.index("", 2) if model.n_components_ else 1
    sections = [
        *_map(done, labels),
        _axes(model),
        *_columns(model, done.names),
        _data(done),
        *_method(model, done.seconds, command, opening),
    ]
    facts = (f"{int(model.n_samples_):,} rows", f"{len(done.names):,} columns", done.method)
    return Report(Page(title, facts, tuple(filter(None, found[at:])), tuple(sections)))


def model_page(model: Any, title: str) -> Report:
    """Return the page of a model by itself."""
    names = getattr(model, "feature_names_in_", ())
    sections = [_axes(model), *_columns(model, names), *_method(model, {}, "", "")]
    verdict = (how_many(model), *certified_lines(model))
    facts = (f"{int(model.n_samples_):,} rows at fit", type(model).__name__)
    return Report(Page(title, facts, verdict, tuple(sections)))


def _map(done: Fitted, names: Any) -> list[Section]:
    k = int(done.model.n_components_)
    if not k:
        return []
    places = np.concatenate(list(fit_coordinates(done.model, done.made.rows)))
    groups = None
    if done.made.color:
        groups = done.made.labels(done.made.color[0])
        if groups is None or len(np.unique(groups)) > _GROUPS:
            groups = None
    panel = scores(
        places,
        groups,
        None if names is None else names.tolist(),
        (0, min(1, k - 1)),
        ratio=shares_of(done.model),
    )
    return [Section("map", "Map", (), (Picture(panel),))]


def _axes(model: Any) -> Section:
    values, shares = values_of(model), shares_of(model)
    rows = tuple(
        (
            i + 1,
            None if values is None else float(values[i]),
            None if shares is None else 100 * float(shares[i]),
        )
        for i in range(int(model.n_components_))
    )
    table = Table("Axes", ("axis", "eigenvalue", "share %"), rows)
    return Section("components", "Axes", (), (table,))


def _columns(model: Any, names: Any) -> list[Section]:
    places = places_of(model)
    called = column_names(model, [str(name) for name in names])
    if places is None or len(called) != len(places):
        return []
    shown = places[:, :_AXES]
    order = np.argsort(-np.abs(np.nan_to_num(shown)).max(axis=1, initial=0), kind="stable")
    rows = tuple((called[j], *(float(x) for x in shown[j])) for j in order[:_LISTED])
    head = ("column", *axis_names(shown.shape[1]))
    table = Table("Coordinates of the columns", head, rows)
    return [Section("variables", "Columns", (), (table,))]


def _data(done: Fitted) -> Section:
    said = Table("What was assumed", ("assumption",), tuple((line,) for line in done.said))
    parts: tuple[Part, ...] = (said, column_table(done.seen))
    return Section("data", "Data", (), parts)


def _method(model: Any, seconds: Any, command: str, opening: str) -> list[Section]:
    if getattr(model, "plan_", None) is None or getattr(model, "certificate_", None) is None:
        return []
    return [
        method_section(
            model, data="made.rows", seconds=seconds, command=command, opening=opening
        )
    ]
