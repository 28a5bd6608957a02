"""Everyday cells: the same ones for a seed, judged by correct rivals only."""

import math

import numpy as np
import pytest
from benchmarks import everyday, everyday_methods


def record(ms, error=1e-9, tolerance=1e-6):
    return {"median": ms / 1e3, "error": error, "correct": error <= tolerance}


def test_cells_follow_their_seed():
    assert everyday.drawn(3, 20) == everyday.drawn(3, 20) != everyday.drawn(4, 20)
    cells = everyday.drawn(0)
    assert len({cell.name for cell in cells}) == len(cells) == 60
    for cell in cells:
        assert 2 <= cell.components < cell.rows
        assert cell.rows * cell.columns <= everyday.MOST_CELLS
    assert {cell.spectrum for cell in cells} == set(everyday.SPECTRA)


@pytest.mark.parametrize("spectrum", everyday.SPECTRA)
def test_tables_have_their_spectrum(spectrum):
    cell = everyday.Cell("pca", 4000, 6, 3, spectrum, "float64", 1)
    values = np.sqrt(everyday.exact(cell, cell.load(), 0.0))
    places = np.arange(1.0, 4)
    wanted = {"0.9^i": 0.9**places, "1/i": 1 / places, "i^-1/2": places**-0.5}
    np.testing.assert_allclose(values, wanted.get(spectrum, np.ones(3)), rtol=0.1)


def test_only_correct_rivals_set_a_target():
    rivals = {"mercer": record(2), "auto": record(4), "randomized": record(0.5, 1e-2)}
    found = everyday.judged(rivals)
    assert found["fastest_correct"] == "auto"
    assert found["over_fastest"] == found["over_default"] == 0.5
    assert found["holds"]
    assert not everyday.judged(rivals | {"mercer": record(2, 1e-3)})["holds"]
    assert everyday.judged(rivals | {"mercer": record(5.5)})["holds"]  # within 1.4
    assert not everyday.judged(rivals | {"mercer": record(5.7)})["holds"]
    small = {"mercer": record(1.5), "auto": record(0.95)}
    assert everyday.judged(small)["holds"]  # below a millisecond within 1.6


def test_a_cell_is_measured_and_shown():
    cell = everyday.Cell("pca", 60, 5, 2, "1/i", "float64", 2)
    found = everyday.measure(cell)
    assert {"mercer", "auto", "full", "arpack"} <= set(found["rivals"])
    assert found["rivals"]["mercer"]["correct"]
    assert found["rivals"]["mercer"]["facts"]["met"]
    assert cell.name in everyday.line(found)
    result = {"seed": 2, "commit": "abc", "machine": {}, "cells": [found | {"holds": False}]}
    result["summary"] = everyday.summary(result["cells"])
    text = "\n".join(everyday.section(result))
    assert f"| {cell.name} |" in text
    assert "Where we are above" in text
    result["cells"][0]["holds"] = True
    assert "No cell is above" in "\n".join(everyday.section(result))


def test_pairs_find_the_same():
    pair = next(p for p in everyday_methods.PAIRS if p.name == "ClassicalMDS")
    found = everyday_methods.measure(pair, 80)
    assert found["apart"] < 1e-6
    assert math.isfinite(found["over_fastest"])
