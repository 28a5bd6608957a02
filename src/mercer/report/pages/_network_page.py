"""The page of an autoencoder: its layers, how it learned, the map of codes, what is lost."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.plots import Axes, Line, Panel, Points, Text, group_style
from mercer.plots._marks import Shape
from mercer.report._page_parts import MapView, Page, Part, Picture, Section, Table
from mercer.report._page_request import PageRequest
from mercer.report._page_words import count, listed, percent
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._linear_summary import column_names
from mercer.report.facts._map_groups import told_apart
from mercer.report.facts._row_cloud import RowCloud, asked_colours, column_colour, one_colour

_SHOWN = 6  # numbers of the code, and columns that the map can be coloured by
_LISTED = 20
_NODES = 9  # of a layer that are drawn at most
_INK, _PALE = "#5b6472", "#c3cad6"


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of an autoencoder and its rows.

    Parameters
    ----------
    model : Autoencoder
        Fitted.
    X : array or frame of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them.
    """
    rows, names = np.asarray(X, np.float64), column_names(model)
    codes = np.asarray(model.transform(X), np.float64)
    left = (rows - np.asarray(model.inverse_transform(codes), np.float64)) / model.scale_
    about = (rows - model.mean_) / model.scale_
    cloud = _cloud(codes, rows, names, wanted)
    words, sections = alone(model)
    at = np.argsort(-np.sum(left**2, axis=1), kind="stable")[:_LISTED]
    sections = [_map(cloud), *sections, _columns(left, about, names), _rows(left, at, wanted)]
    facts = (f"{len(rows):,} rows", f"{len(names):,} columns", type(model).__name__)
    verdict = [_first(model), *words]
    for name, cells in colours_of(wanted.colours, len(codes)).items():
        called = [f"code {i + 1}" for i in range(codes.shape[1])]
        sentence = told_apart(name, cells, codes, called)
        verdict += [sentence] if sentence else []
    return wanted.page(model, facts, tuple(verdict), sections, cloud)


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return what is known of a network without rows: words for the verdict, and sections."""
    words = [
        "Codes have no order, no shares and no certificate: what they mean is what becomes of "
        "them on the way back. Distances between them are not distances in the data."
    ]
    return words, [_network(model), *_learning(model)]


def _first(model: Any) -> str:
    k = count(int(model.n_components_), "number")
    errors = model.errors_
    if errors is None:
        now = float(model.history_[-1, 0])
        return f"A code of {k} loses {percent(now)} of the variance of the last batch."
    begun = "random weights lose" if model.start == "random" else "what it began as loses"
    return (
        f"A code of {k} loses {percent(errors['fit'])} of the variance of the rows, and "
        f"{percent(errors['held out'])} of rows it has not learned from; {begun} "
        f"{percent(errors['start held out'])} of those."
    )


def _widths(model: Any) -> list[int]:
    p, k = int(model.n_features_in_), int(model.n_components_)
    inner = [len(bias) for _, bias in model.encoder_[:-1]]
    return [p, *inner, k, *inner[::-1], p]


def _network(model: Any) -> Section:
    """Return the network drawn: a column of nodes for each layer, lines between them."""
    widths = _widths(model)
    drawn = [min(width, _NODES) for width in widths]
    marks: list[Any] = []
    places = [[(i - (n - 1) / 2) for i in range(n)] for n in drawn]
    for at, (left, right) in enumerate(pairwise(places)):
        marks += [
            Line((float(at), at + 1.0), (a, b), _PALE, width=0.4) for a in left for b in right
        ]
    middle = len(widths) // 2
    for at, (width, nodes) in enumerate(zip(widths, places, strict=True)):
        style = group_style(0)[0] if at == middle else _INK
        marks.append(Points((float(at),) * len(nodes), tuple(nodes), style, radius=4.0))
        marks.append(Text(float(at), (_NODES + 1) / 2, f"{width:,}", _INK, bold=at == middle))
    ends = ("rows", *[""] * (middle - 1), "code", *[""] * (middle - 1), "rows again")
    axes = Axes(
        "The network",
        x_ticks=tuple((float(i), word) for i, word in enumerate(ends)),
        y_ticks=(),
        y_range=(-(_NODES + 1) / 2, _NODES / 2 + 1),
        x_range=(-0.5, len(widths) - 0.5),
    )
    past = "A linear map leads past them on either side: there PCA stands, which they correct."
    if model.start_ is not None:
        past = "A kernel map and its regression lead past them: these are what they correct."
    if model.past_encoder_ is None and model.start_ is None:
        past = "Nothing leads past them."
    if not model.encoder_:
        past = "All maps are linear: at its best it spans the plane of PCA."
    few = f"At most {_NODES} nodes of a layer are drawn, the numbers above count all."
    picture = Picture(Panel(axes, tuple(marks)))
    return Section("network", "The network", (f"{few} {past}",), (picture,))


def _learning(model: Any) -> list[Section]:
    """Return the errors by epoch."""
    history = 100 * np.asarray(model.history_, np.float64)
    if len(history) < 2:
        return []
    at = tuple(float(i) for i in range(len(history)))
    linear = np.array_equal(history[:, 0], history[:, 1])
    named = [("rows of the fit", 0)] if linear else [("rows with noise", 0), ("held out", 1)]
    marks = [
        Line(at, tuple(map(float, history[:, number])), group_style(number)[0], width=2.0)
        for _, number in named
    ]
    low = float(history[0, 1])
    marks.append(Line((at[0], at[-1]), (low, low), _INK, dashed=True, title="the start"))
    legend: list[tuple[str, str, Shape]] = [
        (name, group_style(number)[0], "circle") for name, number in named
    ]
    legend.append(("the start", _INK, "circle"))
    axes = Axes(
        "Variance that is lost, by epoch",
        x_label="epoch",
        y_label="% of the variance",
        legend=tuple(legend),
        y_range=(0.0, 1.05 * float(np.max(history))),
    )
    best = int(np.argmin(history[:, 1]))
    words = f"{count(int(model.n_iter_), 'epoch')}; the least error is that of epoch {best}."
    if not linear:
        words += " Noise is added to rows while the network learns, none where it is tried."
    picture = Picture(Panel(axes, tuple(marks)))
    return [Section("learning", "How it learned", (words,), (picture,))]


def _map(cloud: RowCloud) -> Section:
    words = ("Rows with nearly the same code are given back as nearly the same row.",)
    view: Part = MapView("rows", (0, 1), groups=cloud.grouped)
    return Section("map", "Map of the codes", words, (view,))


def _cloud(codes: Array, rows: Array, names: Sequence[str], wanted: PageRequest) -> RowCloud:
    shown = codes[:, :_SHOWN]
    if shown.shape[1] == 1:
        shown = np.c_[shown, np.zeros(len(shown))]
    colours = asked_colours(wanted.colours, len(codes))
    some = range(min(rows.shape[1], _SHOWN))
    colours += [column_colour(names[j], rows[:, j]) for j in some]
    colours.append(one_colour(len(codes)))
    named = tuple(f"code {i + 1}" for i in range(shown.shape[1]))
    called = row_names_of(wanted.listed_names, len(codes))
    at = np.arange(len(codes)) if len(codes) <= 400_000 else None
    return RowCloud(named, named, shown, tuple(colours), at, called)


def _columns(left: Array, about: Array, names: Sequence[str]) -> Section:
    """Return how much of each column is lost."""
    spread, lost = np.sum(about**2, axis=0), np.sum(left**2, axis=0)
    share = np.where(spread > 0, 100 * lost / np.where(spread > 0, spread, 1.0), 0.0)
    order = np.argsort(-share, kind="stable")[:_LISTED]
    total = float(np.sum(lost)) or 1.0
    cells = tuple((names[j], float(share[j]), float(100 * lost[j] / total)) for j in order)
    head = ("column", "lost, % of its variance", "% of all that is lost")
    table = Table("Columns that are given back worst", head, cells)
    words = f"Worst: {listed([str(names[j]) for j in order[:5]], 5)}."
    return Section("columns", "What is lost, by column", (words,), (table,))


def _rows(left: Array, at: Array, wanted: PageRequest) -> Section:
    """Return the rows that are given back worst."""
    size = np.sum(left**2, axis=1)
    mean = float(np.mean(size)) or 1.0
    called = row_names_of(wanted.listed_names, len(left))
    names = [str(i) if called is None else str(called[i]) for i in at.tolist()]
    cells = tuple((n, float(size[i] / mean)) for n, i in zip(names, at.tolist(), strict=True))
    head = ("row", "error, in mean errors")
    words = f"Least like the rows that were learned: {listed(names[:5], 5)}."
    table = Table("Rows that are given back worst", head, cells)
    return Section("rows", "Rows that stand out", (words,), (table,))
