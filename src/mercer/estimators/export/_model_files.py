"""Models in files: `save` and `load`. Nothing in a file is executed or imported."""

import os
from importlib import import_module
from typing import Any

from mercer.errors import InputError
from mercer.estimators.export._model_types import FORMS, of_estimator
from mercer.store import DataDecoder, DataEncoder, Form, path_of, read, write

# Where each class lives that a file may name. The faces stand above this room, so they are
# looked up when they are needed.
_HOMES = {
    "ClassicalMDS": "mercer.estimators",
    "CorrespondenceAnalysis": "mercer.estimators",
    "DiffusionMaps": "mercer.estimators",
    "FAMD": "mercer.estimators",
    "FactorAnalysis": "mercer.guests",
    "Isomap": "mercer.estimators",
    "KernelDiscriminantAnalysis": "mercer.estimators",
    "KernelPCA": "mercer.estimators",
    "LandmarkFeatures": "mercer.estimators",
    "LaplacianEigenmaps": "mercer.estimators",
    "LinearDiscriminantAnalysis": "mercer.estimators",
    "LocallyLinearEmbedding": "mercer.estimators",
    "MFA": "mercer.estimators",
    "MaximumVarianceUnfolding": "mercer.estimators",
    "MultipleCorrespondenceAnalysis": "mercer.estimators",
    "PCA": "mercer.estimators",
    "ProbabilisticPCA": "mercer.estimators",
    "RandomFeatures": "mercer.estimators",
    "RobustPCA": "mercer.estimators",
    "TopicVectors": "mercer.estimators",
    "dropin.IncrementalPCA": "mercer.dropin",
    "dropin.KernelPCA": "mercer.dropin",
    "dropin.Nystroem": "mercer.dropin",
    "dropin.PCA": "mercer.dropin",
    "dropin.TruncatedSVD": "mercer.dropin",
}


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
    header, arrays = read(path, kind="model")
    form = _form_of(name, header.pop("class", None))
    said = {part: header.pop(part, None) for part in ("format", "kind", "mercer", "version")}
    model = DataDecoder({**FORMS, "model": form}, arrays, name).whole({"=": "model", **header})
    if any(attribute.endswith("_") for attribute in vars(model)):
        model.written_by_ = f"mercer {said['mercer']}, format {said['version']}"
    return model


def _name_of(model: Any) -> str:
    for name, home in _HOMES.items():
        if type(model) is getattr(import_module(home), name.rpartition(".")[2]):
            return name
    kind = model if isinstance(model, type) else type(model)
    raise InputError(
        "Only mercer's own models are written to .mercer files.",
        got=f"{kind.__module__}.{kind.__qualname__}",
        fix=f"save a model of {', '.join(_HOMES)}; the others in a pipeline one by one",
    )


def _form_of(path: str, name: object) -> Form:
    """Return the form of a class by its name in the table above, and by no other name."""
    home = _HOMES.get(name) if isinstance(name, str) else None
    if home is None:
        raise InputError(
            "The file holds a model that this mercer does not know.",
            got=f"{path}: {str(name)[:40]!r}",
            fix=f"known are {', '.join(_HOMES)}; update mercer for others",
        )
    return of_estimator(getattr(import_module(home), str(name).rpartition(".")[2]))
