"""The axes of any method as a table: eigenvalues, shares, why so many, how accurate."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli._terminal_text import aligned
from mercer.methods import method_of

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
