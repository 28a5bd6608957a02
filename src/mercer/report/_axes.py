"""The page of a linear model: what is seen on its rows, in reading order."""

import dataclasses
import time
from typing import Any

import numpy as np

from mercer.report._cloud import (
    Cloud,
    Colour,
    axes_shown,
    column_colour,
    numbers_shown,
    one_colour,
)
from mercer.report._components import components_section
from mercer.report._condition import condition_section, findings_of
from mercer.report._levels import SomeNames
from mercer.report._parts import MapView, Page, Part, Section
from mercer.report._reconstruction import reconstruction_section
from mercer.report._rows import Extremes, extremes_of, rows_section
from mercer.report._seen import Seen, seen_from
from mercer.report._stability import stability_section
from mercer.report._variables import variables_section
from mercer.report._verdict import verdict
from mercer.report._wanted import Wanted
from mercer.report._words import percent

_ARROWS = 12


def page_of(model: Any, X: Any, wanted: Wanted) -> Page:
    """Return the page of PCA or RobustPCA and its rows.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    X : array, frame, path or source of shape (n, p)
        The rows of the fit.
    wanted : Wanted
        What was given beside them.
    """
    began = time.perf_counter()
    given = {"row_names": wanted.row_names, "colours": wanted.colours}
    seen = seen_from(
        model, X, choice=wanted.choice, sample_weight=wanted.sample_weight, **given
    )
    extremes = extremes_of(seen)
    seen = _with_names(seen, extremes, wanted.row_names)
    findings = findings_of(seen)
    parts = _sections(seen, extremes, wanted)
    parts.append(condition_section(findings, wanted.said, wanted.columns))
    spent = {"report": time.perf_counter() - began}
    return Page(
        wanted.title,
        _facts(seen),
        verdict(seen, extremes, findings, wanted.care),
        (*parts, *wanted.more, wanted.last(model, spent)),
        _cloud(seen),
        _arrows(seen),
    )


def _with_names(seen: Seen, extremes: Extremes | None, given: Any) -> Seen:
    """Return it with names of the rows that stand out, where all are too many to be named."""
    if not callable(given):
        return seen
    middle = seen.held_at[len(seen.held_at) // 2]
    rows = [middle] if extremes is None else [middle, *extremes.rows]
    names = given(np.unique(np.asarray(rows, np.int64)))
    return dataclasses.replace(seen, row_names=SomeNames(names, seen.n))


def _sections(seen: Seen, extremes: Extremes | None, wanted: Wanted) -> list[Section]:
    """Return what is seen on the rows, in reading order."""
    found = (
        _map_section(seen),
        variables_section(seen, wanted.sup),
        components_section(seen),
        rows_section(seen, extremes),
        reconstruction_section(seen, wanted.grid),
        stability_section(seen),
    )
    return [section for section in found if section is not None]


def _facts(seen: Seen) -> tuple[str, ...]:
    scaled = "standardised" if seen.standardised else "centred"
    filled = int(getattr(seen.model, "n_missing_", 0) or 0)
    facts = [f"{seen.n:,} rows", f"{len(seen.names):,} columns, {scaled}"]
    facts += [f"{filled:,} cells were missing and filled"] if filled else []
    before = int(seen.model.n_samples_)
    if before != seen.n:
        facts.append(f"the model was fitted to {before:,} rows, not to these")
    return (*facts, f"method {type(seen.model).__name__}")


def _map_section(seen: Seen) -> Section:
    drawn = len(seen.at)
    ratio = seen.wide.explained_variance_ratio_
    plane = percent(float(ratio[:2].sum()))
    words = (
        f"The first two components show {plane} of the variance. Points that lie near each "
        "other are rows that are alike in it; what the other components hold is not seen here."
    )
    if seen.choice is not None and seen.k < 2:
        which = "Only PC1 is" if seen.k else "Neither is"
        words += f" {which} beyond noise: do not read a shape into the rest."
    note = (
        "One unit is equally long in both directions. The wheel zooms, dragging moves, Shift "
        "and dragging selects."
    )
    if drawn < seen.n:
        some = f"{drawn:,} of {seen.n:,} rows drawn (seed 0), the farthest all; shaded by all."
        note = f"{some} {note}"
    axes = (0, min(1, seen.Z.shape[1] - 1))
    grouped = any(c.kind == "category" for c in _colours(seen))
    view: Part = MapView("rows", axes, groups=grouped, arrows=True, words=note)
    return Section("map", "Map of the rows", (words,), (view,))


def _cloud(seen: Seen) -> Cloud:
    names = tuple(f"PC{i + 1}" for i in range(seen.Z.shape[1]))
    ratio = seen.wide.explained_variance_ratio_
    titles = tuple(f"{name} ({percent(float(ratio[i]))})" for i, name in enumerate(names))
    shown, rows = axes_shown(seen.n), numbers_shown(seen.at)
    colours, Z = tuple(_colours(seen)), seen.Z[:, :shown]
    given = names[:shown], titles[:shown], Z, colours, rows, seen.row_names
    return Cloud(*given, density=seen.density)


def _colours(seen: Seen) -> list[Colour]:
    made = [column_colour(name, values[seen.at]) for name, values in seen.colours.items()]
    return [*made, one_colour(len(seen.at))]


def _arrows(seen: Seen) -> dict[str, Any]:
    """Return the variables of the biplot: those that weigh most on the components shown."""
    axes = np.asarray(seen.wide.components_[: seen.Z.shape[1]], np.float64)
    loads = axes.T * np.sqrt(np.asarray(seen.wide.explained_variance_[: len(axes)]))
    chosen = np.sort(np.argsort(-np.sum(loads[:, :2] ** 2, axis=1), kind="stable")[:_ARROWS])
    return {
        "names": [seen.names[j] for j in chosen],
        "ends": [loads[chosen, a].tolist() for a in range(len(axes))],
    }
