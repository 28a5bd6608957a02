"""The page of correspondence analysis: rows and columns of a table of counts on one map."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.diagnostics import outline
from mercer.plots import Panel, PointKind
from mercer.report._page_parts import Frames, MapView, Page, Part, Picture, Section, Table
from mercer.report._page_request import PageRequest, tried
from mercer.report._page_words import axes_of, chance, count, listed, percent
from mercer.report.facts._row_cloud import RowCloud, category_colour, column_colour
from mercer.report.panels._data_panels import data_section
from mercer.report.panels._inertia_panels import (
    axes_map,
    axis_sentence,
    inertia_scree,
    inertia_table,
    plane,
    points_table,
)

_SHOWN = 6  # axes of the map
_CELLS = 2_000_000  # of a table whose residuals are looked at
_LISTED = 15  # cells farthest from independence
_WIDE, _HIGH = 12, 30  # of a table that is shown whole
_ELLIPSES = 40  # points of one side that have one, at most
_NORMAL = (
    "About standard normal where rows and columns are independent: beyond ±2 a cell deserves "
    "a look, though of many cells one in twenty is."
)
_SCALINGS = {
    "symmetric": "both in principal coordinates; rows and columns are not compared by distance",
    "rowprincipal": "distances of rows are right, columns are their corners",
    "colprincipal": "distances of columns are right, rows are their corners",
    "symbiplot": "between the two: inner products are right",
    "rowgab": "rows right, columns times mass: rare ones go to the centre",
    "colgab": "columns right, rows times mass: rare ones go to the centre",
    "rowgreen": "rows right, columns by contribution: long ones make the axes",
    "colgreen": "columns right, rows by contribution: long ones make the axes",
}


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of correspondence analysis.

    Parameters
    ----------
    model : CorrespondenceAnalysis
        Fitted.
    X : array, sparse matrix or frame of shape (m, n)
        The table of the fit.
    wanted : PageRequest
        What was given beside it.
    """
    rows = _row_names(model, wanted)
    sections: list[Section | None] = []
    cloud = None
    if model.n_components_:
        first = _with_ellipses(_map(model, rows), model, X, rows)
        sections, cloud = [first, _axes(model), _points(model, rows)], _cloud(model, rows)
    sections += [_cells(model, X, rows), data_section((), wanted)]
    facts = (
        f"{len(model.row_masses_):,} rows",
        f"{len(model.column_masses_):,} columns",
        f"{model.total_:,.0f} counts",
        "correspondence analysis",
    )
    return wanted.page(model, facts, _verdict(model, rows), sections, cloud)


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return words and sections on a model of which no table is at hand."""
    rows = _row_names(model, None)
    words = [axis_sentence(model, a, rows) for a in range(min(2, int(model.n_components_)))]
    return words, [_axes(model), _points(model, rows)]


def _row_names(model: Any, wanted: PageRequest | None) -> list[str]:
    given = None if wanted is None else wanted.listed_names
    if model.row_names_ is not None:
        return [str(name) for name in model.row_names_]
    count_ = len(model.row_masses_)
    if given is not None and len(given) == count_:
        return [str(name) for name in given]
    return [f"row {i + 1}" for i in range(count_)]


def _verdict(model: Any, rows: list[str]) -> tuple[str, ...]:
    test = model.independence_
    if not model.n_components_ and not model.facts_.independent:
        reason = getattr(getattr(model, "choice_", None), "reason", "")
        return tuple(filter(None, ("No axis is beyond what independence gives.", reason)))
    if not model.n_components_ or model.facts_.independent:
        return (
            "Rows and columns are independent: there is nothing to map.",
            "Every row has the same profile, to rounding.",
        )
    held = percent(float(np.sum(model.explained_variance_ratio_)))
    apart = "differ" if test.p_value <= 0.05 else "do not differ beyond chance"
    out = [
        f"The profiles of the rows {apart}: χ² = {test.chi2:,.1f} on {test.dof:,} degrees of "
        f"freedom, {chance(test.p_value)}; Cramér's V {test.cramer_v:.2f}.",
        f"{axes_of(int(model.n_components_)).capitalize()} with {held} of the inertia.",
    ]
    if not model.facts_.whole:
        out[0] += " The cells are no counts, so the test means little."
    choice = getattr(model, "choice_", None)
    if choice is not None:
        out.append(choice.reason)
    out += [axis_sentence(model, a, rows) for a in range(min(2, int(model.rank_)))]
    return (*out, *_care(model))


def _care(model: Any) -> list[str]:
    """Return what asks for care in reading."""
    facts, test, out = model.facts_, model.independence_, []
    if facts.whole and test.expected_below_5 > 0.2:
        out.append(
            f"{percent(test.expected_below_5)} of the cells have an expected count below five: "
            "the p-value is doubtful."
        )
    if facts.arch is not None and facts.arch > 0.8:
        out.append(
            f"Axis 2 is an arch: axis 1 explains {percent(facts.arch)} of it. Read the order "
            "along axis 1, and axis 3 for something new."
        )
    if facts.pieces:
        out.append(
            f"The table falls apart into {len(facts.pieces)} blocks that share no counts; the "
            "first axes only tell them apart."
        )
    lost = len(facts.dropped_rows), len(facts.dropped_columns)
    if any(lost):
        out.append(f"{count(lost[0], 'row')} and {count(lost[1], 'column')} without counts are "
                   "left out.")  # fmt: skip
    return out


def _cloud(model: Any, rows: list[str]) -> RowCloud:
    """Return rows and columns as points of one cloud, coloured by kind, quality or mass."""
    Z = np.concatenate([model.row_coordinates_, model.column_coordinates_])[:, :_SHOWN]
    names = [*rows, *model.column_names_]
    kinds = ["row"] * len(rows) + ["column"] * len(model.column_names_)
    quality = np.concatenate([model.row_quality_, model.column_quality_])
    masses = np.concatenate([model.row_masses_, model.column_masses_])
    colours = (
        category_colour("kind", kinds, ["row", "column"]),
        column_colour("quality", quality),
        column_colour("mass", masses),
    )
    called = plane(Z, model.explained_variance_ratio_)
    return RowCloud(*called, colours, np.arange(len(Z)), names)


def _map(model: Any, rows: list[str]) -> Section:
    shown = percent(float(np.sum(model.explained_variance_ratio_[:2])))
    words = (
        f"The first two axes show {shown} of the inertia. Rows that lie together have like "
        "profiles, columns too. A row lies towards the columns it has more of than others; "
        "the distance between a row and a column has no meaning of its own.",
    )
    note = "Rows and columns, symmetric map. Points show their names under the pointer."
    views: list[Part] = [MapView("points", (0, 1), words=note)]
    if int(model.n_components_) > 1:
        views.append(_scalings(model, rows))
    return Section("map", "Map of rows and columns", words, tuple(views))


def _scalings(model: Any, rows: list[str]) -> Frames:
    panels = tuple(_scaled(model, rows, name) for name in _SCALINGS)
    labels = tuple(f"{name}: {words}" for name, words in _SCALINGS.items())
    note = "The same analysis drawn in eight ways, by the names of R's ca: move the slider."
    return Frames("Named points, eight scalings", panels, labels, note, start=0)


def _scaled(model: Any, rows: list[str], scaling: str) -> Panel:
    F, G = model.map(scaling)
    weights = (model.row_contributions_, model.column_contributions_)
    kinds = [
        PointKind("rows", F[:, :2], rows, weights[0][:, :2].sum(axis=1)),
        PointKind("columns", G[:, :2], model.column_names_, weights[1][:, :2].sum(axis=1)),
    ]
    return axes_map(model, kinds, f"Map: {scaling}")


def _with_ellipses(section: Section, model: Any, X: Any, rows: list[str]) -> Section:
    """Return the section with a map of points and where other samples would put them."""
    if int(model.n_components_) < 2 or not model.facts_.whole:
        return section
    found = tried(model.ellipses, X, draws=200)
    if found is None:
        return section
    outlines = []
    for number, (centres, spreads, weight) in enumerate(
        (
            (found.row_centres, found.row_covariances, model.row_contributions_),
            (found.column_centres, found.column_covariances, model.column_contributions_),
        )
    ):
        few = np.argsort(-weight[:, :2].sum(axis=1), kind="stable")[:_ELLIPSES]
        outlines += [
            (*outline(centres[i, :2], spreads[i, :2, :2], found.radius).T, number) for i in few
        ]
    kinds = [
        PointKind("rows", found.row_centres[:, :2], rows, model.row_masses_),
        PointKind(
            "columns", found.column_centres[:, :2], model.column_names_, model.column_masses_
        ),
    ]
    note = f"{100 * found.level:g} % ellipses, {found.draws} tables drawn anew"
    panel = axes_map(model, kinds, "How sure the points are", note=note, outlines=outlines)
    words = (
        "Tables with as many counts were drawn from the shares of this one. Points whose "
        "ellipses overlap widely are not told apart; one whose ellipse holds the centre does "
        "not differ from the average."
    )
    picture = Picture(panel, words)
    return dataclasses.replace(section, parts=(*section.parts, picture))


def _axes(model: Any) -> Section:
    k = int(model.n_components_)
    band = None
    words = []
    if model.facts_.whole and len(model.row_masses_) * len(model.column_masses_) < _CELLS:
        band = model.null_band()[:, :k]
        beyond = int(np.sum(model.eigenvalues_ > band[1, : len(model.eigenvalues_)]))
        words.append(
            f"{axes_of(beyond).capitalize()} of {k} {'lies' if beyond == 1 else 'lie'} above "
            "what tables with independent rows and columns at these margins have, rank by rank."
        )
    picture = inertia_scree(model, band, "90 % of what independence gives")
    return Section("axes", "Axes", tuple(words), (picture, inertia_table(model)))


def _points(model: Any, rows: list[str]) -> Section:
    words = (
        "Mass is the share of the counts, quality the share of a point that these axes show, "
        "inertia its share of the total; for each axis the coordinate, cos² and contribution.",
    )
    return Section(
        "points",
        "Rows and columns",
        words,
        (points_table(model, "rows", rows), points_table(model, "columns", None)),
    )


def _cells(model: Any, X: Any, rows: list[str]) -> Section | None:
    """Return the cells that are farthest from what independence would give."""
    size = len(model.row_masses_) * len(model.column_masses_)
    if size > _CELLS or len(model.facts_.dropped_rows) or len(model.facts_.dropped_columns):
        return None
    found = tried(model.residuals, X)
    if found is None or found.adjusted.shape != (len(rows), len(model.column_names_)):
        return None
    adjusted = found.adjusted
    order = np.argsort(-np.abs(adjusted), axis=None, kind="stable")[:_LISTED]
    cells = [divmod(int(place), adjusted.shape[1]) for place in order]
    more = [f"{rows[i]} with {model.column_names_[j]}" for i, j in cells if adjusted[i, j] > 2]
    words = (f"More often together than by chance: {listed(more)}.",) if more else ()
    if adjusted.shape[0] <= _HIGH and adjusted.shape[1] <= _WIDE and model.n_components_:
        return Section("cells", "Cells", words, (_residuals(model, adjusted, rows),))
    table = Table(
        "Cells farthest from independence",
        ("row", "column", "adjusted residual"),
        tuple((rows[i], model.column_names_[j], float(adjusted[i, j])) for i, j in cells),
        note=_NORMAL,
    )
    return Section("cells", "Cells", words, (table,))


def _residuals(model: Any, adjusted: Array, rows: list[str]) -> Table:
    """Return the whole table of residuals, rows and columns in the order of axis 1."""
    down = np.argsort(model.row_coordinates_[:, 0], kind="stable")
    across = np.argsort(model.column_coordinates_[:, 0], kind="stable")
    return Table(
        "Adjusted residuals, in the order of axis 1",
        ("row", *(str(model.column_names_[j]) for j in across)),
        tuple((rows[i], *(round(float(adjusted[i, j]), 2) for j in across)) for i in down),
        note=_NORMAL,
    )
