import tracemalloc

import numpy as np
import pytest

import mercer
from mercer.report import page_cost, report


@pytest.mark.parametrize("shape", [(60_000, 20), (4000, 300)])
def test_the_page_stays_below_the_memory_foreseen(shape, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=shape).astype(np.float32))
    model = mercer.PCA(3).fit(path)
    tracemalloc.start()
    try:
        report(model, path).save(tmp_path / "x.html")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < page_cost(shape).bytes


def test_more_rows_and_colours_cost_more():
    small, large = page_cost((1000, 10)), page_cost((10**6, 10), read_seconds=2.0, colours=1)
    assert small.seconds + 2 < large.seconds
    assert small.bytes < large.bytes
    assert str(large).startswith("page: one more walk, about ")
    assert "rows in memory" not in str(large)
    assert str(page_cost((1000, 10), held=True)).endswith(" beside the rows in memory")
