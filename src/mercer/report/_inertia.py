"""What pages of inertia say alike: axes in words, tables of inertias and of points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.report._parts import Table
from mercer.report._words import listed, percent

_AXES = 4  # of a table of points
_LISTED = 60  # points of a table
_ENDS = 4  # points named at an end of an axis


def axis_sentence(model: Any, axis: int, rows: Sequence[str] | None = None) -> str:
    """Return what lies at the two ends of an axis: points that contribute more than others.

    Parameters
    ----------
    model : estimator
        Fitted, with coordinates and contributions of rows and columns.
    axis : int
        From 0.
    rows : sequence of str or None
        Names of the rows; None speaks of columns alone.
    """
    share = percent(float(model.explained_variance_ratio_[axis]))
    sides = [
        _ends(model.column_coordinates_, model.column_contributions_, model.column_names_, axis)
    ]
    if rows is not None:
        sides.insert(0, _ends(model.row_coordinates_, model.row_contributions_, rows, axis))
    said = []
    for low, high in sides:
        if low and high:
            said.append(f"{listed(high, _ENDS)} against {listed(low, _ENDS)}")
        elif low or high:
            said.append(f"{listed(low or high, _ENDS)} apart from the others")
    return f"Axis {axis + 1} ({share}) sets {'; '.join(said) or 'nothing in particular apart'}."


def _ends(
    points: Array, shares: Array, names: Sequence[str], axis: int
) -> tuple[list[str], list[str]]:
    """Return the points below and above zero that contribute more than the average."""
    heavy = np.flatnonzero(shares[:, axis] > 1 / max(len(names), 1))
    order = heavy[np.argsort(-shares[heavy, axis], kind="stable")]
    low = [str(names[i]) for i in order if points[i, axis] < 0]
    high = [str(names[i]) for i in order if points[i, axis] > 0]
    return low, high


def inertia_table(model: Any, name: str = "axis") -> Table:
    """Return the table of inertias with what is certified of them.

    Parameters
    ----------
    model : estimator
        Fitted.
    name : str
        What an axis is called.
    """
    certificate, ratio = model.certificate_, np.asarray(model.explained_variance_ratio_)
    values = np.asarray(model.eigenvalues_)
    sums = np.cumsum(ratio)
    rows = tuple(
        (
            f"{name} {i + 1}",
            float(values[i]),
            float(max(certificate.upper[i] - values[i], values[i] - certificate.lower[i], 0.0))
            if i < len(certificate.lower)
            else None,
            100 * float(ratio[i]),
            100 * float(sums[i]),
        )
        for i in range(min(len(values), _LISTED))
    )
    head = (name, "inertia", "error at most", "share %", "sum %")
    note = "Error: of the arithmetic, certified. Shares are of the whole inertia."
    return Table("Inertias", head, rows, note=note)


def points_table(model: Any, of: str, names: Sequence[str] | None) -> Table:
    """Return masses, qualities, inertias, coordinates, cos² and contributions of points.

    Parameters
    ----------
    model : estimator
        Fitted.
    of : {"rows", "columns"}
        Which points.
    names : sequence of str or None
        Of the points; None takes those of the columns.
    """
    side = of.removesuffix("s")
    points = getattr(model, f"{side}_coordinates_")
    masses, inertias = getattr(model, f"{side}_masses_"), getattr(model, f"{side}_inertias_")
    cos2, shares = getattr(model, f"{side}_cos2_"), getattr(model, f"{side}_contributions_")
    called = model.column_names_ if names is None else names
    axes = min(points.shape[1], _AXES)
    order = np.argsort(-shares[:, :2].sum(axis=1), kind="stable")[:_LISTED]
    head = [of.removesuffix("s"), "mass %", "quality %", "inertia %"]
    for a in range(axes):
        head += [f"axis {a + 1}", f"cos² {a + 1} %", f"contribution {a + 1} %"]
    total = model.total_inertia_ or 1.0
    cells = [
        (
            str(called[i]),
            100 * float(masses[i]),
            100 * float(cos2[i].sum()),
            100 * float(inertias[i]) / total,
            *(
                v
                for a in range(axes)
                for v in (
                    float(points[i, a]), 100 * float(cos2[i, a]), 100 * float(shares[i, a])
                )
            ),
        )
        for i in order
    ]  # fmt: skip
    left = len(points) - len(order)
    note = f"{left:,} more have smaller contributions." if left else ""
    return Table(of.capitalize(), tuple(head), tuple(cells), note=note)
