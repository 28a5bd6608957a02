"""How often a fit reads the data: counted at the array itself, and equal to the promise."""

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, gapped, scattered

import mercer
from mercer import PCA
from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Goal
from mercer.sources import DenseSource


class Counted(np.ndarray):
    """An array that counts the cells handed out; slices are plain arrays."""

    cells = 0

    def __getitem__(self, key):
        part = np.asarray(super().__getitem__(key))
        Counted.cells += part.size
        return part


def counting(kind):
    """Return the same kind of estimator, whose rows count the cells that are read."""

    def admit(self, X, *, reset):
        source = super(counted, self)._admit(X, reset=reset)
        return DenseSource(np.ascontiguousarray(source.array).view(Counted))

    counted = type(kind.__name__, (kind,), {"_admit": admit})
    return counted


@pytest.fixture
def passes(monkeypatch):
    """Return a function that fits and returns how many times every cell was read."""
    plain_sample = DenseSource.sample

    def sample(self, *arguments):  # the few rows that give the origin are not a pass
        before = Counted.cells
        rows = plain_sample(self, *arguments)
        Counted.cells = before
        return rows

    def run(model, X, **arguments):
        model.__class__ = counting(type(model))
        monkeypatch.setattr(DenseSource, "sample", sample)
        Counted.cells = 0
        model.fit(X, **arguments)
        monkeypatch.undo()
        return Counted.cells / X.size

    return run


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    ("path", "shape"), [("gram", (3000, 40)), ("dual", (60, 900)), ("svd", (3000, 40))]
)
def test_exact_paths_read_as_often_as_promised(passes, path, shape, standardize, weighted):
    X = gapped(*shape, 1, noise=0.05) + 3
    model = FORCED[path](3, standardize=standardize)
    weights = np.ones(len(X)) if weighted else None
    read = passes(model, X, sample_weight=weights)
    assert read == model.plan_.chosen.passes
    assert read == {"gram": 1, "dual": 2, "svd": 2}[path]


@pytest.mark.parametrize("shape", [(3000, 60), (60, 900)])
def test_iteration_reads_whole_passes_and_keeps_its_budget(passes, shape):
    X = np.random.default_rng(1).standard_normal(shape) * 0.8 ** np.arange(shape[1])
    model = FORCED["krylov"](3)
    read = passes(model, X)
    assert read == int(read)
    assert 3 <= read <= model.plan_.chosen.passes + 2
    hurried = FORCED["krylov"](3, time=1e-9)
    with pytest.warns(UserWarning, match="not certified"):
        read = passes(hurried, np.random.default_rng(1).standard_normal(shape))
    assert read <= hurried.plan_.chosen.passes + 2


def test_planning_reads_nothing():
    class Untouchable(np.ndarray):
        def __getitem__(self, key):
            raise AssertionError("a plan read the data")

    X = np.zeros((3000, 40)).view(Untouchable)
    assert mercer.plan(PCA(3), X).chosen.name in ("svd", "gram")


def test_solver_counts_its_products():
    made = []

    class Counting(Dense.__mro__[1]):
        symmetric = True

        def __init__(self, a):
            self.a, self.shape, self.like = a, a.shape, a[:0, :0]

        def matmat(self, v):
            made.append(v.shape[1])
            return self.a @ v

        def rmatmat(self, u):
            return self.a.T @ u

    values = 0.7 ** np.arange(60)
    for passes in (2, 5, 40):
        made.clear()
        solver = BlockKrylov(6, max_passes=passes)
        found = solver.solve(Counting(np.diag(values)), Goal(3, trace=float(values.sum())))
        assert found.passes == len(made) <= passes


@pytest.mark.parametrize("path", ["gram", "krylov"])
def test_a_sparse_table_is_never_dense_as_a_whole(monkeypatch, path):
    X = scattered(4000, 300, 0.02, 0)
    largest = [0]
    plain = scipy.sparse.csr_array.toarray

    def toarray(self, *arguments, **options):
        largest[0] = max(largest[0], self.shape[0] * self.shape[1])
        return plain(self, *arguments, **options)

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", toarray)
    monkeypatch.setattr(scipy.sparse.csr_array, "todense", None)
    FORCED[path](3, tol=1e-2).fit(X)
    assert largest[0] <= X.shape[0] * X.shape[1] / 2


@pytest.mark.parametrize("path", FORCED)
def test_plan_before_fit_is_the_plan_of_the_fit(path):
    X = gapped(60, 200, 2, noise=0.05) if path == "dual" else gapped(200, 60, 2, noise=0.05)
    before = mercer.plan(FORCED[path](3), X)
    after = FORCED[path](3).fit(X).plan_
    assert before.chosen.name == after.chosen.name
    assert before.chosen.bytes == after.chosen.bytes
    text = str(before)
    assert f"-> {before.chosen.name}" in text
    assert all("not taken: " in line for line in text.splitlines()[2:] if "then" not in line)


def counted(X):
    """Return the rows in four chunks, and the list that every reading of one adds to."""
    reads = []

    def read(block, block_info=None):
        if block_info:
            reads.append(block_info[0]["chunk-location"])
        return block

    da = pytest.importorskip("dask.array")
    made = da.from_array(X, chunks=(100, X.shape[1])).map_blocks(
        read, dtype=X.dtype, meta=np.empty((0, 0), X.dtype)
    )
    return made, reads


@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize(
    ("components", "missing"), [(3, "em"), ("auto", "em"), (0.9, "em"), (3, "ppca")]
)
def test_every_reading_of_a_chunk_is_in_the_plan(components, missing, share):
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((400, 3)) @ rng.standard_normal((3, 30))
    X += rng.standard_normal(X.shape) + 7
    X[rng.random(X.shape) < share] = np.nan
    data, reads = counted(X)
    model = mercer.PCA(components, missing=missing)
    with pytest.importorskip("dask").config.set(scheduler="sync"):
        ahead = mercer.plan(model, data)
        assert not reads
        model.fit(data)
    assert "1 pass looks for such cells" in str(ahead)
    assert ("after 1 that counted them" if share else "no cell") in str(model.plan_)
    most = 1 + model.em_passes_ + model.plan_.chosen.passes
    again = 0 if missing == "em" or not share else 1  # the sums of the last pass are enough
    assert {at: reads.count(at) for at in reads} == dict.fromkeys(reads, most - again)


def test_whole_numbers_are_not_looked_through():
    data, reads = counted(np.arange(1200).reshape(400, 3) ** 2 % 17)
    with pytest.importorskip("dask").config.set(scheduler="sync"):
        model = mercer.PCA(2, missing="em").fit(data)
    assert "missing" not in str(model.plan_)
    assert max(reads.count(at) for at in reads) == model.plan_.chosen.passes
