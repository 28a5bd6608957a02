"""Models in files: `save` and `load`. Nothing in a file is executed or imported."""

import os
from pathlib import Path
from typing import Any

from mercer.errors import InputError
from mercer.estimators.export._model_types import FORMS, of_estimator
from mercer.methods import METHODS, method_of
from mercer.store import DataDecoder, DataEncoder, Form, naming, path_of, read, write


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a ``.mercer`` file, in place of an older one or not at all.

    The file is safetensors: arrays, and a description in JSON, under one checksum. It holds
    the parameters and all that the fit found, also what a stream has summed and what
    `inverse_transform` has learned so far. Callbacks are not kept.

    Parameters
    ----------
    model : PCA, KernelPCA, RobustPCA, LandmarkFeatures, RandomFeatures, or a drop-in face
        Fitted or not. Kernels with functions of your own are code, and are refused.
    path : path
        The file. One that mercer did not write is never replaced.

    Examples
    --------
    >>> import numpy as np, mercer, tempfile, pathlib
    >>> X = np.arange(20.0).reshape(5, 4) ** 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "axes.mercer"
    ...     mercer.save(mercer.PCA(2).fit(X), path)
    ...     mercer.load(path).transform(X).shape
    (5, 2)
    """
    name = _name_of(model)
    encoder = DataEncoder(FORMS)
    with naming(path_of(path)):
        parts = of_estimator(type(model)).apart(model)
        made = {part: encoder.encoded(value, "") for part, value in parts.items()}
        write(path, {"kind": "model", "class": name, **made}, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a ``.mercer`` file, as it was when it was saved.

    `transform` gives the same bits on the same machine. Damaged files, files of a newer
    format and everything else, pickles above all, are refused. ``written_by_`` of a fitted
    model says which mercer wrote it, and in which format.

    Parameters
    ----------
    path : path
        A file written by `save`.
    """
    name = os.fspath(path_of(path))
    with naming(Path(name), "the model cannot be read"):
        header, arrays = read(path, kind="model")
        form = _form_of(name, header.pop("class", None))
        parts = ("format", "kind", "mercer", "version")
        said = {part: header.pop(part, None) for part in parts}
        decoder = DataDecoder({**FORMS, "model": form}, arrays, name)
        model = decoder.whole({"=": "model", **header})
    if any(attribute.endswith("_") for attribute in vars(model)):
        model.written_by_ = f"mercer {said['mercer']}, format {said['version']}"
    return model


def _name_of(model: Any) -> str:
    kind = model if isinstance(model, type) else type(model)
    method = method_of(kind)
    if kind is model or method.name not in METHODS or kind is not method.load():
        raise InputError(
            "Only mercer's own models are written to .mercer files.",
            got=f"{kind.__module__}.{kind.__qualname__}",
            fix=f"save a model of {_known()}; the others in a pipeline one by one",
        )
    return method.name


def _form_of(path: str, name: object) -> Form:
    """Return the form of a class by its name in the table of methods, and by no other name."""
    method = METHODS.get(name) if isinstance(name, str) else None
    if method is None:
        raise InputError(
            "The file holds a model that this mercer does not know.",
            got=f"{path}: {str(name)[:40]!r}",
            fix=f"known are {_known()}; update mercer for others",
        )
    return of_estimator(method.load())


def _known() -> str:
    return ", ".join(sorted(METHODS))
