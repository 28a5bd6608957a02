"""Peak extra anonymous memory of one fit, watched from outside.

The fit runs in a fresh process. That process loads the data, fits a tiny matrix (imports,
thread pools), collects garbage, trims its heap, and waits. The parent reads RssAnon, says
go, and reads RssAnon every millisecond until the fit is over. Watching from outside sees
peaks inside library calls that hold the interpreter lock.
"""

from __future__ import annotations

import ctypes
import gc
import os
import selectors
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from benchmarks.machine import ROOT

POLL_SECONDS = 0.001


def rss_anon(pid: int) -> int | None:
    """Anonymous resident bytes of a process; None where the system does not say."""
    return _status_bytes(pid, "RssAnon:")


def process_bytes(pid: int) -> int | None:
    """All resident bytes of a process, its libraries included, as Dask counts them."""
    return _status_bytes(pid, "VmRSS:")


def _status_bytes(pid: int, name: str) -> int | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    return None


def save(x: Any, folder: Path) -> Path:
    """Write a matrix where a child process can read it."""
    if sparse.issparse(x):
        path = folder / "data.npz"
        sparse.save_npz(path, x, compressed=False)
    else:
        path = folder / "data.npy"
        np.save(path, x)
    return path


def stored_bytes(x: Any) -> int:
    """Bytes of the stored values (and, for a sparse matrix, of its indices)."""
    if sparse.issparse(x):
        return int(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes)
    return int(x.nbytes)


def peak_of_fit(path: Path, rival: str, k: int) -> tuple[int | None, str | None]:
    """Peak extra bytes of one fit, or None and the reason.

    Parameters
    ----------
    path : Path
        File written by `save`.
    rival : str
        Name of the rival.
    k : int
        Number of components.
    """
    if rss_anon(os.getpid()) is None:
        return None, "no RssAnon on this system"
    command = [sys.executable, "-m", "benchmarks.peak", str(path), rival, str(k)]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=errors) as child,
    ):
        assert child.stdin is not None
        assert child.stdout is not None
        peak = _watch(child.pid, child.stdin, child.stdout)
        if peak is None:
            child.wait()
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines()
            return None, "fit failed: " + (lines[-1] if lines else f"exit {child.returncode}")
    return peak, None


def _watch(pid: int, orders: IO[bytes], answers: IO[bytes]) -> int | None:
    """Highest RssAnon between "ready" and "done", above the level at "ready"."""
    if answers.readline() != b"ready\n":
        return None
    base = highest = rss_anon(pid) or 0
    orders.write(b"go\n")
    orders.flush()
    with selectors.DefaultSelector() as selector:
        selector.register(answers, selectors.EVENT_READ)
        while not selector.select(POLL_SECONDS):
            highest = max(highest, rss_anon(pid) or 0)
    return highest - base if answers.readline() == b"done\n" else None


def _child(path: str, name: str, k: str) -> None:
    from benchmarks.rivals import RIVALS, warm

    x: Any = sparse.load_npz(path) if path.endswith(".npz") else np.load(path)
    rival = RIVALS[name]
    warm(rival, str(x.dtype), is_sparse=sparse.issparse(x))
    gc.collect()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).malloc_trim(0)
    print("ready", flush=True)
    sys.stdin.readline()
    fit = rival.fit(x, int(k))
    print("done", flush=True)
    # Keep the result alive until here: it is part of what a fit costs.
    assert fit.components.shape[0] == int(k)


if __name__ == "__main__":
    _child(*sys.argv[1:4])
