import json

import numpy as np
import pytest
from benchmarks import multivariate
from benchmarks.multivariate import CASES, PARTS, categories, compared, counts, inertias, topics


def test_data_are_a_function_of_the_seed():
    np.testing.assert_array_equal(counts(40, 12), counts(40, 12))
    assert not np.array_equal(counts(40, 12), counts(40, 12, seed=1))
    assert categories(30, 3, 5).equals(categories(30, 3, 5))
    table = topics(400, 50, 5)
    assert table.sum() == 2000
    assert table.has_canonical_format
    assert abs(table - topics(400, 50, 5)).max() == 0


def test_inertias_are_those_of_the_independent_model():
    table = np.array([[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]])
    assert 592 * inertias(table).sum() == pytest.approx(138.2898, abs=1e-4)


@pytest.mark.parametrize("error", [1e-9, 1e-3])
def test_a_cell_holds_where_all_three_do(error):
    truth = {"values": [0.5, 0.25]}
    ours = {
        "values": [0.5, 0.25 * (1 + error)],
        "seconds": 1.0,
        "peak_bytes": 10,
        "path": "svd",
    }
    theirs = {"values": [0.5, 0.25 * (1 + 1e-6)], "seconds": 6.0, "peak_bytes": 40}
    cell = compared(ours, theirs, truth)
    assert cell["ratio"] == 6
    assert cell["memory_share"] == 0.25
    assert cell["error"] == pytest.approx(error, rel=1e-6)
    assert cell["holds"] is (error < 1e-6)
    assert not compared({**ours, "seconds": 2.0}, theirs, truth)["holds"]
    assert not compared({**ours, "peak_bytes": 20}, theirs, truth)["holds"]
    json.dumps(cell)


@pytest.mark.slow
def test_both_sides_measure_the_same_table():
    pytest.importorskip("prince")
    ours, theirs = multivariate.our_ca(200), multivariate.their_ca(200)
    cell = compared(ours, theirs, multivariate.ca_truth(200))
    assert cell["error"] < 1e-9
    assert cell["rival_error"] < 0.1
    assert cell["path"] in ("svd", "gram")


def test_passes_are_counted(monkeypatch):
    from mercer.operators import Framed

    monkeypatch.setattr(Framed, "gram_matmat", Framed.gram_matmat)  # put back afterwards
    cell = multivariate.sparse_ca(5000, 3000, 10)
    assert (cell["path"], cell["met"]) == ("krylov", True)
    assert cell["passes"] > 2
    assert cell["floor_seconds"] > 0
    assert cell["stored_cells"] <= 50_000


def test_every_part_can_be_called_by_name():
    assert not set(CASES) & set(PARTS)
    with pytest.raises(RuntimeError, match="KeyError"):
        multivariate.part("nothing")
