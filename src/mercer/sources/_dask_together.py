"""Rows and weights that are made from the same data, optimised as one graph."""

from operator import itemgetter
from typing import Any


def together(rows: Any, weights: Any) -> tuple[Any, Any]:
    """Return both collections, optimised for being computed at once; nothing is computed.

    Optimised apart, each would take the task that reads a block into its own: a block that
    both need would be read twice in every pass. `dask.optimize` does that to arrays, and
    mixes up the partitions of two frames.

    Parameters
    ----------
    rows, weights : Dask arrays, or a Dask frame and a series
        A frame and an array share nothing that can be seen: Dask has settled the tasks of an
        array that was made from a frame already.
    """
    arrays = [hasattr(each, "chunks") for each in (rows, weights)]
    if all(arrays):
        first, second = _arrays(rows, weights)
        return first, second
    if not any(arrays) and hasattr(weights, "map_partitions"):
        return _frames(rows, weights)
    return _alone(rows), _alone(weights)


def _alone(collection: Any) -> Any:
    if hasattr(collection, "chunks"):
        return _arrays(collection)[0]
    return collection.optimize() if hasattr(collection, "optimize") else collection


def _arrays(*arrays: Any) -> list[Any]:
    """Return arrays that share one graph, as `dask.compute` would make it."""
    from dask.core import flatten
    from dask.highlevelgraph import HighLevelGraph

    graph = HighLevelGraph.merge(*(each.__dask_graph__() for each in arrays))
    keys = list(flatten([each.__dask_keys__() for each in arrays]))
    graph = arrays[0].__dask_optimize__(graph, keys)
    rebuilt = [each.__dask_postpersist__() for each in arrays]
    return [rebuild(graph, *arguments) for rebuild, arguments in rebuilt]


def _frames(rows: Any, weights: Any) -> tuple[Any, Any]:
    """Return a frame and a series that take their partitions from pairs of them.

    Dask may read several files into one partition where few of their columns are used; so
    it does for both at once.
    """
    pairs = rows.map_partitions(
        _pair, weights, meta=rows._meta, enforce_metadata=False, align_dataframes=False
    ).optimize()
    first, second = (
        pairs.map_partitions(itemgetter(at), meta=each._meta, enforce_metadata=False)
        for at, each in enumerate((rows, weights))
    )
    return first, second


def _pair(rows: Any, weights: Any) -> tuple[Any, Any]:
    return rows, weights
