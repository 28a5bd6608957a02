"""Numbers into short text: whole numbers of 16 or 32 bits, deflated, in base64.

The page unpacks them with the browser's own tools (`page/cloud.js` is the other half).
"""

import base64
import zlib

import numpy as np

from mercer.arrays import Array

_LEVELS = 65535


def packed(values: Array) -> str:
    """Return unsigned integers (n,) of 1, 2 or 4 bytes as text: low bytes first, deflated.

    Bytes of one rank stand together, because the high ones change little.
    """
    low_first = values.astype(values.dtype.newbyteorder("<"), copy=False)
    shuffled = low_first.view(np.uint8).reshape(len(values), values.itemsize).T
    return base64.b64encode(zlib.compress(np.ascontiguousarray(shuffled).tobytes(), 6)).decode()


def unpacked(text: str, dtype: type[np.unsignedinteger]) -> Array:
    """Return the integers of `packed`."""
    raw = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    width = np.dtype(dtype).itemsize
    rows = np.ascontiguousarray(raw.reshape(width, -1).T)
    return rows.view(np.dtype(dtype).newbyteorder("<")).ravel()


def quantised(values: Array) -> tuple[Array, Array, Array]:
    """Return whole numbers q in 0…65535 with values ≈ low + q·(high - low)/65535.

    Parameters
    ----------
    values : array of shape (n, k)
        Coordinates, finite.

    Returns
    -------
    q : uint16 array of shape (n, k)
        The error is at most (high - low)/131070, a hundredth of a pixel on a wide screen.
    low, high : array of shape (k,)
        The ends of each column; high > low also where all values are equal.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    high = np.where(high > low, high, low + np.maximum(np.abs(low), 1.0))
    q = np.round((values - low) / (high - low) * _LEVELS)
    return q.astype(np.uint16), low, high


def morton(x: Array, y: Array) -> Array:
    """Return codes of 32 bits whose even bits are x and whose odd bits are y.

    Points that follow each other in this order lie near each other: differences are small.
    """
    return _spread(x) | (_spread(y) << np.uint32(1))


def _spread(values: Array) -> Array:
    """Put a zero before every bit of 16."""
    bits = values.astype(np.uint32)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        bits = (bits | (bits << np.uint32(shift))) & np.uint32(mask)
    return bits
