"""The page of topic vectors: documents on a map, axes by their terms."""

from typing import Any

import numpy as np

from mercer import plots
from mercer.report._cloud import (
    Cloud,
    axes_shown,
    column_colour,
    drawn_rows,
    numbers_shown,
    one_colour,
)
from mercer.report._condition import data_section
from mercer.report._given import colours_of, row_names_of
from mercer.report._inertia import axes_of, axis_title, plane
from mercer.report._parts import MapView, Page, Picture, Section, Table
from mercer.report._seen import column_names
from mercer.report._wanted import Wanted
from mercer.report._words import count, listed, percent

_TERMS = 10  # of an end of an axis in a table
_NAMED = 4  # in words
_READ = 5  # axes in words


def page_of(model: Any, X: Any, wanted: Wanted) -> Page:
    """Return the page of topic vectors.

    Parameters
    ----------
    model : TopicVectors
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        Counts of terms, documents in rows.
    wanted : Wanted
        What was given beside them.
    """
    Z = np.asarray(model._project(model._admit(X, reset=False)), np.float64)
    cloud = _cloud(model, Z, wanted)
    words, sections = alone(model)
    grouped = any(colour.kind == "category" for colour in cloud.colours)
    shown = percent(float(np.sum(model.explained_variance_ratio_[:2])))
    said = (
        f"The first two axes show {shown} of the variance. Documents that lie together use "
        "like terms; far out along an axis are those that use its terms most.",
    )
    view = MapView("rows", (0, 1), groups=grouped, words="A point is a document.")
    facts = [count(len(Z), "document"), count(int(model.n_features_in_), "term")]
    if len(Z) != int(model.n_samples_):
        facts.append(f"fitted to {int(model.n_samples_):,} documents, not to these")
    facts.append("tf-idf, centred" if model.centred else "tf-idf, not centred")
    k = int(model.n_components_)
    held = percent(float(np.sum(model.explained_variance_ratio_)))
    verb = "holds" if k == 1 else "hold"
    first = f"{axes_of(k).capitalize()} {verb} {held} of the variance of the documents."
    made = [Section("map", "Map of the documents", said, (view,)), *sections]
    if wanted.said or wanted.columns is not None:
        made.append(data_section((), wanted.said, wanted.columns))
    return Page(
        wanted.title,
        tuple(facts),
        (first, *words, *wanted.care),
        (*made, *wanted.more, wanted.last(model)),
        cloud,
    )


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return words and sections on the axes, which need no documents."""
    names = list(column_names(model))
    ends = model.top_terms(_TERMS, names)
    words = []
    for a, (high, low) in enumerate(ends[:_READ]):
        share = percent(float(model.explained_variance_ratio_[a]))
        words.append(f"Axis {a + 1} ({share}) {_sides(high, low)}.")
    if not model.centred:
        words.append(
            "The mean document was left in: axis 1 is mostly what all documents share."
        )
    words.append("Whether these axes are beyond chance was not tested.")
    certificate, values = model.certificate_, model.explained_variance_
    ratio = model.explained_variance_ratio_
    scree = plots.scree(values, certificate.lower, certificate.upper, ratio, axis="axis")
    return words, [
        Section("terms", "Terms", (), tuple(_table(model, a, names) for a in range(len(ends)))),
        Section("axes", "Axes", (), (Picture(scree),)),
    ]


def _sides(high: list[str], low: list[str]) -> str:
    if high and low:
        return f"sets {_few(high)} against {_few(low)}"
    return f"grows with {_few(high or low)}"


def _few(terms: list[str]) -> str:
    return listed(terms[:_NAMED], _NAMED)


def _table(model: Any, axis: int, names: list[str]) -> Table:
    """Return the heaviest terms at both ends of an axis, side by side."""
    weights = np.asarray(model.components_)[axis]
    order = np.argsort(-weights, kind="stable")
    high = [int(j) for j in order[:_TERMS] if weights[j] > 0]
    low = [int(j) for j in order[::-1][:_TERMS] if weights[j] < 0]
    rows = []
    for i in range(max(len(high), len(low))):
        row: list[Any] = []
        for side in (high, low):
            there = i < len(side)
            row += [names[side[i]] if there else None]
            row += [float(weights[side[i]]) if there else None]
        rows.append(tuple(row))
    head = ("at the high end", "weight", "at the low end", "weight low")
    return Table(f"Terms of axis {axis + 1}", head, tuple(rows))


def _cloud(model: Any, Z: Any, wanted: Wanted) -> Cloud:
    n = len(Z)
    at, k = drawn_rows(n), min(int(model.n_components_), axes_shown(n))
    names = [f"axis {a + 1}" for a in range(k)]
    titles = [axis_title(model, a) for a in range(k)]
    tints = colours_of(wanted.colours, n)
    colours = [column_colour(name, values[at]) for name, values in tints.items()]
    called = row_names_of(wanted.listed_names, n)
    places = plane(Z[at, :k], names, titles)
    return Cloud(*places, (*colours, one_colour(len(at))), numbers_shown(at), called)
