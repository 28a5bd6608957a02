"""Which library an array belongs to, and the two ways in and out of it.

Units of rounding, and exact powers of two.

Random blocks: the same numbers on every library and device for one seed.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

from mercer.errors import REFUSALS, InputError, InputTypeError, first_line

Array: TypeAlias = Any  # any array of the array API standard
Namespace: TypeAlias = Any


# From 2.1 on NumPy has every word of the standard itself.
_NUMPY: Namespace = np if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else None


def namespace(*arrays: Array) -> Namespace:
    """Return the array namespace that `arrays` share."""
    for array in arrays if _NUMPY is not None else ():
        if type(array) is not np.ndarray:
            break
    else:
        if _NUMPY is not None and arrays:
            return _NUMPY
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError:
        raise InputTypeError(
            "these are no arrays of one library",
            got=", ".join(type(array).__name__ for array in arrays),
            fix="pass NumPy arrays",
        ) from None


def is_numpy(array: Array) -> bool:
    """Tell whether `array` lives in NumPy, where buffers can be written in place."""
    return isinstance(array, np.ndarray)


def is_sparse(rows: Any) -> bool:
    """Tell whether `rows` is a SciPy sparse matrix, without importing SciPy for the answer."""
    return hasattr(rows, "tocsr") and hasattr(rows, "nnz")


def as_objects(things: Iterable[Any]) -> Array:
    """Return things of any kind as an array (n,); NumPy would make a table of equal lists."""
    if is_objects(things):
        return things
    held = things if isinstance(things, Sequence) else list(things)
    return np.fromiter(held, dtype=object, count=len(held))


def is_objects(rows: Any) -> bool:
    """Tell whether rows are an array of things that need not be numbers."""
    return is_numpy(rows) and rows.dtype == object and rows.ndim == 1


def as_numpy(array: Array) -> np.ndarray[Any, Any]:
    """Return `array` as a NumPy array on the host, without a copy where possible."""
    if is_numpy(array):
        return np.asarray(array)
    if array_api_compat.is_torch_array(array):
        held = array.detach().cpu()
        return np.asarray(held.float() if "bfloat16" in str(held.dtype) else held)
    return np.from_dlpack(array) if hasattr(array, "__dlpack__") else np.asarray(array)


def detached(data: Any) -> Any:
    """Return a tensor of torch as a NumPy array, without gradients; others as they are."""
    if isinstance(data, np.ndarray) or not array_api_compat.is_torch_array(data):
        return data
    try:
        return as_numpy(data)
    except (TypeError, RuntimeError) as error:  # layouts and types that NumPy does not know
        raise InputError(
            "this tensor cannot be read as an array",
            got=f"{type(data).__name__} of {data.dtype}: {first_line(error)}",
            fix="pass a dense one of float32 or float64: X.to_dense().float()",
        ) from None


def as_floats(values: Any, what: str) -> np.ndarray[Any, Any]:
    """Return numbers of any library as float64; what holds none is refused by its name."""
    try:
        dense = values.toarray() if is_sparse(values) else values
        return np.asarray(as_numpy(dense) if hasattr(dense, "dtype") else dense, np.float64)
    except REFUSALS as error:
        raise InputError(
            f"{what} must be an array of numbers",
            got=f"{type(values).__name__}: {first_line(error)}",
            fix="pass a NumPy array of numbers",
        ) from None


def asarray_like(values: Array, like: Array, dtype: Any = None) -> Array:
    """Return host `values` in the library and on the device of `like`."""
    xp = namespace(like)
    return xp.asarray(
        values,
        dtype=like.dtype if dtype is None else dtype,
        device=array_api_compat.device(like),
    )


EPS = float(np.finfo(np.float64).eps)  # all sums are kept in float64
EXACT = 2.0**53  # whole numbers up to here are exact in float64


def eps_of(dtype: Any) -> float:
    """Return the spacing of floating numbers at 1 in `dtype`; 0 for integers (exact)."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0


def wide_dtype(like: Array) -> Any:
    """Return float64 as the namespace of `like` spells it."""
    return namespace(like).float64


def binary_exponent(largest: float) -> int:
    """Return e with 2^(e-1) <= largest < 2^e, and 0 for zero.

    Multiplying by 2^-e is exact, so a unit taken from it costs no digits.
    """
    return int(np.frexp(largest)[1]) if largest > 0 else 0


def itemsize(t: Array) -> int:
    """Return the bytes of a number: 4 for float32, else 8."""
    size = getattr(t.dtype, "itemsize", None)  # a name takes time to write down
    narrow = str(t.dtype).endswith("float32") if size is None else size == 4
    return 4 if narrow else 8


def gaussian(shape: tuple[int, int], like: Array, seed: int, stream: int = 0) -> Array:
    """Return independent N(0, 1) numbers in float64, in the place of `like`.

    Blocks of different `stream` are independent of each other for the same `seed`: the
    probes of a certificate must know nothing of the block that started the iteration.
    """
    numbers = np.random.default_rng([seed, stream]).standard_normal(shape)
    return asarray_like(numbers, like, wide_dtype(like))
