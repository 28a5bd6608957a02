"""What a certificate says is true: on LAPACK's matrix types, on noise, ties and bad starts."""

import functools
import warnings

import lapack
import numpy as np
import pytest
from forced import FORCED, PATHS, factors, fit, gapped, suits
from jacobi import EPS, WIDE, reference, sine

from mercer.errors import AccuracyWarning, InputError
from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Exact, Floor, Goal

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


def test_white_noise_does_not_pass_unflagged():
    """The case in which a randomised solver is 4 % low and says nothing."""
    X = np.random.default_rng(0).standard_normal((1000, 600))
    truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 999
    for path in ("krylov", "auto"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = FORCED[path](10).fit(X)
        flagged = any(w.category is AccuracyWarning for w in caught)
        certificate = found.certificate_
        assert np.all(certificate.lower <= truth[:10] * (1 + 1e-12))
        assert np.all(certificate.upper >= truth[:10] * (1 - 1e-12))
        assert flagged == (not certificate.met)
        half = (certificate.upper - certificate.lower) / (2 * certificate.lower)
        assert np.all(half[certificate.converged] <= certificate.tol)
        if not flagged:
            np.testing.assert_allclose(found.explained_variance_, truth[:10], rtol=2e-6)


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
    half = (c.upper - c.lower) / (2 * np.maximum(c.lower, c.zero_level))
    assert c.reached == pytest.approx(half.max())
    assert c.met == bool(np.all(half <= tol))
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
    found = fit(path, circle(extra=(0.5, 0.2)), 4)
    assert found.certificate_.groups == ((0, 1),)
    assert "1, 2 cannot be told apart" in str(found.certificate_)


def test_circle_on_the_sample_side():
    X = circle(24) @ np.random.default_rng(0).standard_normal((2, 2))
    equal = np.concatenate([circle(24), np.zeros((24, 60))], axis=1)
    assert fit("dual", equal, 2).certificate_.groups == ((0, 1),)
    stretched = np.concatenate([X, np.zeros((24, 60))], axis=1)
    assert fit("dual", stretched, 2).certificate_.groups == ()


def test_equal_axes_are_grouped_by_the_iteration():
    sizes = np.r_[3.0, 2.0, 2.0, 1.0, np.full(56, 0.1)]
    X = np.concatenate([np.diag(sizes), -np.diag(sizes)])
    groups = fit("krylov", X, 4).certificate_.groups
    assert groups == ((1, 2),)
    groups = fit("krylov", X, 2).certificate_.groups
    assert groups == ((1, 2),)
    flat = np.concatenate([np.eye(60), -np.eye(60)])
    assert fit("krylov", flat, 3).certificate_.groups == ((0, 1, 2, 3),)


def hidden(p=80):
    """Return a diagonal matrix and a start block exactly orthogonal to its first axis."""
    values = np.r_[2.0, 1.0, 0.9, 0.8, np.linspace(0.5, 0.01, p - 4)]
    start = np.eye(p)[:, 1:9]
    return np.diag(values), start, values


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("columns", [1, 4, 8])
def test_a_start_orthogonal_to_the_first_axis_is_found_out(columns, k, symmetric):
    matrix, start, values = hidden()
    op = Dense(matrix if symmetric else np.sqrt(matrix), symmetric=symmetric)
    goal = Goal(k, 1e-6, Floor(80 * ULP), float(values.sum()))
    solver = BlockKrylov(columns, max_passes=60, start=start[:, :columns])
    found = solver.solve(op, goal)
    c = found.certificate
    assert np.all(c.lower <= values[:k] * (1 + 1e-12))
    assert np.all(c.upper >= values[:k] * (1 - 1e-12))
    if c.met:
        np.testing.assert_allclose(found.values, values[:k], rtol=2e-6)


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


ROOT = np.random.default_rng(0).standard_normal((40, 40))
SYMMETRIC = {"psd": ROOT @ ROOT.T / 40, "indefinite": (ROOT + ROOT.T) / 2}
SYMMETRIC["negative"] = -SYMMETRIC["psd"]
SOLVERS = {"exact": Exact(), "krylov": BlockKrylov(6, max_passes=100)}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_any_symmetric_matrix_at_any_scale(name, scale, solver):
    matrix = SYMMETRIC[name] * scale
    truth = np.linalg.eigvalsh(SYMMETRIC[name])[::-1][:3] * scale
    goal = Goal(3, 1e-6, Floor(1e-13), psd=name == "psd")
    found = SOLVERS[solver].solve(Dense(matrix, symmetric=True), goal)
    slack = 1e-13 * np.abs(truth).max()
    assert np.all(found.certificate.lower <= truth + slack)
    assert np.all(found.certificate.upper >= truth - slack)
    assert np.isfinite(found.right).all()
    if found.certificate.met:
        np.testing.assert_allclose(found.values, truth, rtol=3e-6)


def test_exact_solver_reports_every_pair_it_cannot_see():
    """A graded stored matrix: what lies below the error of the matrix has lower end zero."""
    values = 10.0 ** -np.arange(0, 40, 2.0)
    goal = Goal(20, 1e-6, Floor(4 * 20 * ULP), 1.0, error=1e-14)
    c = Exact().solve(Dense(np.diag(values), symmetric=True), goal).certificate
    assert np.all(c.lower[values < 1e-14] <= 0)  # a symmetric matrix need not be psd
    assert np.all((c.lower <= values) & (values <= c.upper))
    assert not np.all(c.converged)
