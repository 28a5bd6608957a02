"""Results of one tree as hashes, so that two trees can be compared bit for bit.

    PYTHONPATH=TREE/src python tools/same_results.py record OUT.json [--count 300] [--seed 0]
    python tools/same_results.py compare A.json B.json

`record` makes COUNT seeded fits and studies, round after round over all methods, then command
lines, refusals, and the public names with their signatures. Every case holds a hash for every
attribute, or the text itself where it is short. `--only TEXT` takes the cases whose name holds
it. `compare` lists what differs and exits 1 when anything does.

Left out are seconds, rates of this machine, free memory and temporary paths, because they
differ between two runs of one tree; the names of classes that are not public, and the modules
that they live in, because these may change; and attributes that begin with an underscore.
"""

import argparse
import contextlib
import dataclasses
import functools
import hashlib
import importlib
import inspect
import io
import itertools
import json
import os
import re
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["NUMBA_NUM_THREADS"] = "2"  # before NumPy and Numba are loaded
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "2"

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
import threadpoolctl

import mercer

THREADS = 2
MEMORY = "1GB"  # given to every method: without it plans and blocks follow what is free
SHOWN = 300  # letters up to which a text is kept as it is
DEEPEST = 14
LIBRARIES = ("numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "dask")
ROOMS = ("diagnostics", "dropin", "errors", "kernels", "plots", "selection", "studies")
# Measured or foreseen by what was measured, and what says which package wrote a file.
UNSTABLE = {"seconds", "rates", "workers", "written_by_", "time"}
TIMES = re.compile(r"(?<![\w.])\d[\d.,]*(e[-+]?\d+)?[ \u00a0](µs|ms|s|min|h|seconds?)\b")
DATES = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?")
MODULES = re.compile(r"\bmercer\.(\w+\.)+")


# ---- values as hashes ----------------------------------------------------------------------


@functools.cache
def public_names() -> dict[type, str]:
    """Return the classes that are public, and what they are called."""
    found = {}
    for room in ("", *(f".{room}" for room in ROOMS)):
        module = importlib.import_module(f"mercer{room}")
        names = {name: getattr(module, name) for name in module.__all__}
        found |= {value: name for name, value in names.items() if isinstance(value, type)}
    return found


def named(kind: type) -> str:
    """Return the name of a class; of a private one, that of its nearest public base."""
    for base in kind.__mro__:
        if not base.__module__.startswith("mercer"):
            return base.__name__
        if base in public_names():
            return public_names()[base]
    return "object"


def settled(text: str) -> str:
    """Return a text without temporary paths, times and the homes of classes."""
    text = text.replace(str(Path.cwd()), "FOLDER")
    text = text.replace(str(Path(mercer.__file__).parents[1]), "TREE")
    text = re.sub(r" at 0x[0-9a-f]+", "", DATES.sub("DATE", TIMES.sub("TIME", text)))
    return MODULES.sub("", text)


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as nested tuples of text that hold all its bits, and no private class."""
    if depth > DEEPEST:
        return "deep"
    inner = functools.partial(plain, depth=depth + 1)
    if value is None or value is Ellipsis or isinstance(value, bool | int | bytes | complex):
        return repr(value)
    if isinstance(value, float | np.generic | np.dtype):
        return (type(value).__name__, settled(repr(value)))
    if isinstance(value, str | Path):
        return ("text", settled(str(value)))
    if isinstance(value, np.ndarray):
        return _array(value, inner)
    if sp.issparse(value):
        cells = value.tocsr()
        return (
            value.format,
            value.shape,
            *map(inner, (cells.data, cells.indices, cells.indptr)),
        )
    if isinstance(value, dict):
        return ("dict", *((inner(k), inner(v)) for k, v in value.items() if k not in UNSTABLE))
    if isinstance(value, set | frozenset):
        return ("set", *sorted(repr(inner(item)) for item in value))
    if isinstance(value, type):
        return ("class", named(value))
    if hasattr(value, "_fields") or not isinstance(value, list | tuple):
        return _thing(value, inner)
    return (type(value).__name__, *map(inner, value))


def _array(value: np.ndarray, inner: Callable[..., Any]) -> Any:
    if value.dtype.kind == "O":
        return ("array", "O", value.shape, *map(inner, value.ravel().tolist()))
    data = np.ma.getdata(value)
    hashed = hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()
    mask = inner(np.ma.getmaskarray(value)) if isinstance(value, np.ma.MaskedArray) else None
    return ("array", value.dtype.str, value.shape, hashed, mask)


def _thing(value: Any, inner: Callable[..., Any]) -> Any:
    """Take apart what is neither plain nor an array: frames, lazy arrays, dataclasses, ..."""
    if isinstance(value, np.random.Generator):
        return inner(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return inner(value.get_state(legacy=False))
    if hasattr(value, "compute") and hasattr(value, "dask"):
        return ("lazy", inner(value.compute(scheduler="synchronous")))
    if isinstance(value, pd.DataFrame | pd.Series):
        cells = value.to_numpy(dtype=object)
        heads = value.columns if hasattr(value, "columns") else [value.name]
        kinds = [str(kind) for kind in np.atleast_1d(np.asarray(value.dtypes))]
        return ("frame", inner(list(heads)), kinds, inner(cells))
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # polars
        return ("frame", inner(value.to_dict(as_series=False)))
    if callable(value) and not (
        hasattr(value, "get_params") or dataclasses.is_dataclass(value)
    ):
        return "callable"
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value)]
    elif hasattr(value, "_fields"):
        fields = list(value._fields)
    else:
        fields = sorted(getattr(value, "__dict__", {}))
    fields = [name for name in fields if name not in UNSTABLE and not name.startswith("_")]
    name = public_names().get(type(value), "")
    return (name, *((field, inner(getattr(value, field))) for field in fields))


def digest(value: Any) -> str:
    """Return a short text as it is, and the hash of everything else."""
    if isinstance(value, str) and len(settled(value)) <= SHOWN:
        return f"text: {settled(value)}"
    return hashlib.sha256(repr(plain(value)).encode()).hexdigest()


# ---- what is kept of a case ----------------------------------------------------------------


def outcome(call: Callable[[], Any]) -> str:
    """Return the digest of what a call returns, or the error it raises as text."""
    try:
        return digest(call())
    except Exception as error:
        return f"error: {named(type(error))}: {settled(str(error))}"


def faces(value: Any) -> dict[str, str]:
    """Return the digests of all public attributes of a model or a result."""
    made = (property, functools.cached_property)
    kind, found = (
        type(value),
        set(getattr(value, "__dict__", ())) | set(getattr(value, "_fields", ())),
    )
    found |= {
        name for name in dir(kind) if isinstance(inspect.getattr_static(kind, name), made)
    }
    found = {name for name in found - UNSTABLE if not name.startswith("_")}
    return {
        f".{name}": outcome(functools.partial(getattr, value, name)) for name in sorted(found)
    }


def saved(path: Path) -> dict[str, str]:
    """Return the digests of a model file, but for its version and checksum, as safetensors."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    description = json.loads(header.pop("__metadata__")["mercer"])
    description.pop("mercer")
    data, arrays = whole[8 + length :], {}
    for name, place in header.items():
        start, end = place["data_offsets"]
        cells = hashlib.sha256(data[start:end]).hexdigest()
        arrays[name] = (place["dtype"], tuple(place["shape"]), cells)
    types: set[str] = set()
    text = json.dumps(pruned(description, types), sort_keys=True)
    return {
        "file: arrays": digest(sorted(arrays.items())),
        "file: description": hashlib.sha256(text.encode()).hexdigest(),
        "file: types": digest(sorted(types)),
    }


def pruned(part: Any, types: set[str]) -> Any:
    """Return a description without what is measured; gather the names of types apart."""
    if isinstance(part, list):
        return [pruned(item, types) for item in part]
    if not isinstance(part, dict):
        return part
    types.add(part.get("=", "="))
    return {k: pruned(v, types) for k, v in part.items() if k not in UNSTABLE | {"="}}


def text_of(path: Path) -> str:
    """Return the digest of a file that was written: text without times, or bytes."""
    if path.suffix == ".mercer":
        return digest(saved(path))
    raw = path.read_bytes()
    try:
        return digest([settled(raw.decode())])
    except UnicodeDecodeError:
        return digest(raw)


# ---- data ----------------------------------------------------------------------------------

Rng = np.random.Generator


@dataclasses.dataclass
class Given:
    """What a case is made of: rows, new rows, classes, weights, and what `fit` is given."""

    X: Any
    new: Any
    y: Any = None
    weight: Any = None
    source: Callable[[], Any] | None = None

    def rows(self) -> Any:
        """Return what `fit` is given: the rows, or a file or a stream with the same rows."""
        return self.X if self.source is None else self.source()


def table(rng: Rng, n: int, p: int, far: float = 3.0) -> np.ndarray:
    """Return rows with three directions, noise, units of their own and a distant mean."""
    axes = rng.standard_normal((3, p)) * [[4], [2], [1]]
    rows = rng.standard_normal((n, 3)) @ axes + rng.standard_normal((n, p))
    return rows * rng.uniform(0.5, 2, p) + far


def split(rows: Any, new: int = 7, **more: Any) -> Given:
    """Return rows and the last of them as new ones."""
    return Given(rows[:-new], rows[-new:], **more)


def filed(kind: str, rng: Rng) -> Given:
    """Return rows that `fit` reads from a file."""
    given = split(pd.DataFrame(table(rng, 140, 6), columns=list("abcdef")))
    path = str(Path(f"rows.{kind}").resolve())
    if kind == "npy":
        given = Given(given.X.to_numpy(), given.new.to_numpy())
        np.save(path, given.X)
    elif kind == "npz":
        given = DATA["sparse"](rng)
        sp.save_npz(path, given.X)
    elif kind == "csv":
        given.X.to_csv(path, index=False)
    elif kind == "ndjson":
        given.X.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        given.X.to_parquet(path)
    return dataclasses.replace(given, source=lambda: path)


def streamed(rng: Rng, again: bool = False) -> Given:
    """Return rows that `fit` is given block by block, once or as often as it asks."""
    given = split(table(rng, 160, 6))
    blocks = np.array_split(given.X, 5)
    given.source = (lambda: lambda: iter(blocks)) if again else (lambda: iter(blocks))
    return given


def lazy(rng: Rng, frame: bool = False) -> Given:
    """Return rows in an array or a frame of Dask."""
    X, new = np.split(table(rng, 160, 5), [150])
    if frame:
        X, new = (pd.DataFrame(part, columns=list("abcde")) for part in (X, new))
        return Given(X, new, source=lambda: dd.from_pandas(X, npartitions=3))
    return Given(X, new, source=lambda: da.from_array(X, chunks=(50, 3)))


def labelled(rng: Rng) -> Given:
    """Return rows in three classes."""
    y = rng.integers(0, 3, 120)
    X = table(rng, 120, 6) + 3 * rng.standard_normal((3, 6))[y]
    return split(X, y=np.array(["a", "b", "c"])[y[:-7]])


def sheet(rng: Rng, n: int = 180) -> Given:
    """Return rows on a rolled sheet."""
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    return split(np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)]))


def words(rng: Rng, kinds: int = 4, holes: float = 0) -> Given:
    """Return a frame of categories that hang together, with or without missing cells."""
    cells = rng.standard_normal((110, 1)) + rng.standard_normal((110, kinds))
    levels = np.array(["low", "mid", "high"], dtype=object)[np.digitize(cells, [-0.6, 0.6])]
    given = split(pd.DataFrame(levels, columns=[f"q{j}" for j in range(kinds)]), 8)
    given.X = given.X.mask(rng.random(given.X.shape) < holes)
    return given


def mixed(rng: Rng, holes: float = 0) -> Given:
    """Return a frame of numbers and categories, with or without missing cells."""
    given, X = words(rng, 3), pd.DataFrame(table(rng, 110, 4), columns=list("abcd"))
    given = Given(X[:-8].join(given.X), X[-8:].join(given.new))
    given.X = given.X.mask(rng.random(given.X.shape) < holes)
    return given


def distances(rng: Rng, kernel: bool = False) -> Given:
    """Return distances between points, or a kernel of these, and those of new points."""
    P = table(rng, 60, 4)
    D = np.sqrt(((P[:, None] - P[None]) ** 2).sum(-1))
    D = np.exp(-(D**2) / 50) if kernel else D
    return Given(D[:53, :53], D[53:, :53])


# The names that cases begin with, and the functions above.
DATA: dict[str, Callable[..., Given]] = {
    "numbers": lambda rng: split(table(rng, 90 + int(rng.integers(40)), 8)),
    "single": lambda rng: split(table(rng, 150, 9).astype("float32")),
    "tall": lambda rng: split(table(rng, 2000, 600)),
    "tall32": lambda rng: split(table(rng, 2000, 500).astype("float32")),
    "wide": lambda rng: split(table(rng, 607, 1200)),
    "square": lambda rng: split(table(rng, 1107, 1100)),
    "few": lambda rng: split(table(rng, 67, 300)),
    "many": lambda rng: split(table(rng, 2607, 4)),
    "several": lambda rng: split(table(rng, 1507, 5)),
    "weighted": lambda rng: split(table(rng, 107, 8), weight=rng.integers(0, 4, 100) * 1.0),
    "holed": lambda rng: split(np.where(rng.random((97, 7)) < 0.1, np.nan, table(rng, 97, 7))),
    "outlying": lambda rng: split(
        table(rng, 110, 6) * np.where(np.arange(110) < 9, 9, 1)[:, None]
    ),
    "counts": lambda rng: split(rng.poisson(9 * rng.gamma(2, size=(20, 7))) + 1, 3),
    "sparse": lambda rng: split(
        (5 * sp.random_array((160, 60), density=0.1, rng=rng, format="csr")).ceil()
    ),
    "shares": lambda rng: split(rng.gamma(1.5, size=(90, 8)) + 0.1),
    "pandas": lambda rng: split(pd.DataFrame(table(rng, 80, 5), columns=list("abcde"))),
    "polars": lambda rng: split(pl.DataFrame(table(rng, 80, 5), schema=list("abcde"))),
    "holed_words": lambda rng: words(rng, holes=0.06),
    "holed_mixed": lambda rng: mixed(rng, holes=0.06),
    "small_sheet": lambda rng: sheet(rng, 80),
    "distances": distances,
    "gram": lambda rng: distances(rng, kernel=True),
    "again": lambda rng: streamed(rng, again=True),
    "lazy_frame": lambda rng: lazy(rng, frame=True),
    **{
        kind: functools.partial(filed, kind)
        for kind in ("npy", "npz", "csv", "ndjson", "parquet")
    },
    **{make.__name__: make for make in (streamed, lazy, labelled, sheet, words, mixed)},
}


# ---- what is done: tables of expressions, which are also the names of the cases -------------

# A kind and the parameters that its cases share // data, the way to fit them where it is not
# at_once: the other parameters of each case | of the next; other data
FITS = """
PCA n_components=3 // numbers: | n_components=0.9 | n_components="auto" | n_components="mle" |
  whiten=True | standardize=True | feature_weight=np.arange(1.0, 9) | sign="factominer" |
  whiten="zca", n_components=None; tall; wide; square; few: n_components=None; single; tall32;
  weighted: | standardize=True; sparse: | standardize=True; holed: missing="em" | missing="ppca"
  | missing="em", standardize=True; pandas; polars; npy; npz; csv; ndjson; parquet; npy keeping;
  streamed; again; lazy; lazy_frame; numbers in_parts: | forget=0.01; few in_parts; numbers
  removing; numbers merging
RobustPCA n_components=2 // outlying: | method="spherical" | standardize=True |
  n_components=0.8; weighted
ProbabilisticPCA n_components=2 // numbers: n_components="bic" | n_components="evidence" |
  standardize=True; holed: missing="ppca"
FactorAnalysis n_components=2 // numbers: | rotation="promax" | rotation=None, standardize=False
  | n_components="evidence", scores="bartlett"
LinearDiscriminantAnalysis // labelled: | shrinkage=0.2, n_components=1 | shrinkage="auto",
  priors=[0.2, 0.3, 0.5]
KernelPCA n_components=3 // numbers: | kernel="linear" | kernel="rbf(lengthscale=4)" |
  kernel="laplacian" | kernel=Matern(nu=2.5) | kernel=RationalQuadratic(alpha=2) |
  kernel=Cosine() | kernel=Polynomial(2) | kernel=ArcCosine() | kernel=PowerExponential(4, 1.5)
  | kernel="rbf + 0.5 * linear" | kernel=RBF() * Polynomial(2) | kernel=NegativeDistance() |
  kernel=Multiquadric() | kernel=Log() | kernel=Periodic(2.0, 9.0) |
  kernel=normalize(Polynomial(2)) | kernel=exp(Cosine()) | kernel=RBF().on([0, 1, 2]) +
  Linear().on([3, 4]) | kernel=RBF(tuple(range(3, 11))) | kernel=lambda x, y: (1 + x @ y.T) ** 2
  | kernel=Sigmoid(0.1), indefinite="clip" | kernel=Sigmoid(), indefinite="flip" |
  kernel=Sigmoid(0.1), indefinite="shift" | landmarks=25 | landmarks="uniform" |
  landmarks="kmeans++" | landmarks=25, kernel=NegativeDistance() | standardize=True |
  feature_weight=np.arange(1.0, 9) | n_components="auto" | n_components=0.8 | n_components=None
  | tol_transform=0.05 | tol_transform=float("inf"); shares: kernel=ChiSquared() |
  kernel=AdditiveChiSquared() | kernel=Intersection() | kernel=NegativeChiSquared(); gram:
  kernel="precomputed"; several; many: kernel="laplacian", memory="80MB", tol=1e-3; single;
  numbers refining: landmarks=25; numbers in_parts: landmarks=20; numbers merging:
  landmarks=X[:20]; streamed: landmarks=20; again: landmarks=20; npy: | landmarks=20; csv;
  parquet; lazy: | landmarks=20; weighted: | landmarks=25; holed: missing="em"; sparse:
  kernel="cosine"; pandas
KernelDiscriminantAnalysis // labelled: | kernel="linear", axes=4, n_components=1 |
  shrinkage="auto" | landmarks=30, standardize=True
RandomFeatures n_features=40 // numbers: | kernel="laplacian" | kernel="matern" |
  kernel=ArcCosine() | orthogonal=False
LandmarkFeatures n_landmarks=20 // numbers: | sampler="uniform" | sampler="kmeans++" |
  kernel=NegativeDistance(), tol=0.2
Isomap neighbours=8 // sheet: | landmarks=40 | landmarks=40, sampler="random", indefinite="flip"
  | neighbours=3, components="place" | metric="cityblock", n_components=0.9
LaplacianEigenmaps neighbours=10 // sheet: | weights="heat", symmetric="mean" | neighbours=2,
  components="each" | weights="self-tuning", symmetric="mutual", components="largest" |
  radius=8.0, components="largest", self_loops=False; numbers: neighbours=None, weights="heat"
DiffusionMaps // numbers: | alpha=0.0, scale=5.0; sheet: neighbours=12, alpha=0.5, t=2; gram:
  metric="precomputed"
LocallyLinearEmbedding neighbours=10 // sheet: | method="modified" | method="hessian" |
  method="ltsa" | neighbours=3, components="place"
MaximumVarianceUnfolding neighbours=5 // small_sheet: landmarks=None; sheet: landmarks=40
ClassicalMDS // numbers: | metric="cityblock" | metric="cityblock", indefinite="flip" |
  metric="cityblock", indefinite="shift"; distances: metric="precomputed", n_components=0.95
CorrespondenceAnalysis // counts: | n_components=None | n_components="auto" | n_components=0.8;
  sparse: n_components=3
MultipleCorrespondenceAnalysis // words: | table="burt" | table="adjusted" | table="joint" |
  correction="benzecri" | correction="greenacre" | n_components="auto" | exclude=["q0=mid"];
  holed_words: missing="level" | missing="passive" | missing="fill"
FAMD // mixed: | n_components=None; words: unseen="passive"; pandas; holed_mixed: missing="fill"
MFA groups={"one": ["a", "b"], "two": ["c", "d"], "three": ["q0", "q1", "q2"]} // mixed: |
  standardize=False, n_components=4; pandas: groups={"one": ["a", "b"], "two": ["c", "d", "e"]}
TopicVectors n_components=3 // sparse: | centred=False, sublinear=True | normalise=False
dropin.PCA random_state=0 // numbers: | n_components=3, whiten=True | n_components="mle",
  svd_solver="full" | n_components=2, svd_solver="randomized"
dropin.IncrementalPCA n_components=3 // numbers: batch_size=25; numbers in_parts
dropin.KernelPCA n_components=3, random_state=0 // numbers: | kernel="rbf", gamma=0.01 |
  kernel="poly" | kernel="cosine" | kernel="rbf", fit_inverse_transform=True, gamma=0.01; gram:
  kernel="precomputed"
dropin.Nystroem n_components=20, random_state=0 // numbers: gamma=0.01 | kernel="poly", degree=2
dropin.TruncatedSVD n_components=2, random_state=0 // sparse; numbers: algorithm="arpack"
"""

WAYS = {
    "at_once": "model.fit(rows(), **more)",
    "in_parts": "[model.partial_fit(part) for part in np.array_split(X, 4)]",
    "removing": "model.partial_fit(X[:40]).partial_fit(X[40:]).remove(X[:20])",
    "merging": "model.partial_fit(X[:50]).merge(again.partial_fit(X[50:]))",
    "refining": "model.fit(X).refine(X, passes=3)",
    "keeping": "model.fit(rows(), checkpoint=Checkpoint('kept.mercer', every=0))",
}

# Data, and what is asked of them; pca() and kpca() are fitted to the rows X.
STUDIES = """
numbers: bootstrap(pca(), X, draws=25) | bootstrap(pca(standardize=True), X, draws=25) |
  drift(pca(), X[:40]) | drift(pca(), X[:40] + 1, reference=X) | drift(kpca(), X[:40]) |
  cluster(pca(), X) | cluster(pca(), X, clusters=4) | cluster(kpca(), X, clusters=3) |
  describe_axes(pca(), X) | describe_axes(kpca(), X, axes=2) |
  describe_groups(np.arange(len(X)) % 3, X) | health(pca(), X) | health(kpca(), X) |
  health(pca(), X * [900, *[1] * 7]) | rotate(pca()) | rotate(pca(), method="promax") |
  rotate(pca(), method="quartimax") | how_many(X) | how_many(X, standardize=True) |
  how_many(X, kernel="rbf") | tune(X[:60], cv=3) | kernels.cka(RBF(3)(X, X), RBF(6)(X, X)) |
  kernels.mmd("rbf", X, new) | kernels.hsic(RBF(3)(X, X), RBF(6)(X, X), unbiased=True) |
  kernels.evidence("rbf", X) | [export_onnx(pca(), "a.onnx")), Path("a.onnx").read_bytes()][1:] |
  [export_onnx(kpca(), "a.onnx")), Path("a.onnx").read_bytes()][1:] | PCA.from_covariance(np.cov(X.T),
  X.mean(axis=0), len(X), memory=MEMORY) | dropin.scanpy_pca(X, 3) | plots.scree_of(pca()) |
  plots.shares_of(pca()) | plots.loadings_of(pca()) | plots.scores_of(pca(), X) |
  plots.contributions_of(pca())
outlying: health(pca(), X) | studies.describe_axes(pca(), X, axes=1)
sheet: tune(X[:60], ["rbf", "laplacian"], 1, cv=3, lengthscales=[2.0, 8.0])
labelled: studies.separation(X, y) | describe_groups(y, X)
sparse: dropin.scanpy_pca(X, 3)
holed_mixed: impute(X)
holed_words: impute(X, 2, "mca")
holed: impute(X, 1) | list(multiple_imputation(pca(missing="em"), X, draws=4).tables) |
  multiple_imputation(pca(missing="em"), X, draws=4) |
  multiple_imputation(pca(missing="ppca"), X, draws=4)
npy: scan(rows).shape | written("z.npy", pca().transform(rows, out="z.npy"))
csv: scan(rows).shape | written("z.csv", pca().transform(rows, out="z.csv"))
parquet: scan(rows).shape
"""

# What is asked of a fitted model that has it. What it refuses is kept as the error.
LOOKS = """
transform(X) | transform(new) | inverse_transform(model.transform(new)) | predict(new) |
predict_proba(new) | predict_log_proba(new) | decision_function(new) | score_samples(new) |
score(X, y) | novelty(new) | transform_bound(new) | impute(X) | distances(new) | is_outlier(new)
| latent(new) | denoise(new) | denoise(new, "fixed-point") | denoise(new, "learned") |
reconstruction(new) | attributions(new) | attributions(new, "permutation") | prototypes() |
score_error(new) | partial_coordinates(new) | get_feature_names_out() | get_covariance() |
get_precision() | sample(5) | top_terms(4) | map() | table() | table("columns") |
classes_at(model.transform(new)) | confusion(X, y, folds=3) | permutation(X, y, draws=19) |
ellipses(X, y) | ellipses(X, draws=19) | residuals(X) | supplementary_columns(X[:, :2]) |
null_band(draws=19) | supplementary(X.iloc[:, :2]) | supplementary(new)
"""

REFUSALS = """
PCA(2).fit(holes) | PCA(2).fit(far) | PCA(2).fit(X[0]) | PCA(2).fit(X[:0]) | PCA(9).fit(X) |
PCA(2).fit(np.array([["a", "b"], ["c", "d"]])) | PCA(-1).fit(X) | PCA("many").fit(X) | PCA(2,
tol=-1).fit(X) | PCA(2, memory=100).fit(X) | PCA(2, memory="3 apples").fit(X) | PCA(2).fit(X,
sample_weight=-np.ones(30)) | PCA(2).fit(X, sample_weight=[1, 1]) | PCA(2).transform(X) |
pca().transform(X[:, :2]) | KernelPCA(2, kernel="rfb").fit(X) | KernelPCA(2,
kernel="sigmoid(gamma=1)").fit(X) | KernelPCA(2, kernel="precomputed").fit(X) |
CorrespondenceAnalysis().fit(X - 99) | LinearDiscriminantAnalysis().fit(X, np.zeros(30)) |
Isomap(neighbours=2).fit(np.vstack([X, X + 1e3])) | LocallyLinearEmbedding(neighbours=99).fit(X)
| PCA(2).fit("nowhere.npy") | PCA(2).fit("ragged.csv") | PCA(2).fit("words.csv") |
load("bad.mercer") | load("nowhere.mercer") | save(pca(), "words.csv") | plan(X, X) |
PCA(2).set_params(colour="red") | bootstrap(pca(), X, draws=1) | bootstrap(X, X) |
MultipleCorrespondenceAnalysis().fit(W).transform(W.replace("low", "lower")) |
MultipleCorrespondenceAnalysis().fit(W.mask(W == "low")) | FAMD().fit(W.mask(W == "low"))
"""

# Run one after the other in one folder; those that take it are given --memory.
COMMANDS = """
--help | methods --json | fit --help | report --help | look --help | plan --help | tune --help |
look mixed.csv --json | look mixed.csv --method famd | plan plain.csv --json | plan plain.csv
--method kernel-pca --json | plan mixed.csv | fit plain.csv -o plain.mercer --scores map.csv
--json | fit mixed.csv -o mixed.mercer -k 2 | fit plain.csv -o k.mercer --method kernel-pca -k 2
| fit mixed.csv -o famd.mercer --method famd -k 2 | inspect plain.mercer --json | inspect
k.mercer | transform plain.mercer new.csv -o new_map.csv | inverse plain.mercer new_map.csv -o
back.csv | drift plain.mercer new.csv --json | drift plain.mercer new.csv --strict | tune
plain.csv --json | report plain.csv -o plain.html | report mixed.csv -o mixed.html --json |
kernel-pca plain.csv -o kernel.html | famd mixed.csv -o famd.html | mca mixed.csv -o mca.html
--columns q0,q1,q2 | ca counts.csv -o ca.html | lda mixed.csv -o lda.html --target q0 | isomap
plain.csv -o isomap.html | robust-pca plain.csv -o robust.html | fit nowhere.csv | fit plain.csv
-k 99 | plam plain.csv | plan plain.csv --memory 1kB
"""
SPEND = "plan fit report kernel-pca famd mca ca lda isomap robust-pca"


def parts_of(line: str) -> list[str]:
    """Return what stands between the bars of a line, or of several."""
    return [part.strip() for part in " ".join(line.split()).split(" | ")]


def told_of(expression: str, **names_: Any) -> Any:
    """Return the value of an expression of the tables above."""
    rooms = {room: importlib.import_module(f"mercer.{room}") for room in ROOMS}
    own = {name: getattr(rooms["kernels"], name) for name in rooms["kernels"].__all__}
    public = {name: getattr(mercer, name) for name in mercer.__all__}
    return eval(expression, globals() | own | rooms | public | names_)


# ---- cases ---------------------------------------------------------------------------------

Case = Callable[[Rng, bool], dict[str, str]]


def fits() -> Iterator[tuple[str, Case]]:
    """Yield every fit of a round: its name, and what makes it."""
    for block in re.split(r"\n(?=\w)", FITS.strip()):
        head, _, entries = " ".join(block.split()).partition(" // ")
        kind, _, shared = head.partition(" ")
        for entry in entries.split("; "):
            left, _, each = entry.partition(": ")
            data, how = [*left.split(), "at_once"][:2]
            for own in each.split("|"):
                name = f"{kind}: {data}, {how}, {own.strip()}".removesuffix(", ")
                params = (shared, own.strip())
                yield name, functools.partial(fitted, kind, params, data, how)


def fitted(
    kind: str, params: tuple[str, str], data: str, how: str, rng: Rng, first: bool
) -> dict[str, str]:
    """Fit a model, and return what is kept."""
    given, make, known = DATA[data](rng), told_of(kind), {}
    if "memory" in inspect.signature(make).parameters:
        params = f"memory={MEMORY!r}", *params
    for part in params:
        known |= told_of(f"dict({part})", X=given.X)
    model, again, kept = make(**known), make(**known), {}
    more = {"y": given.y, "sample_weight": given.weight}
    more = {key: value for key, value in more.items() if value is not None}
    names_ = {"model": model, "again": again, "X": given.X, "rows": given.rows, "more": more}
    if first and hasattr(model, "memory"):
        kept["plan"] = outcome(lambda: mercer.plan(model, given.rows()))
        kept["plan in words"] = outcome(lambda: str(mercer.plan(model, given.rows())))
    kept["fit"] = outcome(lambda: type(told_of(WAYS[how], **names_)).__name__)
    kept |= observed(model, given)
    if first and how == "at_once":
        kept["fit_transform"] = outcome(lambda: again.fit_transform(given.rows(), **more))
    if first and hasattr(model, "report"):
        kept["report"] = outcome(lambda: bool(model.report(given.X, "page.html")))
        kept["page"] = text_of(Path("page.html")) if Path("page.html").exists() else "none"
    return kept


def observed(model: Any, given: Given) -> dict[str, str]:
    """Return what is kept of a fitted model: its file, its attributes, and looks at it."""
    path = Path("model.mercer")
    found = {"save": outcome(lambda: mercer.save(model, path))}
    if path.exists():
        found |= saved(path)
        found["loaded transform"] = outcome(lambda: mercer.load(path).transform(given.new))
    found |= faces(model)
    names_ = {"model": model, "X": given.X, "new": given.new, "y": given.y}
    for look in parts_of(LOOKS):
        if hasattr(model, look.partition("(")[0]):
            found[look] = outcome(functools.partial(told_of, f"model.{look}", **names_))
    found["repr"] = outcome(lambda: repr(model))
    return found


def studies() -> Iterator[tuple[str, Case]]:
    """Yield every study of a round: its name, and what makes it."""
    for block in re.split(r"\n(?=\w)", STUDIES.strip()):
        data, _, asked = " ".join(block.split()).partition(": ")
        for what in parts_of(asked):
            name = f"{what.partition('(')[0]}: {data}, {what}"
            yield name, functools.partial(studied, data, what)


def studied(data: str, what: str, rng: Rng, _: bool) -> dict[str, str]:
    """Return what is kept of a study: itself, its attributes, and its table as text."""
    given = DATA[data](rng)
    names_ = {"X": given.X, "new": given.new, "y": given.y, "rows": given.rows()}
    names_ |= {
        "pca": partial_model(mercer.PCA, given),
        "kpca": partial_model(mercer.KernelPCA, given),
    }
    try:
        result = told_of(what, **names_)
    except Exception as error:
        return {"whole": f"error: {named(type(error))}: {settled(str(error))}"}
    kept = {"whole": digest(result)}
    if type(result).__module__.startswith("mercer"):
        kept |= faces(result)
        kept["text"] = outcome(
            lambda: [str(result)] if type(result).__str__ is not object.__str__ else []
        )
    return kept


def partial_model(kind: type, given: Given) -> Callable[..., Any]:
    """Return what makes a model that is fitted to the rows, with the parameters given to it."""
    return lambda **params: kind(**{"n_components": 2, "memory": MEMORY} | params).fit(given.X)


def commands() -> dict[str, dict[str, str]]:
    """Return what command lines write to stdout, stderr and files."""
    rng = np.random.default_rng(1)
    frame = mixed(rng).X
    frame.insert(0, "id", [f"row {i}" for i in range(len(frame))])
    frame.iloc[3, 2] = np.nan
    frame.to_csv("mixed.csv", index=False)
    pd.DataFrame(DATA["counts"](rng).X, columns=list("abcdefg")).to_csv(
        "counts.csv", index=False
    )
    pd.DataFrame(table(rng, 90, 5), columns=list("vwxyz")).to_csv("plain.csv", index=False)
    pd.DataFrame(table(rng, 40, 5), columns=list("vwxyz")).to_csv("new.csv", index=False)
    return {f"command: {line}": commanded(line.split()) for line in parts_of(COMMANDS)}


def commanded(line: list[str]) -> dict[str, str]:
    """Run one command line in this process; return code, outputs, and the files it wrote."""
    if line[0] in SPEND.split() and not {"--memory", "--help"} & set(line):
        line = [*line, "--memory", MEMORY]
    before = set(Path().iterdir())
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    argv, sys.argv, code = sys.argv, ["mercer", *line], 0
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            runpy.run_module("mercer", run_name="__main__")
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
    outs = []
    for stream in streams:
        stream.flush()
        outs.append(stream.buffer.getvalue().decode())
    with contextlib.suppress(ValueError):
        outs[0] = json.dumps(pruned(json.loads(outs[0]), set()), ensure_ascii=False)
    wrote = sorted(path for path in Path().iterdir() if path not in before and path.is_file())
    files = {f"file {path.name}": text_of(path) for path in wrote}
    return {"code": str(code), "stdout": digest(outs[0]), "stderr": digest(outs[1]), **files}


def refusals() -> dict[str, dict[str, str]]:
    """Return the type and text of the errors that bad inputs raise."""
    rng = np.random.default_rng(2)
    X, W = table(rng, 30, 4), words(rng).X
    holes, far = X.copy(), X.copy()
    holes[3, 2], far[5, 1] = np.nan, np.inf
    Path("ragged.csv").write_text("a,b\n1,2\n3\n", encoding="utf-8")
    Path("words.csv").write_text("a,b\n1,2\n3,four\n", encoding="utf-8")
    Path("bad.mercer").write_bytes(b"no model, but bytes that stand in a file " * 3)
    pca = partial_model(mercer.PCA, Given(X, X))
    names_ = {"X": X, "W": W, "holes": holes, "far": far, "pca": pca}
    return {
        f"refusal: {bad}": {"error": outcome(functools.partial(told_of, bad, **names_))}
        for bad in parts_of(REFUSALS)
    }


def names() -> dict[str, dict[str, str]]:
    """Return the public names, their members and their signatures."""
    cases = {}
    for room in ("mercer", *(f"mercer.{room}" for room in ROOMS)):
        module = importlib.import_module(room)
        cases[f"names: {room}"] = {"all": " ".join(sorted(module.__all__))}
        if room == "mercer":  # those of rooms also list the modules loaded so far
            cases[f"names: {room}"]["dir"] = " ".join(sorted(dir(module)))
        for name in sorted(module.__all__):
            cases[f"names: {room}.{name}"] = members(getattr(module, name))
    return cases


def members(value: Any) -> dict[str, str]:
    """Return how a public value is called, and, of a class, every public method."""
    public = [name for name in sorted(dir(value)) if not name.startswith("_")]
    own = {name: inspect.getattr_static(value, name) for name in public}
    kept = {"dir": " ".join(public)} if isinstance(value, type) else {}
    for name, part in {"": value, **(own if kept else {})}.items():
        with contextlib.suppress(TypeError, ValueError):  # what cannot be called
            whole = inspect.signature(getattr(part, "__func__", part))
            empty = inspect.Signature.empty
            plainly = [p.replace(annotation=empty) for p in whole.parameters.values()]
            kept[f"annotations {name}"] = settled(str(whole))
            whole = whole.replace(parameters=plainly, return_annotation=empty)
            kept[f"signature {name}"] = settled(str(whole))
    return kept


# ---- record and compare --------------------------------------------------------------------


def record(out: Path, count: int, seed: int, only: str) -> int:
    """Write the results of this tree to a file; return the exit code."""
    cases: dict[str, dict[str, str]] = {}
    assert len({name for name, _ in (*fits(), *studies())}) == len([*fits(), *studies()])
    with tempfile.TemporaryDirectory() as folder, threadpoolctl.threadpool_limits(THREADS):
        for name, case in itertools.islice(_rounds(seed), count):
            if only in name:
                place = Path(folder) / str(len(cases))
                cases[name] = _apart(place, case)
        for part in (commands, refusals, names):
            if not only or only in part.__name__:
                place = Path(folder) / part.__name__
                place.mkdir()
                with contextlib.chdir(place):
                    cases |= part()
    out.parent.mkdir(parents=True, exist_ok=True)
    head = {name: importlib.import_module(name).__version__ for name in LIBRARIES}
    head |= {"mercer": mercer.__file__, "python": sys.version.split()[0], "threads": THREADS}
    head |= {"count": count, "seed": seed, "only": only}
    text = json.dumps({"header": head, "cases": cases}, indent=1, ensure_ascii=False)
    out.write_text(text + "\n", encoding="utf-8")
    kept = sum(map(len, cases.values()))
    print(f"{len(cases)} cases, {kept} attributes of {mercer.__file__} -> {out}")
    return 0


def _rounds(seed: int) -> Iterator[tuple[str, Callable[[], dict[str, str]]]]:
    """Yield named cases for ever: all fits and studies, then all again with other data."""
    for turn in itertools.count():
        for place, (name, case) in enumerate([*fits(), *studies()]):
            rng = np.random.default_rng([seed, turn, place])
            yield f"{name}, {turn}", functools.partial(case, rng, turn == 0)


def _apart(place: Path, case: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Run one case in a folder of its own, and with it the warnings that it gives."""
    place.mkdir()
    with (
        contextlib.chdir(place),
        warnings.catch_warnings(record=True) as caught,
        dask.config.set(scheduler="synchronous"),
    ):
        warnings.simplefilter("always")
        kept = case()
    ours = (mercer.AccuracyWarning, mercer.DataWarning)
    said = [(named(w.category), str(w.message)) for w in caught if issubclass(w.category, ours)]
    return {**kept, "warnings": digest(said)}


def compare(before: Path, after: Path) -> int:
    """Print what differs between two records; return 1 when anything does."""
    one, two = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    for key in sorted(set(one["header"]) | set(two["header"])):
        values = one["header"].get(key), two["header"].get(key)
        if values[0] != values[1]:
            print(f"header: {key}: {values[0]} | {values[1]}")
    cases = attributes = 0
    for name in [*one["cases"], *(n for n in two["cases"] if n not in one["cases"])]:
        a, b = (part["cases"].get(name, {}) for part in (one, two))
        apart = [k for k in [*a, *(k for k in b if k not in a)] if a.get(k) != b.get(k)]
        if apart:
            cases, attributes = cases + 1, attributes + len(apart)
            print(f"{name}" + ("" if a and b else f": only in {before if a else after}"))
            for key in apart if a and b else ():
                pair = (re.sub("^[0-9a-f]{52}", "", part.get(key, "absent")) for part in (a, b))
                print(f"    {key}: {' | '.join(pair)}")
    total = len(set(one["cases"]) | set(two["cases"]))
    print(f"{cases} of {total} cases differ, in {attributes} attributes")
    return 1 if cases else 0


def main(args: list[str]) -> int:
    """Record or compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(dest="command", required=True)
    recording = kinds.add_parser("record")
    recording.add_argument("out", type=Path)
    recording.add_argument("--count", type=int, default=300)
    recording.add_argument("--seed", type=int, default=0)
    recording.add_argument("--only", default="")
    comparing = kinds.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args(args)
    if given.command == "compare":
        return compare(given.before, given.after)
    return record(given.out.resolve(), given.count, given.seed, given.only)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
