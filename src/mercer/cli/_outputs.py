"""Where a command may write: checked before any work, so that nothing is lost after it."""

import os
from collections.abc import Iterable
from pathlib import Path

from mercer.cli._stdin import spare
from mercer.errors import InputError
from mercer.sources import path_of
from mercer.store import must_be_ours

MODEL = ".mercer"
_SCORES = (".parquet", ".csv", ".tsv", ".npy")


def refuse_output(
    path: str, *, option: str, inputs: Iterable[str] = (), force: bool = False
) -> Path:
    """Return the path of a file to write, or say why it cannot be written.

    Parameters
    ----------
    path : str
        As it was typed.
    option : str
        The option that named it.
    inputs : iterable of str
        Files that are read: none of them may be written over, by any name.
    force : bool
        Whether another file may be replaced.
    """
    found = path_of(path)
    if not found.name or found.is_dir():
        raise InputError(
            "the output must be a file", got=f"{option} {path}", fix="name a file in the folder"
        )
    if not found.parent.is_dir():
        raise InputError(
            "the folder to write to does not exist",
            got=f"{option} {path}",
            fix=f"make it first: mkdir -p {found.parent}",
        )
    if not os.access(found.parent, os.W_OK | os.X_OK):
        raise InputError(
            "nothing may be written to the folder",
            got=f"{option} {path}",
            fix="choose another folder, or change who may write to it",
        )
    for given in inputs:
        spare(found, given, f"{option} {path}")
    if found.exists() and not found.is_file():
        raise InputError(
            "the output must be a file",
            got=f"{option} {path}, a pipe or a device",
            fix="choose another name, or - for stdout where that is offered",
        )
    if found.exists() and not force:
        raise InputError(
            "the file is there already", got=f"{option} {path}", fix="add --force to replace it"
        )
    return found


def refuse_model(path: str, **rules: object) -> Path:
    """Return the path of a model to write; see `refuse_output`."""
    if path == "-" or Path(path).suffix.lower() in _SCORES:
        raise InputError(
            "a model is written to a file whose name ends in .mercer",
            got=f"-o {path}",
            fix="write -o model.mercer; coordinates go to --scores FILE",
        )
    found = refuse_output(path, option="-o", **rules)  # type: ignore[arg-type]
    must_be_ours(found)
    return found


def refuse_scores(path: str, *, option: str, **rules: object) -> Path | None:
    """Return the path of a table to write, None for stdout; see `refuse_output`."""
    if path == "-":
        return None
    if Path(path).suffix.lower() not in _SCORES:
        raise InputError(
            "the kind of file to write is not known by its name",
            got=f"{option} {path}",
            fix=f"use a name that ends in {', '.join(_SCORES)}, or - for CSV on stdout",
        )
    if Path(path).suffix.lower() == ".parquet":
        from mercer.estimators.walk._coordinate_files import parquet_library

        parquet_library()  # missing now, and not after the work
    return refuse_output(path, option=option, **rules)  # type: ignore[arg-type]


def refuse_twins(outputs: dict[str, Path | None]) -> None:
    """Refuse two outputs that are one file."""
    named = [(option, path) for option, path in outputs.items() if path is not None]
    for i, (option, path) in enumerate(named):
        for other, again in named[i + 1 :]:
            if same_file(path, again):
                raise InputError(
                    "two outputs cannot be one file",
                    got=f"{option} {path} and {other} {again}",
                    fix="give each a name of its own",
                )


def same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths are one file, through links too, there or not yet."""
    if str(other) == "-":
        return False
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()


ROW = "row"  # numbers of the rows, counted from 1, where no column names them
GROUP = "group"  # that a model gives to a row
NAME = "name"  # names of the rows of a table that was stored the other way round


def axis_names(k: int) -> list[str]:
    """Return what the axes of every method are called: PC1 to PCk.

    Examples
    --------
    >>> axis_names(2)
    ['PC1', 'PC2']
    """
    return [f"PC{i + 1}" for i in range(k)]
