"""Isomap by landmarks against all pairs: ``python -m benchmarks manifold-isomap``.

Each case runs in a process of its own. Rows are a swiss roll; the rival is scikit-learn's
Isomap with the same neighbours. Its coordinates are turned onto ours (orthogonal Procrustes)
before each is correlated with its partner.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases
from benchmarks.watch import Watch, facts_of

NEIGHBOURS = 10


def roll_20000() -> Cell:
    """20,000 points: at least 10 times as fast, correlation 0.999, a tenth of the memory."""
    return compared(20_000)


def roll_4000() -> Cell:
    """4,000 points, which the rival does in seconds: correlation 0.999."""
    cell = compared(4_000)
    held = min(cell["correlations"]) >= 0.999
    return cell | {"holds": held, "target": "correlation 0.999"}


def compared(n: int, landmarks: int | str = "auto") -> Cell:
    """Return what landmark Isomap and the rival took, and how they agree."""
    from sklearn import manifold

    from mercer import Isomap

    x, _ = roll(n)
    Isomap(2, landmarks=20).fit(x[:500])  # libraries and threads
    manifold.Isomap(n_neighbors=NEIGHBOURS).fit(x[:300])
    with Watch() as ours:
        model = Isomap(2, neighbours=NEIGHBOURS, landmarks=landmarks).fit(x)
    facts = facts_of(model, ours)
    with Watch() as theirs:
        rival = manifold.Isomap(n_neighbors=NEIGHBOURS, n_components=2).fit(x)
    pairs = agreement(model.embedding_, rival.embedding_)
    ratio = theirs.seconds / ours.seconds
    return {
        **facts,
        "landmarks": len(model.landmark_indices_),
        "rival": "scikit-learn's Isomap",
        "rival_seconds": theirs.seconds,
        "rival_bytes": theirs.peak,
        "ratio": ratio,
        "memory_ratio": theirs.peak / max(ours.peak, 1),
        "correlations": pairs,
        "residual_variance": list(model.residual_variance_),
        "load": os.getloadavg()[0],
        "holds": bool(ratio >= 10 and min(pairs) >= 0.999 and 10 * ours.peak <= theirs.peak),
        "target": "10x the speed, correlation 0.999, a tenth of the memory",
    }


def roll(n: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return n points of a swiss roll and their place on the sheet (n, 2)."""
    rng = np.random.default_rng(seed)
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    height = 21 * rng.random(n)
    rows = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    along = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    return rows, np.column_stack([along, height])


def agreement(ours: NDArray[Any], theirs: NDArray[Any]) -> list[float]:
    """Return the correlation of each coordinate with its partner, after turning theirs."""
    a, b = ours - ours.mean(axis=0), theirs - theirs.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    turned = b @ (u @ vt)
    return [float(np.corrcoef(a[:, i], turned[:, i])[0, 1]) for i in range(a.shape[1])]


CASES: dict[str, Callable[[], Cell]] = {"roll-4000": roll_4000, "roll-20000": roll_20000}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.manifold_isomap")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
