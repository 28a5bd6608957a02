"""A model file that a command names first, and the table that it names second."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.cli._outputs import axis_names
from mercer.cli._stdin import refuse_echo
from mercer.errors import InputError
from mercer.methods import method_of
from mercer.sources import path_of
from mercer.sources._scan import kind_of
from mercer.store import is_ours
from mercer.tables import Prepared, Recipe, prepared_again

_TEXT = {".csv", ".tsv", ".txt"}
_OF_TEXT = {"delimiter", "header", "na", "encoding"}


def loaded(model: str, data: str, command: str) -> Any:
    """Return the model of a file; names in the wrong order are noticed.

    Parameters
    ----------
    model, data : str
        As typed, first and second.
    command : str
        The command they were given to.
    """
    refuse_echo(model)
    path = path_of(model)
    if path.is_file() and not is_ours(path):
        other = data != "-" and is_ours(Path(data))
        raise InputError(
            "the model comes first" if other else "this is no model file",
            got=model,
            fix=f"mercer {command} {data} {model}" if other else "name a file of mercer fit -o",
        )
    if data != "-" and is_ours(Path(data)):
        raise InputError(
            "a table is wanted, and this is a model",
            got=data,
            fix=f"mercer {command} {model} TABLE",
        )
    found = mercer.load(path)
    _refuse_method(found, model, command)
    made = command == "transform" and hasattr(found, "kernel_")  # features of a kernel
    if not made and not hasattr(found, "n_components_"):
        raise InputError(
            "the model has no axes",
            got=f"{model}: {type(found).__name__}, not fitted",
            fix="fit it first, then save it",
        )
    return found


def _refuse_method(found: Any, model: str, command: str) -> None:
    """Refuse what a method does not have: rows from coordinates, or a look for drift."""
    name = type(found).__name__
    if command == "inverse" and not hasattr(found, "inverse_transform"):
        raise InputError(
            "rows cannot be made from the coordinates of this method",
            got=f"{model}: {name}",
            fix="mercer inverse is for pca, kernel-pca and robust-pca",
        )
    if command == "drift" and not method_of(found).has_variances:
        raise InputError(
            "drift is looked for along the axes of PCA and its kin",
            got=f"{model}: {name}",
            fix="fit the rows with --method pca",
        )


def recipe_of(model: Any, path: str | Path | None = None) -> Recipe:
    """Return how rows are made of a file for this model; models of Python have only names.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : path or None
        The file; the recipe of a text file serves for other kinds too.
    """
    notes = getattr(model, "notes_", None) or {}
    if "recipe" in notes:
        recipe = Recipe.of(notes["recipe"])
        return recipe if path is None else _read_as(recipe, path)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            "the model does not know the names of its columns",
            got=f"{type(model).__name__} fitted to {model.n_features_in_} columns of an array",
            fix="fit it with mercer fit, or to a frame, or use it in Python",
        )
    known = tuple(map(str, names))
    return Recipe(columns=known, names=known, **_kinds(model, known))


def _kinds(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return what a model of Python takes of a table: numbers, or categories by levels."""
    table = method_of(model).takes
    levels = getattr(model, "categories_", None)
    if table == "categories" and levels is not None and len(levels) == len(names):
        whole = [np.asarray(found).dtype.kind in "iuf" for found in levels]
        how = ["whole" if numbers else "text" for numbers in whole]
        return {"table": table, "categories": dict(zip(names, how, strict=True))}
    if table in ("categories", "mixed"):
        raise InputError(
            "the model does not say which columns are categories",
            got=f"{type(model).__name__}, fitted in Python",
            fix="fit it with mercer fit, or use it in Python",
        )
    return {"table": table}


def filling_of(model: Any) -> str:
    """Return how a fitted model fills missing cells of new rows; "raise" where it does not."""
    filled = getattr(model, "completion_", None) is not None
    own = method_of(model).takes in ("categories", "mixed")  # these say it in a parameter
    return str(getattr(model, "missing", "raise")) if filled or own else "raise"


def rows_for(
    model: Any, path: str, other: str | None = None, *, missing: str | None = None
) -> Prepared:
    """Return the rows of a file as a fitted model wants them.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str
        The file.
    other : str or None
        A second file, which is read as the first: then its rows are returned.
    missing : str or None
        What happens to missing cells; None does as the model.
    """
    refuse_echo(other or path)
    fills = missing or filling_of(model)
    return prepared_again(other or path, recipe_of(model, path), missing=fills)


def _read_as(recipe: Recipe, path: str | Path) -> Recipe:
    """Return a recipe without what only says how text is read, for a file of another kind."""
    if kind_of(Path(path)) in _TEXT:
        return recipe
    rest = {name: value for name, value in recipe.reading.items() if name not in _OF_TEXT}
    return dataclasses.replace(recipe, reading=rest)


def axes_of(model: Any) -> list[str]:
    """Return the names of the coordinates of a model: PC1 to PCk, F1 to Fm of features."""
    if getattr(model, "_whitened", False) == "zca":  # turned back into the columns
        return [str(name) for name in model.get_feature_names_out()]
    if not hasattr(model, "n_components_"):  # features of a kernel have no order
        return [f"F{i + 1}" for i in range(len(model.get_feature_names_out()))]
    return axis_names(model.n_components_)
