"""PCA bound to one path, and plain data sets with a known gap."""

import warnings

import numpy as np
import scipy.sparse

from mercer import PCA
from mercer.errors import AccuracyWarning
from mercer.estimators.linear._batches import Batches
from mercer.operators import RunningSvd, sketch_rank

PATHS = ("svd", "gram", "dual", "krylov")


def bound_to(kind, *paths):
    """Return the class of an estimator that takes these paths and no other."""
    return type(f"{paths[0].title()}{kind.__name__}", (kind,), {"_allowed": lambda _: paths})


FORCED = {path: bound_to(PCA, path) for path in PATHS} | {"auto": PCA}


def fit(path, X, k, *, sample_weight=None, **parameters):
    """Return PCA fitted along `path`; a missed `tol` does not stop it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return FORCED[path](k, **parameters).fit(X, sample_weight=sample_weight)


def suits(path, n, p, k):
    """Tell whether a path exists for this shape and number of components."""
    if path == "dual":
        return n < p
    return path != "krylov" or (3 * k <= min(n, p) and min(n, p) > 20)


def existing(shapes, k, paths=FORCED):
    """Return (kind, path) for every shape {kind: (n, p)} and every path that exists there."""
    return [(kind, path) for kind, s in shapes.items() for path in paths if suits(path, *s, k)]


def spread(n, p, deviations, seed):
    """Return (n, p) rows with about these deviations along random axes, mean zero."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((p, p)))[0]
    sizes = np.zeros(p)
    sizes[: len(deviations)] = deviations
    return rng.standard_normal((n, p)) * sizes @ turn


def gapped(n, p, seed, k=3, noise=0.15):
    """Return (n, p) rows whose first k deviations are well apart, the rest being noise."""
    return spread(n, p, [*np.linspace(1.0, 0.55, k), *np.full(p - k, noise)], seed)


def factors(n, p, seed, k=3, noise=0.15):
    """Return (n, p) rows as `gapped`, for p too large to draw a whole turn."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((p, k)))[0]
    sizes = np.linspace(1.0, 0.55, k) * np.sqrt(p / 10)
    return rng.standard_normal((n, k)) * sizes @ axes.T + noise * rng.standard_normal((n, p))


def holed(X, share, seed):
    """Return X as CSR with a share of the cells set to zero."""
    keep = np.random.default_rng(seed).random(X.shape) >= share
    return scipy.sparse.csr_array(np.where(keep, X, 0).astype(X.dtype))


def scattered(n, p, density, seed, dtype=np.float64):
    """Return a CSR array (n, p) with about this share of cells, uniform in (0, 1)."""
    rng = np.random.default_rng(seed)
    count = int(n * p * density)
    rows, columns = rng.integers(0, n, count), rng.integers(0, p, count)
    cells = (rng.random(count).astype(dtype), (rows, columns))
    return scipy.sparse.coo_array(cells, shape=(n, p)).tocsr()


def narrow(model, source):
    """Return a stream of a PCA that keeps a few directions, as where p×p sums do not fit."""
    rank = sketch_rank(int(model.n_components), source.shape[1])
    return Batches(RunningSvd(rank), model.forget)
