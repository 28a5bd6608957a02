"""The machine and its roofs: what the times are to be compared with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "scipy", "threadpoolctl", "array-api-compat")


def describe() -> dict[str, Any]:
    """Processor, cores, memory, system, BLAS and its threads."""
    from threadpoolctl import threadpool_info

    pools = [
        {
            key: pool.get(key)
            for key in ("internal_api", "version", "architecture", "num_threads")
        }
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    return {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": pools,
        "load_before": os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"),
    }


def _cpu_name() -> str:
    """Model name; family and model number are added where the name says little."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    facts: dict[str, str] = {}
    for line in lines[:30]:
        key, _, value = line.partition(":")
        facts[key.strip()] = value.strip()
    name = facts.get("model name", platform.processor())
    return f"{name} (family {facts.get('cpu family')}, model {facts.get('model')})"


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Installed versions of the packages that are installed."""
    found = {}
    for name in (*PACKAGES, *packages):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    found["python"] = sys.version.split()[0]
    return found


def commit(tree: Path = ROOT) -> dict[str, Any]:
    """Commit of the checkout, and whether source or benchmarks differ from it."""

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *arguments], cwd=tree, capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    # Results are written during the run; they do not make the code another one.
    changed = git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    return {"commit": git("rev-parse", "HEAD"), "changed": bool(changed)}


def roofs(size: int = 2_000, rows: int = 4_000, repeats: int = 5) -> dict[str, float]:
    """Measured roofs: Gram A^T A and product A^T B in GF/s, memory copy in GB/s.

    The Gram rate counts n p^2 flops (one triangle), the product rate 2 n p^2. The copy
    rate counts bytes read plus bytes written.
    """
    rng = np.random.default_rng(0)
    found: dict[str, float] = {}
    for dtype in ("float64", "float32"):
        a = rng.standard_normal((rows, size)).astype(dtype)
        b = a.copy()
        flops = rows * size**2
        seconds = _median(partial(np.matmul, a.T, a), repeats)
        found[f"gram_{dtype}_gflops"] = flops / seconds / 1e9
        seconds = _median(partial(np.matmul, a.T, b), repeats)
        found[f"product_{dtype}_gflops"] = 2 * flops / seconds / 1e9
    source = np.ones(50_000_000)
    target = np.empty_like(source)
    seconds = _median(partial(np.copyto, target, source), repeats)
    found["copy_gb_per_s"] = 2 * source.nbytes / seconds / 1e9
    return found


def _median(call: Callable[[], object], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)


def floors(
    rows: int, columns: int, nbytes: int, dtype: str, roof: dict[str, float]
) -> dict[str, float]:
    """Least seconds for one read of the data, and for the smaller dense Gram matrix.

    read_seconds = bytes/copy rate; gram_seconds = n p min(n, p)/Gram rate.
    """
    flops = float(rows) * columns * min(rows, columns)
    return {
        "data_bytes": nbytes,
        "gram_flops": flops,
        "read_seconds": nbytes / (roof["copy_gb_per_s"] * 1e9),
        "gram_seconds": flops / (roof[f"gram_{dtype}_gflops"] * 1e9),
    }
