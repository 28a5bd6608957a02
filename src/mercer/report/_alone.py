"""The page of a model without its rows: spectrum, weights, and what is not known."""

from importlib import import_module
from typing import Any

import numpy as np

from mercer import plots
from mercer.report._axis_words import axis_in_words
from mercer.report._inertia import axes_of
from mercer.report._parts import Page, Part, Picture, Section, Table
from mercer.report._seen import column_names
from mercer.report._words import count, percent

_LISTED = 20
_AXES = 4
# What a kind of method says of itself: a module with alone(model) -> (words, sections).
_OWN = {
    "counts": "mercer.report._counts",
    "categories": "mercer.report._categories_page",
    "groups": "mercer.report._groups_page",
    "factors": "mercer.report._factors_page",
}
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
    k, kind = int(model.n_components_), getattr(model, "_page", "axes")
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
    words, sections = import_module(_OWN[kind]).alone(model)
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
    called = (
        "PC" if getattr(model, "_page", "axes") in ("axes", "kernel", "factors") else "axis "
    )
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
