"""Dask collections made of a function of the rows of every part; nothing is computed."""

from importlib import import_module
from typing import Any

import numpy as np

from mercer.arrays import one_thread, unheard
from mercer.sources._dask_parts import Mapped


def mapped_array(made: Mapped, collection: Any, names: Any) -> Any:
    """Return a Dask array with the row chunks of an array; with names, a frame of it."""
    dask, da = import_module("dask"), import_module("dask.array")
    shared = dask.delayed(made, traverse=False, pure=False)  # sent once, not with every task
    numbers = da.arange(collection.numblocks[0], chunks=1)
    found = da.blockwise(
        _of_chunks,
        "i" if made.columns is None else "ik",
        collection,
        "ij",
        numbers,
        "i",
        made=shared,
        new_axes={} if made.columns is None else {"k": made.columns},
        dtype=made.dtype,
        meta=made.nothing,
        align_arrays=False,
        name="mercer-rows-" + dask.base.tokenize(collection, shared.key),
    )
    if names is None:
        return found
    return import_module("dask.dataframe").from_dask_array(found, columns=list(names))


def mapped_frame(made: Mapped, collection: Any, names: Any) -> Any:
    """Return a Dask frame with the partitions and the index of a frame; or its array."""
    import pandas as pd

    columns = range(made.columns or 0) if names is None else list(names)
    empty = collection._meta.index[:0]
    if made.columns is None:
        meta: Any = pd.Series(made.nothing, index=empty)
    else:
        meta = pd.DataFrame(made.nothing, index=empty, columns=columns)
    found = collection.map_partitions(
        _of_partition, made, list(columns), meta=meta, enforce_metadata=False
    )
    return found.to_dask_array() if names is None else found


def _of_chunks(chunks: Any, number: Any, *, made: Mapped) -> Any:
    with one_thread(), unheard():
        side_by_side = chunks if isinstance(chunks, list) else [chunks]
        return made(int(np.ravel(number)[0]), [side_by_side])


def _of_partition(
    native: Any, made: Mapped, columns: list[Any], *, partition_info: Any = None
) -> Any:
    import pandas as pd

    number = 0 if partition_info is None else int(partition_info["number"])
    with one_thread(), unheard():
        rows = made(number, [[native]])
    if made.columns is None:
        return pd.Series(rows, index=native.index)
    return pd.DataFrame(rows, index=native.index, columns=columns)
