"""Ctrl-C acts within two seconds, wherever the time is spent."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

NUMERICS = Path(__file__).resolve().parents[1] / "numerics"

PROGRAM = """
import os, sys, time, warnings
sys.path.insert(0, {numerics!r})
import numpy as np
from forced import FORCED
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
model = FORCED[{path!r}]({k})
model.fit(rng.standard_normal((200, 190) if {path!r} != "dual" else (190, 200)))
old = dict(vars(model))
X = rng.standard_normal({shape}, dtype=np.{dtype})
print("ready", flush=True)
try:
    model.fit(X)
    print("finished", flush=True)
except KeyboardInterrupt:
    same = vars(model).keys() == old.keys() and all(vars(model)[k] is old[k] for k in old)
    print("untouched" if same else "touched", flush=True)
"""

# path, shape, k, dtype, seconds before Ctrl-C: in the pass, then deep inside LAPACK
CASES = {
    "gram, in the pass": ("gram", (40_000, 1500), 3, "float32", 0.3),
    "gram, in LAPACK": ("gram", (4500, 4200), "None", "float64", 6.0),
    "dual": ("dual", (3000, 9000), "None", "float32", 1.5),
    "svd, tall": ("svd", (9000, 1100), 3, "float64", 1.0),
    "svd, wide": ("svd", (900, 9000), 3, "float64", 1.0),
    "krylov": ("krylov", (20_000, 1500), 60, "float64", 1.0),
}
ORDINARY = ["gram, in the pass", "svd, wide"]
LONG = [name for name in CASES if name not in ORDINARY]


def interrupt(name):
    path, shape, k, dtype, wait = CASES[name]
    text = PROGRAM.format(numerics=str(NUMERICS), path=path, shape=shape, k=k, dtype=dtype)
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready"
            time.sleep(wait)
            assert process.poll() is None
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            word = process.stdout.readline().strip()
            reacted = time.perf_counter() - start
            process.wait(timeout=90)  # what LAPACK has begun it ends; it must not hang
        finally:
            process.kill()
        errors = process.stderr.read()
    assert word == "untouched", errors
    assert reacted <= 2.0
    assert process.returncode == 0, errors
    assert "Exception ignored" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("name", ORDINARY)
def test_ctrl_c(name):
    interrupt(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_at_length(name):
    interrupt(name)
