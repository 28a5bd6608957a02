"""Factor analysis beside its peers: ``python -m benchmarks factor_analysis [--case P]``.

Time: a fit and one of scikit-learn's EM (run until it moves by 1e-8), in turns in one process.
Likelihood: F = ln|Σ| + tr Σ⁻¹R, less is better, beside that of the search of R's factanal: one
climb by L-BFGS-B from its start, with the same lower bound of the uniquenesses, 0.005. F is
taken again from the uniquenesses of both, by formulas that share nothing with the fit.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases

LEAST = 0.005
_TURNS = 9
_MOST = 20_000  # steps of EM
_LONG = 4.0  # seconds after which the rival is not timed again
_EQUAL = 1e-7  # of F for each column, that counts as a tie
Matrix = NDArray[np.float64]


def rows_of(name: str, k: int) -> Matrix:
    """Return a real table by its name, or 1,000 rows of k factors in p columns: "p100"."""
    from sklearn.datasets import load_iris, load_wine

    real = {"iris": load_iris, "wine": load_wine}
    if name in real:
        return np.asarray(real[name]().data, np.float64)
    rng, p = np.random.default_rng(0), int(name[1:])
    noise = rng.standard_normal((1000, p)) * rng.uniform(0.3, 1.7, p)
    return rng.standard_normal((1000, k)) @ rng.standard_normal((k, p)) + noise


def unlikeliness(noise: Matrix, R: Matrix, k: int) -> tuple[float, Matrix]:
    """Return F at uniquenesses (p,) with the likeliest loadings, and its slope by ln Ψ."""
    root = np.sqrt(noise)
    theta, axes = np.linalg.eigh(R / np.outer(root, root))
    theta, axes = np.maximum(theta[-k:], 1.0), axes[:, -k:]
    loadings = root[:, None] * axes * np.sqrt(theta - 1)
    sigma = loadings @ loadings.T + np.diag(noise)
    inverse = np.linalg.inv(sigma)
    value = float(np.linalg.slogdet(sigma)[1] + np.sum(inverse * R))
    return value, noise * np.diagonal(inverse @ (sigma - R) @ inverse)


def by_one_climb(R: Matrix, k: int) -> float:
    """Return F where factanal's search ends: L-BFGS-B from (1 - k/2p)/diag(R⁻¹)."""
    from scipy.optimize import minimize

    def at(noise: Matrix) -> tuple[float, Matrix]:
        value, slope = unlikeliness(noise, R, k)
        return value, slope / noise

    start = np.clip((1 - 0.5 * k / len(R)) / np.diagonal(np.linalg.inv(R)), LEAST, 1)
    bounds = [(LEAST, 1.0)] * len(R)
    found = minimize(at, start, jac=True, method="L-BFGS-B", bounds=bounds, options=_ENDLESS)
    return float(found.fun)


_ENDLESS = {"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-9}


def measure(name: str, k: int, turns: int = _TURNS) -> Cell:
    """Return times in turns, and how likely the models are."""
    from sklearn.decomposition import FactorAnalysis as Rival

    import mercer

    rows = rows_of(name, k)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    R, p = np.corrcoef(rows, rowvar=False), rows.shape[1]
    seconds: dict[str, list[float]] = {"ours": [], "rival": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        planned = mercer.plan(mercer.FactorAnalysis(k), rows).chosen.seconds
        ours = mercer.FactorAnalysis(k).fit(rows)
        for _ in range(turns):
            start = time.perf_counter()
            mercer.FactorAnalysis(k).fit(rows)
            seconds["ours"].append(time.perf_counter() - start)
            if sum(seconds["rival"]) > _LONG:
                continue
            start = time.perf_counter()
            Rival(k, tol=1e-8, max_iter=_MOST, svd_method="lapack").fit(rows)
            seconds["rival"].append(time.perf_counter() - start)
    value, climbed = unlikeliness(ours.uniquenesses_, R, k)[0], by_one_climb(R, k)
    mine, rival = (float(np.median(seconds[who])) for who in ("ours", "rival"))
    return {
        "rows": len(rows),
        "columns": p,
        "factors": k,
        "seconds": mine,
        "least_seconds": float(min(seconds["ours"])),
        "planned_seconds": float(planned),
        "rival": "sklearn.decomposition.FactorAnalysis, tol=1e-8",
        "rival_seconds": rival,
        "ratio": rival / mine,
        "unlikeliness": value,
        "of_one_climb": climbed,
        "better_by": climbed - value,
        "holds": bool(value <= climbed + _EQUAL * p),
        "target": "never less likely than one climb with the same bound",
    }


CASES: dict[str, Callable[[], Cell]] = {
    f"{name}-{k}": partial(measure, name, k)
    for name, k in (
        *(("iris", k) for k in (1, 2, 3)),
        *(("wine", k) for k in (2, 4)),
        *((f"p{p}", 4) for p in (30, 60, 100)),
    )
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.factor_analysis")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
