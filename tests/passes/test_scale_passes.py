"""Past memory: as many walks over the tiles as planned, and no more memory than planned."""

import warnings

import pytest
from kernel_fits import FORCED, blobs
from measured import each_peak, measured

from mercer import KernelPCA
from mercer.errors import AccuracyWarning
from mercer.kernels import RBF, Laplacian, NegativeDistance
from mercer.operators.kernel_matrices._centred_kernel import TileWalk

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


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_refine_walks_as_often_as_allowed(walks, passes):
    X = blobs(1500, 4)  # LAPACK would take longer
    model = KernelPCA(4, kernel=Laplacian(2.0), landmarks=60, tol=1e-12)
    with pytest.warns(AccuracyWarning):
        model.fit(X)
    assert not walks
    with pytest.warns(AccuracyWarning):
        model.refine(X, passes=passes)
    assert len(walks) == passes
    assert model.refine(X, tol=1e-9, passes=9).certificate_.met
    assert len(walks) < passes + 9
    walks.clear()  # a flat spectrum keeps its budget too
    flat = FORCED["tiles"](3, kernel=RBF(0.05), tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat.fit(blobs(600, 8))
    assert len(walks) <= foreseen(flat)


def test_landmarks_walk_over_no_tiles(walks):
    X = blobs(600, 4)
    for landmarks in (60, "uniform", "kmeans++", X[::10]):
        model = KernelPCA(4, kernel=RBF(3.0), landmarks=landmarks, tol=10).fit(X)
        assert model.plan_.chosen.passes == 1
    KernelPCA(4, kernel=RBF(3.0), tol=10).fit(iter([X[:300], X[300:]])).transform(X)
    assert not walks


SETUP = """
from kernel_fits import FORCED, blobs
from mercer import KernelPCA
X = blobs({n}, {p}, dtype=np.{dtype})
for made in (FORCED["tiles"](2), FORCED["stored"](2), KernelPCA(2, landmarks=100)):
    made.fit(blobs(1600, {p}, dtype=np.{dtype}))
del made
model = FORCED[{path!r}]({k}, kernel={kernel!r}, landmarks={landmarks!r}, tol={tol})
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


@each_peak(CASES, ["tiles"])
def test_peak(name):
    names = ("path", "kernel", "n", "p", "k", "dtype", "landmarks", "tol")
    values = dict(zip(names, CASES[name], strict=True))
    found, n = measured(SETUP, **values), values["n"]
    assert found["path"] == ("landmarks" if values["landmarks"] else "tiles")
    assert found["met"]
    assert found["peak"] <= found["most"] + CONSTANT, found
    assert found["peak"] >= 0.25 * found["chosen"] - CONSTANT, found
    assert found["peak"] <= 0.1 * 8 * n * n, found  # nothing like the matrix
