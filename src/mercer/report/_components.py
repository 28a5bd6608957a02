"""How many components, and how much each carries: the scree plot and all rules."""

import numpy as np

from mercer import plots
from mercer.arrays import Array
from mercer.report._parts import Part, Picture, Section, Table
from mercer.report._seen import Seen
from mercer.selection import noise_quantiles

_LISTED = 12
_LARGE = 256  # columns, beyond which variances of noise hardly differ by draw


def components_section(seen: Seen) -> Section:
    """Return the section on components: words, scree, spectrum, rules."""
    wide = seen.wide
    words = [] if seen.choice is None else [seen.choice.reason]
    noise = _noise(seen)
    picture = Picture(
        plots.scree(
            wide.explained_variance_,
            wide.lower,
            wide.upper,
            wide.explained_variance_ratio_,
            null=noise,
            null_words="90 % of what noise gives",
            k=None if seen.choice is None else seen.k,
        ),
        "The band: normal noise in as many rows, with the variances of these columns."
        * (noise is not None),
    )
    parts: list[Part] = [picture, _spectrum(seen)]
    if seen.choice is not None:
        parts.append(_rules(seen))
    return Section("components", "Components", tuple(words), tuple(parts))


def _noise(seen: Seen) -> Array | None:
    """Return the band (2, r) of the variances of noise, by rank; None for few rows."""
    largest = float(np.max(seen.columns))
    rows = seen.n if seen.weights is None else float(np.sum(seen.weights))
    if not largest > 1e-300 or rows <= 2:  # a share of less is not finite
        return None
    draws = 60 if min(rows, len(seen.columns)) <= _LARGE else 20
    band = largest * noise_quantiles(rows, seen.columns / largest, draws=draws)
    return band[:, : len(seen.wide.explained_variance_)]


def _spectrum(seen: Seen) -> Table:
    wide = seen.wide
    ratio = np.asarray(wide.explained_variance_ratio_)
    total = np.cumsum(ratio)
    values = wide.explained_variance_
    error = np.maximum(wide.upper - values, values - wide.lower)
    count = min(len(ratio), max(_LISTED, seen.k))
    rows = tuple(
        (
            f"PC{i + 1}",
            float(wide.explained_variance_[i]),
            float(error[i]),
            100 * float(ratio[i]),
            100 * float(total[i]),
        )
        for i in range(count)
    )
    return Table(
        "Variances",
        ("component", "variance", "error at most", "share %", "sum %"),
        rows,
        note="Error: of the arithmetic, certified; what another sample would change is "
        "under Stability. "
        "Marked: components of the verdict.",
        chosen=tuple(range(min(seen.k, count))),
    )


def _rules(seen: Seen) -> Table:
    assert seen.choice is not None
    rows = tuple((rule.name, rule.k, rule.about) for rule in seen.choice.rules)
    return Table(
        "How many, by every rule",
        ("rule", "components", "what it asks"),
        rows,
        note="The first rule decides.",
        chosen=(0,),
    )
