"""Which library an array belongs to, and the two ways in and out of it."""

from typing import Any, TypeAlias

import array_api_compat
import numpy as np

Array: TypeAlias = Any  # any array of the array API standard
Namespace: TypeAlias = Any


def namespace(*arrays: Array) -> Namespace:
    """Return the array namespace that `arrays` share."""
    return array_api_compat.array_namespace(*arrays)


def is_numpy(array: Array) -> bool:
    """Tell whether `array` lives in NumPy, where buffers can be written in place."""
    return isinstance(array, np.ndarray)


def as_numpy(array: Array) -> np.ndarray[Any, Any]:
    """Return `array` as a NumPy array on the host, without a copy where possible."""
    if is_numpy(array):
        return np.asarray(array)
    if array_api_compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    return np.from_dlpack(array)


def asarray_like(values: Array, like: Array, dtype: Any = None) -> Array:
    """Return host `values` in the library and on the device of `like`."""
    xp = namespace(like)
    return xp.asarray(
        values,
        dtype=like.dtype if dtype is None else dtype,
        device=array_api_compat.device(like),
    )
