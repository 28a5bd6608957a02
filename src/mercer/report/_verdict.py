"""The verdict: what a fit found, in a few sentences that say what they do not know."""

import numpy as np

from mercer.report._grouping import separation
from mercer.report._rows import Extremes
from mercer.report._seen import Seen
from mercer.report._words import count, listed, percent

_OF_NOISE = {
    "parallel, normal", "parallel, shuffled", "parallel, signs", "noise edge", "Gavish-Donoho",
}  # fmt: skip
_WEIGHS = 0.5  # of the largest weight: a column that an axis is named after


def verdict(seen: Seen, extremes: Extremes | None) -> tuple[str, ...]:
    """Return the sentences of the verdict, the shortest answer first."""
    out = [_how_many(seen), _disputed(seen), *_meaning(seen), _outlying(seen, extremes)]
    out += [separation(seen)] if seen.colours else []
    out.append(_exactness(seen))
    return tuple(sentence for sentence in out if sentence)


def _how_many(seen: Seen) -> str:
    ratio = seen.wide.explained_variance_ratio_
    if seen.choice is None:
        k = seen.model.n_components_
        held = percent(float(np.sum(seen.model.explained_variance_ratio_)))
        return f"{count(k, 'component').capitalize()} asked for, with {held} of the variance."
    if seen.k == 0:
        return (
            "No component is beyond noise: none predicts cells that were left out. "
            "The pictures below show the largest directions of chance."
        )
    held = percent(float(np.sum(ratio[: seen.k])))
    verb = "carries" if seen.k == 1 else "carry"
    return (
        f"{count(seen.k, 'component').capitalize()} {verb} more than noise, and {held} of the "
        "variance."
    )


def _disputed(seen: Seen) -> str:
    """Say so where the rules that ask about noise all see fewer components, or all more."""
    if seen.choice is None:
        return ""
    others = [r.k for r in seen.choice.rules[1:] if r.k is not None and r.name in _OF_NOISE]
    if not others or min(others) <= seen.k <= max(others):
        return ""
    low, high = min(others), max(others)
    said = f"{low}" if low == high else f"{low} to {high}"
    if high < seen.k:
        which = "PC" + (f"{high + 1}" if high + 1 == seen.k else f"{high + 1} to PC{seen.k}")
        return (
            f"Other rules of noise say {said}: {which} predict, but are no larger than noise."
        )
    return f"Other rules of noise say {said}: further components are large, but do not predict."


def _meaning(seen: Seen) -> list[str]:
    """Say what the first axes weigh, no more of them than the verdict has."""
    out = []
    for axis in range(min(2, seen.k, len(seen.wide.components_))):
        share = percent(float(seen.wide.explained_variance_ratio_[axis]))
        weighs = axis_in_words(seen.wide.components_[axis], seen.names)
        out.append(f"PC{axis + 1} ({share}) {weighs}.")
    return out


def axis_in_words(weights: np.ndarray, names: tuple[str, ...]) -> str:
    """Return what an axis sets against what: "sets a and b against c".

    Columns count whose weight is at least half of the largest.
    """
    size = np.abs(weights)
    order = np.argsort(-size, kind="stable")
    heavy = [j for j in order if size[j] >= _WEIGHS * size[order[0]]]
    up = [names[j] for j in heavy if weights[j] > 0]
    down = [names[j] for j in heavy if weights[j] < 0]
    if up and down:
        return f"sets {listed(up, 4)} against {listed(down, 4)}"
    together = up or down
    if len(together) == 1:
        return f"is mostly {together[0]}"
    if len(together) > len(names) // 2 > 2:
        return f"is a sum of most columns, {listed(together, 3)}"
    return f"grows with {listed(together, 4)}"


def _outlying(seen: Seen, extremes: Extremes | None) -> str:
    if extremes is None:
        return ""
    rows = extremes.rows
    if not len(rows):
        return "No row is outlying by T² or Q at the 99 % limits beyond what chance would give."
    names = listed([seen.row_name(int(row)) for row in rows[:3]], 3)
    expected = max(round(0.02 * seen.n), 1)
    verb = "lies" if extremes.total == 1 else "lie"
    return (
        f"{count(extremes.total, 'row').capitalize()} of {seen.n:,} {verb} beyond the 99 % "
        f"limits of T² or Q (at most about {expected:,} would by chance); the "
        f"farthest: {names}."
    )


def _exactness(seen: Seen) -> str:
    certificate = seen.model.certificate_
    lower, upper = np.asarray(certificate.lower), np.asarray(certificate.upper)
    values = np.asarray(seen.model.explained_variance_)
    if not len(values) or not values[0] > 0:
        return ""
    # Axes without variance are rounding, of which no share can be right.
    alive = values > 1e-12 * values[0]
    half = np.max((upper - lower)[alive] / 2 / values[alive])
    met = "as exact as asked for" if certificate.met else "less exact than asked for"
    return (
        f"The variances are right to {half:.0e} of themselves, {met}: that is arithmetic. "
        "How much another sample would change them is under Stability."
    )
