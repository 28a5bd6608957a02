"""Axes of a model beside those of new rows: angles, and the angles that chance makes."""

import dataclasses
from typing import final

import numpy as np

from mercer.arrays import Array
from mercer.studies.drifting._drift_laws import holm, turns, twists
from mercer.studies.drifting._rows_after import After
from mercer.studies.drifting._rows_before import Before


@final
@dataclasses.dataclass(frozen=True)
class Turn:
    """An axis, or a plane of axes whose variances are near, beside that of the new rows.

    Attributes
    ----------
    axes : tuple of int
        Which axes, counted from 0.
    angle : float
        Degrees between both; of a plane the root mean square of its angles.
    expected : float
        The same by chance: √((1/n + 1/m)·Σ_l λ_jλ_l/(λ_j - λ_l)²), at most 90.
    chance : float
        That covariances in the frame of the fit are as large where nothing has turned,
        corrected for the number of axes.
    """

    axes: tuple[int, ...]
    angle: float
    expected: float
    chance: float

    @property
    def name(self) -> str:
        """What it is called: PC1, or the plane of PC2 and PC3."""
        names = [f"PC{j + 1}" for j in self.axes]
        if len(names) == 1:
            return names[0]
        if len(names) == 2:
            return f"the plane of {names[0]} and {names[1]}"
        return f"the space of {names[0]} to {names[-1]}"


def near(variances: Array, rows: float) -> list[tuple[int, ...]]:
    """Return groups of axes that n rows cannot tell apart: λ_j - λ_{j+1} < λ_j√(2/n)·√2.

    By the rule of [North1982]_, for the difference of two variances.
    """
    groups: list[list[int]] = []
    for j, value in enumerate(variances):
        if j and variances[j - 1] - value < 2 / np.sqrt(rows) * variances[j - 1]:
            groups[-1].append(j)
        else:
            groups.append([j])
    return [tuple(group) for group in groups]


def turned(known: Before, new: After, axes: Array) -> tuple[Turn, ...]:
    """Return every axis or plane of axes beside the same of the new rows.

    Parameters
    ----------
    known : Before
        The model.
    new : After
        The new rows in its frame.
    axes : ndarray of shape (j, p)
        Axes of the new rows, in the same units; j may be less than k.
    """
    groups = near(known.variances, min(known.rows, new.rows))
    chances = _chances(known, new, groups)
    found = []
    for group, chance in zip(groups, chances, strict=True):
        here = [j for j in group if j < len(axes)]
        angle, expected = 90.0, _expected(known, new, group)
        if here:
            cosines = np.linalg.svd(known.axes[here] @ axes[here].T, compute_uv=False)
            sines = np.sqrt(np.mean(np.maximum(1 - cosines**2, 0.0)))
            angle = float(np.degrees(np.arcsin(min(sines, 1.0))))
        found.append(Turn(group, angle, expected, chance))
    return tuple(found)


def _chances(known: Before, new: After, groups: list[tuple[int, ...]]) -> Array:
    """Return one chance for every group: of all that leaves it, in the plane or out of it."""
    outside, pairs = turns(known, new), twists(known, new)
    tests, owner = list[float](), list[tuple[int, ...]]()
    for number, group in enumerate(groups):
        for j in group:
            tests.append(outside[j])
            owner.append((number,))
        for other in range(number):
            both = [pairs[i, j] for i in groups[other] for j in group]
            tests.append(min(1.0, len(both) * min(both)))
            owner.append((other, number))
    corrected = holm(np.array(tests))
    chances = np.ones(len(groups))
    for value, numbers in zip(corrected, owner, strict=True):
        for number in numbers:
            chances[number] = min(chances[number], value)
    return chances


def _expected(known: Before, new: After, group: tuple[int, ...]) -> float:
    values, p = known.variances, len(known.mean)
    total = 0.0
    point = min(new.rest_squares / new.rest, values[-1]) if new.rest > 0 else 0.0
    for j in group:
        others = [i for i in range(known.k) if i not in group]
        gaps = (values[j] - values[others]) ** 2
        total += float(np.sum(values[j] * values[others] / np.maximum(gaps, 1e-300)))
        if known.k < p and known.rest > 0:
            gap = max((values[j] - point) ** 2, 1e-300)
            total += float(values[j] * known.rest / gap)
    size = total / len(group) * (1 / known.rows + 1 / new.rows)
    return float(np.degrees(np.arcsin(min(np.sqrt(size), 1.0))))


def between(first: Array, second: Array) -> Array:
    """Return the principal angles (min(j, k),) of two planes in degrees, ascending.

    Parameters
    ----------
    first, second : ndarray of shape (j, p) and (k, p)
        Orthonormal axes.
    """
    if not len(first) or not len(second):
        return np.zeros(0)
    small, large = (first, second) if len(first) <= len(second) else (second, first)
    rest = small - (small @ large.T) @ large
    sines = np.linalg.svd(rest, compute_uv=False)
    cosines = np.linalg.svd(small @ large.T, compute_uv=False)
    by_sine = np.degrees(np.arcsin(np.minimum(sines[::-1], 1.0)))
    by_cosine = np.degrees(np.arccos(np.minimum(cosines, 1.0)))
    return np.where(by_cosine < 45, by_sine[: len(by_cosine)], by_cosine)
