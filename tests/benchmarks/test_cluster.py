import json

import numpy as np
import pytest
from benchmarks import cluster, table

from mercer import PCA


@pytest.fixture
def sync():
    """Dask in this thread alone."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.usefixtures("sync")
def test_the_rows_are_those_of_the_blocks():
    X = cluster.array_of(3, 50, 12)
    assert X.chunks == ((50, 50, 50), (12,))
    whole = np.concatenate(list(cluster._blocks(3, 50, 12)()))
    np.testing.assert_array_equal(X.compute(), whole)
    assert abs(float(whole.mean()) - 100) < 1
    assert len({block.tobytes() for block in np.split(whole, 3)}) == 3


def test_the_reference_is_that_of_lapack():
    whole = np.concatenate(list(cluster._blocks(3, 50, 12)()))
    found = cluster.variances_of(3, 50, 12, 4)
    np.testing.assert_allclose(found, cluster.lapack_variances(whole, 4), rtol=1e-11)


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("name", list(cluster.shapes()))
def test_shapes_on_which_dask_ml_is_off(name):
    import dask.array as da

    x, k = cluster.shapes()[name]
    parted = da.from_array(x, chunks=(max(2, -(-len(x) // 4)), x.shape[1]))
    model = PCA(k).fit(parted)
    truth = cluster.lapack_variances(x, k)
    np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-10)
    assert model.certificate_.met


RESULT = {
    "cells": [
        {
            "case": "generated-10m",
            "seconds": 9.5,
            "over_threads": 1.125,
            "error": 2e-15,
            "peak_bytes": 300_000_000,
            "planned_bytes": 500_000_000,
            "holds": True,
        },
        {
            "case": "forecast",
            "symmetric_gflops": [60.0, 30.0],
            "thin_gflops": [40.0, 16.0],
            "task_seconds": 0.0012,
            "network_bytes_per_second": 9e8,
            "holds": True,
        },
    ]
}


def test_the_section_names_its_file():
    text = "\n".join(cluster.section(RESULT))
    assert "results/cluster.json" in text
    assert "| generated-10m |  |  | 9.5 | 1.12 | 2e-15 |  | 300 | 500 | yes |" in text


def test_the_forecasts_stand_between_their_marks(tmp_path):
    from benchmarks.cluster_model import foreseen

    from mercer.planning import Machine

    forecasts = [foreseen(10**9, p, w, Machine()) for p in (100, 2_000) for w in (16, 64)]
    RESULT["cells"][1]["forecasts"] = forecasts
    (tmp_path / "cluster.json").write_text(json.dumps(RESULT))
    page = tmp_path / "cluster.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    assert table._forecasts(tmp_path, page) == [page]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert text.count("**") == 2 * 4  # one path is taken each time
    assert "| 100 | 16 | 6,250 | **gram** | 1 |" in text
    assert "1.2 ms a task" in text
    times = [each["paths"][0]["seconds"] for each in forecasts]
    assert times[1] < 0.5 * times[0]
    assert times[2] > 5 * times[0]


def test_a_page_without_marks_is_left_alone(tmp_path):
    assert table._forecasts(tmp_path, tmp_path / "none.md") == []
