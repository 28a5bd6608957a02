"""The page of models with factors: probabilistic PCA, factor analysis, topics.

The page of topic vectors: documents on a map, axes by their terms.
"""

import dataclasses
from typing import Any

import numpy as np

from mercer import plots
from mercer.estimators import PCA
from mercer.plots import Axes, Line, Panel, Points, group_style
from mercer.plots._marks import Mark
from mercer.report._page_parts import MapView, Page, Part, Picture, Section, Table
from mercer.report._page_request import PageRequest, tried
from mercer.report._page_words import axes_of, count, listed, percent
from mercer.report._row_labels import row_names_of
from mercer.report.facts._linear_summary import column_names
from mercer.report.facts._row_cloud import (
    RowCloud,
    asked_colours,
    axes_shown,
    drawn_rows,
)
from mercer.report.pages._axes_page import page_of as page_of_axes
from mercer.report.panels import _factors_panels as _factor_panels
from mercer.report.panels._data_panels import data_section
from mercer.report.panels._inertia_panels import plane
from mercer.selection import Variances, log_likelihoods, ppca_parameters

_TERMS = 10  # of an end of an axis in a table
_NAMED = 4  # in words
_READ = 5  # axes in words


def page_of_topics(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of topic vectors.

    Parameters
    ----------
    model : TopicVectors
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        Counts of terms, documents in rows.
    wanted : PageRequest
        What was given beside them.
    """
    Z = np.asarray(model._project(model._admit(X, reset=False)), np.float64)
    cloud = _cloud(model, Z, wanted, "axis ")
    words, sections = topics_alone(model)
    shown = percent(float(np.sum(model.explained_variance_ratio_[:2])))
    said = (
        f"The first two axes show {shown} of the variance. Documents that lie together use "
        "like terms; far out along an axis are those that use its terms most.",
    )
    view = MapView("rows", (0, 1), groups=cloud.grouped, words="A point is a document.")
    facts = [count(len(Z), "document"), count(int(model.n_features_in_), "term")]
    if len(Z) != int(model.n_samples_):
        facts.append(f"fitted to {int(model.n_samples_):,} documents, not to these")
    facts.append("tf-idf, centred" if model.centred else "tf-idf, not centred")
    k = int(model.n_components_)
    held = percent(float(np.sum(model.explained_variance_ratio_)))
    verb = "holds" if k == 1 else "hold"
    first = f"{axes_of(k).capitalize()} {verb} {held} of the variance of the documents."
    made: list[Section | None] = [
        Section("map", "Map of the documents", said, (view,)),
        *sections,
    ]
    made.append(data_section((), wanted))
    return wanted.page(model, facts, (first, *words, *wanted.care), made, cloud)


def topics_alone(model: Any) -> tuple[list[str], list[Section]]:
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
        Section(
            "terms", "Terms", (), tuple(_terms_table(model, a, names) for a in range(len(ends)))
        ),
        Section("axes", "Axes", (), (Picture(scree),)),
    ]


def _sides(high: list[str], low: list[str]) -> str:
    if high and low:
        return f"sets {_few(high)} against {_few(low)}"
    return f"grows with {_few(high or low)}"


def _few(terms: list[str]) -> str:
    return listed(terms[:_NAMED], _NAMED)


def _terms_table(model: Any, axis: int, names: list[str]) -> Table:
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


def _cloud(model: Any, Z: Any, wanted: PageRequest, axes: str) -> RowCloud:
    """Return the rows on axes of that name, coloured as was asked."""
    n = len(Z)
    at, k = drawn_rows(n), min(int(model.n_components_), axes_shown(n))
    called = row_names_of(wanted.listed_names, n)
    places = plane(Z[at, :k], model.explained_variance_ratio_, axes)
    return RowCloud.of(places, asked_colours(wanted.colours, n, at), at, called)


_TRIED = 12  # numbers of components in a table
_WHOLE = 2000  # smaller side of a table whose whole spectrum is found again


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of probabilistic PCA, factor analysis or topic vectors.

    Parameters
    ----------
    model : ProbabilisticPCA, FactorAnalysis or TopicVectors
        Fitted.
    X : array, sparse matrix or frame of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them.
    """
    if hasattr(model, "idf_"):
        return page_of_topics(model, X, wanted)
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
        return topics_alone(model)
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
    found = tried(PCA(None, standardize=model.standardize).fit, X)
    if found is None or int(found.n_samples_) != n:
        return None
    values = np.asarray(found.explained_variance_, np.float64)
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


def _of_factors(model: Any, X: Any, wanted: PageRequest) -> Page:
    names = column_names(model)
    Z = np.asarray(model.set_output(transform="default").transform(X), np.float64)
    n = len(Z)
    cloud = _cloud(model, Z, wanted, "factor ")
    note = "The wheel zooms, dragging moves, Shift and dragging selects."
    words = (
        f"Scores by {model.scores}: what the model expects of the factors of each row. They "
        "are estimates, and the noise of the columns is in them.",
    )
    view = MapView("rows", (0, 1), groups=cloud.grouped, words=note)
    sections = [
        Section("map", "Map of the rows", words, (view,)),
        _factor_panels.loadings_section(model, names),
        _factor_panels.how_many_section(model, X),
        data_section(("No cell is missing.",), wanted),
    ]
    facts = (count(n, "row"), count(len(names), "column"), "factor analysis")
    verdict = (
        _factor_panels.first_words(model),
        *_factor_panels.factor_words(model, names),
        *_factor_panels.care(model, names),
        *wanted.care,
    )
    return wanted.page(model, facts, verdict, sections, cloud)
