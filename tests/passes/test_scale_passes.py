"""Past memory: as many walks over the tiles as planned, and no more memory than planned."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from kernel_fits import FORCED, blobs

from mercer import KernelPCA
from mercer.errors import AccuracyWarning
from mercer.kernels import RBF, Laplacian, NegativeDistance
from mercer.operators.kernel_matrices._centred_kernel import TileWalk

NUMERICS = Path(__file__).resolve().parents[1] / "numerics"
CONSTANT = 6_000_000  # thread stacks, the allocator's rounding, the watcher itself


@pytest.fixture
def walks(monkeypatch):
    """Return a list that grows by one with every walk over the tiles."""
    made, plain = [], TileWalk.run

    def run(self, visit):
        made.append(self.n)
        return plain(self, visit)

    monkeypatch.setattr(TileWalk, "run", run)
    return made


def foreseen(model):
    """Return the passes of the chosen path and of those behind it."""
    path, passes = model.plan_.chosen, 0
    while path is not None:
        path, passes = path.then, passes + path.passes
    return passes


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("kernel", "most"), [(RBF(3.0), 3), (Laplacian(2.0), 8), (NegativeDistance(), 8)], ids=repr
)
def test_walks_over_the_tiles(walks, kernel, most, dtype):
    """Sums, products and certificate come from the same walks, a few for smooth kernels."""
    model = FORCED["tiles"](4, kernel=kernel).fit(blobs(900, 4, dtype=dtype))
    assert model.certificate_.met
    assert 1 <= len(walks) <= min(foreseen(model), most)
    assert set(walks) == {900}


def test_a_flat_spectrum_keeps_its_budget(walks):
    X = blobs(600, 8)
    model = FORCED["tiles"](3, kernel=RBF(0.05), tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert len(walks) <= foreseen(model)


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_refine_walks_as_often_as_allowed(walks, passes):
    X = blobs(600, 4)
    model = KernelPCA(4, kernel=Laplacian(2.0), landmarks=60, tol=1e-12)
    with pytest.warns(AccuracyWarning):
        model.fit(X)
    assert not walks
    with pytest.warns(AccuracyWarning):
        model.refine(X, passes=passes)
    assert len(walks) == passes


def test_refine_stops_before_its_passes_are_spent(walks):
    X = blobs(600, 4)
    model = KernelPCA(4, kernel=Laplacian(2.0), landmarks=60)
    with pytest.warns(AccuracyWarning):
        model.fit(X)
    assert model.refine(X, tol=1e-9, passes=9).certificate_.met
    assert len(walks) < 9


def test_landmarks_walk_over_no_tiles(walks):
    X = blobs(600, 4)
    for landmarks in (60, "uniform", "kmeans++", X[::10]):
        model = KernelPCA(4, kernel=RBF(3.0), landmarks=landmarks, tol=10).fit(X)
        assert model.plan_.chosen.passes == 1
    KernelPCA(4, kernel=RBF(3.0), tol=10).fit(iter([X[:300], X[300:]])).transform(X)
    assert not walks


PROGRAM = """
import json, re, sys, threading, time, warnings
sys.path.insert(0, {numerics!r})
warnings.simplefilter("ignore")
import numpy as np
from kernel_fits import FORCED, blobs
from mercer import KernelPCA

def anonymous():
    with open("/proc/self/status") as status:
        return int(re.search(r"RssAnon:\\s+(\\d+) kB", status.read())[1]) * 1024

X = blobs({n}, {p}, dtype=np.{dtype})
# Libraries, thread stacks and BLAS buffers are there before the measurement begins.
for made in (FORCED["tiles"](2), FORCED["stored"](2), KernelPCA(2, landmarks=100)):
    made.fit(blobs(1600, {p}, dtype=np.{dtype}))
big = np.random.default_rng(0).standard_normal((700, 700))
np.linalg.eigh(big @ big.T)
del big, made
model = FORCED[{path!r}]({k}, kernel={kernel!r}, landmarks={landmarks!r}, tol={tol})
peak, stop = [0], threading.Event()

def watch():
    while not stop.is_set():
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.001)

before = anonymous()
watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
start = time.perf_counter()
model.fit(X)
seconds = time.perf_counter() - start
stop.set()
watcher.join()
path, foreseen = model.plan_.chosen, 0
while path is not None:  # float32 tiles may have to be made again in float64
    path, foreseen = path.then, max(foreseen, path.bytes)
print(json.dumps(dict(
    peak=peak[0] - before, path=model.plan_.chosen.name, bytes=foreseen,
    first=model.plan_.chosen.bytes, seconds=seconds, data=X.nbytes,
    rest=anonymous() - before, met=bool(model.certificate_.met),
)))
"""

# path, kernel, n, p, k, dtype, landmarks, tol
CASES = {
    "tiles": ("tiles", "rbf", 20_000, 4, 3, "float64", None, 1e-3),
    "tiles float32": ("tiles", "rbf", 20_000, 4, 3, "float32", None, 1e-3),
    "tiles many": ("tiles", "laplacian", 20_000, 4, 40, "float64", None, 1e-6),
    "tiles laplacian": ("tiles", "laplacian", 20_000, 4, 5, "float64", None, 1e-3),
    "tiles distance": ("tiles", "negativedistance", 20_000, 4, 5, "float64", None, 1e-3),
    "tiles wide": ("tiles", "rbf", 20_000, 200, 3, "float64", None, 1e-3),
    "landmarks": ("auto", "rbf", 20_000, 4, 3, "float64", 400, 10.0),
    "landmarks float32": ("auto", "rbf", 60_000, 4, 3, "float32", 400, 10.0),
    "landmarks many": ("auto", "rbf", 100_000, 4, 20, "float64", 1500, 10.0),
    "landmarks wide": ("auto", "rbf", 50_000, 300, 3, "float64", 50, 10.0),
    "landmarks wide float32": ("auto", "rbf", 60_000, 300, 3, "float32", 50, 10.0),
    "landmarks uniform": ("auto", "rbf", 20_000, 4, 3, "float64", "uniform", 10.0),
    "landmarks distance": ("auto", "negativedistance", 20_000, 4, 3, "float64", 400, 10.0),
}
ORDINARY = ["tiles"]


def measured(name):
    path, kernel, n, p, k, dtype, landmarks, tol = CASES[name]
    text = PROGRAM.format(
        numerics=str(NUMERICS), path=path, kernel=kernel, n=n, p=p, k=k, dtype=dtype,
        landmarks=landmarks, tol=tol,
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(name):
    found, n = measured(name), CASES[name][2]
    assert found["path"] == ("landmarks" if CASES[name][6] else "tiles")
    assert found["met"]
    assert found["peak"] <= found["bytes"] + CONSTANT, found
    assert found["peak"] >= 0.25 * found["first"] - CONSTANT, found
    assert found["peak"] <= 0.1 * 8 * n * n, found  # nothing like the matrix


@pytest.mark.skipif(sys.platform != "linux", reason="RssAnon is Linux's")
@pytest.mark.parametrize("name", ORDINARY)
def test_peak(name):
    check(name)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RssAnon is Linux's")
@pytest.mark.parametrize("name", [name for name in CASES if name not in ORDINARY])
def test_peak_at_length(name):
    check(name)
