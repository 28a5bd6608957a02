"""The page of a model without its rows: spectrum, weights, and what is not known."""

from typing import Any

import numpy as np

from mercer import plots
from mercer.report._axis_words import axis_in_words
from mercer.report._parts import Page, Part, Picture, Section, Table
from mercer.report._seen import column_names
from mercer.report._words import count, percent

_LISTED = 20
_AXES = 4


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
    n, k = int(model.n_samples_), int(model.n_components_)
    held = percent(float(np.sum(model.explained_variance_ratio_)))
    choice = getattr(model, "choice_", None)
    verdict = [
        f"{count(k, 'component').capitalize()} with {held} of the variance.",
        "No rows were given. So there is no map, no outlying row, no look at the data; give "
        "the rows for these.",
    ]
    if choice is not None:
        verdict.insert(1, choice.reason)
    sections = [_spectrum(model), _weights(model), last] if k else [last]
    return Page(
        title,
        (f"{n:,} rows at fit", f"{int(model.n_features_in_):,} columns", type(model).__name__),
        tuple(verdict),
        tuple(section for section in sections if section is not None),
    )


def _spectrum(model: Any) -> Section:
    certificate = model.certificate_
    values = getattr(model, "eigenvalues_", model.explained_variance_)
    ratio = np.asarray(model.explained_variance_ratio_)
    rows = tuple(
        (
            f"PC{i + 1}",
            float(values[i]),
            float(certificate.lower[i]),
            float(certificate.upper[i]),
            100 * float(ratio[i]),
        )
        for i in range(min(len(values), _LISTED))
    )
    head = ("component", "value", "at least", "at most", "share %")
    picture = plots.scree(values, certificate.lower, certificate.upper, ratio)
    table = Table("Spectrum", head, rows, note="The exact value lies between the two bounds.")
    return Section("components", "Components", (), (Picture(picture), table))


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
