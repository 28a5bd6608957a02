"""The command ``mercer plan``: the dry run, as a table or as JSON."""

import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np

from mercer.errors import DataWarning, InputError
from mercer.estimators import PCA, plan
from mercer.sources import BlockSource, scan

__all__ = ["components", "run"]


def run(path: Path, k: str | None, options: dict[str, Any], *, as_json: bool) -> str:
    """Return the plan of a PCA of the file at ``path``; nothing is fitted.

    Parameters
    ----------
    path : Path
        A file that `mercer.scan` opens; only its head is read.
    k : str or None
        Components as typed: a number, a share, or ``mle``.
    options : dict
        Further parameters of PCA.
    as_json : bool
        Whether to return JSON instead of a table.
    """
    count = components(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # columns left out are named below
        source = scan(path)
    assert isinstance(source, BlockSource)
    if source.dropped:
        names = ", ".join(name for name, _ in source.dropped)
        click.echo(f"left out (not numbers): {names}", err=True)
    if not source.counted:
        click.echo("the number of rows is a forecast from the first lines", err=True)
    chosen = plan(PCA(count, **options), source)
    return json.dumps(_document(path, source, chosen)) if as_json else str(chosen)


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


def _document(path: Path, source: BlockSource, chosen: Any) -> dict[str, Any]:
    return {
        "schema": "mercer/1",
        "ok": True,
        "data": {
            "path": str(path),
            "rows": source.shape[0],
            "counted": source.counted,
            "columns": source.shape[1],
            "left_out": [name for name, _ in source.dropped],
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
