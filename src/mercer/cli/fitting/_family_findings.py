"""What fits of counts, categories, groups and maps found, as lines and as plain data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli._outputs import axis_names
from mercer.cli.fitting._axis_lines import (
    WORDS,
    axis_lines,
    certified_lines,
    counted,
    how_many,
    shares_of,
    values_of,
)
from mercer.cli.fitting._fit_stages import Fitting
from mercer.methods import method_of

_ROWS = 10  # axes that are listed at most
_NAMED = 4  # rows and columns that are named per axis
_AXES = 2  # axes that are described
_TINY = 1e-300
_LEAST = 0.2  # share of expected counts below 5 from which on χ² is no test


def family_lines(done: Fitting, row_names: Sequence[Any] | None) -> list[str]:
    """Return what was found, line by line: axes, what they weigh, and what the method tests.

    Parameters
    ----------
    done : Fitting
        The model and the table.
    row_names : sequence or None
        Names of all rows; None to number them.
    """
    model, page = done.model, method_of(done.model).page
    axes = axis_lines(model)
    out = [_headline(done), "", *axes, *([""] if axes else [])]
    out += [_clusters(model) or how_many(model), *_shown_share(model, page)]
    out += _of_page(done, page)
    for i in range(min(_AXES, int(model.n_components_))):
        out += _axis(done, i, row_names)
    return out + certified_lines(model)


def family_facts(done: Fitting) -> dict[str, Any]:
    """Return what was found as plain data, beside what every method has."""
    model = done.model
    found: dict[str, Any] = {
        "eigenvalues": values_of(model),
        "ratio": getattr(model, "explained_variance_ratio_", None),
        "columns": _heaviest_columns(model, done.names),
    }
    for name in (
        "total_inertia_",
        "independence_",
        "facts_",
        "eta2_",
        "rv_",
        "classes_",
        "uniquenesses_",
        "errors_",
        "chi2_",
        "dof_",
        "p_value_",
        "n_clusters_",
    ):
        if getattr(model, name, None) is not None:
            found[name.removesuffix("_")] = getattr(model, name)
    if getattr(model, "tests_", None) is not None:
        found["tests"] = model.tests_
    if done.made.y is not None:
        found["groups"] = _group_sizes(done.made.y)
        found["own_group"] = _own_group(done)
    return found


def _headline(done: Fitting) -> str:
    model, made = done.model, done.made
    what = f"{counted(int(model.n_samples_), 'row')}, {counted(len(done.names), 'column')}"
    if made.y is not None:
        what += f", {len(np.unique(made.y))} groups in {made.target!r}"
    if made.groups is not None:
        what += f" in {counted(len(made.groups), 'group')}"
    if made.recipe.scales:
        what += ", standardised"
    if made.n_missing:
        what += f", {counted(made.n_missing, 'missing cell')}"
    return f"{done.seen.label}: {type(model).__name__} of {what}"


def _clusters(model: Any) -> str:
    """Say how many rows each cluster has, where rows were parted."""
    if not hasattr(model, "labels_"):
        return ""
    sizes = np.bincount(model.labels_)
    by = ", before the largest gap of the eigenvalues" if model.n_clusters == "auto" else ""
    listed = ", ".join(f"{size:,}" for size in sizes)
    return f"{counted(len(sizes), 'cluster')}{by}: of {listed} rows."


def _shown_share(model: Any, page: str) -> list[str]:
    shares = shares_of(model)
    if shares is None or len(shares) < 2:
        return []
    of = WORDS.get(page, ("", "variance"))[1]
    return [f"The map of axes 1 and 2 shows {100 * shares[:2].sum():.1f} % of the {of}."]


def _of_page(done: Fitting, page: str) -> list[str]:
    if page == "counts":
        return _independence(done.model)
    if page == "categories":
        return _variables(done.model)
    if page == "groups":
        return [*_tests(done.model), *_own_lines(done)]
    return [*_likelihood(done.model), *_facts(done.model), *_lost(done.model)]


def _lost(model: Any) -> list[str]:
    """Say how much a network loses of rows that it gives back through its code."""
    errors = getattr(model, "errors_", None)
    if not isinstance(errors, dict):
        return []
    epochs = counted(int(model.n_iter_), "epoch")
    return [
        f"Given back, rows lose {100 * errors['fit']:.1f} % of their variance, rows held out"
        f" {100 * errors['held out']:.1f} % ({100 * errors['start held out']:.1f} % before"
        f" training; {epochs})."
    ]


def _likelihood(model: Any) -> list[str]:
    """Say how likely the rows are under a model of their density, where it is one."""
    found = {name: getattr(model, name, None) for name in ("log_likelihood_", "aic_", "bic_")}
    if any(not isinstance(value, float | np.floating) for value in found.values()):
        return []
    value, aic, bic = found.values()
    lines = [f"Log-likelihood {value:.6g}, AIC {aic:.6g}, BIC {bic:.6g}."]
    if getattr(model, "p_value_", None) is not None:
        lines.append(
            f"χ² = {model.chi2_:,.5g} with {model.dof_:,} degrees of freedom,"
            f" {_chance(model.p_value_)}: a small p says that more factors are needed."
        )
    return lines


def _independence(model: Any) -> list[str]:
    """Say whether rows and columns have anything to do with each other."""
    found = getattr(model, "independence_", None)
    if found is None:
        return []
    line = (
        f"χ² = {found.chi2:,.5g} with {found.dof:,} degrees of freedom,"
        f" {_chance(found.p_value)}; Cramér's V {found.cramer_v:.3f}."
    )
    if not getattr(getattr(model, "facts_", None), "whole", True):
        return [line, "Not all cells are whole numbers: χ² and p are of counts."]
    few = getattr(found, "expected_below_5", 0.0)
    if few > _LEAST:
        return [line, f"{100 * few:.0f} % of the expected counts are below 5: p is rough."]
    return [line]


def _chance(p: float) -> str:
    return "p below 1e-300" if p < _TINY else f"p = {p:.2g}"


def _variables(model: Any) -> list[str]:
    """Say which variables go with the first axes, by η² (r² of numbers)."""
    found, names = getattr(model, "eta2_", None), getattr(model, "variables_", None)
    if found is None or names is None:
        return []
    found = np.asarray(found, np.float64)
    lines = []
    for i in range(min(_AXES, found.shape[1])):
        order = np.argsort(-np.nan_to_num(found[:, i]), kind="stable")[:_NAMED]
        shown = ", ".join(f"{names[j]} ({found[j, i]:.2f})" for j in order)
        lines.append(f"Axis {i + 1} goes most with (η²): {shown}.")
    return lines


def _tests(model: Any) -> list[str]:
    """Say how many axes tell the groups apart, by Wilks' Λ of the axes left."""
    tests = getattr(model, "tests_", None)
    if tests is None:
        return []
    lines = []
    for i, (wilks, p) in enumerate(_wilks(tests)[:_ROWS]):
        left = "all axes" if i == 0 else f"axes {i + 1} on"
        lines.append(f"Wilks' Λ of {left}: {wilks:.4g}, {_chance(p)}.")
    return lines


def _wilks(tests: Any) -> list[tuple[float, float]]:
    """Return Λ and the p of Rao's F, or else of Bartlett's χ², of every test."""
    p = getattr(tests, "f_p", getattr(tests, "chi2_p", None))
    wilks = np.atleast_1d(tests.wilks)
    chances = np.full(len(wilks), np.nan) if p is None else np.atleast_1d(p)
    return [(float(a), float(b)) for a, b in zip(wilks, chances, strict=True)]


def _group_sizes(y: Array) -> dict[str, int]:
    words, counts = np.unique(y, return_counts=True)
    return dict(zip(words.tolist(), counts.tolist(), strict=True))


def _own_group(done: Fitting) -> float | None:
    """Return the share of the rows of the fit that the model gives to their own group."""
    if not hasattr(done.model, "predict") or done.made.y is None:
        return None
    return float(np.mean(np.asarray(done.model.predict(done.made.rows)) == done.made.y))


def _own_lines(done: Fitting) -> list[str]:
    share = _own_group(done)
    if share is None:
        return []
    return [f"{100 * share:.1f} % of these rows are given to their own group; new ones, fewer."]


def _facts(model: Any) -> list[str]:
    """Return what is known of the graph of a map, in one line."""
    facts: Any = getattr(model, "facts_", None)
    if not hasattr(facts, "piece_count"):
        return []
    pieces = "in one piece" if facts.piece_count == 1 else f"in {facts.piece_count:,} pieces"
    parts = [
        f"{counted(facts.points, 'point')}, {counted(facts.edges, 'edge')}, {pieces}",
        f"{facts.fewest:g} to {facts.most:g} neighbours, {facts.typical:g} as a rule",
    ]
    if facts.isolated_count:
        parts.append(f"{counted(facts.isolated_count, 'point')} without an edge")
    if facts.duplicates:
        parts.append(f"{counted(facts.duplicates, 'row')} there more than once")
    if facts.left_out:
        parts.append(f"{counted(facts.left_out, 'row')} outside the piece that is mapped")
    return [f"Graph: {'; '.join(parts)}."]


def _axis(done: Fitting, i: int, row_names: Sequence[Any] | None) -> list[str]:
    """Say which columns, and of counts which rows, make an axis."""
    model = done.model
    parts = []
    for side, names in (("column", column_names(model, done.names)), ("row", row_names)):
        shares = getattr(model, f"{side}_contributions_", None)
        places = getattr(model, f"{side}_coordinates_", None)
        of_rows = side == "row" and method_of(model).page != "counts"
        if shares is None or places is None or of_rows:
            continue
        shares, places = np.asarray(shares)[:, i], np.asarray(places)[:, i]
        order = np.argsort(-np.nan_to_num(shares), kind="stable")[:_NAMED]
        called = names if names is not None and len(names) == len(shares) else None
        shown = ", ".join(
            f"{_name(called, int(j), side)} ({100 * shares[j]:.0f} %, {_sign(places[j])})"
            for j in order
        )
        parts.append(f"{side}s {shown}")
    if parts:
        return [f"Axis {i + 1} is made of {'; '.join(parts)}."]
    found, what = _weights(model)
    if found is None:
        return []
    weights = found[:, i]
    order = np.argsort(-np.abs(np.nan_to_num(weights)), kind="stable")[:_NAMED]
    shown = ", ".join(f"{done.names[j]} ({weights[j]:+.2f})" for j in order)
    return [f"Axis {i + 1} {what}: {shown}."]


def _weights(model: Any) -> tuple[Array | None, str]:
    """Return what ties columns to axes (p, k), and what it is called: r, loadings, weights."""
    for name, what in (("structure_", "goes most with (r)"), ("loadings_", "loads most on")):
        if getattr(model, name, None) is not None:
            return np.asarray(getattr(model, name)), what
    if getattr(model, "components_", None) is not None:
        return np.asarray(model.components_).T, "weighs most"
    return None, ""


def _name(names: Sequence[Any] | None, j: int, side: str) -> str:
    return f"{side} {j + 1}" if names is None else str(names[j])


def _sign(value: float) -> str:
    return "+" if value > 0 else "-"


def column_names(model: Any, names: Sequence[str]) -> list[str]:
    """Return what the columns of a model are called: levels as variable=level."""
    found = getattr(model, "column_names_", None)
    bare = not hasattr(model, "feature_names_in_")  # sparse rows have no names, their file has
    if found is None or (bare and len(found) == len(names)):
        found = names
    return [str(name) for name in found]


def _heaviest_columns(model: Any, names: Sequence[str]) -> dict[str, dict[str, float]] | None:
    """Return coordinates of the columns that make most of the first axes."""
    places = getattr(model, "column_coordinates_", None)
    shares = getattr(model, "column_contributions_", None)
    if places is None or shares is None:
        places = shares = _weights(model)[0]
    if places is None or shares is None:
        return None
    called, places = column_names(model, names), np.asarray(places)
    weight = np.abs(np.nan_to_num(np.asarray(shares)))
    if len(called) != len(places):
        return None
    found = {}
    for i, axis in enumerate(axis_names(min(places.shape[1], _ROWS))):
        order = np.argsort(-weight[:, i], kind="stable")[:_ROWS]
        found[axis] = {called[j]: float(places[j, i]) for j in order}
    return found
