"""What a fit found, as lines to read and as a document."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli._outputs import axis_names
from mercer.cli.fitting._axis_lines import counted, spectrum_table, what_was_found
from mercer.cli.fitting._family_findings import family_facts, family_lines
from mercer.cli.fitting._fit_stages import Fitting, parameters_of
from mercer.cli.fitting._row_judgement import RowJudgement
from mercer.diagnostics import loadings
from mercer.methods import method_of
from mercer.plots import heaviest
from mercer.studies.tuning._tuning_result import brief

_TABLES = 0.95  # share of tables of normal rows of which no row is named
_ROLES = ("active", "id", "color", "weights", "sup", "out")
_ROWS = 10  # components, rows and columns that are listed at most


def lines(
    done: Fitting, judged: RowJudgement, ids: Any = None, sup: Any = None, health: Any = ()
) -> list[str]:
    """Return the result in lines.

    Parameters
    ----------
    done : Fitting
        The model and the table.
    judged : RowJudgement
        The rows that were looked at.
    ids : sequence or None
        Names of the rows that were looked at.
    sup : dict of str to dict, or None
        How supplementary columns go with the axes.
    health : iterable of Finding
        What in the data changes how the axes are read.
    """
    model = done.model
    if not method_of(model).has_variances:
        return [*family_lines(done, ids), *_sup(sup)]
    values, lower, upper = _variances(model)
    out = [_headline(done), ""]
    if len(values):
        ratio = model.explained_variance_ratio_
        table = spectrum_table(values, lower, upper, judged.sampling, ratio, rows=_ROWS)
        out += [*table, ""]
    out += [_how_many(done), *_axes(done), *_outlying(done, judged, ids), *_sup(sup)]
    return out + [str(finding) for finding in health]


def document(
    done: Fitting, judged: RowJudgement, ids: Any = None, sup: Any = None, health: Any = ()
) -> dict[str, Any]:
    """Return the result as plain data; parameters as of `lines`."""
    model = done.model
    choice = getattr(model, "choice_", None)
    linear = method_of(model).has_variances
    own = _linear(done, judged, ids) if linear else family_facts(done)
    return {
        "data": {
            "path": done.seen.path,
            "rows": model.n_samples_,
            "columns": len(done.names),
        },
        "method": done.method,
        "parameters": parameters_of(model),
        "components": model.n_components_,
        **own,
        "choice": choice and {"k": choice.k, "reason": choice.reason, "rules": choice.rules},
        **_certified(model),
        "supplementary": sup,
        "health": [finding.plain() for finding in health],
        "roles": {
            role: done.seen.named(role)
            for role in dict.fromkeys((*_ROLES, *(c.role for c in done.seen.columns)))
        },
        "said": done.said,
        "plan": _plan(done.plan),
        "foreseen": done.foreseen,
    }


def _linear(done: Fitting, judged: RowJudgement, ids: Any) -> dict[str, Any]:
    """Return what methods have whose axes are variances of rows."""
    values, lower, upper = _variances(done.model)
    return {
        "variance": values,
        "ratio": done.model.explained_variance_ratio_,
        "lower": lower,
        "upper": upper,
        "loadings": _loadings(done),
        "outliers": _outliers(done, judged, ids),
    }


def _certified(model: Any) -> dict[str, Any]:
    """Return how accurate the eigenvalues are, and which axes cannot be told apart."""
    found = getattr(model, "certificate_", None)
    if found is None:
        return {"inseparable": [], "certified": None}
    return {
        "inseparable": [list(group) for group in found.groups],
        "certified": {name: getattr(found, name) for name in ("met", "tol", "reached")},
    }


def _plan(made: Any) -> dict[str, Any] | None:
    """Return what `mercer plan --json` says of the path taken."""
    if made is None:
        return None
    return {
        "problem": made.problem,
        "chosen": made.chosen,
        "bytes": made.bytes,
        "seconds": made.chosen.seconds,
        "remark": made.remark,
    }


def _variances(model: Any) -> tuple[Array, Array | None, Array | None]:
    """Return the variances and their certified intervals, None where they have none."""
    values, certificate = model.explained_variance_, model.certificate_
    factor = 1.0
    if hasattr(model, "eigenvalues_"):  # the certificate is of λ, not of λ/(n - 1)
        alive = np.flatnonzero(model.eigenvalues_)
        factor = (
            float(values[alive[0]] / abs(model.eigenvalues_[alive[0]])) if len(alive) else 1
        )
    if hasattr(model, "consistency_"):
        if model.method == "spherical":  # a certificate of signs, not of variances
            return values, None, None
        factor = float(model.consistency_)
    return values, factor * certificate.lower, factor * certificate.upper


def _headline(done: Fitting) -> str:
    model = done.model
    scaled = ", standardised" if getattr(model, "standardize", False) else ""
    filled = getattr(model, "n_missing_", 0)
    cells = f", {filled:,} missing cells filled" if filled else ""
    n, p = model.n_samples_, len(done.names)
    return (
        f"{done.seen.label}: {type(model).__name__} of {n:,} rows, {p:,} columns{scaled}{cells}"
    )


def _how_many(done: Fitting) -> str:
    """Say how many components there are, and why."""
    model = done.model
    choice = getattr(model, "choice_", None)
    if choice is not None:
        return str(choice.reason)
    k, asked = counted(model.n_components_, "component"), model.n_components
    if asked is None:
        return f"{k}: all that there are."
    if asked == "mle":
        return f"{k}, by the evidence of probabilistic PCA (Minka)."
    if isinstance(asked, str):
        return f"{k}, by {asked}."
    if isinstance(asked, float):
        return f"{k}, enough for the {100 * asked:g} % of the variance that were asked for."
    return f"{k}, as asked."


def _axes(done: Fitting) -> list[str]:
    model, k = done.model, done.model.n_components_
    if not k:
        return []
    ratio, groups = model.explained_variance_ratio_, model.certificate_.groups
    if not hasattr(model, "components_"):
        said = [f"The map of PC1 and PC2 shows {100 * ratio[:2].sum():.1f} % of the variance."]
        return (said if k > 1 else []) + [f"Kernel: {brief(model.kernel_)}."]
    n, p = model.n_samples_, len(done.names)
    rank = model.rank_ if k >= min(n, p) else None
    constant = [c.name for c in done.seen.columns if c.role == "active" and c.deviation == 0]
    return what_was_found(
        ratio, model.components_, done.names, rank=rank, groups=groups, constant=constant
    )


def _loadings(done: Fitting) -> dict[str, dict[str, float]] | None:
    """Return v·√λ of the ten heaviest columns of the first ten axes."""
    model = done.model
    if not hasattr(model, "components_"):
        return None
    found = loadings(model.components_, model.explained_variance_).T[:_ROWS]
    return {
        axis: {done.names[j]: float(row[j]) for j in heaviest(row, _ROWS)}
        for axis, row in zip(axis_names(len(found)), found, strict=True)
    }


def _outlying(done: Fitting, judged: RowJudgement, ids: Any) -> list[str]:
    said = _outliers(done, judged, ids)
    if said is None:
        return []
    rows, count = said["rows"], said["count"]
    seen = "" if said["all"] else f" (of {said['seen']:,} rows that were looked at)"
    if not count:
        return [f"No row lies farther out than rows of a normal table do{seen}."]
    shown = ", ".join(
        f"{row['row'] if row['id'] is None else row['id']} ({row['by']})" for row in rows
    )
    more = f" and {count - len(rows)} more" if count > len(rows) else ""
    named = "row" if count == 1 else "rows"
    if said["level"] is None:
        limits = "above the limits of the robust distances"
    else:
        limits = f"farther out than {said['seen']:,} normal rows reach (in 95 % of such tables)"
    return [f"{count} outlying {named}{seen}, {limits}: {shown}{more}."]


def _outliers(done: Fitting, judged: RowJudgement, ids: Any) -> dict[str, Any] | None:
    """Return the outlying rows: those of the robust method itself, or by T² and Q."""
    if getattr(done.model, "outliers_", None) is not None:
        return _robust(done, ids)
    found = judged.found
    if found is None:
        return None
    numbers, limits = done.made.numbers_at(judged.at), found.farthest
    far, away = found.t2 > limits.t2, found.q > limits.q
    return {
        "count": len(found.flagged),
        "seen": len(judged.at),
        "all": judged.whole,
        "level": _TABLES,
        "limits": {"t2": limits.t2, "q": limits.q},
        "rows": _rows(found.flagged, numbers, ids, (found.t2, found.q), (far, away)),
    }


def _robust(done: Fitting, ids: Any) -> dict[str, Any]:
    model = done.model
    far = np.maximum(
        model.score_distance_ / model.score_cutoff_,
        model.orthogonal_distance_ / (model.orthogonal_cutoff_ or 1.0),
    )
    order = model.outliers_[np.argsort(-far[model.outliers_], kind="stable")]
    named = ids if ids is not None and len(ids) == len(far) else None
    distances = model.score_distance_, model.orthogonal_distance_
    cutoffs = model.score_cutoff_, model.orthogonal_cutoff_
    squares = [[float(d) ** 2 for d in distance] for distance in distances]
    beyond = [d > cutoff for d, cutoff in zip(distances, cutoffs, strict=True)]
    numbers = done.made.numbers_at(np.arange(len(far)))
    return {
        "count": len(order),
        "seen": len(far),
        "all": True,
        "level": None,
        "limits": {"t2": cutoffs[0] ** 2, "q": cutoffs[1] ** 2},
        "rows": _rows(order, numbers, named, squares, beyond),
    }


def _rows(order: Any, numbers: Any, ids: Any, found: Any, beyond: Any) -> list[dict[str, Any]]:
    """Return the first rows in `order`: number, name, T², Q, and which of them is too large."""
    (t2, q), (far, away) = found, beyond
    return [
        {
            "row": int(numbers[i]),
            "id": None if ids is None else ids[i],
            "t2": float(t2[i]),
            "q": float(q[i]),
            "by": "T² and Q" if far[i] and away[i] else "T²" if far[i] else "Q",
        }
        for i in order[:_ROWS]
    ]


def _sup(sup: Any) -> list[str]:
    """Return a line for each supplementary column: r with the axes, η² for text."""
    if not sup:
        return []
    names = {
        name: name + (" (η²)" if found["kind"] == "eta2" else "") for name, found in sup.items()
    }
    wide = max(map(len, names.values()))
    placed = all(found["kind"] == "place" for found in sup.values())
    what = "coordinates on" if placed else "correlations with"
    out = [f"Supplementary columns, {what} the axes:"]
    for name, found in sup.items():
        cells = "  ".join(
            "     -" if r is None else f"{r:+6.3f}" for r in found["axes"][:_ROWS]
        )
        out.append(f"  {names[name].ljust(wide)}  {cells}")
    return out
