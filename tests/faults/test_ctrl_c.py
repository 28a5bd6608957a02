"""Ctrl-C acts within two seconds, wherever the time is spent; the model stays as it was."""

import sys
from pathlib import Path

import pytest
from interruptions import interrupted

NUMERICS = Path(__file__).resolve().parents[1] / "numerics"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ")

BEGIN = f"""
import sys, warnings
sys.path.insert(0, {str(NUMERICS)!r})
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
"""
LINEAR = """
from forced import FORCED
model = FORCED[{path!r}]({k})
model.fit(rng.standard_normal((200, 190) if {path!r} != "dual" else (190, 200)))
old = dict(vars(model))
X = rng.standard_normal({shape}, dtype=np.{dtype})
print("ready", flush=True)
try:
    model.fit(X)
    print("finished", flush=True)
"""
KERNEL = """
from kernel_fits import FORCED
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
"""
FOLLOWED = """
import mercer

class Follower:
    words = []
    def setup(self, estimator, context): self.words.append("setup")
    def teardown(self, estimator, context): self.words.append("teardown")
    def on_fit_task_begin(self, estimator, context): pass
    def on_fit_task_end(self, estimator, context): pass

model = mercer.KernelPCA(3).fit(rng.standard_normal((50, 4))).set_callbacks(Follower())
old = dict(vars(model))
X = rng.standard_normal((9000, 300))
print("ready", flush=True)
try:
    with mercer.progress(force=True):
        model.fit(X)
    print("finished", flush=True)
"""

# path, shape, k, dtype, seconds before Ctrl-C: in the pass, then deep inside LAPACK
PCA = {
    "gram, in the pass": ("gram", (40_000, 1500), 3, "float32", 0.3),
    "gram, in LAPACK": ("gram", (4500, 4200), "None", "float64", 6.0),
    "dual": ("dual", (3000, 9000), "None", "float32", 1.5),
    "svd, tall": ("svd", (9000, 1100), 3, "float64", 1.0),
    "svd, wide": ("svd", (900, 9000), 3, "float64", 1.0),
    "krylov": ("krylov", (20_000, 1500), 60, "float64", 1.0),
}
# path, kernel, shape, k, dtype, seconds before Ctrl-C, what is called, landmarks
KERNEL_PCA = {
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
ORDINARY = ["gram, in the pass", "svd, wide", "stored, in the matrix", "tiles"]
NAMES = [
    pytest.param(name, marks=() if name in ORDINARY else pytest.mark.slow)
    for name in (*PCA, *KERNEL_PCA)
]


@pytest.mark.parametrize("name", NAMES)
def test_ctrl_c(name):
    if name in PCA:
        path, shape, k, dtype, wait = PCA[name]
        program = LINEAR.format(path=path, shape=shape, k=k, dtype=dtype)
    else:
        path, kernel, shape, k, dtype, wait, then, landmarks = KERNEL_PCA[name]
        values = {"path": path, "kernel": kernel, "shape": shape, "k": k, "dtype": dtype}
        program = KERNEL.format(then=then, landmarks=landmarks, **values)
    interrupted(BEGIN + program, wait)


def test_a_fit_that_is_followed_by_a_callback_and_a_bar():
    words, errors = interrupted(BEGIN + FOLLOWED, 1.0, ", *Follower.words")
    assert words == ["untouched", "setup", "teardown"]
    assert "kernel matrix" in errors
