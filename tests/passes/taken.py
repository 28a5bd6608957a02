"""What a call takes, beside what was planned and what was asked.

Each case runs in a process of its own: the same call on a few rows first, so that libraries
are there; then the heap is given back, the mark of the largest resident size is reset, and
the call is made. Resident memory counts all of it: arrays, what libraries keep, and the pages
of mapped files.
"""

import ctypes
import dataclasses
import gc
import itertools
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

FEW = 60  # rows of the call before
BATCH = 500  # rows of a batch of a stream
STATUS = Path("/proc/self/status")


@dataclasses.dataclass(frozen=True)
class Case:
    """A method on rows of a shape, from a source, with so much memory allowed.

    `budget` is a multiple of the floor that a refusal names, or 0 for the default.
    """

    method: str
    source: str
    rows: int
    cols: int
    dtype: str = "float64"
    budget: float = 0.0
    seed: int = 0
    options: tuple = ()
    call: str = "fit"  # what is measured, see CALLS

    def __str__(self):
        told = " ".join(f"{name}={value}" for name, value in self.options)
        asked = f"{self.budget:g}x" if self.budget else "default"
        words = f"{self.method} {self.source} {self.rows}x{self.cols} {self.dtype} {asked}"
        call = "" if self.call == "fit" else self.call
        return " ".join(filter(None, [words, told, call]))


# What a method is given, options it is tried with, and the most rows and columns.
FILES = ("array", "csr", "npy", "fortran", "csv", "parquet", "ndjson", "blocks")
FILES += ("arrow", "hdf5", "zarr", "dask")
WHOLE = tuple(one for one in FILES if one != "dask")  # in one place
HELD = ("array", "csr")
TABLES = ("csv", "parquet", "ndjson", "arrow")
CALLS = ("fit", "transform", "out", "inverse", "partial_fit")
METHODS = {
    "PCA": (
        "numbers",
        FILES,
        [{}, {"n_components": None}, {"standardize": True}, {"n_components": "auto"}],
        (40_000, 600),
    ),
    "RobustPCA": ("numbers", FILES[:-1], [{}, {"method": "spherical"}], (8_000, 60)),
    "ProbabilisticPCA": ("numbers", FILES, [{}], (20_000, 200)),
    "KernelPCA": (
        "numbers",
        FILES,
        [
            {},
            {"kernel": "linear"},
            {"kernel": "poly(degree=2)"},
            {"landmarks": 100},
            {"kernel": "matern"},
        ],
        (3_000, 60),
    ),
    "CorrespondenceAnalysis": ("counts", ("array", "csr"), [{}], (4_000, 300)),
    "MultipleCorrespondenceAnalysis": ("categories", ("frame",), [{}], (10_000, 12)),
    "FAMD": ("mixed", ("frame",), [{}], (10_000, 12)),
    "MFA": ("numbers", ("array",), [{"groups": 3}], (10_000, 60)),
    "TopicVectors": ("counts", ("array", "csr"), [{}], (10_000, 600)),
    "LinearDiscriminantAnalysis": ("groups", ("array", "csr"), [{}], (20_000, 200)),
    "KernelDiscriminantAnalysis": ("groups", ("array",), [{}], (1_500, 40)),
    "LaplacianEigenmaps": (
        "curve",
        ("array",),
        [{}, {"neighbours": None, "weights": "heat"}],
        (2_500, 64),
    ),
    "DiffusionMaps": ("curve", ("array",), [{}, {"neighbours": 10}], (2_500, 64)),
    "ClassicalMDS": ("curve", ("array",), [{}], (2_000, 40)),
    "Isomap": ("curve", ("array",), [{}, {"landmarks": 100}], (1_500, 40)),
    "LocallyLinearEmbedding": ("curve", ("array",), [{}], (2_500, 40)),
    "MaximumVarianceUnfolding": (
        "curve",
        ("array",),
        [{"components": "largest"}],
        (120, 10),
    ),
    "dropin.PCA": ("numbers", HELD, [{}], (20_000, 300)),
    "dropin.IncrementalPCA": ("numbers", ("array",), [{}], (20_000, 200)),
    "dropin.TruncatedSVD": ("numbers", HELD, [{}], (20_000, 300)),
    "dropin.KernelPCA": ("numbers", ("array",), [{"kernel": "rbf"}], (2_000, 60)),
}


def drawn(count, seed=0):
    """Return seeded cases: every method in turn, then shapes, sources and budgets by lot."""
    rng = np.random.default_rng(seed)
    found = []
    for method in itertools.islice(itertools.cycle(METHODS), count):
        _, sources, options, (most, wide) = METHODS[method]
        rows = int(most * rng.uniform(0.1, 1) ** 2 + FEW)
        cols = int(wide * rng.uniform(0.1, 1)) + 3
        if method in ("PCA", "ProbabilisticPCA") and rng.uniform() < 0.2:
            rows, cols = max(cols, FEW), min(rows, 3000)
        found.append(
            Case(
                method,
                str(rng.choice(sources)),
                rows,
                cols,
                str(rng.choice(["float64", "float32"])),
                float(rng.choice([0.0, 1.0, 1.5, 4.0])),
                int(rng.integers(1000)),
                tuple(options[rng.integers(len(options))].items()),
            )
        )
    return found


# -- rows --------------------------------------------------------------------------------


def _numbers(rng, n, p):
    factors = rng.standard_normal((n, 5)) @ (rng.standard_normal((5, p)) * 3)
    return factors + rng.standard_normal((n, p)) * 0.9 ** np.minimum(np.arange(p), 60)


def _curve(rng, n, p):
    t = rng.uniform(1, 3, n) * np.pi
    sheet = np.stack([t * np.cos(t), t * np.sin(t), rng.uniform(0, 8, n)], axis=1)
    turn = np.linalg.qr(rng.standard_normal((max(p, 3), 3)))[0].T
    return sheet @ turn + 0.01 * rng.standard_normal((n, max(p, 3)))


def _counts(rng, n, p):
    rate = np.exp(0.5 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, p)) - 1.5)
    table = rng.poisson(rate)
    table[:, 0] += 1
    table[0, :] += 1
    return table


def _categories(rng, n, p):
    kind = rng.integers(0, 3, n)
    return (kind[:, None] + rng.integers(0, 3, (n, p))) % 5


DRAWN = {"numbers": _numbers, "groups": _numbers, "mixed": _numbers, "curve": _curve}
DRAWN |= {"counts": _counts, "categories": _categories}


def written(case, folder):
    """Write the rows of a case, and few for the call before, where a process finds them."""
    rng = np.random.default_rng(case.seed)
    family = METHODS[case.method][0]
    for name, rows in (("few", min(FEW, case.rows)), ("all", case.rows)):
        cells = DRAWN[family](rng, rows, case.cols).astype(case.dtype)
        if "missing" in dict(case.options):
            cells[rng.uniform(size=cells.shape) < 0.1] = np.nan
        where = str(Path(folder) / name)
        if case.source == "csr":
            import scipy.sparse

            if family != "counts":
                cells *= rng.uniform(size=cells.shape) < 0.1
            scipy.sparse.save_npz(where, scipy.sparse.csr_array(cells), compressed=False)
        elif case.source in TABLES:
            import polars as pl

            frame = pl.DataFrame(cells, schema=[f"c{j}" for j in range(cells.shape[1])])
            kind = "write_ipc" if case.source == "arrow" else f"write_{case.source}"
            getattr(frame, kind)(f"{where}.{case.source}")
        elif case.source == "hdf5":
            import h5py

            with h5py.File(where + ".h5", "w") as file:
                chunks = None if case.seed % 3 == 0 else True  # in one piece, or HDF5's choice
                chunks = (len(cells) // 4 + 1, cells.shape[1]) if case.seed % 3 == 1 else chunks
                packed = {"compression": "gzip"} if chunks is not None else {}
                file.create_dataset("rows", data=cells, chunks=chunks, **packed)
        elif case.source == "zarr":
            import zarr

            chunks = (len(cells) // 4 + 1, cells.shape[1] // (1 + case.seed % 2))
            stored = zarr.create_array(
                where + ".zarr", shape=cells.shape, chunks=chunks, dtype=cells.dtype
            )
            stored[:] = cells
        else:
            order = "F" if case.source == "fortran" else "C"
            np.save(where + ".npy", np.asarray(cells, order=order))
    return folder


def _opened(case, folder, name):
    """Return the rows of a file as a source holds them."""
    where = Path(folder) / name
    if case.source == "csr":
        import scipy.sparse

        return scipy.sparse.load_npz(where.with_suffix(".npz"))
    if case.source in (*TABLES, "zarr"):
        return where.with_suffix("." + case.source)
    if case.source == "hdf5":
        return where.with_suffix(".h5")
    if case.source in ("npy", "fortran"):
        return where.with_suffix(".npy")
    cells = np.load(where.with_suffix(".npy"))
    if case.source == "dask":
        import dask.array

        return dask.array.from_array(cells, chunks=(len(cells) // 8 + 1, cells.shape[1]))
    if case.source == "blocks":
        return lambda: (cells[at : at + 500] for at in range(0, len(cells), 500))
    if case.source != "frame":
        return cells
    import pandas as pd

    names = [f"c{j}" for j in range(cells.shape[1])]
    if METHODS[case.method][0] == "categories":
        words = np.array(["red", "green", "blue", "white", "black"], dtype=object)
        return pd.DataFrame(words[cells.astype(int)], columns=names)
    frame = pd.DataFrame(cells, columns=names)
    for name in names[::2]:
        frame[name] = np.where(frame[name] > 0, "high", "low")
    return frame


# -- the process --------------------------------------------------------------------------


def _resident(name):
    return int(re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())[1]) * 1024


def _growth(call):
    """Return what a call returns or raises, and by how much it makes the process larger."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins again
    before = _resident("VmRSS")
    kept = _resident("RssAnon")
    try:
        found = call()
    except Exception as error:
        found = error
    return found, _resident("VmHWM") - before, _resident("RssAnon") - kept


def _made(case, memory):
    from mercer.methods import METHODS as METHODS_OF_MERCER

    kind = METHODS_OF_MERCER[case.method].load()
    options = {"n_components": 2, "memory": memory} | dict(case.options)
    if "groups" in options:
        count = options["groups"]
        options["groups"] = {f"g{i}": list(range(i, case.cols, count)) for i in range(count)}
    known = kind().get_params()
    return kind(**{name: value for name, value in options.items() if name in known})


def _called(case, model, rows):
    """Make the call that is measured; all but a fit and a stream need a fitted model."""
    if case.call == "partial_fit":
        for at in range(0, rows.shape[0], BATCH):
            model.partial_fit(rows[at : at + BATCH])
        model.components_  # noqa: B018 - it is found when it is looked at
        return model
    if case.call == "transform":
        return model.transform(rows)
    if case.call == "out":
        return model.transform(rows, out=Path(tempfile.mkdtemp()) / "out.npy")
    if case.call == "inverse":
        return model.inverse_transform(rows)
    return _fitted(case, model, rows)


def _fitted(case, model, rows):
    if METHODS[case.method][0] == "groups":
        return model.fit(rows, np.arange(rows.shape[0]) % 3)
    return model.fit(rows)


def _floor(call, found):
    """Return the memory that the refusal of one byte says would do, or None: none refused."""
    from mercer.arrays import parse_bytes
    from mercer.errors import BudgetError

    refused, found["refused"], _ = _growth(call)
    found["words"] = str(refused) if isinstance(refused, Exception) else "taken"
    if not isinstance(refused, BudgetError):
        return None
    said = re.search(r'memory="([^"]+)"', refused.fix)
    return parse_bytes(said[1]) if said else 0


def _run(case, folder):
    from mercer.errors import MercerError

    found = {"asked": None}
    few, rows = (_opened(case, folder, name) for name in ("few", "all"))
    begins = case.call in ("fit", "partial_fit")
    warm = (
        _called(case, _made(case, None), few)
        if begins
        else _fitted(case, _made(case, None), few)
    )
    projects = case.call == "fit" and (case.method != "KernelPCA" or case.source in HELD)
    model = None
    if not begins:
        if case.call == "inverse":
            few, rows = warm.transform(few), None
        _called(case, warm, few)
        model = _fitted(case, _made(case, None), _opened(case, folder, "all"))
        rows = model.transform(_opened(case, folder, "all")) if rows is None else rows
    elif projects:
        warm.transform(_opened(case, folder, "few"))

    def call(memory):
        if model is None:
            return _called(case, _made(case, memory), rows)
        return _called(case, model.set_params(memory=memory), rows)

    if case.budget:
        floor = _floor(lambda: call(1), found)
        if floor == 0:
            return found | {"error": "the floor is not said"}
        found["asked"] = None if floor is None else int(floor * case.budget)
    done, found["taken"], found["rest"] = _growth(lambda: call(found["asked"]))
    if isinstance(done, Exception):
        kind = "refused" if isinstance(done, MercerError) else "broken"
        return found | {"error": f"{kind}: {type(done).__name__}: {done}"}
    made = getattr(done if begins else model, "plan_", None)
    if made is not None:
        found |= {"planned": made.bytes, "path": made.chosen.name, "chosen": made.chosen.bytes}
    if not begins:  # beside what is returned, no more than the fit
        found["planned"] += int(getattr(done, "nbytes", 0))
    if projects:
        done, grown, _ = _growth(lambda: done.transform(rows))
        if isinstance(done, Exception):
            return found | {"transform_error": f"{type(done).__name__}: {done}"}
        found |= {"transform": grown, "result": int(getattr(done, "nbytes", 0))}
    return found


def measured(case, folder):
    """Return what a case asked for, what was planned, and what it took, in bytes."""
    written(case, folder)
    told = json.dumps(dataclasses.asdict(case))
    done = subprocess.run(
        [sys.executable, __file__, told, str(folder)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, (str(case), done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = json.loads(sys.argv[1])
    given["options"] = tuple(map(tuple, given["options"]))
    sys.stdout.write(json.dumps(_run(Case(**given), sys.argv[2])) + "\n")
