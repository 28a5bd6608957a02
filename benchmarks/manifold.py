"""Maps of graphs against scikit-learn's: ``python -m benchmarks manifold [--case PATTERN]``.

Every case runs in a process of its own. Rows are a swiss roll; rivals solve the same graph.
The error is the largest residual ‖Su - λu‖ of the ten axes, in units of 1 - λ₂, taken from the
coordinates that each returns; a rival above 1e-3 sets no target.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases
from benchmarks.watch import Watch, facts_of

COMPONENTS, NEIGHBOURS = 10, 10
ALLOWED = 1e-3  # residual, in units of 1 - λ₂
ROUNDS = 3  # of fits that take seconds, one after the other and back


def roll(n: int, seed: int = 0) -> NDArray[Any]:
    """Return n points of a swiss roll."""
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)])


def residual(weights: Any, embedding: NDArray[Any]) -> float:
    """Return the largest residual of the axes of a graph, in units of 1 - λ₂."""
    w = scipy.sparse.csr_array(weights)
    degrees = np.asarray(w.sum(axis=1)).ravel()
    root = scipy.sparse.diags_array(degrees**-0.5)
    s = root @ w @ root
    q, _ = np.linalg.qr(embedding * np.sqrt(degrees)[:, None])
    left = q - s @ q
    small, turn = np.linalg.eigh(q.T @ left)
    wrong = np.linalg.norm(left @ turn - (q @ turn) * small, axis=0)
    return float(wrong.max() / small[0])


def ours(x: NDArray[Any]) -> Any:
    """Return mercer's model of the graph that scikit-learn makes of `NEIGHBOURS`."""
    from mercer import LaplacianEigenmaps

    return LaplacianEigenmaps(
        COMPONENTS, neighbours=NEIGHBOURS - 1, symmetric="mean", self_loops=False
    ).fit(x)


def theirs(x: NDArray[Any], solver: str) -> Any:
    """Return scikit-learn's model by one of its solvers."""
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(
        COMPONENTS,
        affinity="nearest_neighbors",
        n_neighbors=NEIGHBOURS,
        eigen_solver=solver,
        random_state=0,
        n_jobs=-1,
    ).fit(x)


def solvers() -> tuple[str, ...]:
    """Return scikit-learn's solvers that can run here, slow ones last."""
    try:
        import pyamg  # noqa: F401
    except ImportError:
        return ("arpack", "lobpcg")
    return ("arpack", "amg", "lobpcg")


def roll_100000() -> Cell:
    """100,000 points, ten axes: no slower than the fastest correct solver of scikit-learn."""
    return compared(100_000)


def roll_10000() -> Cell:
    """The same with 10,000 points."""
    return compared(10_000)


def compared(n: int) -> Cell:
    """Return seconds and errors of all rivals on the same rows, interleaved."""
    x = roll(n)
    ours(x[:2000])  # libraries and threads
    found: dict[str, Any] = {}
    model = None
    for turn in range(ROUNDS):
        for name in ("mercer", *solvers()):
            seen = found.setdefault(name, {"seconds": []})
            if turn and seen["seconds"][0] > 30:
                continue
            with Watch() as watch, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                before = time.process_time()
                made = ours(x) if name == "mercer" else theirs(x, name)
                spent = time.process_time() - before
            seen.setdefault("cpu_seconds", []).append(spent)  # of all threads
            seen["seconds"].append(watch.seconds)
            seen["peak_bytes"] = watch.peak
            if name == "mercer":
                model, last = made, watch
            if turn == 0:
                graph = model.graph_.weights if model is not None else None
                seen["residual"] = residual(graph, made.embedding_)
    assert model is not None
    return {**facts_of(model, last), **judged(found), "load": os.getloadavg()[0]}


def judged(found: dict[str, Any]) -> Cell:
    """Return the medians, the fastest correct rival and whether the target holds."""
    for seen in found.values():
        seen["median"] = float(np.median(seen["seconds"]))
        seen["correct"] = bool(seen["residual"] <= ALLOWED)
    right = [name for name in found if name != "mercer" and found[name]["correct"]]
    fastest = min(right, key=lambda name: float(found[name]["median"]), default=None)
    mine = found["mercer"]
    ratio = None if fastest is None else found[fastest]["median"] / mine["median"]
    return {
        "rivals": found,
        "seconds": mine["median"],
        "fastest_correct": fastest,
        "ratio": ratio,
        "holds": bool(mine["correct"] and (ratio is None or ratio >= 1)),
        "target": "no slower than scikit-learn's fastest correct solver",
    }


def roll_1000000() -> Cell:
    """A million points, ten axes, neighbours included: within 8 GB."""
    from mercer import LaplacianEigenmaps

    x = roll(1_000_000)
    LaplacianEigenmaps(2).fit(x[:2000])
    with Watch() as watch:
        model = LaplacianEigenmaps(COMPONENTS, neighbours=NEIGHBOURS, memory="8 GB").fit(x)
    error = residual(model.graph_.weights, model.embedding_)
    return {
        **facts_of(model, watch),
        "residual": error,
        "holds": bool(watch.peak <= 8e9 and error <= ALLOWED),
        "target": "8 GB",
        "load": os.getloadavg()[0],
    }


CASES: dict[str, Callable[[], Cell]] = {
    "roll-10000": roll_10000,
    "roll-100000": roll_100000,
    "roll-1000000": roll_1000000,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.manifold")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
