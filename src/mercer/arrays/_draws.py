"""Random blocks: the same numbers on every library and device for one seed."""

import numpy as np

from mercer.arrays._namespace import Array, asarray_like


def gaussian(shape: tuple[int, int], like: Array, seed: int, stream: int = 0) -> Array:
    """Return independent N(0, 1) numbers in float64, in the place of `like`.

    Blocks of different `stream` are independent of each other for the same `seed`: the
    probes of a certificate must know nothing of the block that started the iteration.
    """
    from mercer.arrays._precision import wide_dtype

    numbers = np.random.default_rng([seed, stream]).standard_normal(shape)
    return asarray_like(numbers, like, wide_dtype(like))
