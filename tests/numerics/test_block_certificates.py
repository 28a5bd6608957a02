"""Certificates of fits block by block are true: LAPACK's types, trends, offsets, float32."""

import functools
import warnings

import lapack
import numpy as np
import pytest
from forced import FORCED, PATHS, suits
from jacobi import reference
from pieces import Pieces, in_blocks

from mercer.errors import AccuracyWarning, DataWarning, InputError

SHAPES = [(41, 20), (21, 20), (10, 20)]
SPREADS = ("drawn", "sorted", "drift", "float32", "weights")


@functools.lru_cache(maxsize=4)
def table(kind, n, p, spread):
    """Return rows, weights, and their exact eigenvalues."""
    X, w = lapack.data(kind, n, p), None
    size = np.abs(X).max()
    if spread == "sorted":
        X = X[np.argsort(X[:, 0], kind="stable")]
    if spread == "drift":  # a trend that is larger than all else, its square in range
        X, size = (X * 2.0**-40, size * 2.0**-40) if size > 1e140 else (X, size)
        X = X + 1e4 * size * np.linspace(-1, 1, n)[:, None] * np.linspace(1, 2, p)
    if spread == "float32":
        unit = size if 0 < size < np.inf else 1.0
        X = (X / unit + 3).astype(np.float32)
    if spread == "weights":
        w = np.arange(n) % 3 + 0.25
    return X, w, reference(X.astype(np.float64), w)


def certificate(path, kind, n, p, spread, rows):
    """Return the certificate of one fit, or None where there is nothing to be found."""
    X, w, _ = table(kind, n, p, spread)
    k = None if path != "krylov" else 2
    model = in_blocks(FORCED[path], rows)(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            source = Pieces(X, 6, forecast=None if path == "dual" else 5)
            return model.fit(source, sample_weight=w).certificate_
        except InputError as error:
            assert "no variance" in error.what  # noqa: PT017
            return None


def check(kind, spread, shapes=SHAPES):
    for n, p in shapes:
        truth = table(kind, n, p, spread)[2]
        for path in PATHS:
            if not suits(path, n, p, 2):
                continue
            for rows in (3, 16):
                found = certificate(path, kind, n, p, spread, rows)
                if found is None:
                    continue
                place = (kind, n, p, path, spread, rows)
                assert np.all(found.lower <= found.upper), place
                for i in range(len(found.lower)):
                    low, high = truth.interval(i)
                    assert found.lower[i] <= high, (*place, i, "lower end above the value")
                    assert found.upper[i] >= low, (*place, i, "upper end below the value")


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("kind", [3, 6, 9, 21])
def test_types_of_lapack(kind, spread):
    check(kind, spread, SHAPES[:1])


@pytest.mark.slow
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("kind", lapack.TYPES)
def test_types_of_lapack_at_length(kind, spread):
    check(kind, spread)


@pytest.mark.parametrize("path", ["gram", "krylov"])
@pytest.mark.parametrize("kind", ["far", "drift", "loud late"])
def test_float32_products(path, kind):
    """Tables large enough that products stay float32; the loudest rows may come last."""
    n, p = 8000, 360
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) * 0.9 ** np.arange(p)
    X += {"far": 50.0, "drift": np.linspace(0, 20, n)[:, None]}.get(kind, 0.0)
    X *= np.where(np.arange(n) > 0.9 * n, 100, 0.01)[:, None] if kind == "loud late" else 1
    X = X.astype(np.float32)
    model = in_blocks(FORCED[path], 900)(3).fit(Pieces(X, 500))
    assert model.plan_.chosen.products == 4
    wide = X.astype(np.float64)
    wide -= wide.mean(axis=0)
    exact = np.linalg.eigvalsh(wide.T @ wide)[::-1][:3] / (n - 1)
    assert model.certificate_.met
    assert np.all(model.certificate_.lower <= exact)
    assert np.all(exact <= model.certificate_.upper)
