"""What a certificate says is true: on LAPACK's matrix types, on noise, ties and bad starts."""

import functools
import itertools
import warnings

import lapack
import numpy as np
import pytest
from forced import FORCED, PATHS, factors, fit, gapped, suits
from jacobi import EPS, WIDE, reference, sine
from pieces import Pieces, in_blocks

from mercer.errors import AccuracyWarning, DataWarning, InputError
from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Floor, Goal

SMALL = [
    (n, p)
    for p in (1, 2, 3, 5, 20)
    for n in sorted({2 * p + 1, p + 1, max(2, p), max(2, p // 2)})
]
LARGE = [(401, 200), (201, 200), (100, 200)]
ULP = 2.0**-52


@functools.lru_cache(maxsize=4)
def table(kind, n, p):
    X = lapack.data(kind, n, p)
    return X, reference(X)


def pairs_wanted(path, n, p):
    """Return k: everything on exact paths, a tenth on the iterative one."""
    return None if path != "krylov" else max(1, min(n, p) // 10)


def check_type(kind, n, p):
    """Hold every path against the exact eigenvalues of one type and size."""
    X, truth = table(kind, n, p)
    for path in PATHS:
        k = pairs_wanted(path, n, p)
        if not suits(path, n, p, k or 1):
            continue
        if not X.any():
            with pytest.raises(InputError, match="no variance"):
                fit(path, X, k)
            continue
        with warnings.catch_warnings():  # variances near underflow may be called zero
            warnings.filterwarnings("ignore", message="variances leave the range")
            found = fit(path, X, k)
        check_intervals(found.certificate_, truth, (kind, n, p, path))
        check_ratios(found, X, truth, (kind, n, p, path))


def check_intervals(certificate, truth, place):
    for i in range(len(certificate.lower)):
        low, high = truth.interval(i)
        assert certificate.lower[i] <= high, (*place, i, "lower end above the eigenvalue")
        assert certificate.upper[i] >= low, (*place, i, "upper end below the eigenvalue")
    assert np.all(certificate.lower <= certificate.upper), place


def check_ratios(found, X, truth, place):
    """LAPACK's own ratios, and the certified angle of every axis that has one."""
    n, p = X.shape
    alive = found.rank_
    v = found.components_[:alive]
    assert np.abs(v @ v.T - np.eye(alive)).max(initial=0) <= 30 * ULP * max(n, p), place
    assert not found.components_[alive:].any(), place
    angle = found.certificate_.sine
    for i in range(min(alive, len(truth.values))):
        if angle[i] < 1:
            slack = (
                1e3
                * EPS
                * float(truth.values[0])
                / max(float(found.certificate_.gap[i]), 1e-300)
            )
            measured = sine(v[i], truth.axes[:, i : i + 1])
            assert measured <= angle[i] * (1 + 1e-6) + slack + 4 * ULP, (*place, i, "sine")


@pytest.mark.parametrize("kind", lapack.TYPES)
def test_lapack_types_small(kind):
    for n, p in SMALL:
        check_type(kind, n, p)


# Two of the 63 large cases, by seed, in the ordinary run; the sweep takes them all.
TWO = np.random.default_rng(21).permutation(len(LARGE) * 21)[:2]


@pytest.mark.parametrize("number", sorted(TWO))
def test_lapack_types_large(number):
    check_type(int(number) // 3 + 1, *LARGE[number % 3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", lapack.TYPES)
@pytest.mark.parametrize(("n", "p"), LARGE)
def test_lapack_types_large_all(kind, n, p):
    check_type(kind, n, p)


@pytest.mark.parametrize("kind", [2, 3, 4, 5, 8, 9, 10, 13, 16, 17, 18, 21])
@pytest.mark.parametrize("p", [1, 2, 3, 5, 20, 60])
def test_iteration_on_stored_matrices_of_every_size(kind, p):
    """The iterative solver itself, on sizes at which a plan would never choose it."""
    a = lapack.root(kind, p, np.random.default_rng(p)).astype(WIDE)
    matrix = (a.T @ a).astype(np.float64)
    matrix = (matrix + matrix.T) / 2
    exact = np.linalg.eigvalsh(matrix)[::-1]  # to 1e-15 of the norm
    for k in sorted({1, max(1, p // 3), p}):
        goal = Goal(k, 1e-6, Floor(4 * p * ULP), float(np.trace(matrix)))
        for width in sorted({1, min(3, p), p}):
            found = BlockKrylov(width, max_passes=200).solve(
                Dense(matrix, symmetric=True), goal
            )
            slack = 4 * ULP * p * exact[0]
            assert np.all(found.certificate.lower <= exact[:k] + slack), (kind, p, k, width)
            assert np.all(found.certificate.upper >= exact[:k] - slack), (kind, p, k, width)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8, 1e-11])
@pytest.mark.parametrize("shape", [(300, 90), (90, 300)])
def test_tol_is_met_or_the_miss_is_said(shape, tol):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * 0.97 ** np.arange(shape[1])
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (shape[0] - 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = FORCED["krylov"](8, tol=tol).fit(X)
    c = found.certificate_
    assert np.all((c.lower <= truth[:8] * (1 + 1e-13)) & (c.upper >= truth[:8] * (1 - 1e-13)))
    given = found.explained_variance_
    far = np.maximum(c.upper - given, given - c.lower) / np.maximum(c.lower, c.zero_level)
    assert c.reached == pytest.approx(far.max(), rel=1e-3)
    assert c.met == bool(np.all(far <= tol))
    assert bool(caught) == (not c.met)
    assert c.tol == tol


def circle(n=24, extra=()):
    """Return points of a circle: two equal eigenvalues; `extra` adds smaller directions."""
    angle = 2 * np.pi * np.arange(n) / n
    more = [size * np.cos((i + 2) * angle) for i, size in enumerate(extra)]
    return np.stack([np.cos(angle), np.sin(angle), *more], axis=1)


@pytest.mark.parametrize("path", ["svd", "gram", "auto"])
def test_circle_is_one_plane(path):
    assert fit(path, circle(), 2).certificate_.groups == ((0, 1),)
    # An axis of a tie that was not asked for is named too: the group reaches beyond k.
    assert fit(path, circle(), 1).certificate_.groups == ((0, 1),)
    # The sample side too: of two equal sizes and of unequal ones.
    wide = np.concatenate([circle(24), np.zeros((24, 60))], axis=1)
    assert fit("dual", wide, 2).certificate_.groups == ((0, 1),)
    wide[:, 0] *= 2
    assert fit("dual", wide, 2).certificate_.groups == ()
    found = fit(path, circle(extra=(0.5, 0.2)), 4)
    assert found.certificate_.groups == ((0, 1),)
    assert "1, 2 cannot be told apart" in str(found.certificate_)


@pytest.mark.parametrize("seed", range(5))
def test_a_start_that_misses_a_plane_of_scattered_data(seed):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    values = np.sort(rng.random(60))[::-1] + np.r_[1.0, 1.0, np.zeros(58)]
    matrix = (turn * values) @ turn.T
    matrix = (matrix + matrix.T) / 2
    start = turn[:, 2:12]  # spans neither of the two largest, up to rounding
    for passes in (1, 2, 3, 5, 40):
        solver = BlockKrylov(10, max_passes=passes, start=start)
        goal = Goal(4, 1e-6, Floor(1e-13), float(values.sum()), seed=seed)
        c = solver.solve(Dense(matrix, symmetric=True), goal).certificate
        truth = np.linalg.eigvalsh(matrix)[::-1][:4]
        assert np.all(c.lower <= truth * (1 + 1e-12))
        assert np.all(c.upper >= truth * (1 - 1e-12))


def quiet(X, parts):
    """Return X with stretches of zeros in which no rounding can be seen."""
    X = X.copy()
    for part in parts:
        X[part] = 0
    return X


N, P = 20_000, 250  # enough work for float32 products
TALL = factors(N, P, 2, 10).astype(np.float32)
WIDE_TABLE = factors(400, 8000, 2, 10).astype(np.float32)
THIRDS = [slice(0, N // 5), slice(2 * N // 5, 3 * N // 5), slice(4 * N // 5, N)]
SIDEWAYS = [(slice(None), slice(1600 * i, 1600 * (i + 1))) for i in (0, 2, 4)]
TWO_VALUED = np.where(np.random.default_rng(3).random((N, P)) < 0.3, 0.1, 0.9)
SHORT = {
    "even": ("gram", "krylov", TALL),
    "quiet": ("gram", "krylov", quiet(TALL, THIRDS)),
    "loud row": ("gram", "krylov", np.concatenate([TALL, 40 * TALL[:1]])),
    "two-valued": ("gram", "krylov", TWO_VALUED.astype(np.float32)),
    "two-valued far": ("gram", "krylov", (TWO_VALUED + 3).astype(np.float32)),
    "graded": ("gram", "krylov", TALL * (0.98 ** np.arange(P)).astype(np.float32)),
    "sorted": ("gram", "krylov", TALL[np.argsort(TALL[:, 0])]),
    "wide": ("dual", "krylov", WIDE_TABLE),
    "wide quiet": ("dual", "krylov", quiet(WIDE_TABLE, SIDEWAYS)),
    "wide two-valued": (
        "dual",
        "krylov",
        np.where(WIDE_TABLE > 0.2, np.float32(0.1), np.float32(0.7)),
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_float32_products_are_charged_where_the_mass_is(name):
    """Intervals hold although products and differences are float32, on awkward data."""
    first, second, X = SHORT[name]
    wide = X.astype(np.float64)
    wide -= wide.mean(axis=0)
    wide -= wide.mean(axis=0)
    square = wide.T @ wide if first == "gram" else wide @ wide.T
    truth = np.linalg.eigvalsh(square)[::-1][:10] / (len(X) - 1)
    for path in (first, second):
        c = fit(path, X, 10).certificate_
        assert np.all(c.lower <= truth * (1 + 1e-13)), path
        assert np.all(c.upper >= truth * (1 - 1e-13)), path


@pytest.mark.parametrize("rows", [1000, 4000, 40_000])
@pytest.mark.parametrize("seed", range(4))
def test_equal_terms_whose_roundings_add_up(seed, rows):
    """Rows ±v: every term of a sum is the same, and rounds the same way. λ = n‖v‖²/(n-1)."""
    v = np.random.default_rng(seed).random(6).astype(np.float32 if seed % 2 else np.float64)
    X = np.where(np.arange(rows)[:, None] % 2, v, -v)
    exact = rows * (v.astype(WIDE) ** 2).sum() / (rows - 1)
    for path in ("svd", "gram", "auto"):
        found = fit(path, X, 1)
        assert found.certificate_.lower[0] <= exact * (1 + 4 * EPS), path
        assert found.certificate_.upper[0] >= exact * (1 - 4 * EPS), path
        assert abs(float(found.explained_variance_[0] / exact - 1)) <= 1e-12, path


def test_certified_sines_hold_for_float32_axes():
    X = gapped(400, 30, 4, 3).astype(np.float32)
    truth = reference(X)
    for path in ("svd", "gram", "krylov"):
        found = fit(path, X, 3)
        for i in range(3):
            measured = sine(found.components_[i], truth.axes[:, i : i + 1])
            assert measured <= found.certificate_.sine[i], path


SPREADS = ("drawn", "sorted", "drift", "float32", "weights")


def spread_rows(kind, n, p, spread):
    """Return rows of one type of LAPACK, harder for blocks, and weights or None."""
    X = lapack.data(kind, n, p)
    size = np.abs(X).max()
    if spread == "sorted":
        X = X[np.argsort(X[:, 0], kind="stable")]
    if spread == "drift":  # a trend that is larger than all else, its square in range
        X, size = (X * 2.0**-40, size * 2.0**-40) if size > 1e140 else (X, size)
        X = X + 1e4 * size * np.linspace(-1, 1, n)[:, None] * np.linspace(1, 2, p)
    if spread == "float32":
        X = (X / (size if 0 < size < np.inf else 1.0) + 3).astype(np.float32)
    return X, np.arange(n) % 3 + 0.25 if spread == "weights" else None


def check_blocks(kind, spread, shapes):
    """Hold every path, read block by block, against the exact eigenvalues."""
    for n, p in shapes:
        X, w = spread_rows(kind, n, p, spread)
        truth = reference(X.astype(np.float64), w)
        for path, rows in itertools.product(PATHS, (3, 16)):
            if not suits(path, n, p, 2):
                continue
            model = in_blocks(FORCED[path], rows)(pairs_wanted(path, n, p))
            source = Pieces(X, 6, forecast=None if path == "dual" else 5)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccuracyWarning)
                warnings.simplefilter("ignore", DataWarning)
                try:
                    found = model.fit(source, sample_weight=w).certificate_
                except InputError as error:
                    assert "no variance" in error.what  # noqa: PT017
                    continue
            check_intervals(found, truth, (kind, n, p, path, spread, rows))


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("kind", [3, 6, 9, 21])
def test_lapack_types_in_blocks(kind, spread):
    check_blocks(kind, spread, [(41, 20)])


@pytest.mark.slow
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("kind", lapack.TYPES)
def test_lapack_types_in_blocks_at_length(kind, spread):
    check_blocks(kind, spread, [(41, 20), (21, 20), (10, 20)])


@pytest.mark.parametrize("path", ["gram", "krylov"])
@pytest.mark.parametrize("kind", ["far", "drift", "loud late"])
def test_float32_products_in_blocks(path, kind):
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
