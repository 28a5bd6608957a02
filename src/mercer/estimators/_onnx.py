"""Models as ONNX graphs, for programs that know nothing of mercer."""

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError, MissingExtraError, NotSupportedError
from mercer.estimators._kernel_primal import Widened
from mercer.estimators._onnx_features import feature_values
from mercer.estimators._onnx_graph import Graph
from mercer.estimators._onnx_kernel import kernel_values
from mercer.estimators._parameters import check_fitted
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.pca import PCA
from mercer.store import path_of, replacing, write_all

_MOST = 2_000_000_000  # bytes that one protocol buffer can hold


def export_onnx(model: Any, path: str | os.PathLike[str], *, dtype: Any = None) -> None:
    """Write `transform` of a fitted model as an ONNX graph: X (N, p) in, Z (N, k) out.

    Numbers are float64 inside whatever `dtype`, and the origin of the fit is subtracted
    first, so that rows far from zero keep their digits. The graph agrees with `transform` to
    rounding. A `tol_transform` is not followed: rows are projected exactly.

    Parameters
    ----------
    model : PCA or KernelPCA
        Fitted. Kernels may be those that have a form in ONNX, and what is made of them;
        an error lists them. A kernel model on few landmarks makes a small graph, an exact
        one holds its training rows.
    path : path
        The file; it is replaced as a whole.
    dtype : {"float32", "float64"} or None
        Type of X and Z; None is that of the rows of the fit.
    """
    onnx = _library()
    target = path_of(path).resolve()
    write_part = _part_of(model)
    check_fitted(model)
    _refuse_nothing(model)
    single = _single(model, dtype)
    graph = Graph(onnx)
    result = write_part(graph, model, graph.add("Cast", "X", to=onnx.TensorProto.DOUBLE))
    if graph.nbytes > _MOST:
        raise NotSupportedError(
            "an ONNX graph holds at most 2 GB",
            got=f"{graph.nbytes:,} bytes of rows and axes",
            fix="fit with `landmarks`, so that fewer rows are kept",
        )
    shape = int(model.n_features_in_), int(model._n_features_out)
    made = graph.model(result, shape, single, _about(model))
    with replacing(target) as descriptor:
        write_all(descriptor, made.SerializeToString())


def _part_of(model: Any) -> Callable[[Graph, Any, str], str]:
    """Return what writes this kind of model; faces that project otherwise have none."""
    if isinstance(model, PCA) and type(model)._project is PCA._project:
        return _linear
    if isinstance(model, KernelPCA) and type(model)._project is KernelPCA._project:
        return _curved
    raise NotSupportedError(
        "only PCA and KernelPCA are exported to ONNX",
        got=f"{type(model).__module__}.{type(model).__qualname__}",
        fix="export one of these, or save the model with mercer.save",
    )


def _library() -> Any:
    try:
        import onnx
    except ImportError:
        raise MissingExtraError(
            "models are exported by the library onnx, which is not installed",
            got="no module named onnx",
            fix="pip install 'mercer[onnx]'",
        ) from None
    return onnx


def _refuse_nothing(model: Any) -> None:
    if int(model._n_features_out) == 0:
        raise NotSupportedError(
            "a model without axes has no coordinates to compute",
            got=f"{type(model).__name__} with n_components_ = 0",
            fix="ask for a number of components",
        )


def _single(model: Any, dtype: Any) -> bool:
    """Tell whether X and Z are float32."""
    if dtype is None:
        own = model.components_.dtype if isinstance(model, PCA) else model._dtype
        return bool(np.dtype(own) == np.float32)
    if str(dtype) not in ("float32", "float64") and dtype not in (np.float32, np.float64):
        raise InputError(
            "`dtype` is the type of the rows that the graph takes",
            got=f"dtype={dtype!r}",
            fix='pass "float32" or "float64"',
        )
    return bool(np.dtype(dtype) == np.float32)


def _about(model: Any) -> dict[str, str]:
    """What the file says of itself, beside the graph."""
    about = {"model": type(model).__name__}
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        about["feature_names"] = json.dumps([str(name) for name in names])
    return about


def _linear(graph: Graph, model: Any, rows: str) -> str:
    """x̃V, as `PCA.transform` gives it: (x - origin)·2^-e - offset, times factor and axes."""
    centring = model._centring
    axes = np.asarray(model.components_.T, np.float64)
    if centring.factor is not None:
        axes = np.asarray(centring.factor, np.float64)[:, None] * axes
    if model._whitened is not False:
        safe = np.where(model._alive, model._unit_deviations, 1.0)
        axes = axes * np.where(model._alive, 1 / safe, 0.0)
    rows = _in_units(graph, graph.add("Sub", rows, centring.origin), -centring.exponent)
    found = graph.add("MatMul", graph.add("Sub", rows, centring.offset), axes)
    if model._whitened is False:
        return _in_units(graph, found, centring.unit)
    if model._whitened == "zca":
        return graph.add("MatMul", found, np.asarray(model.components_, np.float64))
    return found


def _in_units(graph: Graph, values: str, exponent: int) -> str:
    """Return values·2^exponent, in halves because 2^exponent may have no float64."""
    for part in (exponent // 2, exponent - exponent // 2):
        values = values if part == 0 else graph.times(values, 2.0**part)
    return values


def _curved(graph: Graph, model: Any, rows: str) -> str:
    """Bᵀk(rows, x) - c₀, or x̃V of explicit features where the model has those."""
    frame = model._frame
    if frame.factor is not None:
        rows = graph.add("Sub", rows, frame.mean)
        rows = rows if frame.rest is None else graph.add("Sub", rows, frame.rest)
        rows = graph.times(rows, frame.factor)
    if model._engine is not None:
        width = int(model.n_features_in_)
        phi = model._phi.phi if isinstance(model._phi, Widened) else model._phi
        found = _linear(graph, model._engine, feature_values(graph, phi, rows, width))
        short = model.n_components_ - model._engine.n_components_
        none = np.zeros((model._engine.n_components_, short))
        return (
            found
            if short <= 0
            else graph.add("Concat", found, graph.add("MatMul", found, none), axis=1)
        )
    projection = model._projection
    if projection is None:
        raise NotSupportedError(
            "a precomputed matrix has no rows, and no graph",
            got=f"{model.kernel_!r}",
            fix="fit with a kernel on rows",
        )
    values = kernel_values(graph, projection.kernel, rows, _dense(projection.rows))
    found = graph.add("MatMul", values, np.asarray(projection.dual, np.float64))
    return graph.add("Sub", found, np.asarray(model._level, np.float64))


def _dense(rows: Any) -> Array:
    found = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(found, np.float64)
