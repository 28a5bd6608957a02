"""The page of categories, with or without numbers: rows, levels and variables on maps."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.report._page_parts import MapView, Page, Section
from mercer.report._page_request import PageRequest
from mercer.report._page_words import axes_of, count, listed, other_rows, percent
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._categories_summary import CategoriesSummary, categories_seen
from mercer.report.facts._row_cloud import (
    Colour,
    RowCloud,
    axes_shown,
    column_colour,
    drawn_rows,
)
from mercer.report.panels._categories_panels import (
    axes_section,
    groups_section,
    groups_words,
    levels_section,
    variables_section,
)
from mercer.report.panels._data_panels import data_section
from mercer.report.panels._inertia_panels import (
    axis_sentence,
    inertia_scree,
    inertia_table,
    plane,
    points_table,
)

_COLOURS, _FEW = 6, 2  # variables to colour by, and of many rows
_MANY = 100_000
_RARE = 0.02  # share of the rows below which a level is rare
_TITLES = {
    "MultipleCorrespondenceAnalysis": "multiple correspondence analysis",
    "FAMD": "factor analysis of mixed data",
    "MFA": "multiple factor analysis",
}


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of multiple correspondence analysis, FAMD or MFA.

    Parameters
    ----------
    model : MultipleCorrespondenceAnalysis, FAMD or MFA
        Fitted.
    X : frame or array of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them.
    """
    seen = categories_seen(model, X, wanted.sup, wanted.sample_weight)
    sections: list[Section | None] = []
    cloud = None
    if seen.k:
        cloud = _cloud(seen, wanted)
        sections += [_map(seen, cloud), levels_section(seen), variables_section(seen)]
        sections += [groups_section(seen, X, cloud.row_names)] if seen.kind == "MFA" else []
        sections += [axes_section(seen)]
    sections += [data_section(_missing(model), wanted)]
    verdict = *_verdict(seen), *wanted.care
    return wanted.page(model, _facts(seen), verdict, sections, cloud)


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return words and sections on a model of which no rows are at hand."""
    words = [axis_sentence(model, a) for a in range(min(2, int(model.n_components_)))]
    points = points_table(model, "columns", None)
    return words, [
        Section("axes", "Axes", (), (inertia_scree(model), inertia_table(model))),
        Section(
            "levels", "Levels" if not hasattr(model, "mean_") else "Columns", (), (points,)
        ),
    ]


def _facts(seen: CategoriesSummary) -> tuple[str, ...]:
    facts = [count(len(seen.Z), "row")]
    facts += [count(len(seen.numbers), "column") + " of numbers"] if seen.numbers else []
    if seen.categories:
        called = count(len(seen.categories), "variable")
        facts.append(f"{called} with {count(len(seen.levels), 'level')}")
    facts += other_rows(seen.model, len(seen.Z))
    return (*facts, _TITLES.get(seen.kind, seen.kind))


def _verdict(seen: CategoriesSummary) -> tuple[str, ...]:
    model = seen.model
    out = [_first(seen)]
    if not seen.k:
        return (*out, "So there is nothing to map.")
    out += [_held(seen)] if seen.beyond is not None or seen.adjusted else []
    if seen.kind == "MFA":
        out += groups_words(model)
    choice = getattr(model, "choice_", None)
    out += [] if choice is None else [choice.reason]
    out += [axis_sentence(model, a) for a in range(min(2, seen.k))]
    if seen.beyond is not None and 0 < seen.beyond < min(2, seen.k):
        out.append(
            "Axis 2 is not above what chance gives, though behind a strong first axis that is "
            "a strict judge: read it with care."
        )
    return (*out, *_rare(seen))


def _first(seen: CategoriesSummary) -> str:
    if seen.beyond is not None:
        if not seen.beyond:
            return "The variables do not go together beyond chance."
        many = axes_of(seen.beyond)
        if seen.beyond == seen.k:
            return f"The variables go together: {many} beyond chance."
        return f"The variables go together: {many} of {seen.k} beyond chance."
    if not seen.k:
        return "No axis goes beyond what one variable alone brings."
    things = [count(len(seen.numbers), "number")] if seen.numbers else []
    if seen.categories:
        q = len(seen.categories)
        things.append("1 category" if q == 1 else f"{q:,} categories")
    many = axes_of(seen.k).capitalize()
    if seen.adjusted:
        return f"{many} of {' and '.join(things)}; whether beyond chance was not tested."
    verb = "holds" if seen.k == 1 else "hold"
    held = percent(float(np.sum(seen.model.explained_variance_ratio_)))
    return f"{many} {verb} {held} of the inertia of {' and '.join(things)}."


def _held(seen: CategoriesSummary) -> str:
    """Return the share of the axes, and what the adjustments make of it."""
    verb = "holds" if seen.k == 1 else "hold"
    held = percent(float(np.sum(seen.model.explained_variance_ratio_)))
    many = axes_of(seen.k).capitalize()
    if not seen.adjusted:
        return f"{many} {verb} {held} of the inertia."
    by = {name: percent(float(np.sum(share))) for name, share in seen.adjusted.items()}
    if seen.model.correction is None and seen.model.table == "indicator":
        return (
            f"{many} {verb} {held} of the inertia of the indicator table. That is too little "
            "by construction, for every variable is counted against itself too: of what ties "
            f"different variables it is {by['greenacre']} (Greenacre), or "
            f"{by['benzecri']} by Benzécri's more generous count."
        )
    return (
        f"{many} {verb} {held} of the inertia as it was asked for; {by['greenacre']} by "
        f"Greenacre's adjustment, {by['benzecri']} by Benzécri's."
    )


def _rare(seen: CategoriesSummary) -> list[str]:
    """Return which levels are rare, and of these which make an axis."""
    names, n = seen.model.column_names_, len(seen.Z)
    rare = [j for j in seen.levels if seen.counts.get(names[j], 0) < max(_RARE * n, 2)]
    if not rare:
        return []
    rare.sort(key=lambda j: seen.counts.get(names[j], 0))
    said = [f"{names[j]} ({count(seen.counts.get(names[j], 0), 'row')})" for j in rare]
    share = seen.model.column_contributions_[rare, :2]
    made = float(np.max(np.sum(share, axis=0), initial=0.0))
    axis = int(np.argmax(np.sum(share, axis=0))) + 1
    many = "A rare level" if len(rare) == 1 else f"{len(rare):,} rare levels"
    line = f"{many}: {listed(said, 4)}."
    if made > 0.3:
        which = "It makes" if len(rare) == 1 else "They make"
        line += f" {which} {percent(made)} of axis {axis}, which may say little of the rest."
    return [line]


def _missing(model: Any) -> tuple[str, ...]:
    """Return what was done about missing cells."""
    policy = getattr(model, "missing", "raise")
    filled = int(getattr(model, "n_missing_", 0) or 0)
    if policy == "raise":
        return ("No cell is missing; the model refuses rows with missing cells.",)
    if policy == "level":
        return ("Missing cells are a level of their own, called missing.",)
    if policy == "passive":
        return ("Missing cells make no axis; a row lies at the mean of the levels it has.",)
    if hasattr(model, "n_missing_"):
        return (f"{count(filled, 'missing cell').capitalize()} filled by the axes.",)
    return ("Missing cells are filled with shares of levels, by the axes.",)


def _map(seen: CategoriesSummary, cloud: RowCloud) -> Section:
    shown = percent(float(np.sum(seen.model.explained_variance_ratio_[:2])))
    axes = "axis shows" if seen.k == 1 else "two axes show"
    alike = "like numbers and levels in common" if seen.numbers else "many levels in common"
    words = (
        f"The first {axes} {shown} of the inertia. Rows that lie together have {alike}; a row "
        "lies towards the levels it has.",
    )
    note = "The wheel zooms, dragging moves, Shift and dragging selects."
    drawn = len(cloud.Z)
    if drawn < len(seen.Z):
        note = f"{drawn:,} of {len(seen.Z):,} rows drawn, evenly spaced. {note}"
    view = MapView("rows", (0, 1), groups=cloud.grouped, words=note)
    return Section("map", "Map of the rows", words, (view,))


def _cloud(seen: CategoriesSummary, wanted: PageRequest) -> RowCloud:
    n = len(seen.Z)
    at, k = drawn_rows(n), min(seen.k, axes_shown(n))
    names = row_names_of(wanted.listed_names, n)
    if names is None and seen.model.row_names_ is not None and n == int(seen.model.n_samples_):
        names = [str(name) for name in seen.model.row_names_]
    places = plane(seen.Z[at, :k], seen.model.explained_variance_ratio_)
    return RowCloud.of(places, _colours(seen, wanted, at), at, names)


def _colours(seen: CategoriesSummary, wanted: PageRequest, at: Array) -> list[Colour]:
    """Return what was asked for, and the variables that the plane shows best."""
    given = colours_of(wanted.colours, len(seen.Z))
    own: dict[str, Any] = {**seen.numbers, **seen.categories}
    order = np.argsort(-np.sum(seen.links[:, :2], axis=1), kind="stable")
    best = [str(seen.model.variables_[j]) for j in order]
    more = {name: own[name] for name in best if name in own and name not in given}
    chosen = {**given, **dict(list(more.items())[: _COLOURS if len(at) <= _MANY else _FEW])}
    return [column_colour(name, values[at]) for name, values in chosen.items()]
