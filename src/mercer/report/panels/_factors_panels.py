"""Panels of factor analysis: loadings, communalities, how many factors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import plots
from mercer.plots import Axes, Bars, Panel, group_style
from mercer.report._page_parts import Part, Picture, Section, Table
from mercer.report._page_request import tried
from mercer.report._page_words import axis_in_words, count, listed, percent

_AXES = 4
_LISTED = 60
_BARS = 20
_CIRCLE = 60
_TRIED = 6  # numbers of factors
_COLUMNS = 60  # columns up to which other numbers of factors are tried
_DOUBT = 0.05  # chance below which a model does not fit
_POOR = 0.2  # communality below which a column is hardly explained


def first_words(model: Any) -> str:
    """Return the shortest answer: how much the factors explain."""
    k = int(model.n_components_)
    held = percent(float(np.mean(model.communalities_)))
    if model.scale_ is None:
        held = percent(float(np.sum(model.explained_variance_ratio_)))
    verb = "explains" if k == 1 else "explain"
    what = "common factor"
    return f"{count(k, what).capitalize()} {verb} {held} of the variance of the columns."


def factor_words(model: Any, names: Sequence[str]) -> list[str]:
    """Return every factor in words: the columns that load on it.

    Parameters
    ----------
    model : FactorAnalysis
        Fitted.
    names : sequence of p str
        Of the columns.
    """
    turned = {None: "not rotated"}.get(model.rotation, f"{model.rotation} rotation")
    found = [
        f"Factor {a + 1} {axis_in_words(row, names)}."
        for a, row in enumerate(np.asarray(model.components_)[:_AXES])
    ]
    found[0] = f"{found[0][:-1]} ({turned})."
    return found


def care(model: Any, names: Sequence[str]) -> list[str]:
    """Return what asks for care: poorly explained columns, noise at its bound, a poor fit.

    Parameters
    ----------
    model : FactorAnalysis
        Fitted.
    names : sequence of p str
        Of the columns.
    """
    out = []
    poor = [names[int(j)] for j in np.flatnonzero(model.communalities_ < _POOR)]
    if poor:
        out.append(f"Hardly explained (less than {100 * _POOR:g} %): {listed(poor)}.")
    zero = [names[int(j)] for j in model.heywood_]
    if zero:
        out.append(
            f"The noise of {listed(zero)} is at its lower bound, 0.5 % of the variance (a "
            "Heywood case): a sign of too many factors."
        )
    return [*out, *_fits(model)]


def _fits(model: Any) -> list[str]:
    """Say what the test of fit says, and whether the likelihood has several maxima."""
    out = []
    dof = getattr(model, "dof_", 0)
    one, k = int(model.n_components_) == 1, count(int(model.n_components_), "factor")
    if dof < 0:
        verb = "is" if one else "are"
        out.append(f"{k} {verb} more than these columns can tell: other loadings fit as well.")
    elif getattr(model, "p_value_", None) is not None:
        poor = model.p_value_ < _DOUBT
        verb = "leave correlations unexplained" if poor else "explain the correlations"
        verb = verb.replace("leave", "leaves").replace("explain ", "explains ") if one else verb
        found = f"χ² = {model.chi2_:,.4g} with {count(dof, 'degree')} of freedom"
        out.append(f"{k} {verb} ({found}, p = {model.p_value_:.2g}).")
    ends = [float(end) for end in getattr(model, "maxima_", ())]
    if len(ends) > 1:
        out.append(
            f"The likelihood has several maxima; this is the largest of {len(ends)} found, "
            f"{ends[0] - ends[1]:.2g} above the next."
        )
    return out


def loadings_section(model: Any, names: Sequence[str]) -> Section:
    """Return loadings, communalities and noise of the columns.

    Parameters
    ----------
    model : FactorAnalysis
        Fitted.
    names : sequence of p str
        Of the columns.
    """
    L, k = np.asarray(model.loadings_), int(model.n_components_)
    shown = min(k, _AXES)
    oblique = not np.allclose(model.correlations_, np.eye(k))
    parts: list[Part] = []
    fits = np.max(np.sum(L[:, :2] ** 2, axis=1), initial=0.0) <= 1 + 1e-6
    plain = model.scale_ is not None and not oblique and fits
    if plain and k > 1 and len(names) <= _CIRCLE:
        ratio = model.explained_variance_ratio_
        picture = plots.circle(np.clip(L, -1, 1), names, ratio=ratio, called="factor ")
        parts.append(Picture(picture, "Loadings are correlations of columns with factors."))
    else:
        parts.append(
            Picture(
                plots.loadings(L.T, names, axes=range(min(k, 2)), called="factor ",
                               unit="loading")
            )
        )  # fmt: skip
    parts.append(Picture(_bars(model, names)))
    order = np.argsort(-np.asarray(model.communalities_), kind="stable")[:_LISTED]
    head = ("column", *(f"factor {a + 1}" for a in range(shown)), "communality %", "noise")
    rows = tuple(
        (
            names[j],
            *(float(v) for v in L[j, :shown]),
            100 * float(model.communalities_[j]),
            float(model.noise_variance_[j]),
        )
        for j in order
    )
    left = len(names) - len(rows)
    note = "Communality: share of the column that the factors explain. Noise: variance left."
    note += f" {left:,} more columns have less." if left else ""
    parts.append(Table("Loadings", head, rows, note=note))
    if oblique:
        parts.append(_between(model))
    return Section("loadings", "Columns and factors", (), tuple(parts))


def _bars(model: Any, names: Sequence[str]) -> Panel:
    """Return the communalities as bars, largest first."""
    shares = 100 * np.asarray(model.communalities_, np.float64)
    order = np.argsort(-shares, kind="stable")[:_BARS]
    places = tuple(-float(i) for i in range(len(order)))
    titles = tuple(f"{names[j]}: {shares[j]:.1f} %" for j in order)
    lengths = tuple(float(shares[j]) for j in order)
    bars = Bars(places, lengths, group_style(0)[0], horizontal=True, titles=titles)
    axes = Axes(
        "Communalities",
        x_label="% of the column that the factors explain",
        x_range=(0.0, 100.0),
        y_ticks=tuple((at, names[j]) for at, j in zip(places, order, strict=True)),
        y_range=(-len(order) + 0.4, 0.6),
    )
    return Panel(axes, (bars,), height=max(160.0, 110.0 + 22.0 * len(order)))


def _between(model: Any) -> Table:
    k = int(model.n_components_)
    head = ("factor", *(f"correlation {a + 1}" for a in range(k)))
    rows = tuple(
        (f"factor {a + 1}", *(float(v) for v in model.correlations_[a])) for a in range(k)
    )
    return Table("Correlations of the factors", head, rows)


def how_many_section(model: Any, X: Any) -> Section | None:
    """Return likelihood, AIC and BIC of other numbers of factors; None where not cheap.

    Parameters
    ----------
    model : FactorAnalysis
        Fitted.
    X : array or frame of shape (n, p)
        The rows of the fit.
    """
    from sklearn.base import clone

    n, p = int(model.n_samples_), int(model.n_features_in_)
    most = min(_TRIED, int((2 * p + 1 - np.sqrt(8 * p + 1)) / 2), n - 1)
    if p > _COLUMNS or most < 1:
        return None
    rows = []
    for k in range(1, most + 1):
        if k == int(model.n_components_):
            rows.append((k, *_measures(model)))
            continue
        other = clone(model).set_params(n_components=k, rotation=None)
        if tried(other.fit, X) is None:
            return None
        rows.append((k, *_measures(other)))
    best = [1 + int(np.argmin([row[i] for row in rows])) for i in (2, 3)]
    words = (f"Of 1 to {most} factors AIC is least with {best[0]}, BIC with {best[1]}.",)
    chosen = tuple(i for i, row in enumerate(rows) if row[0] == int(model.n_components_))
    head = ("factors", "ln L", "AIC", "BIC")
    table = Table(
        "By number of factors",
        head,
        tuple(rows),
        chosen=chosen,
        note=f"Up to {most}: more could not be told from {p} columns." if most < _TRIED else "",
    )
    return Section("how_many", "How many factors", words, (table,))


def _measures(model: Any) -> tuple[float, float, float]:
    return float(model.log_likelihood_), float(model.aic_), float(model.bic_)
