"""Far from the origin: the same axes and variances, whatever constant is added.

The reference is the extended-precision decomposition of the exactly centred stored values.
Axes at a relative gap of 0.1 or more: sine ≤ 1e-6 for float32 data up to mean/std 1e6,
≤ 1e-10 for float64 up to 1e8. The iterative path is held to what its certificate says.
"""

import functools

import numpy as np
import pytest
import scipy.sparse
from forced import FORCED, existing, factors, fit, gapped, holed, suits
from jacobi import WIDE, reference, sine

K = 3
SINE = {np.float32: 1e-6, np.float64: 1e-10}
EIGENVALUE = {np.float32: 1e-6, np.float64: 1e-10}
SHAPES = {"tall": (400, 30), "wide": (40, 100)}
each_fit = pytest.mark.parametrize(("kind", "path"), existing(SHAPES, K))
LADDER = [
    *((np.float32, offset) for offset in (0.0, 1.0, 1e2, 1e3, 1e4, 1e5, 1e6)),
    *((np.float64, offset) for offset in (0.0, 1.0, 1e4, 1e6, 1e7, 1e8)),
]


@functools.cache
def table(kind, dtype, offset):
    """Return the stored values of one rung of the ladder and their exact components."""
    n, p = SHAPES[kind]
    base = gapped(n, p, 3, K, noise=0.05)
    if offset:
        level = np.random.default_rng(4).choice([-offset, offset], p)  # both sides of zero
        base = base / base.std(axis=0) * np.linspace(1.0, 0.3, p) + level
    X = base.astype(dtype)
    return X, reference(X)


def rank_with_gap(values):
    """Return the largest number of axes up to K at a relative gap of at least 0.1."""
    gaps = [float((values[i] - values[i + 1]) / values[0]) for i in range(K)]
    return max(i + 1 for i in range(K) if gaps[i] >= 0.1)


def check(found, truth, dtype):
    """Hold axes and eigenvalues against the truth."""
    k = rank_with_gap(truth.values)
    certified = found.plan_.chosen.name == "krylov"
    # `tol` is half the width of the interval; the value stands at its lower end.
    allowed = max(EIGENVALUE[dtype], 2 * found.certificate_.tol if certified else 0)
    error = np.abs(found.explained_variance_[:k] / truth.values[:k] - 1).astype(float)
    assert error.max() <= allowed
    slack = float(found.certificate_.sine[:k].max()) * k**0.5 if certified else 0.0
    assert sine(found.components_[:k], truth.axes[:, :k]) <= max(SINE[dtype], slack)
    # float32 deviations may be summed in float32 inside a block, but not the level itself.
    loose = (1e-7 if dtype is np.float32 else 1e-15) * float(truth.total) ** 0.5
    mean = np.abs(found.mean_ - truth.mean).astype(float)
    assert np.all(mean <= 4e-16 * np.abs(truth.mean).astype(float) + loose)


@each_fit
@pytest.mark.parametrize(("dtype", "offset"), LADDER)
def test_ladder_of_offsets(kind, dtype, offset, path):
    X, truth = table(kind, dtype, offset)
    check(fit(path, X, K), truth, dtype)


@functools.cache
def sparse_table(kind, dtype, offset):
    """Full columns far from zero beside columns that are nearly empty."""
    n, p = SHAPES[kind]
    X = gapped(n, p, 5, K, noise=0.05)
    far = np.arange(p) % 2 == 0
    empty = (np.random.default_rng(6).random((n, p)) < 0.8) & ~far
    X = np.where(empty, 0.0, X / X.std(axis=0) * np.linspace(1, 0.3, p) + offset * far)
    X = X.astype(dtype)
    return scipy.sparse.csr_array(X), reference(X)


@each_fit
@pytest.mark.parametrize(
    ("dtype", "offset"),
    [(np.float32, o) for o in (1.0, 9.0, 1e2, 1e4, 1e6)]
    + [(np.float64, o) for o in (9.0, 1e4, 1e6, 1e8)],
)
def test_ladder_of_offsets_in_full_columns_of_sparse_data(kind, dtype, offset, path):
    X, truth = sparse_table(kind, dtype, offset)
    check(fit(path, X, K), truth, dtype)


@pytest.mark.parametrize("share", [0.02, 0.4, 0.6, 0.95])
@pytest.mark.parametrize("path", FORCED)
def test_sparse_columns_with_holes(path, share):
    """Holes in a column far from zero are its variance: they must not be shifted away."""
    X = holed(gapped(400, 30, 7, K) + 1e5, share, 8)
    if path == "dual":
        X = X[:20]
    if suits(path, *X.shape, K):
        found, truth = fit(path, X, K), reference(X.toarray())
        error = np.abs(found.explained_variance_ / truth.values[:K] - 1).astype(float)
        assert error.max() <= max(1e-10, 2 * found.certificate_.tol * (path == "krylov"))


def columns(n, levels, deviations, seed, dtype):
    """Return correlated readings about given levels, as an instrument would store them."""
    rng = np.random.default_rng(seed)
    p = len(levels)
    mix = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return (levels + rng.standard_normal((n, p)) * deviations @ mix).astype(dtype)


NAMED = {
    "kelvin": columns(2000, [300.0] * 4, [0.1, 0.08, 0.05, 0.02], 0, np.float32),
    "pressure": columns(2000, [101325.0] * 4, [5.0, 4.0, 2.9, 1.9], 1, np.float32),
    "utm": columns(2000, [448251.0, 5411932.0, 35.0], [40.0, 25.0, 9.0], 2, np.float32),
    "unix seconds": columns(2000, [1.7e9, 1.7e9, 1.7e9], [1000.0, 600.0, 90.0], 3, np.float64),
    "frequency": columns(2000, [2.4e9] * 4, [100.0, 60.0, 30.0, 20.0], 4, np.float64),
    "offset 1e12": columns(2000, [1e12] * 4, [1e5, 6e4, 3e4, 2e4], 5, np.float64),
    "2^26": 2.0**26 + np.tile([0.0, 1.0], 10)[:, None],
    "2^23 float32": (2.0**23 + np.tile([0.0, 1.0], 10)[:, None]).astype(np.float32),
}


@pytest.mark.parametrize("path", ["auto", "svd", "gram"])
@pytest.mark.parametrize("name", NAMED)
def test_named_cases(name, path):
    X = NAMED[name]
    found, truth = fit(path, X, None), reference(X)
    tight = EIGENVALUE[X.dtype.type]
    k = len(found.explained_variance_)
    error = np.abs(found.explained_variance_ / truth.values[:k] - 1).astype(float)
    assert error.max() <= tight
    ratio = (truth.values[:k] / truth.total).astype(float)
    np.testing.assert_allclose(found.explained_variance_ratio_, ratio, rtol=tight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("path", ["gram", "dual", "krylov"])
def test_products_of_large_data_are_shift_safe(path, dtype):
    """Large enough for float32 products, which small problems never see."""
    X = factors(20_000, 250, 9, K) if path != "dual" else factors(400, 8000, 9, K)
    X = (X + (1e6 if dtype is np.float32 else 1e8)).astype(dtype)
    wide = X.astype(np.float64)
    wide -= wide.mean(axis=0)
    wide -= wide.mean(axis=0)
    square = wide.T @ wide if path != "dual" else wide @ wide.T
    values, vectors = np.linalg.eigh(square)
    values, axes = values[::-1] / (len(X) - 1), vectors[:, ::-1][:, :K]
    if path == "dual":
        axes = wide.T @ axes / np.sqrt((len(X) - 1) * values[:K])
    assert values[K - 1] - values[K] >= 0.1 * values[0]
    found = fit(path, X, K)
    slack = float(found.certificate_.sine.max()) * K**0.5 if path == "krylov" else 0.0
    assert sine(found.components_, axes.astype(WIDE)) <= max(SINE[dtype], slack)
    assert np.all(found.certificate_.lower <= values[:K] * (1 + 1e-13))
    assert np.all(found.certificate_.upper >= values[:K] * (1 - 1e-13))


@pytest.mark.parametrize(("dtype", "shift"), [(np.float64, 2.0**27), (np.float32, 2.0**13)])
@each_fit
def test_an_exact_shift_changes_next_to_nothing(kind, path, dtype, shift):
    """On a grid the shifted values are exact, so even the iteration must walk the same way."""
    n, p = SHAPES[kind]
    grid = 2.0**20 if dtype is np.float64 else 2.0**6
    X = np.round(gapped(n, p, 11, K, noise=0.05) * 8 * grid) / grid
    here, there = fit(path, X.astype(dtype), K), fit(path, (X + shift).astype(dtype), K)
    tight = EIGENVALUE[dtype]
    np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=tight)
    assert sine(there.components_, here.components_.T.astype(WIDE)) <= SINE[dtype]
    scores, shifted = (
        here.transform(X.astype(dtype)),
        there.transform((X + shift).astype(dtype)),
    )
    largest = np.abs(scores).max()
    loss = 1e-10 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(shifted, scores, rtol=0, atol=loss * largest)


@pytest.mark.parametrize("weight", [0.0, 1e-60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("path", ["svd", "gram", "krylov", "auto"])
def test_rows_that_weigh_next_to_nothing_do_not_move_the_origin(path, dtype, weight):
    X = (gapped(200, 30, 12, K) + 1e4).astype(dtype)
    ghosts = np.full((200, 30), -1e9 if dtype is np.float32 else -1e13, dtype)
    both = np.concatenate([ghosts, X])
    found = fit(path, both, K, sample_weight=np.repeat([weight, 1.0], 200))
    check(found, reference(X), dtype)


# dtype, the largest mean/std, the tolerance asked for, and the sine that must come of it.
DIGITS = [
    (np.float64, 1e8, 1e-13, 1e-10),
    (np.float64, 0.0, 1e-13, 1e-10),
    (np.float32, 1e6, 1e-10, 1e-6),
    (np.float32, 0.0, 1e-10, 1e-6),
]


@pytest.mark.parametrize(("dtype", "offset", "tol", "allowed"), DIGITS)
def test_a_small_tolerance_reaches_the_sines_of_exact_paths(dtype, offset, tol, allowed):
    X = gapped(400, 40, 3)
    X = (X + offset * X.std()).astype(dtype)
    found = fit("krylov", X, 3, tol=tol)
    assert sine(found.components_, reference(X).axes[:, :3]) <= allowed
