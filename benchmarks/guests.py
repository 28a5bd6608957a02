"""Guests beside their hosts, networks and Bayesian axes: ``python -m benchmarks guests``.

A guest: CPU seconds of its fit (with the start by our PCA, the checks and the plan) over those
of its library called directly, with the same seed, parameters, start and one thread, in turns
in one process; the maps must be equal, bit for bit.
``bayes-*``: tables of known axes. ``autoencoder-digits``: five splits, beside tuned kernel PCA.
Run it where mercer[guests,torch] is installed.
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale import Cell, run_cases

_TURNS = 3
_ROWS = 700
_TABLES = 40
_LIMIT = 1.1  # of the host's own seconds
_SHAPES = ((100, 20), (300, 50))
FAMILIES = ("white", "columns", "rows and columns", "shadow", "nothing")
Matrix = NDArray[np.float64]


# -- guests ---------------------------------------------------------------------------------


def _tsne(rows: Matrix, start: Matrix) -> Callable[[], Matrix]:
    import openTSNE

    def host() -> Matrix:
        map_ = openTSNE.TSNE(
            initialization=start * (1e-4 / np.std(start[:, 0])),
            n_iter=500, perplexity=30.0, metric="euclidean", n_jobs=1, random_state=0,
        ).fit(rows)  # fmt: skip
        return np.asarray(map_)

    return host


def _umap(rows: Matrix, start: Matrix) -> Callable[[], Matrix]:
    import umap

    def host() -> Matrix:
        places = start * (10 / np.max(np.abs(start)))
        found = umap.UMAP(
            init=places,
            n_neighbors=15,
            min_dist=0.1,
            n_jobs=1,
            random_state=0,
            transform_seed=0,
        ).fit(rows)
        return np.asarray(found.embedding_)

    return host


def _pacmap(rows: Matrix, start: Matrix) -> Callable[[], Matrix]:
    import pacmap

    def host() -> Matrix:
        made = pacmap.PaCMAP(n_neighbors=10, apply_pca=False, save_tree=True, random_state=0)
        return np.asarray(made.fit_transform(rows.copy(), init=start))

    return host


def _dictionary(rows: Matrix, _: Matrix) -> Callable[[], Matrix]:
    from sklearn.decomposition import DictionaryLearning

    def host() -> Matrix:
        centred = rows - rows.mean(axis=0)
        found = DictionaryLearning(10, max_iter=30, random_state=0).fit(centred)
        return np.asarray(found.transform(centred))

    return host


_HOSTS = {
    "TSNE": ("openTSNE", _tsne, {}),
    "UMAP": ("umap-learn", _umap, {}),
    "PaCMAP": ("pacmap", _pacmap, {}),
    "DictionaryLearning": ("scikit-learn", _dictionary, {"n_components": 10, "max_iter": 30}),
}


def guest(name: str, rows: int = _ROWS) -> Cell:
    """Return CPU seconds of a guest and of its host, medians of turns."""
    from sklearn.datasets import load_digits

    import mercer

    called, prepare, options = _HOSTS[name]
    table = np.ascontiguousarray(load_digits().data[:rows])
    start = mercer.PCA(2, random_state=0).fit_transform(table)
    start = np.ascontiguousarray(start - start.mean(axis=0))
    ours: Any = partial(getattr(mercer, name), **options)  # type: ignore[arg-type]
    turns = {"host": prepare(table, start), "guest": lambda: ours().fit(table).embedding_}
    spent: dict[str, list[float]] = {who: [] for who in turns}
    maps: dict[str, Matrix] = {}
    for turn in range(_TURNS + 1):  # the first turn compiles, and is not counted
        for who in list(turns)[:: 1 if turn % 2 else -1]:
            begun = time.process_time()
            maps[who] = turns[who]()
            if turn:
                spent[who].append(time.process_time() - begun)
    mine, theirs = (float(np.median(spent[who])) for who in ("guest", "host"))
    places = maps["host"] - (maps["host"].max(axis=0) + maps["host"].min(axis=0)) / 2
    equal = any(np.array_equal(maps["guest"], one) for one in (maps["host"], places))
    return {
        "rows": rows,
        "columns": table.shape[1],
        "host": called,
        "seconds": mine,
        "host_seconds": theirs,
        "over_host": mine / theirs,
        "all_seconds": spent,
        "same_bits": bool(equal),
        "holds": bool(equal and mine <= _LIMIT * theirs),
        "target": f"CPU seconds at most {_LIMIT} of the host's own",
    }


# -- Bayesian PCA ---------------------------------------------------------------------------


def numbered(family: str, seed: int, n: int, p: int) -> Matrix:
    """Return noise and five axes of 1.5 to 3 times its norm; the first of `shadow` 60."""
    rng = np.random.default_rng([seed, FAMILIES.index(family), n, p])
    table = rng.standard_normal((n, p))
    if family in ("columns", "rows and columns", "nothing"):
        table *= rng.uniform(0.3, 1.7, p)
    if family == "rows and columns":
        table *= rng.uniform(0.3, 1.7, n)[:, None]
    if family == "nothing":
        return table
    sizes = np.array([3, 2.6, 2.2, 1.8, 1.5]) * np.linalg.norm(table, 2)
    sizes[0] *= 20 if family == "shadow" else 1
    left = np.linalg.qr(rng.standard_normal((n, 5)))[0]
    right = np.linalg.qr(rng.standard_normal((p, 5)))[0]
    return np.asarray((left * sizes) @ right.T + table)


def bayes_number(family: str, tables: int = _TABLES) -> Cell:
    """Return how often the number of axes is right within one, by shape."""
    import mercer

    known, shares = 0 if family == "nothing" else 5, {}
    for n, p in _SHAPES:
        found = np.array([
            mercer.BayesianPCA().fit(numbered(family, seed, n, p)).n_components_
            for seed in range(tables)
        ])  # fmt: skip
        slack = 1 if known else 0
        shares[f"{n}x{p}"] = {
            "right": float(np.mean(np.abs(found - known) <= slack)),
            "exact": float(np.mean(found == known)),
        }
    least = min(share["right"] for share in shares.values())
    return {
        "tables": tables,
        "axes": known,
        "shares": shares,
        "least_right": least,
        "holds": bool(least >= 0.9),
        "target": "within one in 90 % of tables; in pure noise none, in 90 %",
    }


def bayes_intervals(prior: str, tables: int = _TABLES) -> Cell:
    """Return how many loadings of well-separated axes lie in their 95 % intervals."""
    import mercer

    covered, shares = [], {}
    for n, p in ((200, 20), (300, 50)):
        held = []
        for seed in range(tables):
            rng = np.random.default_rng([seed, n, p])
            sizes = np.sqrt(np.array([8.0, 4.0, 2.0]) * p / 20)
            axes = np.linalg.qr(rng.standard_normal((p, 3)))[0] * sizes
            rows = rng.standard_normal((n, 3)) @ axes.T + rng.standard_normal((n, p))
            model = mercer.BayesianPCA(3, prior=prior, noise="even").fit(rows)
            low, high = model.loadings_interval_
            true = axes * np.sign(np.sum(axes * model.loadings_, axis=0))
            held.append(float(np.mean((low <= true) & (true <= high))))
        shares[f"{n}x{p}"] = float(np.mean(held))
        covered += held
    return {
        "tables": tables,
        "covered_by_shape": shares,
        "covered": float(np.mean(covered)),
        "holds": bool(all(0.90 <= share <= 0.97 for share in shares.values())),
        "target": "90 to 97 % in intervals of 95 %",
    }


def bayes_flat(tables: int = _TABLES) -> Cell:
    """Return how far the likelihood with a flat prior is from ProbabilisticPCA's."""
    import mercer

    worst = 0.0
    for n, p in ((100, 20), (300, 50)):
        for seed in range(tables):
            rows = numbered("white", seed, n, p)
            flat = mercer.BayesianPCA(5, prior="flat", noise="even").fit(rows)
            by = mercer.ProbabilisticPCA(5).fit(rows)
            worst = max(worst, n * abs(float(flat.score(rows)) - float(by.score(rows))))
    return {
        "tables": tables,
        "worst_times_rows": worst,
        "holds": bool(worst <= 5),
        "target": "mean log-likelihood within 5/n",
    }


def bayes_speed() -> Cell:
    """Return seconds of a fit of 2,000x50: of a processor, and by the clock."""
    import mercer

    rows, spent, wall = numbered("columns", 0, 2000, 50), [], []
    for _ in range(2 * _TURNS + 1):
        begun, clock = time.process_time(), time.perf_counter()
        mercer.BayesianPCA().fit(rows)
        spent.append(time.process_time() - begun)
        wall.append(time.perf_counter() - clock)
    seconds = float(np.median(spent[1:]))
    return {
        "rows": 2000,
        "columns": 50,
        "seconds": seconds,
        "by_the_clock": wall[1:],
        "holds": bool(seconds <= 2),
        "target": "2 CPU seconds",
    }


# -- the network ----------------------------------------------------------------------------


def autoencoder_digits(splits: int = 5) -> Cell:
    """Return held-out relative errors on digits, k = 10, beside PCA and tuned kernel PCA."""
    from sklearn.datasets import load_digits

    import mercer

    digits = load_digits().data
    errors: dict[str, list[float]] = {"autoencoder": [], "tuned kernel": [], "pca": []}
    wall, spent = [], []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(digits))
        new, rows = digits[order[:359]], digits[order[359:]]
        spread = np.sum((new - rows.mean(axis=0)) ** 2)
        begun, cpu = time.perf_counter(), time.process_time()
        network = mercer.Autoencoder(10, random_state=seed).fit(rows)
        wall.append(time.perf_counter() - begun)
        spent.append(time.process_time() - cpu)
        errors["autoencoder"].append(float(1 - network.score(new)))
        tuned = mercer.tune(rows, n_components=10).estimator().fit(rows)
        for name, model in (("tuned kernel", tuned), ("pca", mercer.PCA(10).fit(rows))):
            back = model.inverse_transform(model.transform(new))
            errors[name].append(float(np.sum((new - back) ** 2) / spread))
    mean = {name: float(np.mean(found)) for name, found in errors.items()}
    ours = mean["autoencoder"]
    return {
        "seconds": float(np.median(wall)),
        "all_seconds": wall,
        "cpu_seconds": spent,
        "errors": errors,
        "mean_error": mean,
        "below_kernel": bool(ours < mean["tuned kernel"]),
        "holds": bool(ours <= min(0.125, mean["tuned kernel"]) and max(wall) <= 60),
        "target": "mean error at most .125 and below tuned kernel PCA, 60 s a fit",
    }


CASES: dict[str, Callable[[], Cell]] = {
    **{name: partial(guest, name) for name in _HOSTS},
    **{f"bayes-number-{one.replace(' ', '-')}": partial(bayes_number, one) for one in FAMILIES},
    **{f"bayes-intervals-{one}": partial(bayes_intervals, one) for one in ("ard", "shrinkage")},
    "bayes-flat": bayes_flat,
    "bayes-speed": bayes_speed,
    "autoencoder-digits": autoencoder_digits,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.guests")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cell = CASES[sys.argv[1]]()
    sys.stdout.write(json.dumps(cell) + os.linesep)
