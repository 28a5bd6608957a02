"""What a robust fit publishes: variances made consistent, distances, and the rows named."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators._robust_fit import Judged, Sphere, Table
from mercer.estimators._robust_scales import score_consistency
from mercer.operators import Centring


def of_sphere(
    begun: Sphere, k: int, root: Array | None, standardize: bool, whiten: bool | str
) -> dict[str, Any]:
    """Return the attributes of PCA, with the squared deviations along the axes as variances.

    The total is their sum and the robust square of what is left. With ``standardize`` the
    columns are scaled so that the total is their number, each as often as its weight says;
    `root` (p,) are roots of these weights, or None.
    """
    source, counts = begun.table.source, begun.table.counts
    columns = source.shape[1]
    values = begun.deviation**2
    total, centring = float(np.sum(values)) + begun.rest, begun.centring
    counted = columns if root is None else float(np.sum(root**2))
    size = total / counted if standardize else 1.0
    centring = _rescaled(centring, size) if standardize else centring
    values, total = values / size, total / size
    kept, rows = values[:k], float(np.sum(counts))
    alive, unit = kept > 0, centring.unit
    left = max(min(int(rows * (1 + 1e-12)), columns) - k, 0)
    rest = max(total - float(np.sum(kept)), 0.0) if left else 0.0
    dtype = np.float32 if source.products.itemsize == 4 else np.float64
    with np.errstate(over="ignore", under="ignore"):
        state = {
            "explained_variance_": np.ldexp(kept, 2 * unit),
            "singular_values_": np.ldexp(np.sqrt(kept * (rows - 1)), unit),
            "noise_variance_": float(np.ldexp(rest / max(left, 1), 2 * unit)),
            "_deviations": np.ldexp(np.sqrt(kept), unit),
        }
    return {
        **begun.fitted,
        **state,
        "components_": np.ascontiguousarray(signed(begun.axes[:, :k]).T, dtype),
        "explained_variance_ratio_": kept / total,
        "mean_": centring.mean,
        "scale_": centring.scale,
        "n_components_": k,
        "n_samples_": source.shape[0],
        "rank_": int(np.sum(alive)),
        "certificate_": begun.fitted["certificate_"].first(k),
        "consistency_": 1.0,
        "n_iter_": 0,
        "_centring": centring,
        "_whitened": whiten,
        "_unit_deviations": np.sqrt(kept),
        "_alive": alive,
    }


def signed(axes: Array) -> Array:
    """Return axes (p, k) with the entry of largest modulus positive."""
    from mercer.solvers import fix_signs

    return np.asarray(fix_signs(axes))


def of_rounds(
    table: Table, state: dict[str, Any], clean: Array, judging: int, standardize: bool
) -> tuple[dict[str, Any], Judged]:
    """Return the attributes of the last fit, made consistent, and how it judges the rows.

    Cutting normal rows at a radius takes variance from the axes that judge, and another
    share from all others; both are known, and so is what equal rows take. With
    ``standardize`` the spread of the columns is corrected instead, so that the total stays
    what it was.
    """
    k, centring = state["n_components_"], state["_centring"]
    normal, thin = score_consistency(judging, table.level), table.diluted(clean)
    along = normal * thin
    axes = np.asarray(state["components_"][:judging], np.float64).T
    root = state["_unit_deviations"][:judging] * np.sqrt(along)
    judged = table.judge(centring, axes, root)
    across = min(judged.law.consistency, normal) * thin
    ratio = state["explained_variance_ratio_"]
    shown = float(np.sum(ratio[:judging]))
    grown = shown * along + max(1 - shown, 0.0) * across
    factor = np.where(np.arange(k) < judging, along, across)
    state = state | {"explained_variance_ratio_": ratio * factor / grown, "consistency_": along}
    if standardize:
        factor, across = factor / grown, across / grown
        centring = _rescaled(centring, grown)
        state |= {"_centring": centring, "scale_": state["scale_"] * np.sqrt(grown)}
        law = judged.law
        law = dataclasses.replace(
            law,
            middle=law.middle / np.cbrt(grown),
            spread=law.spread / np.cbrt(grown),
            floor=law.floor / np.sqrt(grown),
        )
        judged = dataclasses.replace(
            judged, orthogonal=judged.orthogonal / np.sqrt(grown), law=law
        )
    state["explained_variance_"] = state["explained_variance_"] * factor
    for name in ("singular_values_", "_deviations", "_unit_deviations"):
        state[name] = state[name] * np.sqrt(factor)
    state["noise_variance_"] = state["noise_variance_"] * across
    return state, judged


def _rescaled(centring: Centring, variance: float) -> Centring:
    """Return the centring with every column divided by √variance more."""
    assert centring.factor is not None
    return dataclasses.replace(centring, factor=centring.factor / np.sqrt(variance))


def judged_state(
    state: dict[str, Any], judged: Judged, clean: Array, judging: int
) -> dict[str, Any]:
    """Return the attributes with distances in the units of the data, and the rows named.

    `clean` (n,) are the rows that counted.
    """
    unit = state["_centring"].unit
    plain = {name: value for name, value in state.items() if name != "inertia_"}
    return plain | {  # a robust variance is no mean of squares: it has no 1/n
        "weights_": clean.astype(np.float64),
        "outliers_": np.flatnonzero(judged.beyond),
        "score_distance_": judged.score,
        "orthogonal_distance_": np.ldexp(judged.orthogonal, unit),
        "score_cutoff_": judged.cutoff,
        "orthogonal_cutoff_": float(np.ldexp(judged.law.cutoff, unit)),
        "n_judging_": judging,
    }
