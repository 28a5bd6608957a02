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


def record(seconds, *, correct=True, solver=None, **more):
    return {"median": seconds, "correct": correct, "facts": {"solver": solver, **more}}


def make(group="dense", dtype="float64", **rivals):
    cell = {
        "case": "a-case",
        "group": group,
        "dtype": dtype,
        "rows": 1000,
        "columns": 100,
        "floors": {"data_bytes": 800_000},
        "rivals": {name.replace("_", "-", 1): value for name, value in rivals.items()},
    }
    cell["verdict"] = verdict.judge(cell)
    return cell


def test_a_wrong_solver_is_no_rival():
    cell = make(
        mercer=record(1.0, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="randomized"),
        sklearn_full=record(4.0, solver="full"),
    )
    judged = cell["verdict"]
    assert judged["rival"] == "sklearn-full"
    assert judged["kind"] == "other"
    assert judged["speedup"] == 4.0
    assert judged["holds"]


@pytest.mark.parametrize(("seconds", "holds"), [(1.0, True), (1.25, True), (1.26, False)])
def test_beside_covariance_eigh_a_quarter_more_is_allowed(seconds, holds):
    judged = make(
        mercer=record(seconds, solver="gram"),
        sklearn_auto=record(1.0, solver="covariance_eigh"),
        sklearn_covariance_eigh=record(1.1, solver="covariance_eigh"),
    )["verdict"]
    assert judged["kind"] == "gram"
    assert judged["holds"] is holds


@pytest.mark.parametrize(("seconds", "holds"), [(1.0, True), (1.01, False)])
def test_beside_the_others_slower_is_a_miss(seconds, holds):
    judged = make(
        mercer=record(seconds, solver="krylov"), sklearn_arpack=record(1.0, solver="arpack")
    )["verdict"]
    assert judged["holds"] is holds


def test_where_there_is_no_rival():
    judged = make(
        mercer=record(9.0, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="covariance_eigh"),
    )["verdict"]
    assert judged["kind"] == "unrivalled"
    assert judged["holds"] is True
    assert make(mercer=record(1.0, solver="gram"))["verdict"]["holds"] is None
    judged = make(
        mercer=record(1.0, solver="gram"),
        sklearn_tuned=record(0.5, solver="randomized"),
        sklearn_arpack=record(3.0, solver="arpack"),
    )["verdict"]
    assert judged["rival"] == "sklearn-arpack"
    assert make("real", mercer=record(1.0))["verdict"]["holds"] is None
    judged = make(
        mercer=record(0.1, correct=False, solver="gram"),
        sklearn_arpack=record(1.0, solver="arpack"),
    )["verdict"]
    assert judged["holds"] is False
    nobody = make(
        mercer=record(0.1, correct=False, solver="gram"),
        sklearn_auto=record(0.1, correct=False, solver="covariance_eigh"),
    )["verdict"]
    assert nobody["kind"] == "unrivalled"
    assert nobody["holds"] is False


@pytest.mark.parametrize(
    ("dtype", "speedup", "holds"),
    [("float64", 3.0, True), ("float64", 2.9, False), ("float32", 3.9, False)],
)
def test_sparse_is_measured_against_the_default_right_or_wrong(dtype, speedup, holds):
    judged = make(
        "sparse",
        dtype,
        mercer=record(1.0, solver="gram"),
        sklearn_auto=record(speedup, correct=False, solver="arpack"),
        sklearn_covariance_eigh=record(0.5, solver="covariance_eigh"),
    )["verdict"]
    assert judged["rival"] == "sklearn-auto"
    assert judged["holds"] is holds


def test_memory_is_judged():
    cell = make(mercer=record(1.0, solver="gram"))
    assert verdict.memory_limit(cell, "gram", None) == 0.2 * 800_000 + 24 * 100**2
    assert verdict.memory_limit(cell, "krylov", 60) == 0.2 * 800_000 + 32 * 100 * 60
    assert verdict.memory_limit(cell, "krylov", None) is None
    ours = record(1.0, solver="krylov", basis=10)
    kept = make(mercer={**ours, "peak_bytes": 192_000})["verdict"]
    broken = make(mercer={**ours, "peak_bytes": 192_001})["verdict"]
    assert kept["memory_holds"] is True
    assert broken["memory_holds"] is False


def test_the_summary_counts():
    gram = make(
        mercer=record(1.2, solver="gram"), sklearn_auto=record(1.0, solver="covariance_eigh")
    )
    twice = make(mercer=record(1.0, solver="gram"), sklearn_arpack=record(2.0, solver="arpack"))
    level = make(mercer=record(1.0, solver="gram"), sklearn_arpack=record(1.5, solver="arpack"))
    summary = verdict.summarise([gram, level] + [twice] * 8)
    assert summary["dense_holds"]
    assert summary["gram_holds"] == summary["gram_cells"] == 1
    assert summary["gram_worst_ratio"] == 1.2
    assert (summary["other_cells"], summary["other_twice_as_fast"]) == (9, 8)
    assert not verdict.summarise([gram, level] + [twice] * 7)["dense_holds"]
    slow = make(mercer=record(3.0, solver="gram"), sklearn_arpack=record(2.0, solver="arpack"))
    summary = verdict.summarise([slow] + [twice] * 8)
    assert summary["other_slower"] == 1
    assert not summary["dense_holds"]
    assert summary["sparse_holds"] is None
