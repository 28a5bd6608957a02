"""The command ``mercer plan``: the dry run, as a table or as JSON."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer.cli._table import Table, read
from mercer.errors import InputError
from mercer.estimators import PCA, plan

__all__ = ["components", "run"]


def run(path: Path, k: str | None, options: dict[str, Any], *, as_json: bool) -> str:
    """Return the plan of a PCA of the file at ``path``; nothing is fitted.

    Parameters
    ----------
    path : Path
        A .npy, .csv or .tsv file.
    k : str or None
        Components as typed: a number, a share, or ``mle``.
    options : dict
        Further parameters of PCA.
    as_json : bool
        Whether to return JSON instead of a table.
    """
    count = components(k)
    table = read(path)
    if table.left_out:
        click.echo(f"left out (not numbers): {', '.join(table.left_out)}", err=True)
    if table.missing:
        cells = ", ".join(f"{name} {n}" for name, n in table.missing.items())
        click.echo(f"empty cells (a fit will refuse them): {cells}", err=True)
    chosen = plan(PCA(count, **options), table.X)
    return json.dumps(_document(path, table, chosen)) if as_json else str(chosen)


def components(text: str | None) -> int | float | str | None:
    """Return ``n_components`` from what was typed: a whole number, a share, or ``mle``.

    Examples
    --------
    >>> components("10"), components("0.9"), components("mle"), components(None)
    (10, 0.9, 'mle', None)
    """
    if text is None or text == "mle":
        return text
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise InputError(
            "the number of components is not understood",
            got=f"-k {text}",
            fix="give a number (10), a share (0.9) or mle",
        ) from None


def _document(path: Path, table: Table, chosen: Any) -> dict[str, Any]:
    return {
        "schema": "mercer/1",
        "ok": True,
        "data": {
            "path": str(path),
            "rows": int(table.X.shape[0]),
            "columns": int(table.X.shape[1]),
            "left_out": list(table.left_out),
            "missing": table.missing,
        },
        "problem": _plain(chosen.problem),
        "chosen": _plain(chosen.chosen),
        "rejected": [{**_plain(path_), "reason": reason} for path_, reason in chosen.rejected],
    }


def _plain(value: Any) -> Any:
    """Turn frozen values into what JSON can hold; infinity becomes null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return value if value is None else str(value)
