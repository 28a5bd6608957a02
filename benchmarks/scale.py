"""Kernel PCA past the stored matrix: ``python -m benchmarks scale [--case PATTERN]``.

Every case runs in a process of its own, so that its memory is its own. The roofs (products,
exponentials, triangular solves at the shapes of the tiles) are measured in that process, with
one thread for each core, just before the fit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.kernel import gamma_of
from benchmarks.nystroem import nystroem_20000
from benchmarks.real import RealData
from benchmarks.roofs import Roofs
from benchmarks.runner import FOLDER, write
from benchmarks.watch import TURNS, Watch, clouds, facts_of, warm

Cell = dict[str, Any]


def mnist_20000(scaled: bool = True) -> Cell:
    """20,000 images, k = 50, float64: at least 20 times scikit-learn's default, 1e-6."""
    from mercer import KernelPCA
    from mercer.kernels import RBF

    x = RealData("mnist", "float64").load()[:20_000]
    gamma = gamma_of(x)
    warm("float64")
    np.empty(8 * 20_000**2 // 8).fill(0.0)  # memory is touched once before anything is timed
    with Watch() as ours:
        model = KernelPCA(50, kernel=RBF((2 * gamma) ** -0.5), tol=1e-6).fit(x)
    facts = facts_of(model, ours)
    del model
    from sklearn.decomposition import KernelPCA as Theirs

    few = x[:10_000] if scaled else x
    with Watch() as theirs:
        Theirs(50, kernel="rbf", gamma=gamma).fit(few)
    seconds = theirs.seconds * (8 if scaled else 1)
    ratio = seconds / ours.seconds
    return {
        **facts,
        "rival_seconds": seconds,
        "rival": "scikit-learn's default" + (", 8 times its 10,000 rows" if scaled else ""),
        "ratio": ratio,
        "holds": ratio >= 20 and facts["reached"] <= 1e-6,
        "target": "20x the default, half-width 1e-6",
    }


def exact_100000() -> Cell:
    """100,000 x 30, k = 20: certified 1e-4, below 2 GB, within twice the tiles' roofs."""
    from mercer import KernelPCA
    from mercer.arrays import thread_count
    from mercer.operators.kernel_matrices._centred_kernel import TileWalk
    from mercer.solvers._eigenvalue_bounds import PROBES

    x = clouds(100_000, 30)
    warm("float32")
    walks, run = [0], TileWalk.run

    def counted(self: Any, visit: Any) -> None:
        walks[0] += 1
        run(self, visit)

    TileWalk.run = counted  # type: ignore[method-assign]
    with Watch() as ours:
        model = KernelPCA(20, tol=1e-4, memory="1.9GB").fit(x)
    facts = facts_of(model, ours)
    block = model.plan_.chosen.solver.block + PROBES  # columns that every walk multiplies
    roofs = Roofs.measured("float32", x.shape[1], block, thread_count())
    floor = walks[0] * roofs.walk(len(x))
    return {
        **facts,
        "walks": walks[0],
        "floor_seconds": floor,
        "roofs": roofs.facts(),
        "over_floor": ours.seconds / floor,
        "rival": "scikit-learn's matrix alone would take 80 GB",
        "holds": bool(
            facts["reached"] <= 1e-4 and ours.peak < 2e9 and ours.seconds <= 2 * floor
        ),
        "target": "half-width 1e-4, 2 GB, twice the floor",
    }


def landmarks_1000000() -> Cell:
    """1,000,000 x 30, 500 landmarks: below 3 GB, within twice the flop limit, certified."""
    from mercer import KernelPCA
    from mercer.arrays import thread_count

    x = clouds(1_000_000, 30)
    warm("float32")
    with Watch() as ours, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(20, landmarks=500).fit(x)
    facts = facts_of(model, ours)
    roofs = Roofs.measured("float64", x.shape[1], 500, thread_count())
    floor = roofs.landmarks(len(x), 500)
    return {
        **facts,
        "floor_seconds": floor,
        "roofs": roofs.facts(),
        "over_floor": ours.seconds / floor,
        "residual_share": model.residual_trace_ / len(x),
        "captured_share": list(model.captured_share_),
        "holds": bool(ours.peak < 3e9 and ours.seconds <= 2 * floor),
        "target": "3 GB, twice the floor",
    }


def projection_20000() -> Cell:
    """MNIST 20,000, k = 50: at least 10 times scikit-learn's points a second, rms 5 %."""
    from sklearn.decomposition import KernelPCA as Theirs

    from mercer import KernelPCA
    from mercer.kernels import RBF

    x = RealData("mnist", "float32").load()
    x, new = x[:20_000], x[20_000:24_000]
    gamma = gamma_of(x)
    model = KernelPCA(50, kernel=RBF((2 * gamma) ** -0.5)).fit(x)
    truth = model.transform(new)
    scale = np.sqrt(model.explained_variance_)
    theirs = Theirs(50, kernel="rbf", gamma=gamma, eigen_solver="randomized").fit(x)
    theirs.transform(new[:100])
    with Watch() as slow:
        theirs.transform(new)
    with Watch() as exact:
        model.transform(new)
    curve = []
    for m in (250, 500, 1000, 2000, 4000):
        curve.append(_compressed(model, new, truth, scale, m))
        curve[-1]["over_rival"] = slow.seconds / curve[-1]["seconds"]
    holds = any(c["rms"] <= 0.05 and c["over_rival"] >= 10 and c["bounded"] for c in curve)
    return {
        "rival": "scikit-learn's transform",
        "rival_points_per_second": len(new) / slow.seconds,
        "exact_points_per_second": len(new) / exact.seconds,
        "curve": curve,
        "seconds": exact.seconds,
        "holds": holds and all(c["bounded"] for c in curve),
        "target": "10x the points a second at rms 5 %, no point above its bound",
    }


def _compressed(model: Any, new: Any, truth: Any, scale: Any, m: int) -> Cell:
    from mercer.estimators.kernel import _new_rows as module
    from mercer.estimators.kernel._fitted_kernel import FittedKernel

    fitted = FittedKernel.of(model)
    slack = module.axis_slack(fitted)
    made = module.made_with(fitted.seen, fitted.projection, fitted.level, m, 0, slack)
    made.project(new[:100])
    each = []
    for _ in range(TURNS):  # a tenth of a second: threads of other work may still be there
        with Watch() as quick:
            found = made.project(new)
        each.append(quick.seconds)
    seconds = float(np.median(each))
    apart = np.abs(found - truth)
    _, bound = made.bounded(new)
    return {
        "landmarks": m,
        "seconds": seconds,
        "points_per_second": len(new) / seconds,
        "rms": float(np.max(np.sqrt(np.mean(apart**2, axis=0)) / scale)),
        "largest": float(np.max(apart / scale)),
        "bounded": bool(np.all(apart <= bound + 1e-4 * scale)),  # the exact ones are float32
    }


def samplers() -> Cell:
    """Residual trace of pivoted landmarks over that of uniform ones, medians of 10 seeds."""
    from sklearn import datasets

    from mercer.kernels import RBF
    from mercer.operators import choose

    rng = np.random.default_rng(0)
    sizes = (4800, 150, 50)
    imbalanced = np.concatenate(
        [rng.standard_normal((n, 2)) * 0.3 + 8 * i for i, n in enumerate(sizes)]
    )
    sets = {
        "digits": datasets.load_digits().data,
        "iris": datasets.load_iris().data,
        "breast cancer": datasets.load_breast_cancer().data,
        "wine": datasets.load_wine().data,
        "swiss roll": datasets.make_swiss_roll(2000, random_state=0)[0],
        "clouds": clouds(3000, 30, dtype="float64"),
        "imbalanced": imbalanced,
    }
    found = {}
    for name, x in sets.items():
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
        kernel = RBF() if name != "imbalanced" else RBF(0.15)
        kernel = kernel.resolve(x)
        m = 200 if name == "imbalanced" else min(200, len(x) // 3)
        traces = {
            s: float(
                np.median([choose(kernel, x, m, sampler=s, seed=i).trace for i in range(10)])
            )
            for s in ("pivoted", "uniform", "kmeans++")
        }
        found[name] = {"landmarks": m, **traces, "ratio": traces["pivoted"] / traces["uniform"]}
    holds = all(c["ratio"] <= 1.05 for c in found.values())
    holds = holds and found["imbalanced"]["ratio"] <= 0.1
    return {"sets": found, "seconds": None, "holds": holds, "target": "1.05, imbalanced 0.1"}


CASES: dict[str, Callable[[], Cell]] = {
    "mnist-20000": mnist_20000,
    "exact-100000": exact_100000,
    "landmarks-1000000": landmarks_1000000,
    "nystroem-20000": nystroem_20000,
    "projection-20000": projection_20000,
    "samplers": samplers,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.scale")


def run_cases(
    out: Path, pattern: str, cases: dict[str, Callable[[], Cell]], module: str
) -> None:
    """Run each case that matches in a process of its own: ``python -m module CASE``."""
    before = json.loads(out.read_text()) if out.exists() else {"cells": []}
    kept = [cell for cell in before["cells"] if not fnmatch(cell["case"], pattern)]
    result: Cell = {
        "schema": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **machine.commit(),
        "machine": machine.describe(),
        "versions": machine.versions(("scikit-learn",)),
        "cells": kept,
    }
    if before.get("remark"):
        result["remark"] = before["remark"]
    for name in cases:
        if fnmatch(name, pattern):
            command = [sys.executable, "-m", module, name]
            done = subprocess.run(
                command, cwd=FOLDER.parent, capture_output=True, text=True, check=False
            )
            cell = {"case": name, "measured": datetime.now(UTC).isoformat(timespec="seconds")}
            if done.returncode:
                cell["failed"] = done.stderr.strip().splitlines()[-1:]
            else:
                cell |= json.loads(done.stdout.splitlines()[-1])
            result["cells"].append(cell | machine.commit())
            write(result, out)
            print(line(cell), file=sys.stderr, flush=True)


def line(cell: Cell) -> str:
    """Return one cell as a line."""
    if "failed" in cell:
        return f"{cell['case']}: failed: {cell['failed']}"
    parts = [f"{cell['seconds']:.3g} s"] if cell.get("seconds") else []
    for name, unit, words in (
        ("ratio", "x", "the rival"),
        ("over_floor", "x", "the floor"),
        ("reached", "", "half-width"),
    ):
        if cell.get(name) is not None:
            parts.append(f"{cell[name]:.3g}{unit} {words}")
    if cell.get("peak_bytes"):
        parts.append(f"{cell['peak_bytes'] / 1e6:.0f} MB")
    return f"{cell['case']}: {', '.join(parts)}; {'holds' if cell['holds'] else 'MISSED'}"


def section(
    result: Cell, title: str = "Kernel PCA past the stored matrix", name: str = "scale"
) -> list[str]:
    """Return the lines of the docs page."""
    lines = [
        f"## {title}",
        "",
        f"`benchmarks/results/{name}.json`; made by `python -m benchmarks {name}`, which says"
        " in its docstrings what each case is.",
        "",
        "| case | target | path | seconds | over floor | over rival | half-width | peak MB |"
        " planned MB | holds |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for cell in result["cells"]:
        row = [cell["case"], cell.get("target", ""), cell.get("path", "")]
        facts = ("seconds", "over_floor", "ratio", "reached")
        row += [_number(cell.get(fact)) for fact in facts]
        row += [_number(cell.get(n) and cell[n] / 1e6) for n in ("peak_bytes", "planned_bytes")]
        row.append("yes" if cell.get("holds") else "**no**")
        lines.append("| " + " | ".join(row) + " |")
    return [*lines, "", *([result["remark"], ""] if result.get("remark") else [])]


def _number(value: float | None) -> str:
    return "" if not value else f"{value:.3g}"


if __name__ == "__main__":  # a process of its own, for its memory alone
    print(json.dumps(CASES[sys.argv[1]]()))
