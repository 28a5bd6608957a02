import numpy as np
import pytest

dask = pytest.importorskip("dask")

from mercer.sources.parts._dask_graph import fused  # noqa: E402

PREFIX = "work-"


def total(*given):
    return float(sum(np.sum(each) for each in given))


def tree(parts, shared=None):
    """Return a sum over parts; every one of them may need `shared` too."""
    more = () if shared is None else (shared,)
    leaves = [
        dask.delayed(total)(*np.ravel(part), *more, dask_key_name=f"{PREFIX}{number}")
        for number, part in enumerate(parts)
    ]
    return dask.delayed(total)(*leaves, dask_key_name="root")


def keys(root):
    return {str(key) for key in dict(root.__dask_graph__())}


def array(rows=12, columns=4, chunks=(3, 2)):
    import dask.array as da

    x = np.arange(rows * columns, dtype=float).reshape(rows, columns)
    return x, da.from_array(x, chunks=chunks)


def test_what_two_parts_share_is_computed_once():
    x, d = array(chunks=(3, 4))
    calls = []

    def load():
        calls.append(1)
        return np.ones(3)

    shared = dask.delayed(load)(dask_key_name="shared")
    root = fused(tree(d.to_delayed(), shared), PREFIX)
    assert "shared" in keys(root)
    assert root.compute(scheduler="sync") == total(x) + 4 * 3
    assert calls == [1]


def test_what_one_part_needs_twice_is_read_inside_it():
    x, d = array(chunks=(3, 4))
    calls = []

    def load(block):
        if block.size:
            calls.append(1)
        return block

    read = d.map_blocks(load, dtype=float, meta=np.empty((0, 0)))
    pairs = zip(
        read.to_delayed(optimize_graph=False).ravel(),
        read[:, 0].to_delayed(optimize_graph=False).ravel(),
        strict=True,
    )
    root = fused(tree([list(pair) for pair in pairs]), PREFIX)
    left = {key for key in keys(root) if "load" in key}
    assert not left
    assert root.compute(scheduler="sync") == total(x, x[:, 0])
    assert len(calls) == 4
