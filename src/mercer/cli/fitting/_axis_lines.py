"""The axes as tables and words: eigenvalues, shares, why so many, how accurate."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.arrays import Array
from mercer.cli._voice import aligned
from mercer.methods import method_of
from mercer.plots import heaviest

_ROWS = 10  # axes that are listed at most
# What the numbers of an axis are, and their shares are of.
WORDS = {
    "counts": ("inertia", "inertia"),
    "categories": ("inertia", "inertia"),
    "groups": ("eigenvalue", "discriminating power"),
    "manifold": ("eigenvalue", "spread"),
    "factors": ("variance", "variance"),
}


def values_of(model: Any) -> Array | None:
    """Return the eigenvalues or variances of the axes, None where a method has none."""
    for name in ("eigenvalues_", "explained_variance_"):
        found = getattr(model, name, None)
        if found is not None:
            return np.asarray(found)[: int(model.n_components_)]
    return None


def shares_of(model: Any) -> Array | None:
    """Return the share of every axis, None where a share has no meaning."""
    found = getattr(model, "explained_variance_ratio_", None)
    return None if found is None else np.asarray(found, np.float64)


def axis_lines(model: Any, most: int = _ROWS) -> list[str]:
    """Return a table of the axes: eigenvalue, share, sum; without shares where there are none.

    Parameters
    ----------
    model : estimator
        Fitted.
    most : int
        Axes that are listed.
    """
    values, shares = values_of(model), shares_of(model)
    k = int(model.n_components_)
    if not k or (values is None and shares is None):
        return []
    what = WORDS.get(method_of(model).page, ("variance", "variance"))[0]
    rows = [("axis", what, "share %", "sum %", "")]
    total = None if shares is None else 100 * np.cumsum(shares)
    for i in range(min(k, most)):
        rows.append(
            (
                str(i + 1),
                "" if values is None else f"{float(values[i]):#.5g}".rstrip("."),
                "" if shares is None else f"{100 * float(shares[i]):.1f}",
                "" if total is None else f"{float(total[i]):.1f}",
                "",
            )
        )
    if shares is None:
        rows = [(row[0], row[1], "", "", "") for row in rows]
    more = [f"… ({k - most:,} more)"] if k > most else []
    return [*aligned(rows, words=0), *more]


def how_many(model: Any) -> str:
    """Say how many axes there are, and why."""
    choice = getattr(model, "choice_", None)
    if choice is not None:
        return str(choice.reason)
    count = int(model.n_components_)
    k = "1 axis" if count == 1 else f"{count:,} axes"
    asked = model.get_params(deep=False).get("n_components")
    if asked is None:
        return f"{k}: all that there are."
    if asked == type(model)().get_params(deep=False).get("n_components"):
        return f"{k}, the default (-k for more)."
    return f"{k}, as asked."


def certified_lines(model: Any) -> list[str]:
    """Say how accurate the eigenvalues are, and which axes cannot be told apart."""
    found, k = getattr(model, "certificate_", None), int(model.n_components_)
    if found is None or not k:
        return []
    lines = []
    if getattr(found, "reached", None) is not None:
        lines.append(f"Certified: every eigenvalue to {found.reached:.1e} of itself.")
    if hasattr(found, "duality_gap"):
        lines.append(
            f"No map that keeps these distances has a variance above {found.bound:.5g};"
            f" this one has {found.variance:.5g}."
        )
    for group in getattr(found, "groups", ()):
        if len(group) > 1:
            axes = ", ".join(str(i + 1) if i < k else "the next one" for i in group)
            lines.append(f"Axes {axes} cannot be told apart: only the space they span counts.")
    return lines


__all__ = ["components_for", "counted", "spectrum_table", "what_was_found"]

Vector = NDArray[np.float64]

_HEAD = ("component", "variance", "certified ±", "sampling ±", "share %", "sum %")


def spectrum_table(
    values: Vector,
    lower: Vector | None,
    upper: Vector | None,
    sampling: Vector | None,
    ratio: Vector,
    *,
    rows: int,
) -> list[str]:
    """Return the lines of a table of λ_i with its certified and its sampling error.

    The certified error is the farther end of [lower_i, upper_i]: arithmetic only. The sampling
    error says how much λ_i would move with another sample, and is usually much larger.

    Parameters
    ----------
    values, lower, upper, sampling, ratio : array of shape (k,)
        Eigenvalues, interval ends, standard errors, and shares of the total. Bounds and
        errors that nobody knows are None, and a dash in the table.
    rows : int
        How many components to list at most.
    """
    total = np.cumsum(ratio)
    lines = ["  ".join(f"{word:>11}" for word in _HEAD)]
    for i in range(min(rows, values.size)):
        cells = (
            f"{i + 1:d}",
            _figures(values[i], 5),
            _bound(values, lower, upper, i),
            "-" if sampling is None else _figures(sampling[i], 2),
            f"{100 * ratio[i]:.1f}",
            f"{100 * total[i]:.1f}",
        )
        lines.append("  ".join(f"{cell:>11}" for cell in cells))
    if values.size > rows:
        lines.append(f"{'…':>11}  ({values.size - rows} more)")
    return lines


def _bound(values: Vector, lower: Vector | None, upper: Vector | None, i: int) -> str:
    if lower is None or upper is None:
        return "-"
    return f"{max(values[i] - lower[i], upper[i] - values[i], 0.0):.1e}"


def _figures(value: float, count: int) -> str:
    """Return ``value`` with ``count`` significant figures, zeros at the end kept."""
    return f"{value:#.{count}g}".rstrip(".")


def counted(number: int, noun: str) -> str:
    """Return "1 row", "2 rows", "1,797 rows".

    Examples
    --------
    >>> counted(1, "row"), counted(1797, "row")
    ('1 row', '1,797 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def components_for(ratio: Vector, share: float) -> int | None:
    """Return the smallest k with Σ_{i≤k} ratio_i ≥ share, or None where none reaches it.

    Examples
    --------
    >>> components_for(np.array([0.6, 0.3, 0.1]), 0.9)
    2
    """
    # A hair of rounding must not ask for one component more.
    reached = np.flatnonzero(np.cumsum(ratio) >= share - 1e-12)
    return int(reached[0]) + 1 if reached.size else None


def what_was_found(
    ratio: Vector,
    components: NDArray[np.floating],
    names: Sequence[str],
    *,
    rank: int | None,
    groups: Iterable[Sequence[int]],
    constant: Sequence[str] = (),
) -> list[str]:
    """Return sentences: how many components matter, what they weigh, what is degenerate.

    Parameters
    ----------
    ratio : array of shape (k,)
        Shares of the total variance.
    components : array of shape (k, p)
        Right vectors in rows.
    names : sequence of p str
        Names of the features.
    rank : int or None
        Number of directions with any variance; None where not all were looked for.
    groups : iterable of tuples of int
        Axes that cannot be told apart, counted from 0; k stands for the next one.
    constant : sequence of str
        Names of the features without variance.
    """
    k = ratio.size
    lines = []
    need = components_for(ratio, 0.9)
    verb = "component carries" if (need or k) == 1 else "components carry"
    if need is None:
        lines.append(f"{k} {verb} {100 * ratio.sum():.1f} % of the variance.")
    else:
        lines.append(f"{need} {verb} 90 % of the variance (of {len(names)} features).")
    if k > 1:
        lines.append(f"The map of PC1 and PC2 shows {100 * ratio[:2].sum():.1f} % of it.")
    for i in range(min(2, k)):
        chosen = heaviest(components[i], 3)
        weights = ", ".join(f"{names[j]} ({components[i, j]:+.2f})" for j in chosen)
        lines.append(f"PC{i + 1} weighs most: {weights}.")
    if rank is not None:
        lines.append(_rank(rank, len(names), constant))
    # Zero directions are inseparable by nature and already named by the rank.
    tied = [[i for i in group if rank is None or i < rank] for group in groups]
    tied = [group for group in tied if len(group) > 1]
    if not tied:
        lines.append("The arithmetic tells every axis with variance from its neighbours.")
    for group in tied:
        # An index past the last axis stands for axes that were not asked for.
        axes = ", ".join(f"PC{i + 1}" if i < k else "the next axis" for i in group)
        lines.append(f"{axes} cannot be told apart: only the space they span has a meaning.")
    return lines


def _rank(rank: int, p: int, constant: Sequence[str]) -> str:
    if rank >= p:
        return f"Rank {rank}: every direction carries variance."
    because = f"; constant: {', '.join(constant)}" if constant else ""
    missing = p - rank
    word = "direction carries" if missing == 1 else "directions carry"
    return f"Rank {rank}: {missing} of {p} {word} no variance{because}."
