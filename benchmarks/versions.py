"""Two versions of mercer in one run: ``./run bench versions --against TREE``.

TREE is a folder with the sources of another version, such as ``git worktree add TREE COMMIT``
makes. Each version lives in a process of its own, which makes the data from a seed, fits once
to warm up, and then waits; the two fit in turns, so that a slow spell of the machine meets
both. A case that is slower by more than 5 % is measured once more. What is compared is the
quickest quarter of the turns, as noise only ever adds.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.cases import DENSE_SHAPES
from benchmarks.factors import Factors
from benchmarks.machine import ROOT
from benchmarks.multivariate import categories, counts, topics
from benchmarks.runner import write
from benchmarks.timing import PAUSE_SECONDS
from benchmarks.watch import clouds

LIMIT = 1.05  # how much slower the version of this tree may be
MOST, LEAST, SECONDS = 40, 5, 12.0  # turns of a case, and what they may take together

Fit = Callable[[], Any]


def _dense(shape: tuple[int, int], dtype: str) -> Fit:
    import mercer

    X = Factors(*shape, 1.0, dtype).load()
    return lambda: mercer.PCA(10).fit(X)


def _noise(dtype: str) -> Fit:
    import mercer

    X = np.random.default_rng(0).standard_normal((6000, 64)).astype(dtype)
    return lambda: mercer.KernelPCA(20, memory="4GB").fit(X)


def _kernel(n: int, **how: Any) -> Fit:
    import mercer

    X = clouds(n, 30)
    return lambda: mercer.KernelPCA(20, **how).fit(X)


def _small(method: str, n: int, p: int) -> Fit:
    import mercer

    X = np.random.default_rng(0).standard_normal((n, p))
    return lambda: getattr(mercer, method)(2).fit(X)


def _project(method: str) -> Fit:
    import mercer

    X = np.random.default_rng(0).standard_normal((1000, 20))
    model, row = getattr(mercer, method)(2).fit(X), X[:1]
    return lambda: [model.transform(row) for _ in range(20)]


def _file() -> Fit:
    import mercer

    folder = tempfile.mkdtemp(prefix="mercer-versions-")
    path = Path(folder) / "rows.npy"
    np.save(path, Factors(300_000, 200, 1.0, "float32").load())
    return lambda: mercer.PCA(20, memory="80MB").fit(path)


def _method(name: str, X: Callable[[], Any]) -> Fit:
    import mercer

    table = X()
    return lambda: getattr(mercer, name)(5).fit(table)


CASES: dict[str, Callable[[], Fit]] = {
    **{
        f"dense-{rows}x{columns}-{dtype}": partial(_dense, (rows, columns), dtype)
        for rows, columns in DENSE_SHAPES
        for dtype in ("float64", "float32")
    },
    **{f"kernel-noise64-{dtype}": partial(_noise, dtype) for dtype in ("float64", "float32")},
    "scale-tiles-12000": partial(_kernel, 12_000, tol=1e-4, memory="150MB"),
    "scale-landmarks-200000": partial(_kernel, 200_000, landmarks=500),
    "outofcore-300000x200": _file,
    "multivariate-ca": partial(_method, "CorrespondenceAnalysis", partial(counts, 4000, 400)),
    "multivariate-mca": partial(
        _method, "MultipleCorrespondenceAnalysis", partial(categories, 20_000, 20, 5)
    ),
    "multivariate-sparse-ca": partial(
        _method, "CorrespondenceAnalysis", partial(topics, 100_000, 2000, 10)
    ),
    "small-pca-150x4": partial(_small, "PCA", 150, 4),
    "small-pca-5000x50": partial(_small, "PCA", 5000, 50),
    "small-kernel-pca-500x20": partial(_small, "KernelPCA", 500, 20),
    "small-isomap-500x20": partial(_small, "Isomap", 500, 20),
    "row-pca": partial(_project, "PCA"),
    "row-kernel-pca": partial(_project, "KernelPCA"),
}


def serve(name: str) -> None:
    """Be one version: make a case, then fit it for every line that comes, and say how long."""
    warnings.simplefilter("ignore")
    fit = CASES[name]()
    fit()
    print("ready", flush=True)
    for _ in sys.stdin:
        gc.collect()
        start = time.perf_counter()
        fit()
        print(time.perf_counter() - start, flush=True)


class Version:
    """One version in a process of its own, waiting to fit a case."""

    def __init__(self, tree: Path, case: str):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.versions", case],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(tree / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hear()

    def hear(self) -> str:
        """Return the next line that the process says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"a version ended with {self.process.wait()}")
        return line

    def fit(self) -> float:
        """Return the seconds of one fit."""
        assert self.process.stdin is not None
        time.sleep(PAUSE_SECONDS)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.hear())

    def end(self) -> None:
        """Let the process end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(name: str, trees: tuple[Path, Path]) -> dict[str, Any]:
    """Return the seconds of both versions, and their ratio (this tree over the other)."""
    pair = [Version(tree, name) for tree in trees]
    taken: list[list[float]] = [[], []]
    start = time.monotonic()
    while len(taken[0]) < MOST and (
        len(taken[0]) < LEAST or time.monotonic() - start < SECONDS
    ):
        order = (0, 1) if len(taken[0]) % 2 == 0 else (1, 0)
        for which in order:
            taken[which].append(pair[which].fit())
    for version in pair:
        version.end()
    ours, theirs = (mean(sorted(each)[: max(1, len(each) // 4)]) for each in taken)
    return {
        "case": name,
        "turns": len(taken[0]),
        "seconds": ours,
        "seconds_before": theirs,
        "median": median(taken[0]),
        "median_before": median(taken[1]),
        "ratio": ours / theirs,
        "holds": ours <= LIMIT * theirs,
    }


def run(out: Path, pattern: str, other: Path) -> None:
    """Measure every case that matches and write the result file after each."""
    result: dict[str, Any] = {
        "schema": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine.commit(),
        "against": machine.commit(other)["commit"],
        "machine": machine.describe(),
        "cells": [],
    }
    trees = (ROOT, other.resolve())
    for name in CASES:
        if fnmatch(name, pattern):
            cell = measure(name, trees)
            if not cell["holds"]:
                cell = {**measure(name, trees), "first_ratio": cell["ratio"]}
            result["cells"].append(cell)
            print(json.dumps(cell), file=sys.stderr)
            write(result, out)


if __name__ == "__main__":
    serve(sys.argv[1])
