"""What people pass as rows that is neither an array nor a frame: read as one, or refused."""

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from mercer.arrays import detached, is_sparse
from mercer.errors import InputTypeError

# What makes an object an array for NumPy; others it would walk cell by cell.
_ARRAYS = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__", "to_numpy")
_FIX = "pass an array or a frame of these numbers"
_OTHERS = {  # by library: what holds the rows of such an object
    "anndata": "pass X.X, or call mercer.dropin.scanpy_pca(X), which writes obsm and varm",
    "mudata": "pass one table, X.mod[name].X",
    "xarray": "pass one table of two dimensions: X.data, or X[name].data",
    "h5py": "pass one table, X[name], or mercer.scan(path, key=name)",
    "zarr": "pass one table, X[name], or mercer.scan(path, key=name)",
}


def plain_form(data: Any) -> Any:
    """Return rows as arrays or frames that everything reads; others are refused by name.

    Tensors of torch come without their gradients, batches of Arrow as tables, tables of
    xarray as frames with the names of their columns. What NumPy would walk cell by cell, as
    it does with whatever can be indexed, is refused at once.
    """
    kind = type(data)
    if kind is np.ndarray:
        return data
    library = kind.__module__.partition(".")[0]
    if library == "pyarrow" and kind.__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([data])
    if library == "xarray" and getattr(data, "ndim", 0) == 2 and not _is_lazy(data):
        return data.to_pandas()
    if library in _OTHERS and (isinstance(data, Mapping) or not is_table_like(data)):
        raise other_object(data)
    return detached(data)


def is_table_like(data: Any) -> bool:
    """Tell whether NumPy makes an array of `data` without asking it for every cell."""
    if isinstance(data, Sequence | Number) or is_sparse(data):
        return True
    return any(hasattr(data, name) for name in _ARRAYS)


def other_object(data: Any, what: str = "X must be a table of numbers") -> InputTypeError:
    """Return the refusal of an object that is no table, and what of it to pass instead."""
    library = type(data).__module__.partition(".")[0]
    shape = getattr(data, "shape", None)
    fix = _OTHERS.get(library, _FIX)
    if isinstance(data, Mapping) and "data" in data:
        fix = 'pass its table, X["data"]'
    return InputTypeError(
        what,
        got=type(data).__name__ + (f" of shape {shape}" if isinstance(shape, tuple) else ""),
        fix=fix,
    )


def _is_lazy(data: Any) -> bool:
    graph = getattr(data, "__dask_graph__", None)
    return graph is not None and graph() is not None
