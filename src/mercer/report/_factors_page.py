"""The page of models with factors: probabilistic PCA, factor analysis, topics."""

import dataclasses
import warnings
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.estimators import PCA
from mercer.plots import Axes, Line, Panel, Points, group_style
from mercer.plots._marks import Mark
from mercer.report import _factor_panels, _topics_page
from mercer.report._axes import page_of as page_of_axes
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
from mercer.report._inertia import plane
from mercer.report._parts import MapView, Page, Part, Picture, Section, Table
from mercer.report._seen import column_names
from mercer.report._wanted import Wanted
from mercer.report._words import count, percent
from mercer.selection import Variances, log_likelihoods, ppca_parameters

_TRIED = 12  # numbers of components in a table
_WHOLE = 2000  # smaller side of a table whose whole spectrum is found again


def page_of(model: Any, X: Any, wanted: Wanted) -> Page:
    """Return the page of probabilistic PCA, factor analysis or topic vectors.

    Parameters
    ----------
    model : ProbabilisticPCA, FactorAnalysis or TopicVectors
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        The rows of the fit.
    wanted : Wanted
        What was given beside them.
    """
    if hasattr(model, "idf_"):
        return _topics_page.page_of(model, X, wanted)
    if hasattr(model, "communalities_"):
        return _of_factors(model, X, wanted)
    page = page_of_axes(model, X, wanted)
    found = _likelihood(model, X, wanted.sample_weight)
    if found is None:
        return page
    section, sentence = found
    keys = [part.key for part in page.sections]
    at = keys.index("components") + 1 if "components" in keys else len(keys) - 1
    sections = (*page.sections[:at], section, *page.sections[at:])
    verdict = (*page.verdict[:1], sentence, *page.verdict[1:])
    return dataclasses.replace(page, sections=sections, verdict=verdict)


def alone(model: Any) -> tuple[list[str], list[Section]]:
    """Return words and sections on a model of which no rows are at hand."""
    if hasattr(model, "idf_"):
        return _topics_page.alone(model)
    if not hasattr(model, "communalities_"):
        return [], []
    names = column_names(model)
    words = [*_factor_panels.factor_words(model, names), *_factor_panels.care(model, names)]
    return words, [_factor_panels.loadings_section(model, names)]


# -- probabilistic PCA ------------------------------------------------------------------


def _likelihood(model: Any, X: Any, weights: Any) -> tuple[Section, str] | None:
    """Return likelihood, AIC and BIC by number of components, and a sentence; or None."""
    if model.log_likelihood_ is None:
        return None
    k, n = int(model.n_components_), int(model.n_samples_)
    known = _spectrum(model, X) if weights is None else None
    words = (
        f"Noise of variance {float(model.noise_variance_):.4g} around {count(k, 'direction')}: "
        f"ln L = {model.log_likelihood_:,.1f}, AIC {model.aic_:,.1f}, BIC {model.bic_:,.1f}."
    )
    parts: list[Part] = []
    if known is not None:
        logs = log_likelihoods(known)[: _TRIED + 1] + _constant(model)
        numbers = np.arange(len(logs))
        fitted = ppca_parameters(known.columns, numbers)
        costs = 2 * fitted - 2 * logs, fitted * np.log(n) - 2 * logs
        best = [int(np.argmin(cost)) for cost in costs]
        words += f" AIC is least with {best[0]}, BIC with {best[1]}."
        parts = [_curve(numbers, costs), _table(numbers, logs, fitted, costs, k)]
    said = (
        "The model: a Gaussian with these directions and the same noise in all others. "
        "Likelihoods of models with another number compare on these rows only.",
    )
    return Section("likelihood", "Likelihood", said, tuple(parts)), words


def _spectrum(model: Any, X: Any) -> Variances | None:
    """Return all variances of the columns as the model sees them, or None if too many."""
    n, p = int(model.n_samples_), int(model.n_features_in_)
    if min(n, p) > _WHOLE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = PCA(None, standardize=model.standardize).fit(X)
    except (MercerError, ValueError, TypeError):
        return None
    values = np.asarray(found.explained_variance_, np.float64)
    if int(found.n_samples_) != n:
        return None
    return Variances.of(values, rows=n, columns=p, total=float(np.sum(values)))


def _constant(model: Any) -> float:
    """Return what the likelihood of a model has beside that of its variances, whatever k is.

    `log_likelihoods` divides variances by n and knows no scales of columns; the model divides
    by n - 1, and its density is in the units given.
    """
    n, p = int(model.n_samples_), int(model.n_features_in_)
    scales = 0.0 if model.scale_ is None else 2 * float(np.sum(np.log(model.scale_)))
    return n / 2 * (p * float(np.log((n - 1) / n)) + p / n - scales)


def _curve(numbers: Any, costs: Any) -> Picture:
    marks = list[Mark]()
    for i, (name, cost) in enumerate(zip(("AIC", "BIC"), costs, strict=True)):
        colour, shape = group_style(i)
        xs, ys = tuple(map(float, numbers)), tuple(map(float, cost))
        titles = tuple(f"{name} of {k}: {v:,.1f}" for k, v in zip(numbers, cost, strict=True))
        marks += [Line(xs, ys, colour, width=1.6), Points(xs, ys, colour, shape, titles, 3.0)]
    legend = tuple((name, *group_style(i)) for i, name in enumerate(("AIC", "BIC")))
    axes = Axes(
        "How many components, by likelihood",
        x_label="components",
        y_label="AIC, BIC: less is better",
        legend=legend,
        x_ticks=tuple((float(k), str(k)) for k in numbers),
    )
    return Picture(Panel(axes, tuple(marks)))


def _table(numbers: Any, logs: Any, fitted: Any, costs: Any, k: int) -> Table:
    rows = tuple(
        (int(i), float(logs[i]), int(fitted[i]), *(float(cost[i]) for cost in costs))
        for i in numbers
    )
    chosen = (k,) if k < len(rows) else ()
    head = ("components", "ln L", "numbers fitted", "AIC", "BIC")
    return Table("By number of components", head, rows, chosen=chosen)


# -- factor analysis --------------------------------------------------------------------


def _of_factors(model: Any, X: Any, wanted: Wanted) -> Page:
    names = column_names(model)
    Z = np.asarray(model.set_output(transform="default").transform(X), np.float64)
    n = len(Z)
    at, k = drawn_rows(n), min(int(model.n_components_), axes_shown(n))
    called = [f"factor {a + 1}" for a in range(k)]
    ratio = model.explained_variance_ratio_
    titles = [f"{name} ({percent(float(ratio[a]))})" for a, name in enumerate(called)]
    tints = colours_of(wanted.colours, n)
    made = (column_colour(name, values[at]) for name, values in tints.items())
    colours = (*made, one_colour(len(at)))
    cloud = Cloud(
        *plane(Z[at, :k], called, titles),
        colours,
        numbers_shown(at),
        row_names_of(wanted.listed_names, n),
    )
    grouped = any(colour.kind == "category" for colour in colours)
    note = "The wheel zooms, dragging moves, Shift and dragging selects."
    words = (
        f"Scores by {model.scores}: what the model expects of the factors of each row. They "
        "are estimates, and the noise of the columns is in them.",
    )
    view = MapView("rows", (0, 1), groups=grouped, words=note)
    sections = [
        Section("map", "Map of the rows", words, (view,)),
        _factor_panels.loadings_section(model, names),
        _factor_panels.how_many_section(model, X),
        data_section(("No cell is missing.",), wanted.said, wanted.columns),
        *wanted.more,
        wanted.last(model),
    ]
    facts = (count(n, "row"), count(len(names), "column"), "factor analysis, a guest")
    verdict = (
        _factor_panels.first_words(model),
        *_factor_panels.factor_words(model, names),
        *_factor_panels.care(model, names),
        *wanted.care,
    )
    return Page(wanted.title, facts, verdict, tuple(s for s in sections if s), cloud)
