import json

import pytest
from benchmarks import table, verdict


@pytest.fixture
def results(tmp_path):
    """One recorded run with a gram cell, a wrong rival and a skipped one."""
    cell = {
        "case": "dense-1000x100-float64-offset1-k10",
        "group": "dense",
        "rows": 1000,
        "columns": 100,
        "components": 10,
        "dtype": "float64",
        "offset": 1.0,
        "floors": {"data_bytes": 800_000, "read_seconds": 1e-4, "gram_seconds": 2e-4},
        "rivals": {
            "mercer": {
                "median": 0.5,
                "correct": True,
                "error": 1e-12,
                "peak_bytes": 300_000,
                "facts": {"solver": "gram"},
            },
            "sklearn-auto": {
                "median": 1.0,
                "correct": True,
                "error": 1e-13,
                "facts": {"solver": "covariance_eigh"},
            },
            "sklearn-randomized": {"median": 0.2, "correct": False, "error": 3e-2, "facts": {}},
            "faiss": {"skipped": "faiss takes float32 only"},
        },
    }
    cell["verdict"] = verdict.judge(cell)
    result = {
        "started": "2030-01-02T03:04:05+00:00",
        "commit": "0123456789abcdef",
        "changed": False,
        "machine": {"cpu": "a processor", "cores": 2, "load_before": 0.1},
        "versions": {"numpy": "2.0"},
        "roofs": {
            "gram_float64_gflops": 10.0,
            "gram_float32_gflops": 20.0,
            "product_float64_gflops": 11.0,
            "product_float32_gflops": 22.0,
            "copy_gb_per_s": 9.0,
        },
        "rivals": ["mercer", "sklearn-auto", "sklearn-randomized", "faiss"],
        "skipped": {},
        "cells": [cell],
        "summary": verdict.summarise([cell]),
    }
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "dense.json").write_text(json.dumps(result))
    return folder


def test_the_page_says_what_was_measured(results, tmp_path):
    page = tmp_path / "docs" / "benchmarks.md"
    assert table.generate(results, page, tmp_path / "README.md") == [page]
    text = page.read_text()
    assert "commit 0123456789ab." in text
    assert "| sklearn-auto (covariance_eigh) | 1 | 0.50 | <= 1.25x the time | yes |" in text
    assert "*0.2 (3e-02)*" in text
    assert "faiss: faiss takes float32 only (every cell)" in text
    assert "1 of 1 cells (largest ratio 0.50)" in text


def test_every_row_of_a_table_has_the_columns_of_its_head(results, tmp_path):
    page = tmp_path / "benchmarks.md"
    table.generate(results, page, tmp_path / "README.md")
    width = None
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            width = None
            continue
        width = width or line.count("|")
        assert line.count("|") == width


def test_the_readme_block_is_replaced_between_its_markers(results, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.generate(results, tmp_path / "page.md", readme)
    first = readme.read_text()
    assert first.startswith("before\n")
    assert first.endswith("after\n")
    assert "old" not in first
    assert "benchmarks/results/dense.json" in first
    table.generate(results, tmp_path / "page.md", readme)
    assert readme.read_text() == first


def test_without_results_the_page_says_so(tmp_path):
    page = tmp_path / "page.md"
    table.generate(tmp_path, page, tmp_path / "README.md")
    assert "No results have been recorded yet." in page.read_text()
