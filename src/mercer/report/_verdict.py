"""The verdict: what a fit found, in a few sentences that say what they do not know."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.report._axis_words import axis_in_words
from mercer.report._grouping import separation
from mercer.report._rows import Extremes, expected_by_chance
from mercer.report._seen import Seen
from mercer.report._shapes import is_curve
from mercer.report._words import axes_named, count, listed, percent

_CROSS = "bi-cross-validation"
_OF_NOISE = {
    "parallel, normal", "parallel, shuffled", "parallel, signs", "noise edge", "Gavish-Donoho",
}  # fmt: skip
_FEW = 30  # rows
_FILLED = 0.05  # of the cells
_CARE = 3  # cautions in the verdict


def verdict(
    seen: Seen,
    extremes: Extremes | None,
    findings: Sequence[Any] = (),
    care: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the sentences of the verdict, the shortest answer first.

    Parameters
    ----------
    seen : Seen
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


def _others(seen: Seen) -> list[int]:
    """Return what the other rules say that ask about noise."""
    if seen.choice is None:
        return []
    return [r.k for r in seen.choice.rules[1:] if r.k is not None and r.name in _OF_NOISE]


def _how_many(seen: Seen) -> str:
    ratio = seen.wide.explained_variance_ratio_
    if seen.choice is None:
        k = seen.model.n_components_
        held = percent(float(np.sum(seen.model.explained_variance_ratio_)))
        return f"{count(k, 'component').capitalize()} asked for, with {held} of the variance."
    if seen.k == 0:
        why = ": none predicts cells that were left out" if _crossed(seen) else ""
        return (
            f"No component is beyond noise{why}. "
            "The pictures below show the largest directions of chance."
        )
    held = percent(float(np.sum(ratio[: seen.k])))
    others = _others(seen)
    bound = "Up to " if others and max(others) < seen.k else ""
    if _crossed(seen) and seen.k == len(seen.choice.errors) - 1:
        bound = "" if bound else "At least "
    verb = "carries" if seen.k == 1 else "carry"
    return (
        f"{bound}{count(seen.k, 'component')} {verb} more than noise, and {held} of the "
        "variance."
    )


def _crossed(seen: Seen) -> bool:
    """Tell whether cells that were left out have decided how many components there are."""
    return seen.choice is not None and seen.choice.rules[0].name == _CROSS


def _disputed(seen: Seen) -> str:
    """Say so where the rules that ask about noise see fewer components, more, or anything."""
    others = _others(seen)
    if not others or seen.choice is None:
        return ""
    low, high = min(others), max(others)
    said = f"{low}" if low == high else f"{low} to {high}"
    if high < seen.k:
        which, one = axes_named(high + 1, seen.k), high + 1 == seen.k
        if _crossed(seen):
            helps = "helps" if one else "help"
            return (
                f"By size {'it is' if low == high else 'there are'} only {said}: {which} "
                f"{helps} to predict cells that were left out, but "
                f"{'is' if one else 'are'} no larger than noise can be."
            )
        return f"Other rules of noise say {said}: take {which} with care."
    if low > seen.k:
        more = (
            "do not help to predict cells that were left out" if _crossed(seen) else "are weak"
        )
        return f"By size there are {said}: the further ones are large, but {more}."
    if high - low > max(2, seen.k):
        return f"The rules differ widely, from {low} to {high}: take the number as rough."
    return ""


def _meaning(seen: Seen) -> list[str]:
    """Say what the first axes weigh, no more of them than the verdict has."""
    out = []
    curve = is_curve(seen.held)
    for axis in range(min(2, seen.k, len(seen.wide.components_))):
        share = percent(float(seen.wide.explained_variance_ratio_[axis]))
        weighs = axis_in_words(seen.wide.components_[axis], seen.names, in_order=curve)
        out.append(f"PC{axis + 1} ({share}) {weighs}.")
    return out


def _outlying(seen: Seen, extremes: Extremes | None) -> str:
    if extremes is None:
        return ""
    total, expected = extremes.total, expected_by_chance(seen.n)
    if not total:
        return "No row lies beyond the 99 % limits of T² or Q."
    verb = "lies" if total == 1 else "lie"
    first = (
        f"{count(total, 'row')} of {seen.n:,} {verb} beyond the 99 % limits of T² or Q; by "
        f"chance up to {expected:,} would"
    )
    names = farthest(seen, extremes)
    if total <= expected and extremes.reach < 2:
        return f"{first}, so none stands out (the farthest: {names})."
    if total > max(3 * expected, 0.05 * seen.n):
        return (
            f"{first}. So many say that the rows are no single normal cloud: they are in "
            f"groups, or have long tails. The farthest: {names}."
        )
    return f"{first}. The farthest: {names}."


def farthest(seen: Seen, extremes: Extremes) -> str:
    """Return the names of the three rows farthest out."""
    names = [seen.row_name(int(row)) for row in extremes.rows[:3]]
    bare = all(name.strip().isdigit() for name in names)
    return ("those named " if bare and len(names) > 1 else "the one named " if bare else "") + (
        listed(names, 3)
    )


def _cautions(seen: Seen, findings: Sequence[Any], care: Sequence[str]) -> str:
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


def _concerns(seen: Seen, finding: Any) -> bool:
    """Tell whether a finding touches the axes of the verdict; planes beyond them do not."""
    if finding.code != "M106":
        return True
    first = re.search(r"PC(\d+)", finding.what)
    return first is None or int(first.group(1)) <= max(seen.k, 1)


def _exactness(seen: Seen) -> str:
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
