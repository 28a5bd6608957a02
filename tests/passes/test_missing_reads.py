"""Chunks with missing cells are read as often as the plan says, those passes included."""

import numpy as np
import pytest

import mercer

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


def counted(X):
    """Return the rows in four chunks, and the list that every reading of one adds to."""
    reads = []

    def read(block, block_info=None):
        if block_info:
            reads.append(block_info[0]["chunk-location"])
        return block

    made = da.from_array(X, chunks=(100, X.shape[1])).map_blocks(
        read, dtype=X.dtype, meta=np.empty((0, 0), X.dtype)
    )
    return made, reads


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize(
    ("components", "missing"), [(3, "em"), ("auto", "em"), (0.9, "em"), (3, "ppca")]
)
def test_every_reading_of_a_chunk_is_in_the_plan(components, missing, share):
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((400, 3)) @ rng.standard_normal((3, 30))
    X += rng.standard_normal(X.shape) + 7
    X[rng.random(X.shape) < share] = np.nan
    data, reads = counted(X)
    model = mercer.PCA(components, missing=missing)
    with dask.config.set(scheduler="sync"):
        ahead = mercer.plan(model, data)
        assert not reads
        model.fit(data)
    assert "1 pass looks for such cells" in str(ahead)
    assert ("after 1 that counted them" if share else "no cell") in str(model.plan_)
    most = 1 + model.em_passes_ + model.plan_.chosen.passes
    again = 0 if missing == "em" or not share else 1  # the sums of the last pass are enough
    assert {at: reads.count(at) for at in reads} == dict.fromkeys(reads, most - again)


def test_whole_numbers_are_not_looked_through():
    data, reads = counted(np.arange(1200).reshape(400, 3) ** 2 % 17)
    with dask.config.set(scheduler="sync"):
        model = mercer.PCA(2, missing="em").fit(data)
    assert "missing" not in str(model.plan_)
    assert max(reads.count(at) for at in reads) == model.plan_.chosen.passes
