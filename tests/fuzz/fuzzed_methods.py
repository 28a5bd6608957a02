"""How each method is made for a case: its options, a table that suits it, what it must find.

`Truth` holds eigenvalues by the definition of the method, in extended precision, without any
code of the package.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from jacobi import WIDE, reference

from mercer import dropin
from mercer.methods import METHODS
from mercer.testing.matrices import eigenvalues, singular_values

Rng = np.random.Generator
Cells = np.ndarray
Options = dict[str, Any]


def numbers(rng: Rng) -> Cells:
    """Rows with two leading directions and noise, in units of their own."""
    n, p = int(rng.integers(9, 36)), int(rng.integers(2, 8))
    axes = rng.standard_normal((2, p)) * [[4], [2]]
    rows = rng.standard_normal((n, 2)) @ axes + rng.standard_normal((n, p))
    return rows * rng.uniform(0.5, 2, p) + 3


def counts(rng: Rng) -> Cells:
    n, p = int(rng.integers(6, 20)), int(rng.integers(3, 7))
    return rng.poisson(9 * rng.gamma(2, size=(n, p))) + 1.0


def codes(rng: Rng) -> Cells:
    """Categories as small whole numbers."""
    n, p = int(rng.integers(12, 36)), int(rng.integers(2, 5))
    return (
        np.digitize(rng.standard_normal((n, 1)) + rng.standard_normal((n, p)), [-0.5, 0.5])
        + 1.0
    )


def points(rng: Rng) -> Cells:
    """Rows whose kernel matrix and distances are taken."""
    return rng.standard_normal((int(rng.integers(9, 30)), 3)) * [3, 2, 1]


def distances(rng: Rng) -> Cells:
    x = points(rng)
    return np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))


def kernel_matrix(rng: Rng) -> Cells:
    return np.exp(-(distances(rng) ** 2) / 8)


@dataclasses.dataclass(frozen=True)
class Fuzzed:
    """A method in one of its settings.

    Attributes
    ----------
    name : str
        Its name in the table of methods.
    options : dict
        Its parameters.
    table : callable
        Rows that suit it.
    scales : bool
        Whether a table times a power of two gives the same map, up to its scale.
    takes : tuple of str
        Kinds of "bad" input that this setting is made for.
    """

    name: str
    options: Options
    table: Callable[[Rng], Cells] = numbers
    scales: bool = True
    takes: tuple[str, ...] = ()

    def new(self) -> Any:
        return METHODS[self.name].load()(**self.options)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


HOLES = ("one NaN", "holes", "pandas, NaN", "pandas, NA", "polars, null", "pyarrow, null",
         "csr, NaN", "masked", "None in objects", "duckdb")  # fmt: skip
WORDS = ("numbers as text", "words", "word objects", "bytes", "pandas, words", "polars, words",
         "pandas, categories", "dates", "pandas, dates", "duckdb", "ragged")  # fmt: skip
LAZY = ("duckdb", "polars, lazy")  # read as files are
LABELS = (
    "pandas, words",
    "polars, words",
    "pandas, categories",
    "pandas, dates",
)  # names of rows


# A method, words about its settings, and after // its options, each as it is typed. The words:
# a table that suits it, "fixed" where the unit of the rows matters, what it is made to take.
SETTINGS = """
PCA lazy // | n_components=1 | n_components=0.9 | n_components='auto' | whiten=True |
  n_components=2, whiten='zca' | standardize=True | standardize=True, whiten=True |
  sign='factominer' | memory='1MB'
PCA lazy holes // missing='em' | n_components=1, missing='ppca' | missing='em', standardize=True
Autoencoder // layers=(6,), epochs=2 | n_components=1, layers=(), start='random' |
  n_components=1, layers=(5, 4), epochs=3, standardize=True
KernelPCA lazy // | n_components=1 | n_components=0.9 | n_components='auto' | kernel='linear' |
  kernel='cosine' | kernel='laplacian' | kernel='matern' | standardize=True | landmarks=6 |
  kernel='negativedistance' | landmarks='uniform' | tol_transform=0.1
KernelPCA lazy fixed // kernel='rbf(lengthscale=2.0)' | kernel='poly' | kernel='rbf + linear' |
  kernel='laplacian(lengthscale=3.0)' | kernel='sigmoid', indefinite='clip' |
  kernel='sigmoid', indefinite='flip'
KernelPCA kernel_matrix // kernel='precomputed' | kernel='precomputed', n_components=1
KernelPCA lazy holes // missing='em'
RobustPCA lazy // | n_components=1 | method='spherical' | standardize=True | whiten=True
ProbabilisticPCA lazy // | n_components=1 | n_components='aic' | standardize=True
ProbabilisticPCA lazy holes // n_components=1, missing='ppca'
BayesianPCA lazy // | n_components=1 | standardize=True
BayesianPCA lazy holes // n_components=1, missing='ppca'
FactorAnalysis lazy // | n_components=1 | rotation=None | rotation='promax' | standardize=False
CorrespondenceAnalysis counts labels // | n_components=None | n_components='auto' |
  n_components=1
MultipleCorrespondenceAnalysis codes words // | n_components=None | table='burt' |
  correction='benzecri' | correction='greenacre' | unseen='passive' | n_components='auto'
MultipleCorrespondenceAnalysis codes words holes // missing='level' | missing='passive' |
  missing='fill'
FAMD words // | n_components=None | unseen='passive'
FAMD words holes // missing='fill'
MFA words // groups={'a': [0], 'b': [1]} | groups={'a': ['c0'], 'b': ['c1']} |
  groups={'a': [0], 'b': [1]}, standardize=False
TopicVectors counts fixed // | n_components=1 | centred=False | normalise=False | sublinear=True
LinearDiscriminantAnalysis // | n_components=1 | shrinkage=0.1 | shrinkage='auto'
KernelDiscriminantAnalysis // | n_components=1 | standardize=True | kernel='linear' |
  landmarks=6 | shrinkage='auto'
LaplacianEigenmaps // neighbours=4, components='largest' | neighbours=None |
  neighbours=None, weights='heat' | neighbours=6, weights='self-tuning' |
  neighbours=5, components='each', symmetric='mean' |
  neighbours=8, weights='heat', n_components=1
SpectralClustering // n_clusters=2, neighbours=4 | n_clusters='auto', neighbours=6
DiffusionMaps // | alpha=0.5, t=2 | neighbours=6, components='largest'
DiffusionMaps kernel_matrix // metric='precomputed'
ClassicalMDS // | n_components=1 | metric='cityblock' | metric='chebyshev', indefinite='flip' |
  n_components=0.9 | indefinite='shift', metric='cityblock'
ClassicalMDS distances // metric='precomputed'
Isomap // neighbours=5, components='place' | neighbours=6, n_components=1 |
  neighbours=6, landmarks=8, components='largest' | neighbours=6, metric='cityblock'
LocallyLinearEmbedding // neighbours=5, components='place' | neighbours=6, method='ltsa' |
  neighbours=7, method='modified', n_components=1 |
  neighbours=7, method='hessian', components='place'
MaximumVarianceUnfolding // neighbours=4, components='place' | neighbours=3, n_components=1
LandmarkFeatures // | n_landmarks=4 | kernel='linear' | sampler='uniform', n_landmarks=5 |
  kernel='laplacian' | sampler='kmeans++', n_landmarks=3
RandomFeatures // n_features=16 | n_features=7, kernel='laplacian' |
  n_features=10, orthogonal=False
dropin.PCA lazy // | n_components=1 | n_components=0.8 | whiten=True | svd_solver='full' |
  svd_solver='covariance_eigh' | n_components=1, svd_solver='arpack' | n_components='mle' |
  n_components=1, svd_solver='randomized'
dropin.IncrementalPCA lazy // | n_components=1 | whiten=True | batch_size=9
dropin.TruncatedSVD // n_components=1 | n_components=1, algorithm='arpack'
dropin.KernelPCA fixed // | n_components=2 | n_components=2, kernel='rbf' |
  kernel='poly', degree=2 | n_components=2, kernel='cosine' | n_components=2, kernel='sigmoid' |
  n_components=1, kernel='rbf', fit_inverse_transform=True
dropin.KernelPCA kernel_matrix // n_components=2, kernel='precomputed'
dropin.Nystroem fixed // n_components=4, random_state=0 |
  n_components=4, gamma=0.1, random_state=0 |
  n_components=3, kernel='cosine', random_state=1
dropin.scanpy_pca counts lazy // | n_comps=1 | n_comps=2, dtype='float64' | zero_center=False |
  n_comps=2, layer='raw' | n_comps=1, key_added='own', dtype='float64' | svd_solver='arpack'
"""
TABLES = (counts, codes, kernel_matrix, distances)
TAKEN = {
    "lazy": ("duckdb", "polars, lazy"),  # read as files are
    "labels": (
        "pandas, words",
        "polars, words",
        "pandas, categories",
        "pandas, dates",
    ),  # of rows
    "holes": (
        *("one NaN", "holes", "pandas, NaN", "pandas, NA", "polars, null", "pyarrow, null"),
        *("csr, NaN", "masked", "None in objects"),
    ),
    "words": (
        *("numbers as text", "words", "word objects", "bytes", "dates", "ragged"),
        *("pandas, words", "polars, words", "pandas, categories", "pandas, dates"),
    ),
}


def settings(text: str) -> list[Fuzzed]:
    """Return the methods of the table above, one for each of their options."""
    found: list[Fuzzed] = []
    for line in text.replace("\n  ", " ").strip().split("\n"):
        head, _, options = line.partition("//")
        name, *words = head.split()
        table = next((one for one in TABLES if one.__name__ in words), numbers)
        takes = tuple(kind for word in words for kind in TAKEN.get(word, ()))
        for each in options.split("|"):
            kept = eval(f"dict({each.strip()})")
            found.append(Fuzzed(name, kept, table, "fixed" not in words, takes))
    return found


BY_NAME: dict[str, list[Fuzzed]] = {}
for _fuzzed in settings(SETTINGS):
    BY_NAME.setdefault(_fuzzed.name, []).append(_fuzzed)
FUNCTIONS = {"dropin.scanpy_pca"}  # whose cases are of another form
# What other libraries make has neither a truth nor units here: tests/guests are theirs.
GUESTS = {name for name, method in METHODS.items() if ".guests." in method.home}
assert set(BY_NAME) - FUNCTIONS == set(METHODS) - GUESTS, "every other method is tried"
FACES = set(dir(dropin)) - {"scanpy_pca"}
assert {name.removeprefix("dropin.") for name in METHODS if "." in name} >= FACES


def classes(cells: Cells) -> Cells:
    """Return labels for rows: three classes in turns."""
    return np.arange(len(cells)) % 3


# ---- what a fit must find -------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Truth:
    """Eigenvalues, descending, in extended precision; `slack` bounds their error."""

    values: Cells
    slack: Any


def _wide(a: Any) -> Cells:
    return np.asarray(a).astype(WIDE)


def of_rows(model: Any, x: Cells, w: Cells | None) -> Truth:
    """Return variances along the axes of rows."""
    standard = "std" if getattr(model, "standardize", False) else None
    found = reference(x, w, standard)
    return Truth(found.values, found.slack * found.values[0])


def of_truncated(_: Any, x: Cells, __: Cells | None) -> Truth:
    s = singular_values(x) ** 2
    return Truth(s, 1e-17 * s[0])


def of_symmetric(a: Cells) -> Truth:
    found = eigenvalues(a)
    size = np.max(np.abs(found), initial=0)
    return Truth(found, 1e-18 * len(found) * size)


def centred(k: Cells, w: Cells | None = None) -> Cells:
    """Return D^½(I - 1πᵀ)K(I - π1ᵀ)D^½."""
    w = np.ones(len(k), WIDE) if w is None else _wide(w)
    share = w / w.sum()
    k = k - (share @ k)[None, :]
    k = k - (k @ share)[:, None]
    root = np.sqrt(w)
    k = root[:, None] * k * root
    return (k + k.T) / 2


def _squares(x: Cells) -> Cells:
    return np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)


def _gram(kernel: Any, x: Cells) -> Cells | None:
    """Return k(x, y) less a constant, by the formula of the kernel; None for other kernels."""
    x, kind = _wide(x), type(kernel).__name__
    if kind == "RBF" and np.ndim(kernel.lengthscale) == 0:
        return np.expm1(-_squares(x) / (2 * WIDE(kernel.lengthscale) ** 2))
    if kind == "Laplacian" and np.ndim(kernel.lengthscale) == 0:
        apart = np.sum(np.abs(x[:, None, :] - x[None, :, :]), axis=2)
        return np.expm1(-apart / WIDE(kernel.lengthscale))
    if kind == "Linear":
        x = x - x.mean(axis=0)
        return x @ x.T
    if kind == "Polynomial":
        return (WIDE(kernel.gamma) * x @ x.T + WIDE(kernel.coef0)) ** int(kernel.degree)
    if kind == "Precomputed":
        return x
    if kind == "NegativeDistance" and getattr(kernel, "beta", 1.0) == 1.0:
        return -np.sqrt(_squares(x))
    return None


def of_kernel(model: Any, x: Cells, w: Cells | None) -> Truth | None:
    """Return eigenvalues of the centred kernel matrix."""
    if getattr(model, "standardize", False) or getattr(model, "indefinite", "raise") != "raise":
        return None
    k = _gram(model.kernel_, x)
    if k is None or not np.isfinite(k).all():
        return None
    found = of_symmetric(centred(k, w))
    if float(found.values.min()) < -1e-9 * float(np.abs(found.values).max()):
        return None  # refused, or named by a warning; not this reference
    rounding = 1e-18 * len(k) * np.max(np.abs(k)) * (1 if w is None else np.max(_wide(w)))
    return Truth(np.maximum(found.values, 0), found.slack + rounding)


def of_counts(_: Any, x: Cells, w: Cells | None) -> Truth:
    """Return the inertias of correspondence analysis."""
    t = _wide(x) if w is None else _wide(x) * _wide(w)[:, None]
    t = t[t.sum(axis=1) > 0][:, t.sum(axis=0) > 0]
    t = t / t.sum()
    r, c = t.sum(axis=1), t.sum(axis=0)
    s = singular_values((t - np.outer(r, c)) / np.sqrt(np.outer(r, c))) ** 2
    return Truth(s, WIDE(1e-16))


def of_codes(model: Any, x: Cells, w: Cells | None) -> Truth | None:
    """Return the inertias of the indicator table."""
    if model.table != "indicator" or model.correction or model.missing != "raise":
        return None
    x = x[:, np.ptp(x, axis=0) > 0]  # a variable with one level says nothing
    levels = [x[:, [j]] == np.unique(x[:, j])[None, :] for j in range(x.shape[1])]
    return of_counts(model, np.concatenate(levels, axis=1), w)


def of_standard(model: Any, x: Cells, w: Cells | None) -> Truth | None:
    """Return eigenvalues of the correlations: FAMD of numbers."""
    if model.missing != "raise":
        return None
    found = reference(x, w, "std")
    return Truth(found.values, 1e-15 * found.values[0])


def of_distances(model: Any, x: Cells, _: Cells | None) -> Truth | None:
    """Return eigenvalues of -½HD²H."""
    if model.indefinite == "shift":
        return None
    x = _wide(x)
    if model.metric == "precomputed":
        d = x**2
    elif model.metric == "euclidean":
        d = _squares(x)
    else:
        apart = np.abs(x[:, None, :] - x[None, :, :])
        d = (apart.sum(axis=2) if model.metric == "cityblock" else apart.max(axis=2)) ** 2
    if not np.isfinite(d).all():
        return None
    found = of_symmetric(centred(-d / 2))
    values = np.abs(found.values) if model.indefinite == "flip" else np.maximum(found.values, 0)
    return Truth(np.sort(values)[::-1], found.slack + 1e-18 * len(x) * np.max(d, initial=0))


def of_topics(model: Any, x: Cells, w: Cells | None) -> Truth | None:
    """Return variances of tf-idf rows."""
    if w is not None:
        return None
    x = _wide(x)
    tf = np.where(x > 0, 1 + np.log(np.where(x > 0, x, 1)), 0) if model.sublinear else x
    df = (x != 0).sum(axis=0)
    rows = tf * (np.log(WIDE(1 + len(x)) / (1 + df)) + 1)
    if model.normalise:
        norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        rows = rows / np.where(norms > 0, norms, 1)
    rows = rows - rows.mean(axis=0) if model.centred else rows
    s = singular_values(rows) ** 2 / (len(x) - 1)
    return Truth(s, 1e-16 * s[0])


def of_walk(model: Any, x: Cells, _: Cells | None) -> Truth | None:
    """Return the eigenvalues of a random walk over all pairs of rows, the first left out."""
    if model.neighbours is not None or model.metric != "euclidean":
        return None
    if model.scale_ < np.finfo(float).tiny:  # a subnormal number tells few of its digits
        return None
    k = np.exp(-_squares(_wide(x)) / (2 * WIDE(model.scale_) ** 2))
    q = k.sum(axis=1) ** WIDE(model.alpha)
    k = k / np.outer(q, q)
    d = np.sqrt(k.sum(axis=1))
    found = of_symmetric(k / np.outer(d, d))
    return Truth(found.values[1:], found.slack)


TRUTHS: dict[str, Callable[[Any, Cells, Cells | None], Truth | None]] = {
    "PCA": of_rows,
    "ProbabilisticPCA": of_rows,
    "dropin.PCA": of_rows,
    "dropin.IncrementalPCA": of_rows,
    "dropin.TruncatedSVD": of_truncated,
    "KernelPCA": of_kernel,
    "dropin.KernelPCA": of_kernel,
    "CorrespondenceAnalysis": of_counts,
    "MultipleCorrespondenceAnalysis": of_codes,
    "FAMD": of_standard,
    "ClassicalMDS": of_distances,
    "TopicVectors": of_topics,
    "DiffusionMaps": of_walk,
}
