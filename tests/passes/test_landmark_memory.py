"""What landmarks take: m × m for sums however many rows, n × m for a factor, never n × n."""

import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mercer.kernels import RBF, NegativeDistance
from mercer.operators import Landmarks, LandmarkSums, choose


def peak_of(call):
    """Return the largest number of bytes that Python and NumPy held, one thread at work."""
    tracemalloc.start()
    try:
        with threadpool_limits(1, user_api="blas"):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rows(n, p=8):
    return np.random.default_rng(0).standard_normal((n, p))


@pytest.mark.parametrize("kernel", [RBF(3.0), NegativeDistance()], ids=str)
def test_sums_take_no_more_for_more_rows(kernel):
    marks = Landmarks.of(kernel, rows(60))
    few, many = rows(25_000), rows(100_000)  # both long enough to keep every lane busy
    w = np.ones(100_000)
    LandmarkSums(marks).add(few)  # what is prepared once is there
    # Lanes whose tiles do not overlap in time hide a buffer, other threads add to the peak.
    small = max(peak_of(lambda: LandmarkSums(marks).add(few, w[:25_000])) for _ in range(3))
    large = min(peak_of(lambda: LandmarkSums(marks).add(many, w)) for _ in range(3))
    assert large < small + 1e6  # F would be 36 MB more
    assert large < 8e6


def test_features_come_block_by_block():
    marks = Landmarks.of(RBF(3.0), rows(60))
    X = rows(50_000)

    def walk():
        for _, f, _ in marks.blocks(X):
            assert f.shape[0] <= 4096

    walk()
    assert peak_of(walk) < 8e6


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 8), (np.float32, 4)])
def test_a_factor_takes_n_times_m(dtype, size):
    n, m, p = 20_000, 60, 8
    X = rows(n, p).astype(dtype)
    choose(RBF(3.0), X[:500], 20, dtype=dtype)
    held = peak_of(lambda: choose(RBF(3.0), X, m, dtype=dtype))
    # F, one copy of the rows, some columns of length n, and a few tiles.
    assert held < n * m * size + 1.5 * n * p * size + 20 * n * 8 + 12e6
