"""A small file and hand-made ones, for the tests of the room."""

import hashlib
import json

import numpy as np


def some_arrays():
    """One array of every kind that hurts: strided, scalar, empty, narrow, the other order."""
    return {
        "columns first": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "every other": np.arange(10, dtype=np.float32)[::2],
        "scalar": np.array(-3, dtype=np.int64),
        "empty": np.zeros((0, 5)),
        "no columns": np.zeros((4, 0), dtype=np.float32),
        "flags": np.array([[True, False], [False, True]]),
        "bytes": np.arange(7, dtype=np.uint8),
        "big-endian": np.array([1, -2, 3], dtype=">i4"),
        "not finite": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    }


def forged(table, data=b"", *, description=None, length=None):
    """A file with a right checksum and whatever header a stranger may think of."""
    if description is None:
        description = json.dumps({"format": "mercer", "version": 1, "kind": "model"})
    metadata = json.dumps({"sha256": "0" * 64, "mercer": description}, separators=(",", ":"))
    text = f'{{"__metadata__":{metadata}{"," if table else ""}{table}}}'.encode()
    length = len(text) if length is None else length
    whole = length.to_bytes(8, "little") + text + data
    return whole[:35] + hashlib.sha256(whole).hexdigest().encode() + whole[99:]


def entry(name, dtype, shape, start, end):
    """One line of the table of arrays."""
    return json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}})[
        1:-1
    ]
