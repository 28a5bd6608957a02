"""What `same_results.py` does: seeded data, and tables of fits, studies, looks and commands.

An entry of a table is an expression in Python, and the name of its case as well, so that white
space is free and everything else is not.
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

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
FactorAnalysis n_components=2 // numbers: | rotation="promax" | rotation="oblimin" |
  rotation=None, standardize=False | n_components="evidence", scores="bartlett"
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
  kernels.evidence("rbf", X) | [export_onnx(pca(), "a.onnx")),
  Path("a.onnx").read_bytes()][1:] | [export_onnx(kpca(), "a.onnx")),
  Path("a.onnx").read_bytes()][1:] | PCA.from_covariance(np.cov(X.T), X.mean(axis=0), len(X),
  memory=MEMORY) | dropin.scanpy_pca(X, 3) | plots.scree_of(pca()) |
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
