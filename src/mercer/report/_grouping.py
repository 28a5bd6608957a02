"""Whether given groups lie apart on the map, and whether chance could do that."""

import numpy as np

from mercer.arrays import Array
from mercer.report._levels import levels_of
from mercer.report._seen import Seen
from mercer.report._words import percent

_DRAWS = 199
_MOST = 12  # groups


def separation(seen: Seen) -> str:
    """Return a sentence on the first column of groups: its share of the map's variance.

    η² = 1 - (variance within groups)/(variance) over the plane of the first two components.
    The groups are shuffled 199 times; chance is the share of shuffles that reach as much.
    """
    for name, values in seen.colours.items():
        labels = values[seen.at]
        if labels.dtype.kind in "fiu":
            continue
        groups, at, _ = levels_of(labels)
        if 2 <= len(groups) <= _MOST:
            return _sentence(name, len(groups), seen.Z[:, :2].astype(np.float64), at)
    return ""


def _sentence(name: str, groups: int, Z: Array, at: Array) -> str:
    if len(Z) > 20_000:  # chance is as well known from some
        some = np.linspace(0, len(Z) - 1, 20_000).astype(int)
        Z, at = Z[some], at[some]
    Z = Z - Z.mean(axis=0)
    found = _explained(Z, at, groups)
    rng = np.random.default_rng(0)
    chance = sum(_explained(Z, rng.permutation(at), groups) >= found for _ in range(_DRAWS))
    p = (chance + 1) / (_DRAWS + 1)
    if p > 0.05:
        return (
            f"The {groups} groups of {name} do not lie apart on the map beyond chance "
            f"(they explain {percent(found)} of it, p = {p:.2g})."
        )
    apart = "far apart" if found > 0.6 else "partly apart" if found > 0.2 else "slightly apart"
    return (
        f"The {groups} groups of {name} lie {apart}: they explain {percent(found)} of the map "
        f"(p ≤ {p:.2g} by shuffling). Nothing was fitted to them."
    )


def _explained(Z: Array, at: Array, groups: int) -> float:
    counts = np.bincount(at, minlength=groups)
    between = 0.0
    for column in Z.T:
        sums = np.bincount(at, weights=column, minlength=groups)
        between += float(np.sum(sums**2 / np.maximum(counts, 1)))
    return between / max(float(np.sum(Z**2)), 1e-300)
