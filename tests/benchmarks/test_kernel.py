"""The kernel benchmark judges by correct rivals only, and its table says what held."""

import numpy as np
import pytest
from benchmarks import kernel


def record(seconds, error, tolerance=1e-6):
    return {"median": seconds, "error": error, "correct": error <= tolerance}


def cell(ours=1.0, default=20.0, arpack=3.0, arpack_error=1e-9):
    records = {
        "mercer": record(ours, 1e-8),
        "sklearn-auto": record(default, 1e-12),
        "sklearn-arpack": record(arpack, arpack_error),
        "sklearn-randomized": record(0.5, 1e-3),
    }
    judged = kernel._judged(kernel.CASES[0], records, 900, 1000.0)
    shape = {"case": "mnist-float64", "peak_bytes": 900, "peak_limit": 1000.0}
    return {**shape, "rivals": records, **judged}


def test_a_wrong_rival_sets_no_target():
    assert cell()["fastest_correct"] == "sklearn-arpack"
    assert cell(arpack_error=1e-2)["fastest_correct"] == "sklearn-auto"


@pytest.mark.parametrize(
    ("changed", "holds"),
    [({}, True), ({"default": 14.0}, False), ({"arpack": 1.1}, False), ({"ours": 4.0}, False)],
)
def test_both_ratios_count(changed, holds):
    assert cell(**changed)["holds"] is holds


def test_the_table_has_a_line_for_each_case():
    lines = kernel.section({"started": "2026-01-01T00", "commit": "abc", "cells": [cell()]})
    rows = [line for line in lines if line.startswith("| mnist")]
    assert len(rows) == 1
    assert rows[0].endswith("| yes |")
    assert "MISSED" in kernel.line(cell(default=2.0))


def test_gamma_is_one_over_the_median():
    x = np.random.default_rng(0).standard_normal((500, 3))
    sample = x[::5]
    squared = ((sample[:, None] - sample[None]) ** 2).sum(axis=2)
    median = np.median(squared[np.triu_indices(100, 1)])
    assert kernel.gamma_of(x) == pytest.approx(1 / median)
