"""The page of kernel PCA: maps beside linear PCA, spectrum, columns, a walk along an axis.

How far kernel components depend on the rows: two halves, each fitted by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer import plots
from mercer.arrays import Array
from mercer.estimators import PCA
from mercer.plots import Axes, Bars, Line, Panel, Points, group_style
from mercer.report._page_parts import (
    Frames,
    MapView,
    Page,
    Part,
    Picture,
    Section,
    Steps,
    Table,
)
from mercer.report._page_request import PageRequest, tried
from mercer.report._page_words import (
    axis_names,
    count,
    listed,
    other_rows,
    percent,
    short,
    spectrum_rows,
)
from mercer.report._row_labels import colours_of, row_names_of
from mercer.report.facts._linear_summary import column_names, image_shape
from mercer.report.facts._map_groups import told_apart
from mercer.report.facts._row_cloud import RowCloud, asked_colours, one_colour
from mercer.report.panels._data_panels import condition_section
from mercer.studies import health

_HALVED = 2000  # that are looked at
_AXES = 6
_SAME = 0.9  # correlation of an axis with itself that a reader may rely on


def kernel_stability(model: Any, X: Any) -> Section | None:
    """Return the section on what two halves of the rows agree on, or None.

    Both halves are fitted with the kernel of the model. Rows of the other half get their
    coordinates from each; correlations of the two, and the share of an axis that lies in the
    first axes of the other fit, say how far axes depend on the sample.

    Parameters
    ----------
    model : KernelPCA
        Fitted.
    X : array or frame of shape (n, p)
        The rows of the fit.
    """
    k = min(int(model.n_components_), _AXES)
    found = tried(_halves, model, X, k) if k else None
    if found is None:
        return None
    same, within, n = found
    sure = [f"kernel PC{a + 1}" for a in range(k) if same[a] >= _SAME]
    if len(sure) == k:
        words = "Two halves of the rows, each fitted by itself, agree on all of these axes."
    elif sure:
        words = f"Two halves of the rows, each fitted by itself, agree on {listed(sure)} only."
    else:
        words = "Two halves of the rows, each fitted by itself, agree on none of these axes."
    table = Table(
        "Two halves of the rows",
        ("axis", "same axis", "same space"),
        tuple((f"kernel PC{a + 1}", float(same[a]), float(within[a])) for a in range(k)),
        note=f"{n:,} rows, half and half (seed 0), the kernel as it is. Same axis: correlation "
        f"of the coordinates that both halves give to all of them. Same space: multiple "
        f"correlation with the first {k} axes of the other half; high where axes only turn "
        "among themselves.",
    )
    return Section("stability", "Stability", (words,), (table,))


def _halves(model: Any, X: Any, k: int) -> tuple[Array, Array, int] | None:
    """Return correlations of axes, multiple correlations (k,), and the number of rows."""
    n = _count(X)
    if n < 20:
        return None
    order = np.random.default_rng(0).permutation(n)[: min(n, _HALVED)]
    halves = np.sort(order[::2]), np.sort(order[1::2])
    both = np.sort(order)
    scores = []
    for rows in halves:
        fresh = clone(model).set_params(n_components=k, kernel=model.kernel_)
        scores.append(np.asarray(fresh.fit(_at(X, rows)).transform(_at(X, both))))
    one, two = (z - z.mean(axis=0) for z in scores)
    size = np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0)
    same = np.abs(np.sum(one * two, axis=0)) / np.where(size > 0, size, 1.0)
    q, _ = np.linalg.qr(two)
    whole = np.linalg.norm(one, axis=0)
    within = np.linalg.norm(q.T @ one, axis=0) / np.where(whole > 0, whole, 1.0)
    return same, np.minimum(within, 1.0), len(both)


def _count(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _at(X: Any, rows: Array) -> Any:
    """Return some rows of an array, a frame or a list."""
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    if hasattr(X, "take") and hasattr(X, "schema"):  # a table of Arrow
        return X.take(rows)
    X = X.tocsr() if hasattr(X, "tocsr") else X
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


_SHOWN = 4  # kernel axes of the map
_ROWS = 300  # that attributions are averaged over
_STEPS = 11
_COLUMNS = 12


def kernel_map(
    model: Any, X: Any, given: Mapping[str, Any] | None, row_names: Any
) -> tuple[Section, RowCloud]:
    """Return the map of the kernel's axes beside that of PCA, and the cloud of both."""
    Z = np.asarray(model.transform(X), np.float64)[:, :_SHOWN]
    n = len(Z)
    colours = (*asked_colours(given, n), one_colour(n))
    ratio, place = model.explained_variance_ratio_, Z.shape[1]
    names, titles = axis_names(ratio, place, "kernel PC")
    flat = tried(_linear, model, X)
    if flat is not None:
        Z = np.hstack([Z, flat[0]])
        more = axis_names(flat[1], len(flat[1]), "PC")
        names, titles = names + more[0], titles + more[1]
    called = row_names_of(row_names, n)
    cloud = RowCloud(tuple(names), tuple(titles), Z, colours, np.arange(n), called)
    views: list[Part] = []
    if place:
        views.append(MapView("kernel", (0, min(1, place - 1)), cloud.grouped))
    if flat is not None:
        words = "Linear PCA of the same rows. Rows selected in one map are marked in the other."
        axes = place, min(place + 1, Z.shape[1] - 1)
        views.append(MapView("linear", axes, cloud.grouped, words=words))
    said = (
        f"Left the first two kernel components, {percent(float(np.sum(ratio[:2])))} of the "
        "variance in feature space; right linear PCA. Shares of the two are not comparable.",
    )
    return Section("map", "Map of the rows", said, tuple(views)), cloud


def _linear(model: Any, X: Any) -> tuple[Array, Array]:
    """Return two linear coordinates and their shares."""
    given = {"standardize": model.standardize, "missing": model.missing}
    found = PCA(min(2, model.n_features_in_), **given)
    return np.asarray(found.fit_transform(X), np.float64), found.explained_variance_ratio_


def kernel_verdict(model: Any, groups: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the sentences of the verdict of kernel PCA, those on groups as they are given."""
    k = int(model.n_components_)
    held = percent(float(np.sum(model.explained_variance_ratio_)))
    choice = getattr(model, "choice_", None)
    if choice is not None and k == 0:
        first = "No kernel component is beyond noise."
    elif choice is not None:
        verb = "carries" if k == 1 else "carry"
        first = f"{count(k, 'kernel component').capitalize()} {verb} more than noise."
    else:
        first = f"{count(k, 'kernel component').capitalize()} asked for."
    out = [first]
    if k:
        out.append(
            f"{'It holds' if k == 1 else 'They hold'} {held} of the variance in the feature "
            f"space of {short(model.kernel_)}. That "
            "share cannot be compared with shares of other kernels, or of linear PCA."
        )
    if model.alignment_ is not None:
        out.append(_aligned(float(model.alignment_)))
    out += groups
    if choice is not None:
        out.append(choice.reason)
    if k:
        out.append("How much another sample would change these axes: see Stability.")
    return tuple(out)


def kernel_groups(cloud: RowCloud, given: Mapping[str, Any] | None) -> list[str]:
    """Return a sentence for each column to colour by: how it lies on the kernel's axes."""
    place = [i for i, name in enumerate(cloud.names) if name.startswith("kernel")]
    tints = colours_of(given, len(cloud.Z))
    named = ["K" + cloud.names[i][1:] for i in place]
    said = [told_apart(name, cells, cloud.Z[:, place], named) for name, cells in tints.items()]
    return [sentence for sentence in said[:3] if sentence]


def _aligned(alignment: float) -> str:
    if alignment > 0.95:
        return f"The kernel sees nearly what linear PCA sees (alignment {alignment:.2f})."
    if alignment > 0.6:
        return f"The kernel sees much of what linear PCA sees (alignment {alignment:.2f})."
    return f"The kernel sees other structure than linear PCA (alignment {alignment:.2f})."


def _spectrum(model: Any) -> Section | None:
    values, certificate = model.eigenvalues_, model.certificate_
    if not len(values):
        return None
    ratio = model.explained_variance_ratio_
    rows = spectrum_rows("kernel PC", values, certificate, ratio, 20)
    table = Table(
        "Eigenvalues of the centred kernel matrix",
        ("component", "eigenvalue", "error at most", "share %"),
        tuple(row[:4] for row in rows),
        note="Error: of the arithmetic, certified.",
    )
    picture = plots.scree(values, certificate.lower, certificate.upper, ratio)
    words = (
        f"Effective rank {model.effective_rank_:.3g}: so many directions of equal variance "
        f"would give the same spread. Kernel: {short(model.kernel_)}.",
    )
    return Section("components", "Components", words, (Picture(picture), table))


def _columns(model: Any, X: Any, names: Sequence[str]) -> Section | None:
    """Return how much every column moves the first components."""
    found = tried(lambda: model.attributions(_some(X))) if model.n_components_ else None
    if found is None:
        return None
    values = np.asarray(found.shares, np.float64)
    axes = min(2, len(values))
    words = []
    parts: list[Part] = []
    for a in range(axes):
        top = np.argsort(-values[a], kind="stable")[:3]
        words.append(f"Kernel PC{a + 1} changes most with {listed([names[j] for j in top])}.")
        title = f"What moves kernel PC{a + 1}"
        parts.append(Picture(plots.contributions(values[a], names, title=title, most=_COLUMNS)))
    words.append(
        "Measured by gradients, as a mean over rows; a column that acts only together with "
        "another may look weak."
    )
    return Section("variables", "Columns", tuple(words), tuple(parts))


def _some(X: Any) -> Any:
    """Return some rows of a table, evenly spread."""
    step = max(1, -(-_count(X) // _ROWS))
    if hasattr(X, "gather_every"):
        return X.gather_every(step)
    return (X.tocsr() if hasattr(X, "tocsr") else X)[::step]  # not all sparse forms have rows


def _walk(model: Any, X: Any, names: Sequence[str]) -> Section | None:
    """Return rows along the first axis, by the way back: pictures, or the columns that move."""
    if not model.n_components_:
        return None
    spread = np.sqrt(np.maximum(model.explained_variance_, 0.0))
    reach = np.linspace(-2, 2, _STEPS)
    Z = np.zeros((_STEPS, int(model.n_components_)))
    Z[:, 0] = reach * spread[0]
    rows = tried(lambda: np.asarray(model.inverse_transform(Z), np.float64))
    if rows is None:
        return None
    words = (
        "Rows that would have these coordinates on the first kernel component and zero on the "
        "others, as the way back finds them. They are estimates, best near the middle.",
    )
    held = _numbers(X)
    held = rows if held is None else held
    shape = image_shape(held - held.mean(axis=0))
    if shape is not None:
        low, high = (float(v) for v in np.percentile(rows, [0.5, 99.5]))
        grey = np.clip(255 * (rows - low) / max(high - low, 1e-300), 0, 255).astype(np.uint8)
        labels = tuple(f"{t:+.1f} standard deviations" for t in reach)
        part: Part = Steps("Along kernel PC1", shape[1], shape[0], grey, labels)
        return Section("along", "Along the first component", words, (part,))
    return Section(
        "along", "Along the first component", words, _columns_along(rows, held, names)
    )


def _numbers(X: Any) -> Array | None:
    """Return some rows as numbers, those with missing cells left out; None where it fails."""
    rows = tried(lambda: np.asarray(_some(X), np.float64))
    if rows is None:
        return None
    whole = rows[np.isfinite(rows).all(axis=1)] if rows.ndim == 2 else rows[:0]
    return whole if len(whole) > 1 else None


def _columns_along(rows: Array, held: Array, names: Sequence[str]) -> tuple[Part, ...]:
    """Return the columns that move most along an axis: a slider of profiles, and a table."""
    reach = np.linspace(-2, 2, len(rows))
    unit = float(np.max(np.abs(held), initial=0.0)) or 1.0  # squares must stay in range
    deviations = np.where(np.ptp(held, axis=0) > 0, unit * np.std(held / unit, axis=0), 0.0)
    units = (rows - np.mean(held, axis=0)) / np.where(deviations > 0, deviations, 1.0)
    top = np.argsort(-np.ptp(units, axis=0), kind="stable")[:_COLUMNS]
    most = 1.05 * max(float(np.max(np.abs(units[:, top]), initial=0.0)), 0.1)
    places = tuple(float(-i) for i in range(len(top)))
    labels = tuple(f"{t:+.1f} standard deviations" for t in reach)
    axes = Axes(
        "Columns along kernel PC1",
        x_label="from the mean, in standard deviations of the column",
        x_range=(-most, most),
        y_ticks=tuple((at, names[j]) for at, j in zip(places, top, strict=True)),
        y_range=(-len(top) + 0.4, 0.6),
    )
    colour = group_style(0)[0]
    panels = tuple(
        Panel(axes, (Bars(places, tuple(map(float, row[top])), colour, horizontal=True),))
        for row in units
    )
    table = Table(
        "Columns along kernel PC1",
        ("column", *(f"{t:+.1f} sd" for t in reach[::2])),
        tuple((names[j], *(float(v) for v in rows[::2, j])) for j in top),
    )
    return Frames("Along kernel PC1", panels, labels), table


def _tuning(tuning: Any) -> Section:
    """Return the curve of kernels that were tried."""
    curve = tuning.curve
    scores = [c.score for c in curve if c.score is not None]
    columns = tuning.columns()
    head = ("kernel", "score", "error", "effective_rank", "verdict")
    rows = tuple(zip(*(columns[name] for name in head), strict=True))
    best = next((i for i, c in enumerate(curve) if c.kernel == tuning.best), None)
    parts: list[Part] = []
    at = [i for i, c in enumerate(curve) if c.score is not None]
    if len(at) > 2:
        colour = group_style(0)[0]
        xs, ys = tuple(map(float, at)), tuple(float(s) for s in scores)
        names = tuple(str(curve[i].kernel) for i in at)
        title, across = "Kernels that were tried", "candidate, in the order of the table"
        axes = Axes(title, x_label=across, y_label="held-out R²")
        marks = (Line(xs, ys, colour, width=1.6), Points(xs, ys, colour, titles=names))
        parts.append(Picture(Panel(axes, marks)))
    parts.append(
        Table("Kernels", head, rows, chosen=() if best is None else (best,), note=tuning.reason)
    )
    return Section("tuning", "Choice of the kernel", (tuning.reason,), tuple(parts))


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the whole page of kernel PCA.

    Parameters
    ----------
    model : KernelPCA
        Fitted.
    X : array, frame, path or source of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
        What was given beside them.
    """
    names = column_names(model)
    first, cloud = kernel_map(model, X, wanted.colours, wanted.listed_names)
    sections = [first, _spectrum(model), _columns(model, X, names), _walk(model, X, names)]
    sections += [] if wanted.tuning is None else [_tuning(wanted.tuning)]
    sections += [kernel_stability(model, X), condition_section(tried(health, model, X), wanted)]
    n = len(cloud.Z)
    columns = [f"{len(names):,} columns"] if names else []
    about = [f"{n:,} rows", *columns, f"kernel {short(model.kernel_)}"]
    about += other_rows(model, n)
    words = kernel_verdict(model, kernel_groups(cloud, wanted.colours))
    return wanted.page(model, about, words, sections, cloud)
