"""Rows, references and a watch for benchmarks of kernel PCA past the stored matrix."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.peak import process_bytes, rss_anon
from benchmarks.runner import FOLDER

REFERENCES = FOLDER / "data" / "references"

TURNS = 7  # timings of what takes about a second or less; their median counts


def clouds(n: int, p: int, seed: int = 0, dtype: str = "float32") -> NDArray[Any]:
    """Return n rows in ten Gaussian clouds in p dimensions, the spread falling as i^-½."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.standard_normal((10, p))
    spread = np.arange(1, p + 1) ** -0.5
    rows = rng.standard_normal((n, p)) * spread
    rows += (centres * spread)[rng.integers(0, 10, n)]
    return rows.astype(dtype)


class Watch:
    """Seconds and the highest anonymous memory, above the level before, of a block."""

    def __enter__(self) -> Self:
        self.base = self.highest = rss_anon(os.getpid()) or 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        self.start = time.perf_counter()
        return self

    def _look(self) -> None:
        while not self._done.wait(0.005):
            self.read()

    def read(self) -> None:
        """Look at the memory once."""
        self.highest = max(self.highest, rss_anon(os.getpid()) or 0)

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.start
        self._done.set()
        self._thread.join()

    @property
    def peak(self) -> int:
        """Bytes."""
        return self.highest - self.base


class WorkerWatch(Watch):
    """Seconds of a block, and the highest resident memory of every worker process."""

    def __init__(self, client: Any) -> None:
        self.pids = sorted(client.run(os.getpid).values())
        self.peaks = [0] * len(self.pids)

    def read(self) -> None:
        """See `Watch.read`: libraries included, as Dask counts."""
        for i, pid in enumerate(self.pids):
            self.peaks[i] = max(self.peaks[i], process_bytes(pid) or 0)


def facts_of(model: Any, watch: Watch) -> dict[str, Any]:
    """Return what a fit took, planned and proved."""
    chosen = model.plan_.chosen
    return {
        "path": chosen.name,
        "seconds": watch.seconds,
        "planned_seconds": chosen.seconds,
        "peak_bytes": watch.peak,
        "planned_bytes": model.plan_.bytes,
        "reached": model.certificate_.reached,
        "tol": model.certificate_.tol,
        "met": model.certificate_.met,
    }


def leading_values(x: NDArray[Any], gamma: float, k: int, name: str) -> NDArray[np.float64]:
    """Return the leading eigenvalues of HKH by ARPACK in float64, to its full precision."""
    path = REFERENCES / f"scale-{name}.npy"
    if path.exists():
        return np.asarray(np.load(path))
    from scipy.sparse.linalg import eigsh
    from sklearn.metrics.pairwise import rbf_kernel

    kernel = rbf_kernel(x, gamma=gamma)
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    values = np.sort(eigsh(kernel, k, return_eigenvectors=False))[::-1]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values)
    return np.asarray(values)


def warm(dtype: str) -> None:
    """Load the libraries and start their threads."""
    from mercer import KernelPCA

    KernelPCA(3).fit(np.random.default_rng(0).standard_normal((1500, 8)).astype(dtype))
