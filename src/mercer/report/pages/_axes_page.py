"""The page of a linear model: what is seen on its rows, in reading order.

The verdict: what a fit found, in a few sentences that say what they do not know.
"""

import dataclasses
import re
import time
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer.arrays import show_bytes
from mercer.report._page_parts import MapView, Page, Part, Section
from mercer.report._page_request import PageRequest
from mercer.report._page_words import (
    axes_named,
    axis_in_words,
    axis_names,
    count,
    listed,
    other_rows,
    percent,
)
from mercer.report._row_labels import SomeNames
from mercer.report.facts._linear_summary import (
    BLOCK,
    SHOWN,
    LinearSummary,
    held_rows,
    is_curve,
    seen_from,
)
from mercer.report.facts._map_groups import separation
from mercer.report.facts._row_cloud import (
    MOST_ROWS,
    SAMPLE,
    RowCloud,
    axes_shown,
    column_colour,
)
from mercer.report.panels._axes_panels import (
    components_section,
    stability_section,
    variables_section,
)
from mercer.report.panels._data_panels import condition_section, findings_of
from mercer.report.panels._rows_panels import (
    Extremes,
    extremes_of,
    reconstruction_section,
    rows_section,
)

_OF_NOISE = {
    "parallel, normal", "parallel, shuffled", "parallel, signs", "noise edge", "Gavish-Donoho",
}  # fmt: skip
_FEW = 30  # rows
_MANY_FAR = 0.02  # share of rows far out from which the table is no single cloud
_FILLED = 0.05  # of the cells
_CARE = 3  # cautions in the verdict


def verdict(
    seen: LinearSummary,
    extremes: Extremes | None,
    findings: Sequence[Any] = (),
    care: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the sentences of the verdict, the shortest answer first.

    Parameters
    ----------
    seen : LinearSummary
        All numbers of the page.
    extremes : Extremes or None
        Rows far from the others.
    findings : sequence of Finding
        What is odd about the data.
    care : sequence of str
        What is known of the columns and asks for care, such as codes among the numbers.
    """
    out = [_how_many(seen), _disputed(seen), *_meaning(seen), _outlying(seen, extremes)]
    out += [*separation(seen), _cautions(seen, findings, care), _exactness(seen)]
    return tuple(sentence for sentence in out if sentence)


def _others(seen: LinearSummary) -> list[int]:
    """Return what the other rules say that ask about noise."""
    if seen.choice is None:
        return []
    return [r.k for r in seen.choice.rules[1:] if r.k is not None and r.name in _OF_NOISE]


def _how_many(seen: LinearSummary) -> str:
    ratio = seen.wide.explained_variance_ratio_
    if seen.choice is None:
        k = seen.model.n_components_
        held = percent(float(np.sum(seen.model.explained_variance_ratio_)))
        return f"{count(k, 'component').capitalize()} asked for, with {held} of the variance."
    if seen.k == 0:
        return (
            "No component is beyond noise. "
            "The pictures below show the largest directions of chance."
        )
    held = percent(float(np.sum(ratio[: seen.k])))
    others = _others(seen)
    bound = "Up to " if others and max(others) < seen.k else ""
    if seen.choice.capped:
        bound = "" if bound else "At least "
    verb = "carries" if seen.k == 1 else "carry"
    return (
        f"{bound}{count(seen.k, 'component')} {verb} more than noise, and {held} of the "
        f"variance{_moving(seen.choice)}."
    )


def _moving(choice: Any) -> str:
    """Say how far the number would move with a few rows less."""
    return f"; a few rows less would give {choice.spread}" if choice.spread else ""


def _disputed(seen: LinearSummary) -> str:
    """Say so where the rules that ask about noise see fewer components, more, or anything."""
    others = _others(seen)
    if not others or seen.choice is None:
        return ""
    low, high = min(others), max(others)
    said = f"{low}" if low == high else f"{low} to {high}"
    if high < seen.k:
        which = axes_named(high + 1, seen.k)
        return f"Other rules of noise say {said}: take {which} with care."
    if low > seen.k:
        return (
            f"By size there are {said}: the further ones are large, but weak beside the noise"
            " of their columns."
        )
    if high - low > max(2, seen.k):
        return f"The rules differ widely, from {low} to {high}: take the number as rough."
    return ""


def _meaning(seen: LinearSummary) -> list[str]:
    """Say what the first axes weigh, no more of them than the verdict has."""
    out = []
    curve = is_curve(seen.held)
    for axis in range(min(2, seen.k, len(seen.wide.components_))):
        share = percent(float(seen.wide.explained_variance_ratio_[axis]))
        weighs = axis_in_words(seen.wide.components_[axis], seen.names, in_order=curve)
        out.append(f"PC{axis + 1} ({share}) {weighs}.")
    return out


def _outlying(seen: LinearSummary, extremes: Extremes | None) -> str:
    if extremes is None:
        return ""
    total = extremes.total
    if not total:
        return f"No row lies farther out than {seen.n:,} normal rows reach."
    names = farthest(seen, extremes)
    if total == 1:
        return f"One row lies farther out than {seen.n:,} normal rows reach: {names}."
    first = f"{total:,} of {seen.n:,} rows lie farther out than {seen.n:,} normal rows reach"
    if total > max(_MANY_FAR * seen.n, 3):
        return f"{first}. This many suggests groups or long tails. The farthest: {names}."
    return f"{first}; the farthest: {names}." if total > 3 else f"{first}: {names}."


def farthest(seen: LinearSummary, extremes: Extremes) -> str:
    """Return the names of the three rows farthest out."""
    names = [seen.row_name(int(row)) for row in extremes.rows[:3]]
    bare = all(name.strip().isdigit() for name in names)
    return ("those named " if bare and len(names) > 1 else "the one named " if bare else "") + (
        listed(names, 3)
    )


def _cautions(seen: LinearSummary, findings: Sequence[Any], care: Sequence[str]) -> str:
    """Return one sentence on what asks for care, the few rows first."""
    n, p = seen.n, len(seen.names)
    out = [f"there are only {n} rows"] if n < _FEW else []
    filled = int(getattr(seen.model, "n_missing_", 0) or 0)
    if filled > _FILLED * n * p:
        out.append(
            f"{percent(filled / (n * p))} of the cells were missing, and filled in agreement "
            "with the axes, which makes these look clearer than they are"
        )
    out += [f"{f.what} ({f.code})" for f in findings if _concerns(seen, f)]
    out += care
    if not out:
        return ""
    left = len(out) - _CARE if len(out) > _CARE + 1 else 0
    more = f"; {left} more under Data" if left else ""
    return f"Read with care: {'; '.join(out[: len(out) - left])}{more}."


def _concerns(seen: LinearSummary, finding: Any) -> bool:
    """Tell whether a finding touches the axes of the verdict; planes beyond them do not."""
    if finding.code != "M106":
        return True
    first = re.search(r"PC(\d+)", finding.what)
    return first is None or int(first.group(1)) <= max(seen.k, 1)


def _exactness(seen: LinearSummary) -> str:
    certificate = seen.model.certificate_
    lower, upper = np.asarray(certificate.lower), np.asarray(certificate.upper)
    values = np.asarray(seen.model.explained_variance_)
    if not len(values) or not values[0] > 0:
        return ""
    # Axes without variance are rounding, of which no share can be right.
    alive = values > 1e-12 * values[0]
    half = np.max((upper - lower)[alive] / 2 / values[alive])
    met = "" if certificate.met else ", which is less exact than asked for"
    return (
        f"The arithmetic is exact to {half:.0e} of each variance{met}. How much another sample "
        "would change the axes is a different question: see Stability."
    )


_ARROWS = 12


def page_of(model: Any, X: Any, wanted: PageRequest) -> Page:
    """Return the page of PCA or RobustPCA and its rows.

    Parameters
    ----------
    model : PCA or RobustPCA
        Fitted.
    X : array, frame, path or source of shape (n, p)
        The rows of the fit.
    wanted : PageRequest
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
    cloud = _cloud(seen)
    parts = [*_sections(seen, extremes, wanted, cloud), condition_section(findings, wanted)]
    words = verdict(seen, extremes, findings, wanted.care)
    spent = {**wanted.seconds, "report": time.perf_counter() - began}
    wanted = dataclasses.replace(wanted, seconds=spent)
    page = wanted.page(model, _facts(seen), words, parts, cloud)
    return dataclasses.replace(page, arrows=_arrows(seen))


def _with_names(seen: LinearSummary, extremes: Extremes | None, given: Any) -> LinearSummary:
    """Return it with names of the rows that stand out, where all are too many to be named."""
    if not callable(given):
        return seen
    middle = seen.held_at[len(seen.held_at) // 2]
    rows = [middle] if extremes is None else [middle, *extremes.rows]
    names = given(np.unique(np.asarray(rows, np.int64)))
    return dataclasses.replace(seen, row_names=SomeNames(names, seen.n))


def _sections(
    seen: LinearSummary, extremes: Extremes | None, wanted: PageRequest, cloud: RowCloud
) -> tuple[Section | None, ...]:
    """Return what is seen on the rows, in reading order."""
    return (
        _map_section(seen, cloud.grouped),
        variables_section(seen, wanted.sup),
        components_section(seen),
        rows_section(seen, extremes),
        reconstruction_section(seen, wanted.grid),
        stability_section(seen),
    )


def _facts(seen: LinearSummary) -> tuple[str, ...]:
    scaled = "standardised" if seen.standardised else "centred"
    filled = int(getattr(seen.model, "n_missing_", 0) or 0)
    facts = [f"{seen.n:,} rows", f"{len(seen.names):,} columns, {scaled}"]
    facts += [f"{filled:,} cells were missing and filled"] if filled else []
    facts += other_rows(seen.model, seen.n)
    return (*facts, f"method {type(seen.model).__name__}")


def _map_section(seen: LinearSummary, grouped: bool) -> Section:
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
    view: Part = MapView("rows", axes, groups=grouped, arrows=True, words=note)
    return Section("map", "Map of the rows", (words,), (view,))


def _cloud(seen: LinearSummary) -> RowCloud:
    Z = seen.Z[:, : axes_shown(seen.n)]
    names, titles = axis_names(seen.wide.explained_variance_ratio_, Z.shape[1], "PC")
    made = [column_colour(name, values[seen.at]) for name, values in seen.colours.items()]
    return RowCloud.of((names, titles, Z), made, seen.at, seen.row_names, seen.density)


def _arrows(seen: LinearSummary) -> dict[str, Any]:
    """Return the variables of the biplot: those that weigh most on the components shown."""
    axes = np.asarray(seen.wide.components_[: seen.Z.shape[1]], np.float64)
    loads = axes.T * np.sqrt(np.asarray(seen.wide.explained_variance_[: len(axes)]))
    chosen = np.sort(np.argsort(-np.sum(loads[:, :2] ** 2, axis=1), kind="stable")[:_ARROWS])
    return {
        "names": [seen.names[j] for j in chosen],
        "ends": [loads[chosen, a].tolist() for a in range(len(axes))],
    }


_CELL = 9e-9  # seconds to centre, project and square a number
_ROW = 5e-6  # seconds to look at, order and pack a row
_CUBE = 2.5e-9  # seconds of the variances of noise, times p³
_START = 2.5  # seconds: libraries, pictures, tables, text
_BLOCKS = 4  # copies of a block that are there at one time
_HELD = 6  # copies of the rows that are held, while they are studied
_BYTES = 40_000_000  # pictures, tables, text


@final
@dataclasses.dataclass(frozen=True)
class PageCost:
    """A forecast.

    Attributes
    ----------
    seconds : float
        Of the page, without the fit.
    bytes : int
        Memory at its highest, without the rows where they are held.
    held : bool
        Whether the rows are in memory.
    """

    seconds: float
    bytes: int
    held: bool = False

    def __str__(self) -> str:
        """Return a line."""
        took = f"about {self.seconds:.2g} s"
        beside = " beside the rows in memory" if self.held else ""
        return f"page: one more walk, {took}, up to {show_bytes(self.bytes)}{beside}"


def page_cost(
    shape: tuple[int, int],
    *,
    read_seconds: float = 0.0,
    colours: int = 0,
    held: bool = False,
) -> PageCost:
    """Return what a page about a linear model takes.

    Bytes: four blocks, six times the rows that are studied cell by cell, per row coordinates
    twice, T² and Q twice and what packs them, three matrices of order p.

    Parameters
    ----------
    shape : tuple of int
        (n, p).
    read_seconds : float
        Of one walk over the file; 0 for rows in memory.
    colours : int
        Columns to colour by; each is one more walk over one column.
    held : bool
        Whether the rows are in memory.
    """
    n, p = shape
    rank, drawn = min(n, p), SAMPLE if n > MOST_ROWS else n
    draws = 60 if rank <= 256 else 20
    seconds = read_seconds + _CELL * n * p + _ROW * (drawn + 0.2 * colours * n)
    seconds += draws * _CUBE * rank**3 + _START
    studied = 8 * held_rows(n, p) * p
    block = min(BLOCK, 8 * n * p)
    sampled = 24 * n if n > MOST_ROWS else 0  # numbers of the rows, while some are drawn
    rows = (
        sampled + n * (8 * SHOWN + 32 + 5 * colours) + drawn * (12 * SHOWN + 48 + 8 * colours)
    )
    space = _BLOCKS * block + _HELD * studied + rows + 24 * rank**2 + _BYTES
    return PageCost(seconds, int(space), held)
