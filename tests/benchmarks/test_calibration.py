"""Rates of statements: counted as they should be, and shown as they were measured."""

import json

import numpy as np
import pytest
from benchmarks import calibration
from benchmarks.calibration.page import page
from benchmarks.calibration.statement import Statement, measured, read_cells
from benchmarks.machine import ROOT


def stated(trial, **more):
    return Statement("a/b", "it rains", "days", trial, runs=200, **more)


def test_a_rate_is_that_of_the_trials_and_its_error_is_binomial():
    cell = measured(stated(lambda seed: seed % 4 == 0, least=0.2, most=0.3))
    assert (cell["rate"], cell["holds"], cell["asked"]) == (0.25, True, 200)
    assert cell["standard_error"] == pytest.approx(np.sqrt(0.25 * 0.75 / 200), abs=1e-5)
    assert not measured(stated(lambda seed: seed % 4 == 0, least=0.26))["holds"]


def test_pairs_count_what_was_asked_and_none_counts_nothing():
    cell = measured(stated(lambda seed: (seed % 2, 1 + seed % 2) if seed < 100 else None))
    assert cell["rate"] == pytest.approx(50 / 150, abs=1e-5)
    assert cell["asked"] == 150
    silent = measured(stated(lambda _: None))
    assert (silent["rate"], silent["holds"]) == (None, False)


def test_cells_that_do_not_match_stay(tmp_path, monkeypatch):
    one, two = stated(lambda _: True), Statement("a/c", "", "", lambda _: False, runs=2)
    monkeypatch.setattr(calibration, "CASES", (one, two))
    out = tmp_path / "calibration.json"
    calibration.run(out)
    first = json.loads(out.read_text())
    calibration.run(out, "*/c")
    again = json.loads(out.read_text())
    assert [cell["case"] for cell in again["cells"]] == ["a/b", "a/c"]
    assert again["cells"][0] == first["cells"][0]


def test_names_stand_once_and_the_page_shows_what_was_measured():
    names = [one.name for one in calibration.CASES]
    assert len(set(names)) == len(names)
    cells = read_cells(ROOT / "benchmarks" / "results" / "calibration.json")
    assert (ROOT / "docs" / "calibration.md").read_text() == page(cells)
