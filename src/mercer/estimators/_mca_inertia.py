"""What the eigenvalues of an indicator become: Burt's squares and adjusted inertias."""

import dataclasses
from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, eigh
from mercer.errors import InputError
from mercer.estimators._mca_table import Categories
from mercer.solvers import Certificate

Map = Callable[[Array], Array]


@dataclasses.dataclass(frozen=True, eq=False)
class Inertias:
    """The inertias that a fit reports.

    Attributes
    ----------
    eigenvalues : array of shape (k,)
        Of the axes.
    total : float
        What shares are taken of.
    levels : array of shape (J,)
        The part of the total that each level brings.
    squares : array of shape (J,)
        Mass times squared distance of each level, in the space where its cos² is taken.
    """

    eigenvalues: Array
    total: float
    levels: Array
    squares: Array

    @property
    def ratio(self) -> Array:
        """The shares of the axes (k,)."""
        return self.eigenvalues / self.total if self.total > 0 else 0 * self.eigenvalues


def kind_of(table: str, correction: str | None) -> str:
    """Return which inertias are reported: indicator, burt, benzecri, greenacre or joint."""
    if correction is not None:
        return correction
    return "greenacre" if table == "adjusted" else table


def map_of(kind: str, q: int) -> Map:
    """Return what an eigenvalue λ of the indicator becomes.

    Burt: λ². Adjusted, by Benzécri or Greenacre: (Q/(Q - 1)·(λ - 1/Q))² for λ > 1/Q, else 0.
    """
    if kind == "indicator":
        return lambda values: values
    if kind in ("burt", "joint"):
        return np.square
    if q < 2:
        raise InputError(
            "adjusted inertias compare variables: one alone has none",
            got=f"n_features = {q} that varies, inertias by {kind!r}",
            fix='pass at least two variables, or correction=None and table="indicator"',
        )
    return lambda values: (q / (q - 1) * np.maximum(values - 1 / q, 0.0)) ** 2


def beyond_one(values: Array, q: int) -> int:
    """Return how many eigenvalues exceed 1/Q, what a single variable brings.

    1/Q itself is a frequent value, of axes of one variable only: rounding must not count it.
    """
    return int(np.count_nonzero(values > (1 + 1e-9) / q))


def inertias(kind: str, values: Array, made: Categories) -> Inertias:
    """Return the inertias of the axes, their total, and that of every level.

    Greenacre's total is the mean inertia of the tables that cross two variables,
    Q/(Q - 1)·(Σλ² - Σ_q‖diagonal block‖²); with all levels the blocks hold (J - Q)/Q².
    Benzécri's total is the sum of all adjusted inertias, computed as axes or not.

    Parameters
    ----------
    kind : str
        See `kind_of`.
    values : array of shape (k,)
        Leading eigenvalues of the indicator.
    made : Categories
        The matrix.
    """
    active, q = made.active, made.active.q
    if kind == "indicator":
        levels = made.inertias
        return Inertias(values, made.total, levels, levels)
    found = map_of(kind, q)(values)
    square: Array = made.settled.get("joint_square", made.square)
    if kind in ("burt", "joint"):
        levels = np.sum(square**2, axis=1)
        return Inertias(found, float(np.sum(levels)), levels, levels)
    every, vectors = eigh(square)
    count = beyond_one(every, q)
    adjusted = map_of(kind, q)(every[:count])
    within = vectors[:, :count] ** 2 @ adjusted
    if kind == "benzecri":
        return Inertias(found, float(np.sum(adjusted)), within, within)
    apart = active.owner[:, None] != active.owner
    levels = q / (q - 1) * np.sum(square**2, axis=1, where=apart)
    return Inertias(found, float(np.sum(levels)), levels, within)


def mapped(certificate: Certificate, values: Array, rule: Map) -> Certificate:
    """Return the certificate of eigenvalues after a rising, convex map.

    Ends of intervals go through the map; sines of axes stay, for the axes are the same.
    """
    gap = rule(values) - rule(np.maximum(values - certificate.gap, 0.0))
    lower, upper = (rule(np.maximum(x, 0.0)) for x in (certificate.lower, certificate.upper))
    half = (upper - lower) / 2
    level = max(float(rule(np.array(certificate.zero_level))), np.finfo(float).tiny)
    alive = rule(values) > level
    reached = np.max(half[alive] / np.maximum(lower[alive], level), initial=0.0)
    return dataclasses.replace(
        certificate,
        lower=lower,
        upper=upper,
        gap=gap,
        residual=certificate.sine * gap,
        reached=float(reached),
        zero_level=level,
        next_upper=float(rule(np.maximum(certificate.next_upper, 0.0))),
    )
