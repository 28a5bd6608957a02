"""PCA past memory: ``python -m benchmarks outofcore [--case PATTERN] [--quick]``.

Every case runs in a process of its own, so that its memory is its own. Files are made once,
from a seed, under ``benchmarks/data`` and stay there. The floor of a case is measured in the
same process: reading the file once, and symmetric products at the shape of a block with one
thread for each core.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

from benchmarks.runner import FOLDER
from benchmarks.scale import Cell, run_cases
from benchmarks.watch import Watch

DATA = FOLDER / "data" / "outofcore"
_AT_ONCE = 20_000  # rows made and written in one go
_RANK = 30  # axes above the noise


def file_20gb() -> Cell:
    """5,000,000 x 1,000 float32 (20 GB), 1.5 GB allowed: one pass, 1.5 times the floor."""
    return _file(5_000_000, "1.5GB")


def file_5gb() -> Cell:
    """1,250,000 x 1,000 float32 (5 GB), 0.5 GB allowed."""
    return _file(1_250_000, "0.5GB")


def _file(n: int, memory: str) -> Cell:
    from mercer import PCA, scan
    from mercer.arrays import parse_bytes, thread_count

    p, k = 1000, 20
    path, truth = _made(n, p)
    PCA(3).fit(np.random.default_rng(0).standard_normal((3000, 50), dtype=np.float32))  # warm
    source = scan(path)
    with Watch() as ours:
        model = PCA(k, memory=memory).fit(source)
    read = _read_seconds(path)
    rate = _syrk_rate(p, thread_count())
    floor = max(read, n * p * p / rate)
    error = float(np.max(np.abs(model.explained_variance_ / truth[:k] - 1)))
    rival = _incremental(path, n // 10, k)
    return {
        "path": model.plan_.chosen.name,
        "rows": n,
        "columns": p,
        "file_bytes": path.stat().st_size,
        "memory": memory,
        "seconds": ours.seconds,
        "planned_seconds": model.plan_.chosen.seconds,
        "peak_bytes": ours.peak,
        "planned_bytes": model.plan_.bytes,
        "passes": source.walks,
        "reached": model.certificate_.reached,
        "error": error,
        "read_seconds": read,
        "syrk_gflops": rate / 1e9,
        "syrk_seconds": n * p * p / rate,
        "floor_seconds": floor,
        "over_floor": ours.seconds / floor,
        "rival": "scikit-learn's IncrementalPCA on a tenth of the rows",
        **rival,
        "holds": bool(
            source.walks == 1
            and ours.peak < parse_bytes(memory)
            and ours.seconds <= 1.5 * floor
            and model.certificate_.met
            and error <= 1e-6
        ),
        "target": "one pass, peak below the limit, 1.5x the floor, exact",
    }


def _incremental(path: Path, n: int, k: int) -> Cell:
    """Return seconds and error of scikit-learn's way, on the first n rows."""
    from sklearn.decomposition import IncrementalPCA

    from mercer import PCA

    rows = np.load(path, mmap_mode="r")[:n]
    exact = PCA(k).fit(np.asarray(rows)).explained_variance_
    model = IncrementalPCA(k)
    batch = 5 * rows.shape[1]
    start = time.perf_counter()
    for at in range(0, n, batch):
        if min(batch, n - at) >= k:
            model.partial_fit(np.asarray(rows[at : at + batch]))
    return {
        "rival_rows": n,
        "rival_seconds": time.perf_counter() - start,
        "rival_error": float(np.max(np.abs(model.explained_variance_ / exact - 1))),
    }


def slow_spectrum() -> Cell:
    """20,000 x 2,000, σ_i = i^-½, k = 20, by iteration: certified 1e-4 in 7 passes at most."""
    from sklearn.decomposition import PCA as Theirs  # noqa: N811

    from mercer import PCA, scan

    n, p, k = 20_000, 2_000, 20
    path, axes = _slow(n, p, k)

    class Iterated(PCA):
        def _allowed(self) -> tuple[str, ...]:
            return ("krylov",)

    source = scan(path)
    with Watch() as ours:
        model = Iterated(k, tol=1e-4, memory="1GB").fit(source)
    again = scan(path)
    tight = Iterated(k, tol=1e-8, memory="1GB").fit(again)
    theirs = Theirs(k, svd_solver="randomized", random_state=0).fit(np.load(path))
    return {
        "path": model.plan_.chosen.name,
        "block": model.plan_.chosen.solver.block,
        "seconds": ours.seconds,
        "peak_bytes": ours.peak,
        "passes": source.walks,
        "reached": model.certificate_.reached,
        "sine": _sine(model.components_, axes),
        "certified_sine": float(np.max(model.certificate_.sine)),
        "error": _slow_error(model.explained_variance_, n),
        "tight": {
            "tol": 1e-8,
            "passes": again.walks,
            "reached": tight.certificate_.reached,
            "sine": _sine(tight.components_, axes),
            "certified_sine": float(np.max(tight.certificate_.sine)),
        },
        "rival": "scikit-learn's randomized solver, 16 products",
        "rival_sine": _sine(theirs.components_, axes),
        "rival_error": _slow_error(theirs.explained_variance_, n),
        "holds": bool(source.walks <= 7 and model.certificate_.reached <= 1e-4),
        "target": "certified 1e-4 in at most 7 passes",
    }


def _sine(components: NDArray[Any], axes: NDArray[Any]) -> float:
    """Return the largest sine between an axis and its true one."""
    cosines = np.abs(np.sum(components * axes.T, axis=1))
    return float(np.sqrt(max(0.0, 1 - np.min(cosines) ** 2)))


def _slow_error(variances: NDArray[Any], n: int) -> float:
    return float(np.max(np.abs(variances * (n - 1) * np.arange(1, len(variances) + 1) - 1)))


def _slow(n: int, p: int, k: int) -> tuple[Path, NDArray[Any]]:
    path, axes = DATA / f"slow-{n}-{p}.npy", DATA / f"slow-{n}-{p}-axes.npy"
    if not (path.exists() and axes.exists()):
        DATA.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        u = rng.standard_normal((n, p))
        u, _ = np.linalg.qr(u - u.mean(axis=0))
        v, _ = np.linalg.qr(rng.standard_normal((p, p)))
        np.save(path, (u * np.arange(1, p + 1) ** -0.5) @ v.T)
        np.save(axes, v[:, :k])
    return path, np.load(axes)


def _made(n: int, p: int) -> tuple[Path, NDArray[np.float64]]:
    """Return a file of n rows about 288 (kelvin) and its leading variances in float64."""
    path, values = DATA / f"kelvin-{n}-{p}.npy", DATA / f"kelvin-{n}-{p}-variances.npy"
    if not (path.exists() and values.exists()):
        DATA.mkdir(parents=True, exist_ok=True)
        np.save(values, _write(path, n, p))
    return path, np.load(values)


def _write(path: Path, n: int, p: int) -> NDArray[np.float64]:
    """Write the rows and return all variances, from float64 products of what was written."""
    rng = np.random.default_rng(0)
    axes = rng.standard_normal((_RANK, p), dtype=np.float32)
    axes *= np.linspace(3, 0.5, _RANK, dtype=np.float32)[:, None]
    noise = rng.standard_normal((_AT_ONCE, p), dtype=np.float32)
    gram, sums = np.zeros((p, p)), np.zeros(p)
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        head = {"descr": "<f4", "fortran_order": False, "shape": (n, p)}
        np.lib.format.write_array_header_1_0(file, head)
        for start in range(0, n, _AT_ONCE):
            rows = min(_AT_ONCE, n - start)
            block = rng.standard_normal((rows, _RANK), dtype=np.float32) @ axes
            # The noise is drawn once and turned: the rows differ, and it costs little.
            block += np.roll(noise[:rows], int(rng.integers(p)), axis=1)
            block += 288
            file.write(block.tobytes())
            y = block.astype(np.float64) - 288
            gram += y.T @ y
            sums += y.sum(axis=0)
    part.replace(path)
    gram -= np.outer(sums, sums) / n
    return np.linalg.eigvalsh(gram)[::-1] / (n - 1)


def _read_seconds(path: Path) -> float:
    """Return what reading the file once takes, from wherever the system holds it."""
    space = bytearray(64 << 20)
    start = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.readinto(space):
            pass
    return time.perf_counter() - start


def _syrk_rate(p: int, threads: int) -> float:
    """Return flops per second of float32 symmetric products of blocks of 4,000 rows."""
    x = np.random.default_rng(0).standard_normal((4000, p), dtype=np.float32)

    def work(_: int) -> tuple[int, float]:
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < 2:
            blas.ssyrk(1.0, x.T, lower=1)
            count += 1
        return count, time.perf_counter() - start

    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        done = list(pool.map(work, range(threads)))
    return sum(4000.0 * p * p * count / seconds for count, seconds in done)


CASES: dict[str, Callable[[], Cell]] = {
    "file-20gb": file_20gb,
    "file-5gb": file_5gb,
    "slow-spectrum": slow_spectrum,
}


def run(out: Path, pattern: str = "*") -> None:
    """Measure every case that matches; cases measured before stay in the file."""
    run_cases(out, pattern, CASES, "benchmarks.outofcore")


if __name__ == "__main__":
    import json

    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()) + os.linesep)
