"""The command ``mercer inspect``: what a model file holds."""

from typing import Any

import click

from mercer.cli._options import speaking_options
from mercer.cli._stdin import opened
from mercer.cli._voice import Voice, aligned
from mercer.cli.fitting._axis_lines import axis_lines
from mercer.methods import method_of

_MOST = 10  # components, names and parameters that are listed
_HEAD = ("component", "variance", "share %", "sum %", "")


@click.command()
@click.argument("model", type=click.Path())
@speaking_options
def command(voice: Voice, model: str) -> None:
    r"""Show what the file MODEL holds: method, columns, variances, accuracy.

    It also says whether rows of the data are inside. Nothing in the file is executed.

    \b
    Examples:
      mercer inspect survey.mercer
      mercer inspect survey.mercer --json
    """
    from mercer.estimators import load
    from mercer.store import read

    with opened(model) as path:
        fitted = load(path)
        _, arrays = read(path, kind="model")
    found = document_of(fitted, {name: array.shape for name, array in arrays.items()})
    found["bytes"] = sum(array.nbytes for array in arrays.values())
    voice.result(text_of(model, fitted, found), {"path": model, "model": found})


def document_of(model: Any, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Return what a model holds, as plain values.

    Parameters
    ----------
    model : estimator
        As it was loaded.
    shapes : dict
        Shape of every array of the file, by its name.
    """
    parameters = {name: _shown(value) for name, value in model.get_params(deep=False).items()}
    names = getattr(model, "feature_names_in_", None)
    found = {
        "class": type(model).__name__,
        "method": method_of(model).command or None,
        "written_by": getattr(model, "written_by_", None),
        "fitted": hasattr(model, "written_by_"),
        "parameters": parameters,
        "rows": getattr(model, "n_samples_", None),
        "columns": getattr(model, "n_features_in_", None),
        "names": None if names is None else [str(name) for name in names],
        "components": getattr(model, "n_components_", None),
        "variances": getattr(model, "explained_variance_", None),
        "eigenvalues": getattr(model, "eigenvalues_", None),
        "shares": getattr(model, "explained_variance_ratio_", None),
        "kernel": _kernel(model),
        "choice": _choice(model),
        "certificate": _certificate(model),
        "notes": getattr(model, "notes_", None),
        "rows_inside": _rows_inside(shapes, model),
    }
    found["numbers_per_row"] = _per_row(shapes, found["rows"])
    return found


def text_of(path: str, model: Any, found: dict[str, Any]) -> str:
    """Return the same for people."""
    name = found["method"] or found["class"]
    by = f", written by {found['written_by']}" if found["fitted"] else ", not fitted"
    lines = [f"{path}: {name}{by}"]
    if found["rows"] is not None:
        lines.append(f"fitted to {found['rows']:,} rows and {found['columns']:,} columns")
    if found["names"]:
        lines.append(f"columns: {_some(found['names'])}")
    lines += [f"parameters: {_differing(model)}"]
    if found["kernel"]:
        lines.append(f"kernel: {found['kernel']}")
    lines += _variances(model) if found["components"] is not None else []
    lines += [found["choice"]["reason"]] if found["choice"] else []
    what = "variance" if method_of(model).has_variances else "eigenvalue"
    lines += [_certified(found["certificate"], what)] if found["certificate"] else []
    return "\n".join([*lines, *_kept(found)])


def _kernel(model: Any) -> Any:
    """Return the kernel in words; that of a map is a matrix, and no word."""
    return _shown(getattr(model, "kernel_", None)) if method_of(model).has_variances else None


def _shown(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _some(words: list[str]) -> str:
    shown = ", ".join(words[:_MOST])
    return shown if len(words) <= _MOST else f"{shown} … ({len(words) - _MOST:,} more)"


def _differing(model: Any) -> str:
    """Return the parameters that are not as they are by default."""
    plain = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    changed = [f"{n}={_shown(v)}" for n, v in given.items() if repr(v) != repr(plain[n])]
    return ", ".join(changed) if changed else "all as they are by default"


def _variances(model: Any) -> list[str]:
    k = int(model.n_components_)
    if not k:
        return ["no component"]
    if not method_of(model).has_variances:
        return ["", *axis_lines(model, _MOST), ""]
    shares, total = model.explained_variance_ratio_, 0.0
    rows = [_HEAD]
    for i in range(min(k, _MOST)):
        total += 100 * float(shares[i])
        value = f"{float(model.explained_variance_[i]):.5g}"
        rows.append((str(i + 1), value, f"{100 * float(shares[i]):.1f}", f"{total:.1f}", ""))
    more = [f"… ({k - _MOST:,} more)"] if k > _MOST else []
    return ["", *aligned(rows, words=0), *more, ""]


def _choice(model: Any) -> Any:
    choice = getattr(model, "choice_", None)
    return choice and {"k": choice.k, "reason": choice.reason, "rules": choice.rules}


def _certificate(model: Any) -> dict[str, Any] | None:
    found = getattr(model, "certificate_", None)
    if found is None:
        return None
    k = len(found.lower)
    return {
        "met": found.met,
        "tol": found.tol,
        "reached": found.reached,
        "inseparable": [[i + 1 for i in group if i < k] for group in found.groups],
    }


def _certified(found: dict[str, Any], what: str) -> str:
    met = "as asked" if found["met"] else f"{found['tol']:.0e} was asked"
    line = f"certified: every {what} to {found['reached']:.1e} of itself, {met}"
    groups = [group for group in found["inseparable"] if len(group) > 1]
    for group in groups:
        axes = ", ".join(f"PC{i}" for i in group)
        line += f"; {axes} cannot be told apart"
    return line


def _rows_inside(shapes: dict[str, tuple[int, ...]], model: Any) -> int:
    """Return how many rows of the data are in the file, as they are or transformed."""
    held = ("X_fit", "landmarks", "rows", "points")
    names = [name for name in shapes if name.rpartition("/")[2].strip("_") in held]
    whole = (getattr(model, "n_samples_", None), getattr(model, "n_features_in_", None))
    if not method_of(model).has_variances:  # whatever is as large as the table may be the table
        own = ("row_", "embedding_")
        names += [n for n, shape in shapes.items() if shape == whole and not n.startswith(own)]
    names += [name for name in shapes if name.startswith("_sample/")]
    # A search may hold them on their side, (p, n).
    counts = [
        shapes[name][1] if shapes[name][0] == whole[1] != shapes[name][1] else shapes[name][0]
        for name in names
        if len(shapes[name]) == 2
    ]
    return max(counts, default=0)


def _per_row(shapes: dict[str, tuple[int, ...]], rows: int | None) -> list[str]:
    """Return the arrays that hold numbers for each row of the data."""
    return sorted(name for name, shape in shapes.items() if rows and shape[:1] == (rows,))


def _kept(found: dict[str, Any]) -> list[str]:
    """Return what the file keeps of the data, beside the axes."""
    notes = found["notes"] or {}
    lines = []
    if notes.get("data"):
        lines.append("data: " + ", ".join(f"{k} {v}" for k, v in notes["data"].items()))
    recipe = notes.get("recipe") or {}
    plain = ("names", "columns") if recipe.get("columns") == found["names"] else ("names",)
    told = {name: value for name, value in recipe.items() if value and name not in plain}
    if told.get("table") == "numbers":
        del told["table"]
    lines += [f"recipe: {name} {_some(_words(value))}" for name, value in told.items()]
    for level, limits in (notes.get("limits") or {}).items():
        if isinstance(limits, (list, tuple)) and len(limits) == 2:
            lines.append(f"limits at {float(level):.0%}: T² {limits[0]:.4g}, Q {limits[1]:.4g}")
    if notes.get("limits") and "0.99" not in notes["limits"]:
        lines.append("limits at 99%: not given, they take 99 rows")
    words = any(recipe.get(name) for name in ("levels", "categories", "cross"))
    return [*lines, f"privacy: {_privacy(found, words)}"]


def _privacy(found: dict[str, Any], words: bool) -> str:
    """Return what of the data somebody learns who gets the file, in words."""
    beside = ", but the words of its categories are" if words else ""
    if found["rows_inside"]:
        return f"{found['rows_inside']:,} rows of the data are inside this file"
    if found["numbers_per_row"]:
        more = "and" if words else "but"
        return f"no row of the data is inside{beside}, {more} some numbers about each"
    return f"no row of the data is inside this file{beside}"


def _words(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name}={_short(part)}" for name, part in value.items()]
    return [str(part) for part in value] if isinstance(value, (list, tuple)) else [str(value)]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if not isinstance(value, (list, tuple)):
        return str(value)
    return "/".join(map(str, value[:3])) + ("/…" if len(value) > 3 else "")
