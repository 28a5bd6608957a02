"""Ways to fit rows with repeat counts, and what it means that they are repeated rows.

A way is a function ``(X, w, folder) -> model``; ``w`` is None where rows stand as often as they
count. A new path, or another kind of rows, is one line more in `LINEAR` or `KERNEL`.
"""

import json
import warnings

import numpy as np
import scipy.sparse
from forced import FORCED, bound_to, gapped, narrow
from kernel_fits import FORCED as KERNEL_FORCED
from kernel_fits import blobs

import mercer
from mercer import PCA, KernelPCA
from mercer.errors import AccuracyWarning, DataWarning
from mercer.kernels import (
    RBF,
    FeatureMap,
    Laplacian,
    Linear,
    NegativeDistance,
    Polynomial,
    Sigmoid,
)

# Eigenvalues have twice the digits of axes, so that axes to 1e-9 need far more than the 1e-6
# that is certified by default. Where rounding allows less the fit says so; 1e-9 it must reach.
TIGHT = 1e-13
MARKS = 40
SketchPCA = bound_to(PCA, "sketch")
LENGTHS = np.array([1.0, 1.5, 2.0, 0.7, 3.0])


def quiet(act, *given, **options):
    """Call without remarks on accuracy, data, or names that new rows do not have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return act(*given, **options)


def fitted(way, X, w, folder):
    """Return the model of a way; that of a stream is found when it is looked at."""

    def looked():
        model = way(X, w, folder)
        assert model.explained_variance_.size
        return model

    return quiet(looked)


def _on(path, hold=np.asarray, dtype=np.float64, **options):
    kind = {**FORCED, "sketch": SketchPCA}[path]

    def fit(X, w, _folder):
        return kind(3, tol=TIGHT, **options).fit(hold(X.astype(dtype)), sample_weight=w)

    return fit


def _file(end, path="auto", **options):
    """Fit to a file; a few rows make a block."""

    def fit(X, w, folder):
        where = written(X, folder / f"rows{len(X)}{end}")
        return FORCED[path](3, tol=TIGHT, memory="60MB", **options).fit(where, sample_weight=w)

    return fit


def written(X, path):
    """Write rows to a file of the kind that its name says, once."""
    if path.exists():
        return path
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".csv":
        np.savetxt(path, X, delimiter=",", fmt="%.17g")
    elif path.suffix == ".h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["rows"] = X
    elif path.suffix == ".zarr":
        import zarr

        zarr.save_array(path, X)
    elif path.suffix == ".ndjson":
        lines = [json.dumps({f"c{i}": x for i, x in enumerate(row)}) for row in X.tolist()]
        path.write_text("\n".join([*lines, ""]))
    elif path.suffix == ".npz":
        scipy.sparse.save_npz(path, scipy.sparse.csr_array(X))
    else:
        import polars as pl

        pl.DataFrame(X, schema=[f"c{i}" for i in range(X.shape[1])]).write_parquet(path)
    return path


def parts(X, w, count):
    """Yield blocks of uneven heights and their weights, the second of one row."""
    cuts = np.unique([1, *np.linspace(0, len(X), count + 1).astype(int)[1:-1]])
    yield from zip(
        np.split(X, cuts), np.split(w, cuts) if w is not None else [None] * 99, strict=False
    )


def _iterator(X, w, _folder):
    return PCA(3, tol=TIGHT).fit((part for part, _ in parts(X, None, 5)), sample_weight=w)


def _function(X, w, _folder):
    make = lambda: (part for part, _ in parts(X, None, 5))  # noqa: E731
    return PCA(3, tol=TIGHT).fit(make, sample_weight=w)


def _checkpoint(X, w, folder):
    return PCA(3, tol=TIGHT).fit(X, sample_weight=w, checkpoint=folder / f"{w is None}.kept")


class NarrowPCA(PCA):
    """A stream that keeps a few directions, as where p×p sums do not fit."""

    _begun = narrow


def _streamed(hold=np.asarray, kind=PCA, **options):
    def fit(X, w, _folder):
        model = kind(3, tol=TIGHT, **options)
        for part, counts in parts(X, w, 4):
            model.partial_fit(hold(part), sample_weight=counts)
        return model

    return fit


def _merged(X, w, _folder):
    one, two = (PCA(3, tol=TIGHT) for _ in range(2))
    for number, (part, counts) in enumerate(parts(X, w, 4)):
        (one, two)[number % 2].partial_fit(part, sample_weight=counts)
    return one.merge(two)


def _removed(X, w, _folder):
    """Put rows in that do not belong, and take them out again."""
    other, times = gapped(30, X.shape[1], 9), np.arange(30) % 3
    if w is None:
        other, times = np.repeat(other, times, axis=0), None
    model = PCA(3, tol=TIGHT).partial_fit(other, sample_weight=times)
    model.partial_fit(X, sample_weight=w)
    return model.remove(other, sample_weight=times)


def _frame(library):
    def fit(X, w, _folder):
        import importlib

        frame = importlib.import_module(library).DataFrame(X)
        return PCA(3, tol=TIGHT).fit(frame, sample_weight=w)

    return fit


def _lazy(X, w, folder):
    import polars as pl

    frame = pl.scan_parquet(written(X, folder / f"lazy{len(X)}.parquet"))
    return PCA(3, tol=TIGHT).fit(frame, sample_weight=w)


def _dask(**options):
    def fit(X, w, _folder):
        import dask.array as da

        rows = da.from_array(X, chunks=(max(1, len(X) // 3), X.shape[1]))
        return PCA(3, tol=TIGHT, **options).fit(rows, sample_weight=w)

    return fit


CSR = scipy.sparse.csr_array
LINEAR = {
    **{f"{p} dense": _on(p) for p in ("svd", "gram", "krylov", "auto")},
    **{f"{p} sparse": _on(p, CSR) for p in ("svd", "gram", "krylov")},
    **{f"{p} float32": _on(p, dtype=np.float32) for p in ("svd", "gram", "krylov")},
    **{f"{p} standardised": _on(p, standardize=True) for p in ("svd", "gram", "krylov")},
    "sparse standardised": _on("gram", CSR, standardize=True),
    "float32 sparse": _on("gram", CSR, np.float32),
    "whitened": _on("auto", whiten=True),
    **{f"{p} file": _file(".npy", p) for p in ("svd", "gram", "krylov")},
    "krylov file standardised": _file(".npy", "krylov", standardize=True),
    "text file": _file(".csv"),
    **{f"{end} file": _file(f".{end}") for end in ("parquet", "h5", "zarr", "ndjson")},
    "lazy frame": _lazy,
    **{f"sparse file {p}": _file(".npz", p) for p in ("gram", "krylov")},
    "iterator": _iterator,
    "function": _function,
    "checkpoint": _checkpoint,
    "pandas": _frame("pandas"),
    "polars": _frame("polars"),
    "dask": _dask(),
    "dask standardised": _dask(standardize=True),
    "stream": _streamed(),
    "stream sparse": _streamed(CSR),
    "stream standardised": _streamed(standardize=True),
    "merged streams": _merged,
    "rows removed": _removed,
}
# Fewer rows than columns, repeated or not.
WIDE = {
    "dual": _on("dual"),
    "dual sparse": _on("dual", CSR),
    "dual float32": _on("dual", dtype=np.float32),
    "dual standardised": _on("dual", standardize=True),
    "dual file": _file(".npy", "dual"),
    "krylov": _on("krylov"),
    "krylov file": _file(".npy", "krylov"),
}
# A few directions are kept, and rows that have no more lose nothing.
LOW = {
    "sketch": lambda X, w, _folder: SketchPCA(3, tol=TIGHT).fit(
        (part for part, _ in parts(X, None, 5)), sample_weight=w
    ),
    "narrow stream": _streamed(kind=NarrowPCA),
}


def _kernel(path="auto", kernel=None, hold=np.asarray, dtype=np.float64, k=4, **options):
    kernel = RBF(2.0) if kernel is None else kernel

    def fit(X, w, _folder):
        model = KERNEL_FORCED[path](k, kernel=kernel, tol=TIGHT, **options)
        return quiet(model.fit, hold(X.astype(dtype)), sample_weight=w)

    return fit


def marks(hold=np.asarray):
    return hold(blobs(MARKS, 5, seed=3))


def _landmarks(hold=np.asarray, kernel=None, **options):
    kernel = RBF(4.0) if kernel is None else kernel

    def fit(X, w, _folder):
        model = KernelPCA(4, kernel=kernel, landmarks=marks(hold), **options)
        return quiet(model.fit, hold(X), sample_weight=w)

    return fit


def _kernel_stream(**options):
    def fit(X, w, _folder):
        model = KernelPCA(4, landmarks=marks(), **{"kernel": RBF(4.0), **options})
        for part, counts in parts(X, w, 3):
            quiet(model.partial_fit, part, sample_weight=counts)
        return model

    return fit


def _kernel_merged(X, w, _folder):
    one, two = (KernelPCA(4, kernel=RBF(4.0), landmarks=marks()) for _ in range(2))
    for number, (part, counts) in enumerate(parts(X, w, 3)):
        quiet((one, two)[number % 2].partial_fit, part, sample_weight=counts)
    return quiet(one.merge, two)


def _kernel_blocks(kind):
    def fit(X, w, folder):
        rows = {
            "iterator": lambda: (part for part, _ in parts(X, None, 3)),
            "function": lambda: lambda: (part for part, _ in parts(X, None, 3)),
            "file": lambda: written(X, folder / f"{len(X)}.npy"),
            "source": lambda: mercer.scan(written(X, folder / f"{len(X)}.csv")),
        }[kind]()
        model = KernelPCA(4, kernel=RBF(4.0), landmarks=marks())
        return quiet(model.fit, rows, sample_weight=w)

    return fit


def _refined(X, w, _folder):
    model = quiet(KernelPCA(4, kernel=RBF(2.0), landmarks=60).fit, X, sample_weight=w)
    return quiet(model.refine, X, tol=TIGHT, sample_weight=w)


POLYNOMIAL = Polynomial(2, 0.1, 1.0)
SQUARES = FeatureMap(lambda x: np.concatenate([x, x**2], axis=1))
KERNEL = {
    **{path: _kernel(path) for path in ("lapack", "stored", "tiles")},
    **{f"{path} median": _kernel(path, RBF()) for path in ("lapack", "stored", "tiles")},
    **{
        f"{path} standardised": _kernel(path, RBF(1.0), standardize=True)
        for path in ("lapack", "stored", "tiles")
    },
    **{f"{path} distance": _kernel(path, NegativeDistance()) for path in ("lapack", "tiles")},
    "lengthscales": _kernel("tiles", RBF(LENGTHS)),
    "laplacian": _kernel("stored", Laplacian("median")),
    "primal": _kernel("primal", POLYNOMIAL),
    "primal gamma": _kernel("primal", Polynomial(2)),
    "linear": _kernel("primal", Linear(), standardize=True),
    "feature map": _kernel("primal", SQUARES),
    "sparse": _kernel("lapack", hold=CSR),
    "sparse tiles": _kernel("tiles", hold=CSR),
    "sparse standardised": _kernel("stored", RBF(1.0), hold=CSR, standardize=True),
    "share": _kernel("lapack", k=0.8),
    **{
        policy: _kernel("lapack", Sigmoid(0.05, -1.0), indefinite=policy)
        for policy in ("clip", "flip", "shift")
    },
    "landmarks": _landmarks(),
    "landmarks median": _landmarks(kernel=RBF(), standardize=True),
    "landmarks distance": _landmarks(kernel=NegativeDistance()),
    "landmarks sparse": _landmarks(CSR),
    "stream": _kernel_stream(),
    "stream median": _kernel_stream(kernel=RBF(), standardize=True),
    "merged streams": _kernel_merged,
    **{kind: _kernel_blocks(kind) for kind in ("iterator", "function", "file", "source")},
    "refined": _refined,
}
# Coordinates are float32, of rows that are float32.
KERNEL32 = {
    f"{path}{' standardised' * standardize}": _kernel(
        path, kernel, dtype=np.float32, standardize=standardize
    )
    for path, kernel in (
        ("lapack", RBF(2.0)),
        ("stored", RBF(2.0)),
        ("tiles", RBF(2.0)),
        ("primal", POLYNOMIAL),
    )
    for standardize in (False, True)
}


def counts_of(n, seed, most=4):
    """Return repeat counts (n,), some of them zero."""
    return np.random.default_rng([seed, n]).integers(0, most, n)


def near(found, wanted, tol, name):
    """Two arrays agree, relative to the largest number in them."""
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    assert found.shape == wanted.shape, name
    unit = float(np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tol * unit, err_msg=name)


def products(model, new):
    """Return ZZᵀ of new rows: signs, and turns among equal eigenvalues, drop out."""
    z = np.asarray(quiet(model.transform, new), np.float64)
    return z @ z.T


def assert_intervals_meet(a, b):
    low, high = np.maximum(a.lower, b.lower), np.minimum(a.upper, b.upper)
    assert np.all(low <= high * (1 + 1e-12))


def assert_same_spectrum(one, two, tol=1e-9):
    assert one.n_components_ == two.n_components_
    assert one.rank_ == two.rank_
    for name in ("explained_variance_", "explained_variance_ratio_"):
        near(getattr(one, name), getattr(two, name), tol, name)
    assert_intervals_meet(one.certificate_, two.certificate_)
