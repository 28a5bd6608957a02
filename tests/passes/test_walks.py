"""Files are walked as often as planned, and take no more memory than planned."""

import warnings

import numpy as np
import pytest
from forced import FORCED, gapped
from measured import SLOW, each_peak, measured
from pieces import Pieces, in_blocks

import mercer
from mercer import PCA
from mercer.errors import AccuracyWarning

CONSTANT = 8_000_000  # thread stacks, the allocator's rounding, the watcher itself


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("path", "shape", "rows"),
    [
        ("gram", (300, 20), 50),
        ("svd", (300, 20), 50),
        ("svd", (30, 60), 8),
        ("dual", (40, 60), 50),  # one panel
        ("dual", (40, 60), 4),  # three panels of sixteen rows
    ],
)
def test_exact_paths_walk_as_often_as_promised(path, shape, rows, weighted, standardize):
    X = gapped(*shape, 1) + 3
    source = Pieces(X, 7)
    model = in_blocks(FORCED[path], rows)(3, standardize=standardize)
    model.fit(source, sample_weight=np.ones(len(X)) if weighted else None)
    assert source.walks == model.plan_.chosen.passes
    assert source.begun == [len(X)] * source.walks  # each of them whole, none twice
    before = source.walks
    model.transform(source)
    assert source.walks == before + 1


@pytest.mark.parametrize(
    ("path", "shape"),
    [("gram", (300, 20)), ("svd", (300, 20)), ("svd", (30, 60)), ("dual", (40, 60))],
)
def test_the_number_of_components_is_chosen_in_the_passes_promised(path, shape):
    source = Pieces(gapped(*shape, 1) + 3, 7)
    model = in_blocks(FORCED[path], 8)("auto").fit(source)
    assert source.walks == model.plan_.chosen.passes


@pytest.mark.parametrize("n", [17, 41, 42])
@pytest.mark.parametrize("size", [1.0, 500.0, 1100.0, 1500.0, 1e6])
def test_panels_are_foreseen(n, size):
    """Blocks that are no whole number of rows, or less than one."""

    class Odd(FORCED["dual"]):
        def _block_bytes(self, source):
            return size

    source = Pieces(gapped(n, 60, 1), 7)
    model = Odd(3).fit(source)
    assert source.walks == model.plan_.chosen.passes


@pytest.mark.parametrize("forecast", [None, 10])
@pytest.mark.parametrize("shape", [(600, 40), (40, 90)])
def test_an_iteration_keeps_its_budget(shape, forecast):
    X = np.random.default_rng(1).standard_normal(shape) * 0.8 ** np.arange(shape[1])
    source = Pieces(X, 50, forecast=forecast)
    model = in_blocks(FORCED["krylov"], 64)(3).fit(source)
    assert model.certificate_.met
    assert 3 <= source.walks <= model.plan_.chosen.passes
    flat = Pieces(np.random.default_rng(0).standard_normal((300, 60)), 50)
    model = in_blocks(FORCED["krylov"], 64)(3, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model.fit(flat)
    assert flat.walks <= model.plan_.chosen.solver.max_passes + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_paths_behind_are_in_the_count(dtype):
    X = gapped(300, 20, 1).astype(dtype)
    X[:, 4] *= dtype(1e-9)  # the Gram matrix cannot see the last axis
    source = Pieces(X, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = in_blocks(PCA, 64)(20).fit(source)
    path, passes = model.plan_.chosen, 0
    while path is not None:
        path, passes = path.then, passes + path.passes
    assert source.walks <= passes


def test_planning_and_refusals_walk_nothing():
    source = Pieces(gapped(300, 20, 1), 50)
    mercer.plan(PCA(3), source)
    assert source.walks == 0
    with pytest.raises(ValueError, match="n_components"):
        PCA(21).fit(source)
    assert source.walks == 0


SETUP = """
from forced import FORCED, scattered
from mercer.sources import BlockSource, ArrayBlocks, scan

n, p = {shape}
base = (rng.standard_normal((max(1, min(n, 500_000 // p)), p))
        * 0.98 ** np.arange(p) + {offset}).astype("{dtype}")

class Endless(BlockSource):
    shape, dtype, label = (n, p), base.dtype, "rows made when they are read"
    nbytes = n * p * base.dtype.itemsize
    def fingerprint(self): return "endless"
    def _read(self, rows, start):
        for at in range(start, n, rows):
            block = np.empty((min(rows, n - at), p), base.dtype)
            for i in range(0, len(block), len(base)):
                part = block[i : i + len(base)]
                np.multiply(base[: len(part)], 1 + at / n, out=part, casting="unsafe")
            yield block

shape = (120, 600) if {path!r} == "dual" else (600, 120)
FORCED[{path!r}](2).fit(ArrayBlocks(scan(rng.standard_normal(shape))))
model, X = FORCED[{path!r}]({k}, memory={memory!r}), Endless()
"""
CASES = {
    "gram": ("gram", (400_000, 100), 5, "200MB"),
    "gram float32": ("gram", (400_000, 200), 5, "200MB", "float32", 50),
    "svd": ("svd", (300_000, 128), 5, "200MB"),
    "krylov": ("krylov", (20_000, 2000), 5, "200MB"),
    "krylov float32": ("krylov", (40_000, 2000), 5, "200MB", "float32", 0),
    "dual": ("dual", (800, 50_000), 5, "300MB"),
    "svd wide": ("svd", (40, 900_000), 5, "3GB"),
    "auto": ("auto", (60_000, 600), 10, "150MB"),
}


@each_peak(CASES, ["gram"])
@pytest.mark.parametrize("kept", [False, pytest.param(True, marks=SLOW)])
def test_peak(name, kept, tmp_path):
    path, shape, k, memory, dtype, offset = (*CASES[name], "float64", 0)[:6]
    checkpoint = str(tmp_path / "fit.mercer") if kept else None
    fit, told = f"model.fit(X, checkpoint={checkpoint!r})", "data=X.nbytes, walks=X.walks"
    values = {"path": path, "shape": shape, "k": k, "memory": memory}
    found = measured(SETUP, fit=fit, told=told, dtype=dtype, offset=offset, **values)
    assert found["data"] >= 280e6
    assert found["peak"] <= found["whole"] + CONSTANT, found
    assert found["peak"] <= 0.8 * found["data"] or name == "svd wide", found
    assert found["walks"] >= 1
