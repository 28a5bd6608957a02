"""The page of a map of curved data: the map, its graph, what neighbours it keeps."""

from typing import Any

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.diagnostics import neighbour_ranks
from mercer.plots import Axes, Line, Panel, Points, group_style
from mercer.report._page_parts import MapView, Page, Part, Picture, Section, Table
from mercer.report._page_request import PageRequest, tried
from mercer.report._page_words import count, percent
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._linear_summary import column_names
from mercer.report.facts._map_groups import told_apart
from mercer.report.facts._row_cloud import RowCloud, asked_colours, column_colour, one_colour
from mercer.report.panels._data_panels import condition_section

_SHOWN = 6
_ROWS = 1200  # whose neighbours are compared
_NEIGHBOURS = (5, 10, 20, 40, 80)
_COLUMNS = 6  # of the table, that the map can be coloured by
_GOOD, _FAIR = 0.95, 0.85  # trustworthiness


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of eigenmaps, diffusion maps, MDS, Isomap, LLE or unfolding.

    Parameters
    ----------
    model : estimator
        Fitted, with `embedding_`.
    X : array or frame of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them.
    """
    Z = _places(model, X)
    rows = _numbers(X)
    kept = _kept_neighbours(rows, Z)
    cloud = _cloud(model, Z, rows, wanted)
    sections = [_map(cloud), _neighbours(kept), _spectrum(model), _graph(model)]
    sections.append(condition_section(None, wanted))
    facts = (f"{len(Z):,} rows", f"{int(model.n_features_in_):,} columns", type(model).__name__)
    verdict = _verdict(model, kept, cloud, wanted)
    return wanted.page(model, facts, verdict, sections, cloud)


def _places(model: Any, X: Any) -> Array:
    """Return the embedding where these are its rows, else where new rows go."""
    Z = np.asarray(model.embedding_, np.float64)
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    return Z if len(Z) == n else np.asarray(model.transform(X), np.float64)


def _numbers(X: Any) -> Array | None:
    """Return the rows as numbers, or None where they are distances, sparse or no numbers."""
    rows = tried(np.asarray, X, np.float64)
    there = rows is not None and rows.ndim == 2 and np.isfinite(rows).all()
    return rows if there else None


def _kept_neighbours(rows: Array | None, Z: Array) -> tuple[Array, Array, Array, int] | None:
    """Return numbers of neighbours, trustworthiness, continuity, and the rows looked at."""
    n = len(Z)
    alive = np.isfinite(Z).all(axis=1)
    if rows is None or len(rows) != n or np.count_nonzero(alive) < 20:
        return None
    at = np.flatnonzero(alive)
    at = np.sort(np.random.default_rng(0).permutation(at)[:_ROWS])
    few = [k for k in _NEIGHBOURS if k < len(at) / 3]
    trust, continuity = neighbour_ranks(rows[at], Z[at], few)
    return np.array(few), trust, continuity, len(at)


def _verdict(model: Any, kept: Any, cloud: RowCloud, wanted: PageRequest) -> tuple[str, ...]:
    k = int(model.n_components_)
    out = []
    if kept is None:
        out.append(f"A map of {count(k, 'coordinate')}; its neighbourhoods were not compared.")
    else:
        out.append(_kept_words(kept))
    facts = getattr(model, "facts_", None)
    if facts is not None and facts.piece_count > 1:
        sizes = ", ".join(f"{size:,}" for size in facts.pieces[:5])
        out.append(
            f"The graph falls into {facts.piece_count} pieces ({sizes} rows): places of "
            "different pieces cannot be compared."
        )
    labels = getattr(model, "labels_", None)
    if labels is not None:
        sizes = ", ".join(f"{size:,}" for size in np.bincount(labels))
        out.insert(0, f"{count(len(np.bincount(labels)), 'cluster')}, of {sizes} rows.")
    residual = getattr(model, "residual_variance_", None)
    if residual is not None:
        value = float(np.atleast_1d(residual)[-1])
        out.append(
            f"The map leaves {percent(value)} of the distances along the data unexplained "
            "(1 - r² of the two)."
        )
    ratio = getattr(model, "explained_variance_ratio_", None)
    if ratio is None:
        out.append("Its coordinates have no shares of variance: none are shown.")
    flatness = getattr(model, "flatness_", None)
    if flatness is not None:
        out += [line for line in str(flatness).splitlines() if line][:2]
    for name, cells in colours_of(wanted.colours, len(cloud.Z)).items():
        axes = [f"coordinate {i + 1}" for i in range(cloud.Z.shape[1])]
        sentence = told_apart(name, cells, cloud.Z, axes)
        out += [sentence] if sentence else []
    own = getattr(model, "reading", None)  # of maps by other libraries
    if own is not None:
        return (*out, own)
    out.append(
        "Nearby on the map means nearby in the data as far as the numbers above say; distances "
        "across the map, and the size of empty space, mean less."
    )
    return tuple(out)


def _kept_words(kept: tuple[Array, Array, Array, int]) -> str:
    few, trust, continuity, n = kept
    at = min(1, len(few) - 1)
    worst = min(trust[at], continuity[at])
    how = "keeps" if worst >= _GOOD else "mostly keeps" if worst >= _FAIR else "does not keep"
    return (
        f"The map {how} neighbours: trustworthiness {trust[at]:.3f}, continuity "
        f"{continuity[at]:.3f} for {few[at]} neighbours among {n:,} rows (1 is all of them)."
    )


def _cloud(model: Any, Z: Array, rows: Array | None, wanted: PageRequest) -> RowCloud:
    shown = np.nan_to_num(Z[:, :_SHOWN])
    if shown.shape[1] == 1:
        shown = np.c_[shown, np.zeros(len(shown))]
    colours = asked_colours(wanted.colours, len(Z))
    labels = getattr(model, "labels_", None)
    if labels is not None and len(labels) == len(Z):
        colours += asked_colours({"cluster": [str(label) for label in labels]}, len(Z))
    if rows is not None and len(rows) == len(Z):
        names = column_names(model)
        some = range(min(rows.shape[1], _COLUMNS)) if len(names) == rows.shape[1] else ()
        colours += [column_colour(names[j], rows[:, j]) for j in some]
    colours.append(one_colour(len(Z)))
    named = tuple(f"coordinate {i + 1}" for i in range(shown.shape[1]))
    called = row_names_of(wanted.listed_names, len(Z))
    at = np.arange(len(Z)) if len(Z) <= 400_000 else None
    return RowCloud(named, named, shown, tuple(colours), at, called)


def _map(cloud: RowCloud) -> Section:
    words = (
        "Rows that were neighbours should lie together. Colour by a column to see what runs "
        "along the map.",
    )
    view: Part = MapView("rows", (0, 1), groups=cloud.grouped)
    return Section("map", "Map of the rows", words, (view,))


def _neighbours(kept: tuple[Array, Array, Array, int] | None) -> Section | None:
    """Return what of its neighbours a row keeps, by how many are asked for."""
    if kept is None:
        return None
    few, trust, continuity, n = kept
    at = tuple(map(float, few))
    lines = [(trust, "trustworthiness", 0), (continuity, "continuity", 1)]
    marks = tuple(
        mark
        for values, _, number in lines
        for mark in (
            Line(at, tuple(map(float, values)), group_style(number)[0], width=2.0),
            Points(at, tuple(map(float, values)), *group_style(number)),
        )
    )
    axes = Axes(
        "Neighbours that are kept",
        x_label="neighbours that are looked at",
        y_label="1 is all",
        legend=tuple((name, *group_style(number)) for _, name, number in lines),
        y_range=(min(0.5, float(min(trust.min(), continuity.min()))), 1.02),
    )
    words = (
        "Trustworthiness falls where the map brings together what was apart; continuity where "
        f"it tears apart what was together. Among {n:,} rows.",
    )
    head = ("neighbours", "trustworthiness", "continuity")
    cells = zip(few.tolist(), trust.tolist(), continuity.tolist(), strict=True)
    table = Table("Neighbours", head, tuple(cells))
    return Section("neighbours", "Neighbours", words, (Picture(Panel(axes, marks)), table))


def _spectrum(model: Any) -> Section | None:
    """Return eigenvalues, what is certified of them, and shares where these have a meaning."""
    values = getattr(model, "eigenvalues_", None)
    if values is None or not len(values):
        return None
    values, certificate = np.asarray(values, np.float64), model.certificate_
    ratio = getattr(model, "explained_variance_ratio_", None)
    head = ["coordinate", "eigenvalue", "at least", "at most"]
    head += [] if ratio is None else ["share %"]
    rows = []
    for i in range(min(len(values), len(certificate.lower))):
        row = [
            i + 1,
            float(values[i]),
            float(certificate.lower[i]),
            float(certificate.upper[i]),
        ]
        rows.append((*row, *([] if ratio is None else [100 * float(ratio[i])])))
    parts: list[Part] = [Table("Spectrum", tuple(head), tuple(rows))]
    residual = getattr(model, "residual_variance_", None)
    if residual is not None and np.ndim(residual) and len(residual) > 1:
        parts.insert(0, Picture(_residual(np.asarray(residual, np.float64))))
    elif ratio is not None:
        parts.insert(
            0, Picture(plots.scree(values, certificate.lower, certificate.upper, ratio))
        )
    words = _gap_words(values)
    return Section("spectrum", "Spectrum", words, tuple(parts))


def _gap_words(values: Array) -> tuple[str, ...]:
    if len(values) < 2 or not np.all((values > 0) & np.isfinite(values)):
        return ()
    ratios = np.maximum(values[1:], values[:-1]) / np.minimum(values[1:], values[:-1])
    at = int(np.argmax(ratios))
    if ratios[at] < 1.5:
        return ("No gap: eigenvalues that are close mean coordinates that may mix.",)
    return (
        f"The largest gap is after coordinate {at + 1}: the next eigenvalue differs by a "
        f"factor of {ratios[at]:.2g}.",
    )


def _residual(left: Array) -> Panel:
    at = tuple(float(i + 1) for i in range(len(left)))
    values = tuple(map(float, left))
    colour = group_style(0)[0]
    axes = Axes(
        "Distances not explained",
        x_label="coordinates",
        y_label="1 - r²",
        y_range=(0.0, max(1.1 * max(values), 0.01)),
    )
    return Panel(axes, (Line(at, values, colour, width=2.0), Points(at, values, colour)))


_FACTS = {
    "points": "points",
    "edges": "edges",
    "piece_count": "pieces",
    "isolated_count": "points without neighbours",
    "fewest": "neighbours of a point, fewest",
    "typical": "neighbours of a point, median",
    "most": "neighbours of a point, most",
    "duplicates": "points that stand there twice",
    "scale": "typical distance of neighbours",
    "left_out": "rows left out",
}


def _graph(model: Any) -> Section | None:
    facts: Any = getattr(model, "facts_", None)
    if facts is None:
        return None
    pairs = ((words, getattr(facts, name, None)) for name, words in _FACTS.items())
    rows = [(words, value) for words, value in pairs if value is not None]
    table = Table("The graph of neighbours", ("what", "number"), tuple(rows))
    parts: list[Part] = [table]
    if facts.piece_count > 1:
        cells = tuple((i + 1, int(size)) for i, size in enumerate(facts.pieces))
        parts.append(Table("Pieces", ("piece", "rows"), cells))
    words = (
        "A graph in one piece is what these methods need. Edges that jump between parts of a "
        "sheet (short circuits) cannot be seen in these numbers; many neighbours make them "
        "likely.",
    )
    return Section("graph", "Graph", words, tuple(parts))
