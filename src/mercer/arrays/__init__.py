"""The only room that knows how array libraries, threads and memory differ."""

from mercer.arrays._draws import gaussian
from mercer.arrays._lanes import Lanes, single_threaded_blas, thread_count
from mercer.arrays._linalg import (
    eigh,
    eigh_in_place,
    eigvalsh,
    interruptible,
    orthonormal,
    qr,
    quiet_blas,
    svd,
    triangle,
)
from mercer.arrays._memory import anonymous_bytes, available_bytes, parse_bytes, show_bytes
from mercer.arrays._namespace import (
    Array,
    Namespace,
    as_numpy,
    asarray_like,
    is_numpy,
    namespace,
)
from mercer.arrays._precision import EPS, binary_exponent, eps_of, wide_dtype
from mercer.arrays._products import rows_times
from mercer.arrays._tiles import (
    Tiles,
    add_gram,
    column_squares,
    column_sums,
    in_units,
    scratch,
    shifted,
)

__all__ = [
    "EPS",
    "Array",
    "Lanes",
    "Namespace",
    "Tiles",
    "add_gram",
    "anonymous_bytes",
    "as_numpy",
    "asarray_like",
    "available_bytes",
    "binary_exponent",
    "column_squares",
    "column_sums",
    "eigh",
    "eigh_in_place",
    "eigvalsh",
    "eps_of",
    "gaussian",
    "in_units",
    "interruptible",
    "is_numpy",
    "namespace",
    "orthonormal",
    "parse_bytes",
    "qr",
    "quiet_blas",
    "rows_times",
    "scratch",
    "shifted",
    "show_bytes",
    "single_threaded_blas",
    "svd",
    "thread_count",
    "triangle",
    "wide_dtype",
]
