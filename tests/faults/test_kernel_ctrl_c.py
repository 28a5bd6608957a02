"""Ctrl-C acts within two seconds in every part of kernel PCA; the model stays as it was."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

NUMERICS = Path(__file__).resolve().parents[1] / "numerics"

PROGRAM = """
import sys, warnings
sys.path.insert(0, {numerics!r})
import numpy as np
from kernel_fits import FORCED
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
model = FORCED[{path!r}]({k}, kernel={kernel!r}, landmarks={landmarks})
model.fit(rng.standard_normal((300, 20)))
old = dict(vars(model))
X = rng.standard_normal({shape}, dtype=np.{dtype})
call = getattr(model, {then!r})
if {then!r} in ("transform", "inverse_transform"):
    model.fit(X)
    old = dict(vars(model))
    if {then!r} == "inverse_transform":
        X = model.transform(X)
print("ready", flush=True)
try:
    for _ in range(50):
        call(X)
        if {then!r} == "inverse_transform":
            model._decoder = None
        else:
            vars(model).update(old)
    print("finished", flush=True)
except KeyboardInterrupt:
    same = vars(model).keys() == old.keys() and all(vars(model)[k] is old[k] for k in old)
    print("untouched" if same else "touched", flush=True)
"""

# path, kernel, shape, k, dtype, seconds before Ctrl-C, what is called, landmarks
CASES = {
    "stored, in the matrix": ("stored", "rbf", (6000, 300), 10, "float64", 0.25, "fit", None),
    "stored, in the iteration": ("stored", "rbf", (6000, 40), 30, "float64", 2.0, "fit", None),
    "stored float32": ("stored", "laplacian", (6000, 60), 10, "float32", 1.0, "fit", None),
    "lapack": ("lapack", "rbf", (2600, 20), "None", "float64", 3.0, "fit", None),
    "primal": ("primal", "poly(degree=2)", (60_000, 40), 10, "float64", 1.0, "fit", None),
    "transform": ("stored", "rbf", (6000, 100), 10, "float64", 0.5, "transform", None),
    "decoder": ("stored", "rbf", (4000, 40), 5, "float64", 1.0, "inverse_transform", None),
    "tiles": ("tiles", "rbf", (30_000, 20), 10, "float64", 2.0, "fit", None),
    "tiles, later": ("tiles", "rbf", (30_000, 20), 10, "float64", 12.0, "fit", None),
    "tiles float32": ("tiles", "laplacian", (30_000, 8), 5, "float32", 4.0, "fit", None),
    "landmarks": ("auto", "rbf", (30_000, 40), 10, "float64", 1.0, "fit", 1500),
    "landmarks, in the pass": ("auto", "rbf", (200_000, 40), 10, "float64", 8.0, "fit", 1500),
    "landmarks, in LAPACK": ("auto", "rbf", (6000, 40), 10, "float64", 6.0, "fit", 4000),
    "a block": ("auto", "rbf", (30_000, 40), 10, "float64", 1.0, "partial_fit", 1500),
    "refine": ("auto", "rbf", (30_000, 20), 10, "float64", 3.0, "refine", 200),
}
ORDINARY = ["stored, in the matrix", "tiles"]


def interrupt(name):
    path, kernel, shape, k, dtype, wait, then, landmarks = CASES[name]
    text = PROGRAM.format(
        numerics=str(NUMERICS), path=path, kernel=kernel, shape=shape, k=k, dtype=dtype,
        then=then, landmarks=landmarks,
    )  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready", process.stderr.read()
            time.sleep(wait)
            assert process.poll() is None
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            word = process.stdout.readline().strip()
            reacted = time.perf_counter() - start
            process.wait(timeout=120)  # what LAPACK has begun it ends; it must not hang
        finally:
            process.kill()
        errors = process.stderr.read()
    assert word == "untouched", (word, errors)
    assert reacted <= 2.0, reacted
    assert process.returncode == 0, errors
    assert "Exception ignored" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("name", ORDINARY)
def test_ctrl_c(name):
    interrupt(name)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("name", [name for name in CASES if name not in ORDINARY])
def test_ctrl_c_at_length(name):
    interrupt(name)
