import gc
import json
import time

import numpy as np
import pytest
from benchmarks import scale
from benchmarks.roofs import Roofs
from benchmarks.watch import Watch, clouds

CELL = {
    "case": "exact-100000",
    "target": "half-width 1e-4",
    "path": "tiles",
    "seconds": 30.0,
    "over_floor": 1.4,
    "reached": 3e-5,
    "peak_bytes": 900_000_000,
    "planned_bytes": 1_200_000_000,
    "holds": True,
}


def test_clouds_are_the_same_every_time():
    first, second = clouds(50, 3), clouds(50, 3)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, second)
    assert clouds(50, 3, dtype="float64").dtype == np.float64


def test_a_watch_sees_time_and_memory():
    gc.collect()
    with Watch() as watch:
        held = np.ones(20_000_000)
        time.sleep(0.1)
    assert watch.seconds >= 0.1
    if watch.base:  # the system tells the memory of a process
        assert 0.5 * held.nbytes <= watch.peak <= 2 * held.nbytes


def test_roofs_are_measured_and_added_up():
    roofs = Roofs.measured("float32", 4, 8, 1)
    assert min(roofs.product, roofs.exponential, roofs.thin, roofs.solve, roofs.gram) > 0
    pairs = 0.5 * 3 * 4
    each = roofs.product + roofs.exponential + 2 * roofs.thin
    assert roofs.walk(3 * roofs.side) == pytest.approx(pairs * each)
    assert roofs.landmarks(2 * roofs.side, 8) > 2 * (roofs.solve + roofs.gram)
    json.dumps(roofs.facts())


def test_a_cell_in_words():
    text = scale.line(CELL)
    for part in ("exact-100000", "30 s", "1.4x the floor", "900 MB", "holds"):
        assert part in text
    assert "MISSED" in scale.line({**CELL, "holds": False})
    assert "failed" in scale.line({"case": "x", "failed": ["no"]})


def test_the_page_has_a_row_for_each_cell():
    lines = scale.section({"cells": [CELL, {"case": "samplers", "holds": False}]})
    assert sum(line.startswith(("| exact", "| samplers")) for line in lines) == 2
    assert "**no**" in "\n".join(lines)
