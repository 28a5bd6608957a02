"""Kernels: functions of two rows, as immutable values that add and multiply and own no data.

Every kernel carries a flag that says what is known of it for all data (`Flag`), and a tile
program that `mercer.arrays` runs in place. Strings such as ``"rbf(lengthscale=2) + linear"``
are read by `as_kernel`.
"""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
