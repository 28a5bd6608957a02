"""No worker of a cluster takes more memory than the plan says, nor far less."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

from benchmarks.watch import WorkerWatch
from forced import FORCED
from workers import worker_processes

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell"
)


@pytest.fixture(scope="module")
def workers():
    """Two worker processes of one thread each."""
    with worker_processes("4GB") as client:
        yield client


def generated(parts, rows, p):
    """Return an array whose parts are made on the workers, without much arithmetic."""
    import dask.array as da

    def chunk(block_info=None):
        number = block_info[None]["chunk-location"][0]
        some = np.random.default_rng(number).standard_normal((1 + rows // 40, p))
        found = np.tile(some * 0.9 ** np.arange(p), (40, 1))[:rows]
        found += number
        return found

    return da.map_blocks(
        chunk, chunks=((rows,) * parts, (p,)), dtype=float, meta=np.empty((0, 0))
    )


CASES = [
    ("gram", 8, 10_000, 500),
    *(
        pytest.param(*case, marks=pytest.mark.slow)
        for case in (
            ("krylov", 6, 5_000, 500),
            ("svd", 6, 5_000, 300),
            ("gram", 16, 2_500, 2_000),
            ("gram", 100, 5_000, 200),
            ("krylov", 16, 40_000, 100),
            ("svd", 8, 3_000, 1_500),
        )
    ),
]


@pytest.mark.parametrize(("path", "parts", "rows", "p"), CASES)
def test_a_worker_takes_what_was_planned(workers, path, parts, rows, p):
    with WorkerWatch(workers) as watch:
        model = FORCED[path](5).fit(generated(parts, rows, p))
    planned = model.plan_.chosen.worker_bytes
    assert model.plan_.chosen.name == path
    assert f"{parts} parts" in str(model.plan_)
    for peak in watch.peaks:
        assert 0.3 * planned <= peak <= planned
    assert model.certificate_.met


@pytest.mark.usefixtures("workers")
def test_parts_that_no_worker_can_hold_are_refused_before_anything_starts():
    from mercer import PCA
    from mercer.errors import BudgetError

    started = []
    X = generated(2, 2_000_000, 100)  # parts of 1.6 GB, 3.2 GB allowed
    X = X.map_blocks(lambda block: started.append(1) or block, dtype=float, meta=X._meta)
    with pytest.raises(BudgetError, match="no path fits the memory of a worker"):
        PCA(3).fit(X)
    assert not started
