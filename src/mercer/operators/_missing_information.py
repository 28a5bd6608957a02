"""How slow the steps of a completion are, told from where its cells are missing."""

import numpy as np

from mercer.arrays import Array
from mercer.operators._completion import Completion
from mercer.operators._expectation import Expectation

_RIDGE = 1e-12  # of the largest, that keeps a direction without rows solvable
_LUCK = 1.5  # times that the worst column shows
_COORDINATES = 2.0  # f²√(k/o), as they move: o cells tell k of them
_COLUMNS = 64  # whose matrices are looked at: those with most information missing


def missing_information(completion: Completion, rows: Array, weights: Array | None) -> float:
    """Return the largest share of what is known of a column that its missing cells would tell.

    A step fits column j to the coordinates z of all rows, its missing cells being what the
    last step has put there. With z̃ = (1, z), the error of its mean and loadings is thereby
    multiplied by (Σz̃z̃ᵀ)⁻¹ Σ_{i: x_ij missing} z̃z̃ᵀ, whose largest eigenvalue ρ_j is the rate
    of the steps in that column. It is the share of missing cells where these are missing at
    random, and near one where the rows that have the cell do not show one of the axes.

    Of r rows that miss a share f at random, q directions show √f + √((1 - f)q/r), squared, in
    the place of f, and somewhat more in the worst of many columns. That much is taken off,
    the less the nearer ρ is to one.

    The coordinates move too, the more so the fewer cells o of a row tell k of them. That is
    counted as (1 - ρ)·2f²√(k/o) more, f the share of all cells that is missing: within 0.1
    of the rate for 5 to 75 % missing at random, and p/k from 6 to 20.

    Parameters
    ----------
    completion : Completion
        With k axes.
    rows : ndarray of shape (r, p)
        Some rows, NaN where a cell is missing.
    weights : ndarray of shape (r,) or None
        Repeat counts.
    """
    found = Expectation(completion).of(rows, every=True, blend=False)
    k, r = len(completion.values), len(rows)
    counts = np.ones(r) if weights is None else weights
    near = np.vstack([np.ones(r), found.inner]) if k else np.ones((1, r))
    one, other = np.triu_indices(k + 1)
    products = near[one] * near[other] * counts
    missing = found.missing.astype(np.float64)
    gaps, whole = products @ missing, _squares(products.sum(axis=1))
    ridge = _RIDGE * float(np.max(np.diagonal(whole)))
    root = np.linalg.inv(np.linalg.cholesky(whole + ridge * np.eye(k + 1)))
    worst = _worst(gaps, root.T @ root)
    rates = np.linalg.eigvalsh(root @ _squares(gaps[:, worst].T) @ root.T)[:, -1]
    share = gaps[0, worst] / whole[0, 0]
    by_chance = np.sqrt(share) + _LUCK * np.sqrt((k + 1) / r * (1 - share))
    random = np.clip((1 - rates) / np.maximum(1 - share, _RIDGE), 0.0, 1.0)
    rate = float(np.clip(np.max(rates - (by_chance**2 - share) * random), 0.0, 1.0))
    mean = float(np.sum(gaps[0]) / (whole[0, 0] * missing.shape[1]))
    seen = max(missing.shape[1] * (1 - mean), 1.0)
    moved = min(_COORDINATES * mean**2 * float(np.sqrt(k / seen)), 1.0)
    return rate + (1 - rate) * moved


def _squares(packed: Array) -> Array:
    """Return symmetric matrices (..., q, q) of their upper triangles (..., q(q+1)/2)."""
    order = int(np.sqrt(2 * packed.shape[-1]))
    one, other = np.triu_indices(order)
    out = np.empty((*packed.shape[:-1], order, order))
    out[..., one, other] = packed
    out[..., other, one] = packed
    return out


def _worst(gaps: Array, inverse: Array) -> Array:
    """Return the columns with the largest traces of S⁻¹A, S⁻¹ given and A packed (q, p)."""
    one, other = np.triu_indices(len(inverse))
    traces = (inverse[one, other] * np.where(one == other, 1.0, 2.0)) @ gaps
    return np.argsort(-traces, kind="stable")[:_COLUMNS]
