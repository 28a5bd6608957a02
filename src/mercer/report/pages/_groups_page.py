"""The page of discriminant analysis: whether classes lie apart, along what, and how surely."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.report._page_parts import MapView, Page, Part, Picture, Section
from mercer.report._page_request import PageRequest
from mercer.report._page_words import (
    axes_of,
    axis_names,
    chance,
    count,
    listed,
    other_rows,
    percent,
    short,
)
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._groups_summary import GroupsSummary, groups_seen
from mercer.report.facts._linear_summary import column_names
from mercer.report.facts._row_cloud import (
    Colour,
    RowCloud,
    category_colour,
    column_colour,
    drawn_rows,
)
from mercer.report.panels._data_panels import data_section
from mercer.report.panels._groups_panels import (
    classes_section,
    columns_section,
    confusion_section,
    ellipses_picture,
    tests_section,
)

_SHOWN = 4  # canonical axes of the map
_NAMED = 3  # columns of an axis
_RATIO = 3  # rows for every column below which a fit is thin


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of linear or kernel discriminant analysis.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis or KernelDiscriminantAnalysis
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them; `y` holds the classes.
    """
    seen = groups_seen(model, X, wanted.y)
    cloud = _cloud(seen, wanted)
    sections = [
        _map(seen, cloud),
        columns_section(model, seen.names),
        tests_section(model, seen.permutation),
        confusion_section(seen),
        classes_section(model),
        data_section((), wanted),
    ]
    verdict = *_verdict(seen), *wanted.care
    return wanted.page(model, _facts(seen), verdict, sections, cloud)


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return words and sections on a model of which no rows are at hand."""
    names = column_names(model)
    found = [columns_section(model, names), tests_section(model, None), classes_section(model)]
    return _axes_words(model, names), [s for s in found if s is not None]


def _facts(seen: GroupsSummary) -> tuple[str, ...]:
    model = seen.model
    kernel = getattr(model, "kernel_", None)
    called = "linear discriminant analysis"
    if kernel is not None:
        called = f"kernel discriminant analysis, {short(kernel)}"
    facts = [count(len(seen.Z), "row"), count(len(seen.names), "column")]
    facts.append(f"{len(seen.classes)} classes")
    return (*facts, *other_rows(model, len(seen.Z)), called)


def _verdict(seen: GroupsSummary) -> tuple[str, ...]:
    """Return whether the classes lie apart, by every look that was affordable."""
    out = [_apart(seen)]
    if seen.confusion is not None:
        right, largest = seen.confusion.accuracy, seen.largest
        better = "" if right > largest else " That is no better than the largest class alone."
        out.append(
            f"{percent(right)} of rows held out ({seen.confusion.folds} folds) are given to "
            f"their own class; always naming the largest class would give "
            f"{percent(largest)}.{better}"
        )
    elif seen.y is None:
        out.append("No classes were given with the rows: nothing was held out or shuffled.")
    else:
        out.append("How held-out rows fare was not looked at: too many for a page.")
    out += _axes_words(seen.model, seen.names)
    return (*out, *_care(seen))


def _apart(seen: GroupsSummary) -> str:
    """Return the first sentence: whether classes lie apart beyond chance."""
    groups, test = len(seen.classes), seen.permutation
    tests = getattr(seen.model, "tests_", None)
    if test is not None:
        sure = test.p_value <= 0.05
        odds = f"p {'≤' if sure else '='} {test.p_value:.2g} by shuffling the labels"
    elif tests is not None and len(tests.f_p):
        p = float(tests.f_p[0])
        sure = p <= 0.05
        odds = f"{chance(p)} by Rao's F, which takes the classes to be normal"
    else:
        return f"{groups} classes on {axes_of(seen.k)}; chance was not asked here."
    wilks = "" if tests is None else f"Wilks' Λ {float(tests.wilks[0]):.3g}, "
    if sure:
        return f"The {groups} classes lie apart ({wilks}{odds})."
    return f"The {groups} classes do not lie apart beyond chance ({wilks}{odds})."


def _axes_words(model: Any, names: Any) -> list[str]:
    """Return what the first axes set apart: classes by their centres, and by which columns."""
    out = []
    for a in range(min(2, int(model.n_components_))):
        place = np.asarray(model.centres_)[:, a]
        low, high = int(np.argmin(place)), int(np.argmax(place))
        if not place[high] > place[low]:
            continue
        share = percent(float(model.explained_variance_ratio_[a]))
        one = int(model.n_components_) == 1 and len(model.classes_) == 2
        which = "The axis" if one else f"Axis {a + 1} ({share} of what is between the classes)"
        line = f"{which} sets {model.classes_[high]} against {model.classes_[low]}"
        found = getattr(model, "structure_", None)
        if found is not None:
            order = np.argsort(-np.abs(found[:, a]), kind="stable")[:_NAMED]
            said = listed([f"{names[j]} ({found[j, a]:+.2f})" for j in order])
            line += f"; it goes most with {said}, in brackets the correlations"
        tests = getattr(model, "tests_", None)
        if tests is not None and a < len(tests.f_p) and a and tests.f_p[a] > 0.05:
            line += f"; it is not beyond chance (p = {float(tests.f_p[a]):.2g})"
        out.append(f"{line}.")
    return out


def _care(seen: GroupsSummary) -> list[str]:
    model, out = seen.model, []
    counts = np.asarray(model.class_counts_, np.float64)
    few = [f"{seen.classes[g]} ({counts[g]:g})" for g in np.flatnonzero(counts < 5)]
    if few:
        out.append(f"Few rows to speak of: {listed(few)}.")
    if not hasattr(model, "kernel_"):
        n, p = float(counts.sum()), int(model.n_features_in_)
        if n < _RATIO * p:
            out.append(
                f"{n:g} rows for {p:,} columns: on the map the classes look farther apart than "
                "new rows would; go by the rows held out."
            )
        out.append(
            "One spread is taken for all classes; whether they differ in it was not tested."
        )
    else:
        out.append(
            "A kernel can follow the rows of the fit closely: the map shows them farther apart "
            "than new rows would lie; go by the rows held out."
        )
    return out


def _map(seen: GroupsSummary, cloud: RowCloud) -> Section:
    """Return canonical coordinates beside PCA of the same rows."""
    k, flat = min(seen.k, _SHOWN), seen.flat
    if seen.k > 1:
        first = "Canonical axes: one unit is one standard deviation within the classes."
    elif flat is not None:
        first = "The one canonical axis, and the first component of PCA upwards."
    else:
        first = "The one canonical axis."
    views: list[Part] = [MapView("canonical", (0, 1), groups=cloud.grouped, words=first)]
    if flat is not None:
        at = (k, min(k + 1, k + flat[0].shape[1] - 1))
        words = (
            "PCA of the same rows, columns standardised, found without the classes. Rows "
            "selected in one map are marked in the other."
        )
        views.append(MapView("pca", at, groups=cloud.grouped, words=words))
    outlines = ellipses_picture(seen)
    views += [] if outlines is None else [Picture(*outlines)]
    said = (
        "Left the axes that part the classes most, right those along which the rows vary most. "
        "Where the left map parts classes and the right one does not, the classes differ along "
        "directions of little variance.",
    )
    return Section("map", "Map of the rows", said if flat is not None else (), tuple(views))


def _cloud(seen: GroupsSummary, wanted: PageRequest) -> RowCloud:
    n, k = len(seen.Z), min(seen.k, _SHOWN)
    names, titles = axis_names(seen.model.explained_variance_ratio_, k)
    Z = seen.Z[:, :k]
    if seen.flat is not None:
        scores, shares = seen.flat
        more = axis_names(shares, scores.shape[1], "PC")
        names, titles, Z = names + more[0], titles + more[1], np.hstack([Z, scores])
    if Z.shape[1] == 1:
        Z, names, titles = np.c_[Z, np.zeros(n)], [*names, "nothing"], [*titles, "nothing"]
    called, at = row_names_of(wanted.listed_names, n), drawn_rows(n)
    return RowCloud.of((names, titles, Z[at]), _colours(seen, wanted, at), at, called)


def _colours(seen: GroupsSummary, wanted: PageRequest, at: Array) -> list[Colour]:
    """Return the classes first, then held-out mistakes, and what was asked for.

    Rows whose classes are not known are coloured by what the model takes them for.
    """
    n, made = len(seen.Z), []
    given = colours_of(wanted.colours, n)
    if seen.y is not None:
        name = "class" if "class" not in given else "class of the fit"
        made.append(category_colour(name, seen.y[at]))
    else:
        made.append(category_colour("predicted class", seen.predicted[at]))
    if seen.confusion is not None:
        right = seen.confusion.predicted.astype(str) == seen.y
        texts = np.where(right, "held out: right", "held out: wrong")
        made.append(category_colour("held out", texts[at]))
    return made + [column_colour(name, values[at]) for name, values in given.items()]
