"""Whatever step fails: the old file is whole, the object is what it was, nothing is left."""

import functools
import hashlib
import os
import pickle
import random
import threading

import numpy as np
import pytest
from every_step import fault, files_open
from forced import gapped
from killed import bits
from pieces import Pieces, in_blocks

import mercer
from mercer.errors import MercerError
from mercer.kernels import RBF
from mercer.report import report

pytestmark = pytest.mark.skipif(os.name != "posix", reason="patches functions of Unix")


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """What is flushed is not waited for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


RNG = np.random.default_rng(11)
TALL = RNG.normal(size=(9_000, 24)) * np.arange(1, 25)
WIDE = RNG.normal(size=(30, 50_000))
FEW = RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 800))
SUMS = RNG.normal(size=(400, 450))


def stream():
    model = mercer.PCA(2)
    for part in np.array_split(SUMS, 4):
        model.partial_fit(part)
    return model


MODELS = {
    "linear": lambda: mercer.PCA(3).fit(WIDE),
    "coordinates": lambda: mercer.PCA(18).fit(TALL),
    "stream": stream,
    "kernel": lambda: mercer.KernelPCA(2, kernel=RBF(30.0)).fit(FEW),
}


@functools.cache
def fitted(name):
    """Return one model for all tests: no operation changes it."""
    return MODELS[name]()


def digest(model):
    """Return a mark of every attribute: its name, and its bytes."""
    found = pickle.dumps(sorted(vars(model).items()), protocol=5)
    return hashlib.sha256(found).hexdigest()


class Saving:
    """mercer.save: one model in place of another."""

    end, named = ".mercer", True
    kinds = ("open", "write", "lseek", "fsync", "replace", "memory", "call")

    def __init__(self, name, folder):
        self.model, self.path = fitted(name), folder / f"a{self.end}"
        self.before()

    def before(self):
        mercer.save(mercer.PCA(5), self.path)

    def __call__(self):
        mercer.save(self.model, self.path)


class Writing(Saving):
    """transform(out=): coordinates in place of others."""

    rows = TALL

    def __init__(self, end, folder):
        self.end = end
        super().__init__("coordinates", folder)

    def before(self):
        self.path.write_bytes(b"old coordinates")

    def __call__(self):
        self.model.transform(self.rows, out=self.path)


class Exporting(Saving):
    """export_onnx: a graph in place of another."""

    end, kinds = ".onnx", ("open", "write", "fsync", "replace", "memory", "call")

    def before(self):
        pytest.importorskip("onnx")
        self.path.write_bytes(b"old graph")

    def __call__(self):
        mercer.export_onnx(self.model, self.path)


class Reporting(Saving):
    """A page in place of another."""

    end, kinds = ".html", ("open", "write", "fsync", "replace", "call")

    def __init__(self, name, folder):
        super().__init__(name, folder)
        self.page = page_of(name)

    def before(self):
        self.path.write_text("<html>old</html>", encoding="utf-8")

    def __call__(self):
        self.page.save(self.path)


@functools.cache
def page_of(name):
    """Return a page about a model, made once."""
    return report(fitted(name), TALL[:6_000])


class Describing(Reporting):
    """A page while it is made: it has no name as yet."""

    kinds, named = ("memory", "call"), False

    def __call__(self):
        report(self.model, TALL[:6_000])


class Loading(Saving):
    """mercer.load: the file is only read."""

    kinds = ("read", "memory", "call")

    def before(self):
        mercer.save(self.model, self.path)

    def __call__(self):
        return mercer.load(self.path)


class Keeping(Saving):
    """A fit with a checkpoint: what was kept before the fault is whole, and is gone on from."""

    named = False  # for want of memory a fit fails, not a file
    rows = gapped(30, 12, 3) + 7

    def __init__(self, _, folder):
        self.path = folder / f"a{self.end}"
        self.truth = bits(self.made().fit(Pieces(self.rows)))
        self.model = self.made()

    def made(self):
        return in_blocks(mercer.PCA, 7)(2, tol=1e-9)

    def before(self):
        self.path.unlink(missing_ok=True)

    def __call__(self):
        model = self.made()
        checkpoint = mercer.Checkpoint(self.path, every=0)
        try:
            model.fit(Pieces(self.rows), checkpoint=checkpoint)
        except BaseException:
            assert not hasattr(model, "components_")
            raise
        assert bits(model) == self.truth


OPERATIONS = {
    "save, linear": (Saving, "linear"),
    "save, stream": (Saving, "stream"),
    "save, kernel": (Saving, "kernel"),
    "load, linear": (Loading, "linear"),
    "load, stream": (Loading, "stream"),
    "load, kernel": (Loading, "kernel"),
    "npy": (Writing, ".npy"),
    "csv": (Writing, ".csv"),
    "parquet": (Writing, ".parquet"),
    "ONNX, linear": (Exporting, "linear"),
    "ONNX, kernel": (Exporting, "kernel"),
    "save, page": (Reporting, "coordinates"),
    "page": (Describing, "coordinates"),
    "checkpoint": (Keeping, ""),
}
STEPS = [(name, kind) for name, (made, _) in OPERATIONS.items() for kind in made.kinds]
QUICK = ("save, stream", "load, kernel", "npy", "csv", "parquet", "ONNX, kernel", "save, page")
QUICK += ("checkpoint",)


def failed(operation, kind, k, new):
    """Let a step fail, and hold what must hold then; tell whether there was such a step."""
    operation.before()
    path, model = operation.path, operation.model
    old = path.read_bytes() if path.exists() else None
    marked, open_before, threads = digest(model), files_open(), threading.active_count()
    made, error = fault(kind, k), None
    with made.under():
        try:
            operation()
        except (OSError, MemoryError, MercerError) as caught:
            error = caught
            error.__traceback__ = error.__context__ = error.__cause__ = None
    assert digest(model) == marked
    assert {found.name for found in path.parent.iterdir()} <= {path.name}
    assert files_open() == open_before
    assert threading.active_count() == threads
    if error is None:
        return made.happened
    assert made.happened, error
    memory = kind in ("memory", "call")
    assert isinstance(error, MemoryError if memory else OSError)
    if not memory or (operation.named and kind != "call"):
        assert isinstance(error, MercerError), repr(error)
        assert str(path) in error.got
        assert len(str(error).splitlines()) == 3
        assert memory or error.errno
    if isinstance(operation, Keeping):
        operation()  # what was kept can be read, and the fit ends with the same bits
    else:
        assert path.read_bytes() in ((old, new) if kind == "call" else (old,))
    return True


def steps(name, kind, folder, choose):
    """Let steps fail, `choose` says which; return how many there are."""
    made, what = OPERATIONS[name]
    operation = made(what, folder)
    operation.before()
    operation()
    new = operation.path.read_bytes()
    counted = fault(kind, 1 << 40)
    operation.before()
    with counted.under():
        operation()
    total = (1 << 40) - counted.left
    for k in choose(total):
        assert failed(operation, kind, k, new) or kind == "call", k  # caches spare calls
    assert not failed(operation, kind, total + 50, new)
    return total


def some(total):
    """Return the first step, the last, and one between."""
    known = {1, total, random.Random(total).randint(1, total or 1)}
    return sorted(k for k in known if 1 <= k <= total)


@pytest.mark.parametrize(("name", "kind"), [step for step in STEPS if step[0] in QUICK])
def test_some_step_fails(tmp_path, name, kind):
    total = steps(name, kind, tmp_path, some)
    assert total > 0 or kind in ("lseek", "memory")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), STEPS)
def test_every_step_fails(tmp_path, name, kind):
    def all_of(total):  # calls of functions are many: a hundred of them
        return range(1, total + 1, max(1, total // 100) if kind == "call" else 1)

    steps(name, kind, tmp_path, all_of)
