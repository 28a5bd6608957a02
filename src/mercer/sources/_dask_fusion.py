"""Tasks that read a part and work on it at once: no chunk waits in the memory of a worker."""

from collections import Counter
from typing import Any


def fused(root: Any, prefix: str) -> Any:
    """Return the same delayed value with every part read by the task that works on it.

    A task whose key begins with `prefix` takes in whatever only it needs: its chunks, what
    these are made of, and so on, also where two of them are made of the same. Chunks that
    two tasks share, data that lie on workers already (futures) and single values stay
    outside. Otherwise a worker would load the next chunk while the first waits for its work:
    two would be held where one is enough.

    Parameters
    ----------
    root : Delayed
        The value.
    prefix : str
        How the keys of the tasks begin.
    """
    from dask._task_spec import GraphNode, convert_legacy_graph
    from dask.highlevelgraph import HighLevelGraph

    given = dict(root.__dask_graph__())
    graph = given | convert_legacy_graph(given)  # which leaves futures out
    needed_by = Counter(key for node in graph.values() for key in _dependencies(node))
    for key in [key for key in graph if str(key).startswith(prefix)]:
        inside, met = [key], Counter[Any]()
        for each in inside:  # which grows on the way
            for below in _dependencies(graph[each]):
                met[below] += 1
                whole = met[below] == needed_by[below]  # nobody outside needs it
                if whole and isinstance(graph.get(below), GraphNode):
                    inside.append(below)
        if len(inside) > 1:
            graph[key] = GraphNode.fuse(*[graph.pop(each) for each in inside], key=key)
    whole = HighLevelGraph.from_collections(root.key, graph, dependencies=())
    return type(root)(root.key, whole)


def _dependencies(node: Any) -> Any:
    """Return the keys that a node of a graph needs; a future needs none."""
    return getattr(node, "dependencies", ())
