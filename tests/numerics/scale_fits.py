"""Kernel PCA: tables that hurt, kernels by plain formulas, and ways to fit them."""

import warnings
import zlib
from functools import lru_cache

import numpy as np
from kernel_fits import FORCED, centred
from scipy.spatial.distance import cdist

from mercer import KernelPCA
from mercer.errors import AccuracyWarning, DataWarning
from mercer.kernels import RBF, Laplacian, Linear, Matern, NegativeDistance, Polynomial

EPS = np.finfo(np.float64).eps


def clusters(n, rng):
    return 3 * rng.standard_normal((5, 4))[rng.integers(0, 5, n)] + 1e-3 * rng.normal(
        size=(n, 4)
    )


def duplicates(n, rng):
    return rng.standard_normal((max(n // 4, 3), 3))[rng.integers(0, max(n // 4, 3), n)]


def flat(n, rng):
    return rng.standard_normal((n, 30)) / 5


def low_rank(n, rng):
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, 8))


def swiss_roll(n, rng):
    t = 1.5 * np.pi * (1 + 2 * rng.random(n))
    roll = np.column_stack([t * np.cos(t), 21 * rng.random(n), t * np.sin(t)]) / 8
    return roll + 0.01 * rng.standard_normal((n, 3))


def smooth(n, rng):
    t = rng.uniform(0, 2 * np.pi, n)
    rows = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(3 * t), 0.1 * t])
    return rows + 0.02 * rng.standard_normal(rows.shape)


def outlier(n, rng):
    rows = rng.standard_normal((n, 3))
    rows[n // 2] += 500
    return rows


# name: the rows, what they are multiplied by, and what is added in units of that
DATA = {
    "clusters": (clusters, 1.0, 0.0),
    "duplicates": (duplicates, 1.0, 0.0),
    "flat": (flat, 1.0, 0.0),
    "low rank": (low_rank, 1.0, 0.0),
    "swiss roll": (swiss_roll, 1.0, 0.0),
    "smooth": (smooth, 1.0, 0.0),
    "outlier": (outlier, 1.0, 0.0),
    "far": (smooth, 1.0, 1e6),
    "tiny": (smooth, 1e-8, 0.0),
    "huge": (clusters, 1e8, 0.0),
}


def _gauss(x, length):
    return -cdist(x, x, "sqeuclidean") / (2 * length**2)


def _matern(x, length):
    d = np.sqrt(3.0) * cdist(x, x) / length
    return np.expm1(-d) + d * np.exp(-d)


def _product(x, s):
    a, b = _matern(x, 2 * s), np.expm1(_gauss(x, 3 * s))
    return a + b + a * b


# name: the kernel for data of size s, and k(x, y) on float64 rows less a constant that
# centring takes out: without it a long lengthscale would cost the reference its digits.
KERNELS = {
    "rbf": (lambda s: RBF(s), lambda x, s: np.expm1(_gauss(x, s))),
    "short": (lambda s: RBF(0.2 * s), lambda x, s: np.expm1(_gauss(x, 0.2 * s))),
    "long": (lambda s: RBF(40 * s), lambda x, s: np.expm1(_gauss(x, 40 * s))),
    "laplacian": (
        lambda s: Laplacian(2 * s),
        lambda x, s: np.expm1(-cdist(x, x, "cityblock") / (2 * s)),
    ),
    "matern": (lambda s: Matern(1.5 * s), lambda x, s: _matern(x, 1.5 * s)),
    "polynomial": (
        lambda s: Polynomial(3, 0.2 / s**2, 1.0),
        lambda x, s: (0.2 * (x / s) @ (x / s).T + 1) ** 3,
    ),
    "distance": (lambda _: NegativeDistance(), lambda x, _: -cdist(x, x)),
    "sum": (
        lambda s: 0.5 * RBF(s) + Laplacian(3 * s),
        lambda x, s: (
            0.5 * np.expm1(_gauss(x, s)) + np.expm1(-cdist(x, x, "cityblock") / (3 * s))
        ),
    ),
    "product": (lambda s: Matern(2 * s) * RBF(3 * s), _product),
    "linear": (lambda _: Linear(), lambda x, _: (x - x.mean(axis=0)) @ (x - x.mean(axis=0)).T),
}


def seed_of(*case):
    return zlib.crc32(repr(case).encode())


def table(data, n, dtype="float64"):
    """Return the rows (n, p) of a data set, and their size s."""
    made, size, offset = DATA[data]
    rows = made(n, np.random.default_rng(seed_of(data, n)))
    if dtype == "float32":
        offset = min(offset, 1e3)  # float32 holds no digits of such rows beyond
    return ((rows + offset) * size).astype(dtype), size


def counts(n, data):
    """Return repeat counts (n,), some of them zero, some fractions."""
    rng = np.random.default_rng(seed_of("weights", n, data))
    return rng.choice([0.0, 1.0, 1.0, 2.5, 4.0], n)


@lru_cache(maxsize=4)
def reference(data, n, name, dtype, weighted):
    """Return eigenvalues of the centred matrix by LAPACK, its trace and largest entry."""
    X, s = table(data, n, dtype)
    K = KERNELS[name][1](X.astype(np.float64), s)
    A = centred(K, counts(n, data) if weighted else None)
    return np.linalg.eigvalsh(A)[::-1], float(np.trace(A)), float(np.max(np.abs(K)))


def _streamed(model, X, seed):
    """Return the model after blocks of uneven sizes."""
    cuts = np.sort(np.random.default_rng(seed).integers(8, len(X), 3))
    for block in np.split(X, np.unique(cuts)):
        model.partial_fit(block)
    return model


def fitted(way, X, k, kernel, w=None, seed=0, marks=None):
    """Return a model fitted in one of `WAYS`; remarks about accuracy do not stop it."""
    n = len(X)
    m = int(min(n, max(2 * k, n // 6)))
    options = {"kernel": kernel, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        if way in WHOLE:
            path = way.removesuffix(" weighted").removesuffix("32")
            return FORCED[path](k, **options).fit(X, sample_weight=w)
        usual = {
            "uniform": "uniform",
            "kmeans++": "kmeans++",
            "given": X[:: max(1, n // m)][:m],
            "stream given": X[:m] * (1 + 1e-3),
        }.get(way, m)
        model = KernelPCA(k, landmarks=usual if marks is None else marks, **options)
        if way in ("stream", "stream given"):
            return _streamed(model, X, seed)
        model.fit(X, sample_weight=w)
        if way in ("once", "once weighted"):
            return model.refine(X, passes=1, sample_weight=w)
        return model.refine(X, sample_weight=w) if way == "refined" else model


LANDMARKS = ("pivoted", "uniform", "kmeans++", "given", "stream", "stream given")
WHOLE = ("lapack", "lapack32", "stored", "stored32", "primal", "tiles", "tiles32")
WHOLE += ("stored weighted", "tiles weighted")
WAYS = (*WHOLE, "once", "refined", *LANDMARKS, "landmarks weighted", "once weighted")


def assert_same_model(one, two, rtol=1e-9):
    """Two fits agree: eigenvalues, shares, what landmarks leave, and their intervals."""
    for name in ("eigenvalues_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=rtol)
    np.testing.assert_allclose(two.captured_share_, one.captured_share_, rtol=rtol)
    if hasattr(one, "residual_trace_"):
        tight = 1e-9 * (one.residual_trace_ + one.eigenvalues_[0])
        assert abs(one.residual_trace_ - two.residual_trace_) <= tight
        for end in ("lower", "upper"):
            ends = [getattr(model.certificate_, end) for model in (one, two)]
            np.testing.assert_allclose(ends[1], ends[0], rtol=1e-8, atol=tight)


def marks_of(way, X):
    """Return landmarks that move with the rows, where a way takes any."""
    return X[::5].copy() if "given" in way else None
