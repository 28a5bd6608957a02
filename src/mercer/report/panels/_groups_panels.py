"""Panels about classes: ellipses, columns, tests, held-out rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer import plots
from mercer.plots import Panel, PointKind
from mercer.report._page_parts import Part, Picture, Section, Table
from mercer.report._page_words import finite, listed, percent
from mercer.report.facts._groups_summary import GroupsSummary
from mercer.report.panels._inertia_panels import axes_map

_AXES = 4
_CIRCLE = 60
_LISTED = 60
_GROUPS = 12  # classes of a picture, and of a wide table


def ellipses_picture(seen: GroupsSummary) -> tuple[Panel, str] | None:
    """Return class means with ellipses of rows, and words; None without a plane.

    Parameters
    ----------
    seen : GroupsSummary
        All numbers of the page.
    """
    found = seen.ellipses
    if found is None or seen.k < 2 or len(seen.classes) > _GROUPS:
        return None
    kinds = [
        PointKind(name, found.centres[g : g + 1, :2], [name])
        for g, name in enumerate(seen.classes)
    ]
    outlines = []
    for g in range(len(seen.classes)):
        for mean in (False, True):
            line = found.outline(g, mean=mean)
            if line is not None:
                outlines.append((line[:, 0], line[:, 1], g))
    note = f"{100 * found.level:g} % of a normal cloud; small: of its mean"
    more: dict[str, Any] = {"note": note, "outlines": outlines, "size": (540.0, 480.0)}
    panel = axes_map(seen.model, kinds, "Classes", **more)
    words = (
        "Large: where rows of a class lie if they are normal. Small: where its mean may lie in "
        "another sample."
    )
    return panel, words


def columns_section(model: Any, names: Sequence[str]) -> Section | None:
    """Return how the columns go with the axes; None for kernels, whose axes have no columns.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis
        Fitted.
    names : sequence of str
        Of the columns.
    """
    found = getattr(model, "structure_", None)
    if found is None:
        return None
    k = min(int(model.n_components_), _AXES)
    ratio = model.explained_variance_ratio_
    parts: list[Part] = []
    if k > 1 and len(names) <= _CIRCLE:
        panel = plots.circle(found, names, ratio=ratio, called="axis ")
        parts.append(Picture(panel, "An arrow is the correlation of a column with both axes."))
    else:
        unit = "correlation with the axis"
        panel = plots.loadings(found.T, names, axes=range(k), called="axis ", unit=unit)
        parts.append(Picture(panel))
    within, weights = model.structure_within_, model.scalings_
    order = np.argsort(-np.max(np.abs(found[:, :k]), axis=1), kind="stable")[:_LISTED]
    head = ["column"]
    for a in range(1, k + 1):
        head += [f"correlation {a}", f"correlation within {a}", f"axis {a} weight"]
    cells = []
    for j in order:
        row: list[Any] = [str(names[j])]
        for a in range(k):
            row += [float(m[j, a]) for m in (found, within, weights)]
        cells.append(tuple(row))
    left = len(names) - len(cells)
    note = (
        "Correlations over all rows, and pooled within the classes; a weight is what a unit of "
        "the column adds to the coordinate, given the others."
    )
    note += f" {left:,} more columns are weaker." if left else ""
    parts.append(Table("Columns and axes", tuple(head), tuple(cells), note=note))
    words = (
        "Read columns by correlations: weights of columns that go together may cancel out, and "
        "change signs from sample to sample.",
    )
    return Section("variables", "Columns", words, tuple(parts))


def tests_section(model: Any, permutation: Any) -> Section | None:
    """Return sequential tests of the axes, and the test by shuffled labels.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis or KernelDiscriminantAnalysis
        Fitted.
    permutation : PermutationTest or None
        Shuffled labels.
    """
    tests, parts, words = getattr(model, "tests_", None), list[Part](), []
    if tests is not None and len(tests.wilks):
        words.append(_how_many(tests))
        parts.append(_wilks(tests))
    else:
        words.append(
            "No test by Wilks' Λ: it has no law with shrinkage, or where columns leave no "
            "spread within the classes."
        )
    if permutation is not None:
        words.append(_shuffled(permutation))
    if not parts and permutation is None:
        return None
    return Section("tests", "Tests", tuple(words), tuple(parts))


def _how_many(tests: Any) -> str:
    """Return how many axes count, each tested after those before it."""
    over = np.flatnonzero(np.asarray(tests.f_p) > 0.05)
    number = int(over[0]) if over.size else len(tests.f_p)
    many = "1 axis tells" if number == 1 else f"{number or 'No'} axes tell"
    return (
        f"{many} the classes apart at 5 %, one after another by Rao's F; the test takes "
        "classes to be normal with one spread."
    )


def _shuffled(test: Any) -> str:
    what = "Wilks' Λ" if test.statistic == "wilks" else "the share between the classes"
    low, high = float(np.min(test.null)), float(np.max(test.null))
    return (
        f"With labels shuffled {len(test.null):,} times, {what} lies between {low:.3g} and "
        f"{high:.3g}; it is {test.observed:.3g} (p = {test.p_value:.2g}). This asks for no "
        "normal classes."
    )


def _wilks(tests: Any) -> Table:
    head = (
        "axes", "Wilks' Λ", "canonical correlation", "Bartlett χ²", "dof", "p (χ²)",
        "Rao F", "dof 1", "dof 2", "p (F)",
    )  # fmt: skip
    columns = (
        tests.wilks, tests.correlations, tests.chi2, tests.chi2_dof, tests.chi2_p,
        tests.f, tests.f_dof1, tests.f_dof2, tests.f_p,
    )  # fmt: skip
    last = len(tests.wilks)
    rows = []
    for j in range(last):
        which = f"{j + 1}" if j + 1 == last else f"{j + 1} to {last}"
        values = (float(column[j]) for column in columns)
        rows.append((which, *map(finite, values)))
    note = "A line asks whether the axes from it on tell classes apart."
    return Table("Sequential tests", head, tuple(rows), note=note)


def confusion_section(seen: GroupsSummary) -> Section | None:
    """Return held-out rows by class and prediction, and which classes are mistaken.

    Parameters
    ----------
    seen : GroupsSummary
        All numbers of the page.
    """
    found = seen.confusion
    if found is None:
        return None
    counts, names = np.asarray(found.counts), [str(c) for c in found.classes]
    off = counts - np.diag(np.diagonal(counts))
    order = [divmod(int(i), len(names)) for i in np.argsort(-off, axis=None, kind="stable")[:3]]
    said = [
        f"{off[i, j]:,} of {counts[i].sum():,} {names[i]} taken for {names[j]}"
        for i, j in order
        if off[i, j]
    ]
    wrong = int(off.sum())
    words = (
        f"{wrong:,} of {counts.sum():,} rows ({percent(wrong / counts.sum())}) are taken for "
        "another class by a fit without them"
        + (f": most often {listed(said)}." if said else "."),
    )
    if len(names) <= _GROUPS:
        head, cells = [f"as {name}" for name in names], counts.tolist()
    else:
        head, cells = ["rows"], counts.sum(axis=1, keepdims=True).tolist()
    right = (100 * float(share) for share in found.recall)
    rows = tuple((a, *b, c) for a, b, c in zip(names, cells, right, strict=True))
    note = f"{found.folds} folds, seed 0."
    table = Table("Held-out rows", ("class", *head, "right %"), rows, note=note)
    return Section("heldout", "Held-out rows", words, (table,))


def classes_section(model: Any) -> Section:
    """Return the classes: rows, probabilities, and means along the axes.

    Parameters
    ----------
    model : LinearDiscriminantAnalysis or KernelDiscriminantAnalysis
        Fitted.
    """
    k = min(int(model.n_components_), _AXES)
    rows = tuple(
        (
            str(label),
            float(model.class_counts_[g]),
            100 * float(model.priors_[g]),
            *(float(v) for v in model.centres_[g, :k]),
        )
        for g, label in enumerate(model.classes_)
    )
    head = ("class", "rows", "prior %", *(f"mean on axis {a + 1}" for a in range(k)))
    values = np.asarray(model.eigenvalues_)[:k]
    ratio = np.asarray(model.explained_variance_ratio_)[:k]
    axes = tuple((f"axis {a + 1}", float(values[a]), 100 * float(ratio[a])) for a in range(k))
    spread = Table(
        "Axes",
        ("axis", "between by within", "share %"),
        axes,
        note="Variance between the classes by variance within them, and its share.",
    )
    return Section("classes", "Classes", (), (Table("Classes", head, rows), spread))
