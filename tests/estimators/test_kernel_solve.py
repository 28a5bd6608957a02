"""How kernel PCA is solved: each path by itself, and what hands over to what."""

import warnings

import numpy as np
import pytest
from kernel_fits import FORCED
from streams import truth
from tests.claims import agree, hold, hushed, refuses

import mercer.planning._kernel_paths as kernel_paths
from mercer import KernelPCA
from mercer.arrays import prepare
from mercer.errors import AccuracyWarning, DataWarning
from mercer.estimators.kernel._eigenproblem import Task
from mercer.estimators.kernel._matrix_paths import charged
from mercer.kernels import (
    RBF,
    FeatureMap,
    Function,
    Laplacian,
    Linear,
    NegativeDistance,
    Polynomial,
    Precomputed,
)
from mercer.operators import kernel_matrix, kernel_tiles
from mercer.solvers import BlockKrylov, Goal, Outside


def rows(n, seed=0, dtype=np.float64):
    rng = np.random.default_rng([n, seed])
    centres = 2 * rng.standard_normal((4, 3))
    found = centres[rng.integers(0, 4, n)] + 0.5 * rng.standard_normal((n, 3))
    return found.astype(dtype)


def test_an_iteration_that_gives_up_hands_over_to_lapack(monkeypatch):
    """The matrix is overwritten by then: coordinates must not be made from what is left."""
    monkeypatch.setattr(kernel_paths, "_MOST", 1)
    X = rows(300)
    model = FORCED["stored"](5, kernel=RBF(0.5))
    Z = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, truth(RBF(0.5), X)[:5], rtol=1e-9)
    agree(model.transform(X), Z, 1e-10)
    agree(Z.T @ Z, np.diag(model.eigenvalues_), 1e-8)


def test_a_share_survives_it_too(monkeypatch):
    monkeypatch.setattr(kernel_paths, "_MOST", 1)
    X = rows(400)
    values = truth(RBF(0.5), X)
    for wanted in (0.5, 0.9, 0.99):
        model = FORCED["stored"](wanted, kernel=RBF(0.5))
        Z = hushed(model.fit_transform, X, kind=AccuracyWarning)
        k = 1 + int(np.argmax(np.cumsum(values) >= wanted * values.sum()))
        assert model.n_components_ == k
        np.testing.assert_allclose(model.eigenvalues_, values[:k], rtol=1e-6)
        agree(model.transform(X), Z, 1e-9)


def test_what_float32_cannot_reach_and_values_that_are_not_finite():
    X = rows(500, dtype=np.float32)
    model = FORCED["stored"](3, kernel=RBF(1.5), tol=1e-9).fit(X)
    assert model.certificate_.met
    np.testing.assert_allclose(model.eigenvalues_, truth(RBF(1.5), X)[:3], rtol=3e-9)
    assert model.plan_.chosen.then is not None
    X = rows(60) * 1e200

    def products(x, y):
        with np.errstate(over="ignore", invalid="ignore"):
            return x @ y.T

    for kernel in (Function(products), "exp(linear)", "poly(degree=2, gamma=1)"):
        refuses("not finite", KernelPCA(2, kernel=kernel).fit, X)


def test_small_eigenvalues_do_not_lean_on_the_constant():
    """Long lengthscales: λ falls by many powers, and old rows still are where they were."""
    X = rows(30) * 0.05
    model = KernelPCA(9, kernel=RBF(1.5))
    Z = model.fit_transform(X)
    alive = model.eigenvalues_ > model.certificate_.zero_level
    assert alive.sum() >= 5
    agree(model.dual_.sum(axis=0) * np.sqrt(model.eigenvalues_), 0, 1e-12)
    error = np.abs(model.transform(X) - Z).max(axis=0)
    # k(x, y) carries eps; the projection divides by √λ, and nothing else may be lost
    assert (error <= 1e-14 * 30 / np.sqrt(np.maximum(model.eigenvalues_, 1e-300)) + 1e-12)[
        alive
    ].all()


def test_a_flat_spectrum_is_certified():
    """Noise in many dimensions: the iteration or LAPACK behind it must meet the tolerance."""
    X = np.random.default_rng(0).standard_normal((600, 64))
    model = FORCED["stored"](10)
    Z = hushed(model.fit_transform, X, kind=DataWarning)
    assert model.certificate_.met
    np.testing.assert_allclose(model.eigenvalues_, truth(model.kernel_, X)[:10], rtol=2e-6)
    agree(model.transform(X), Z, 1e-10)


KERNELS = [RBF(1.5), Laplacian(2.0), NegativeDistance(), RBF(0.8) + 0.1 * Linear()]


def fitted(model, X, weights=None):
    return hushed(model.fit, X, sample_weight=weights, kind=DataWarning)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_tiles_find_what_lapack_finds(kernel, dtype, weighted):
    X = rows(400, dtype=dtype)
    w = np.random.default_rng(1).integers(0, 4, 400).astype(float) if weighted else None
    tiles = fitted(FORCED["tiles"](4, kernel=kernel), X, w)
    exact = fitted(FORCED["lapack"](4, kernel=kernel), X.astype(np.float64), w)
    values = exact.eigenvalues_
    assert tiles.certificate_.met
    hold(tiles.certificate_, values, 1e-12)
    assert tiles.dual_.shape == (400, 4)
    Z, wanted = tiles.transform(X), exact.transform(X.astype(np.float64))
    loose = 1e-5 + 4 * np.max(tiles.certificate_.sine)  # as far as the axes are certified
    assert loose < 0.1
    agree(np.abs(Z), np.abs(wanted), loose * np.abs(wanted).max())
    assert tiles.effective_rank_ == pytest.approx(exact.effective_rank_, rel=1e-3)
    np.testing.assert_allclose(tiles.captured_share_, exact.captured_share_, rtol=1e-4)


def test_tiles_of_too_many_axes_and_of_low_rank():
    X = np.random.default_rng(0).standard_normal((400, 10))
    refuses("too many axes", fitted, FORCED["tiles"](0.99, kernel=RBF(0.5)), X)
    # Fewer directions than the block has columns; duplicates; a lonely row.
    X = np.repeat(rows(6), 50, axis=0)
    model = fitted(FORCED["tiles"](4, kernel=RBF(1.5)), X)
    np.testing.assert_allclose(model.eigenvalues_, truth(RBF(1.5), X)[:4], rtol=1e-6)
    X = np.zeros((300, 3))
    X[7] = 1.0
    model = fitted(FORCED["tiles"](1, kernel=RBF(1.5)), X)
    np.testing.assert_allclose(model.eigenvalues_, truth(RBF(1.5), X)[:1], rtol=1e-6)


@pytest.mark.parametrize("name", ["lapack", "stored", "tiles"])
def test_constant_rows_are_refused_on_every_path(name):
    refuses("constant up to rounding", FORCED[name](3, kernel=RBF(1.5)).fit, np.ones((300, 3)))


def looked_after(monkeypatch, kernel, X, passes=1, **options):
    """Return a refined model, and whether probes went along."""
    made = []

    def spy(*given, **named):
        made.append(given)
        return Outside(*given, **named)

    monkeypatch.setattr("mercer.estimators.kernel._matrix_paths.Outside", spy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(3, kernel=kernel, landmarks=150, **options).fit(X)
        model.refine(X, passes=passes)
    return model, bool(made)


def test_probes_stay_behind_where_they_can_tell_nothing(monkeypatch):
    X = np.random.default_rng(0).standard_normal((1500, 8)).astype(np.float32)
    assert not looked_after(monkeypatch, RBF(1.5), X)[1]  # much is left
    assert looked_after(monkeypatch, RBF(1.5), X, passes=2)[1]
    assert looked_after(monkeypatch, RBF(50.0), X)[1]  # less than rounding hides
    assert looked_after(monkeypatch, NegativeDistance(), X)[1]  # no bound on entries


@pytest.mark.parametrize("scale", [1.5, 5.0, 50.0])
def test_one_product_is_certified_with_probes_or_without(monkeypatch, scale):
    X = np.random.default_rng(1).standard_normal((1200, 6)).astype(np.float32)
    kernel = RBF(scale)
    model, _ = looked_after(monkeypatch, kernel, X)
    K = kernel.block(X.astype(float))
    truth = np.linalg.eigvalsh(K - K.mean(0) - K.mean(1)[:, None] + K.mean())[::-1][:3]
    hold(model.certificate_, truth)
    hold(model.certificate_, model.eigenvalues_)
    Z = model.transform(X)
    np.testing.assert_allclose(
        np.sum(Z.astype(float) ** 2, axis=0), model.eigenvalues_, rtol=1e-4
    )


@pytest.mark.parametrize("name", ["lapack", "stored", "tiles"])
@pytest.mark.parametrize("decades", [2, 6, 12])
def test_light_rows_keep_their_digits(name, decades):
    """Every row of fit_transform is that of transform, whatever its weight; zeros as well."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(90, 5)), 0.5 * rng.normal(size=(90, 5)) + 3])
    w = 10 ** rng.uniform(-decades, decades, 180)
    w[::20] = 0
    model = FORCED[name](3, kernel=RBF(2.0))
    Z = model.fit_transform(X, sample_weight=w)
    again = model.transform(X)
    apart = np.linalg.norm(Z - again, axis=1) / np.linalg.norm(again, axis=1)
    assert apart.max() < 1e-11


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_light_rows_of_a_given_matrix_keep_their_digits(dtype):
    rng = np.random.default_rng(1)
    K = RBF(2.0)(rng.normal(size=(100, 3))).astype(dtype)
    model = KernelPCA(2, kernel="precomputed")
    Z = model.fit_transform(K, sample_weight=10 ** rng.uniform(-9, 9, 100))
    agree(Z, model.transform(K), 1e-13 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("policy", ["clip", "flip", "shift"])
@pytest.mark.filterwarnings("ignore::mercer.errors.DataWarning")
def test_light_rows_of_an_indefinite_matrix(policy):
    """A shift raises eigenvalues, which no projection of new rows does: z = √λ·u there."""
    rng = np.random.default_rng(2)
    K = rng.normal(size=(40, 40))
    w = np.r_[np.full(20, 1e6), np.ones(20)]
    model = KernelPCA(3, kernel="precomputed", indefinite=policy)
    Z = model.fit_transform(K + K.T, sample_weight=w)
    np.testing.assert_allclose(w @ Z**2, np.abs(model.eigenvalues_), rtol=1e-9)
    if policy != "shift":
        np.testing.assert_allclose(Z, model.transform(K + K.T), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2, 0.5, 1.0), Polynomial(3, 0.2, 0.0), 2 * Linear()]
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [4, 200])
def test_pairs_of_explicit_features_are_those_of_the_matrix(kernel, weighted, n):
    X = rows(n)
    w = (
        np.r_[1.0, 1, 1, np.random.default_rng(1).integers(0, 4, n - 3)]
        if weighted
        else np.ones(n)
    )
    model = FORCED["primal"](2, kernel=kernel)
    Z = model.fit_transform(X, sample_weight=w)
    values = truth(kernel, X, w)
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-9)
    wanted = values.sum() ** 2 / np.sum(values**2)
    assert model.effective_rank_ == pytest.approx(wanted, rel=1e-6)
    agree(w @ Z, 0, 1e-8 * np.abs(Z).sum())
    np.testing.assert_allclose(w @ Z**2, values[:2], rtol=1e-9)
    largest = np.argmax(np.abs(Z[w > 0]), axis=0)
    assert (Z[w > 0][largest, range(2)] > 0).all()
    hold(model.certificate_, values[:2], 1e-12)


def test_features_of_float32_rows_and_new_rows_beyond_a_tile():
    X, kernel = rows(80, dtype=np.float32), Polynomial(2, 0.5, 1.0)
    model = FORCED["primal"](3, kernel=kernel, tol=1e-9).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, truth(kernel, X)[:3], rtol=1e-9)
    X, new = rows(2200), rows(600, 1)
    model = fitted(FORCED["tiles"](2, kernel=RBF(1.5), tol=1e-2), X)
    wanted = RBF(1.5).block(new, X) @ model.dual_
    found = model.transform(new)
    agree(found - found[0], wanted - wanted[0], 1e-9)


def test_features_made_block_by_block_are_the_same():
    """Where φ(X) takes too much memory it is made again for each block."""
    made = []

    def phi(x):
        made.append(len(x))
        return np.tanh(x @ turns)

    X = rows(20_000) / 4
    turns = np.random.default_rng(0).standard_normal((X.shape[1], 100))
    whole = KernelPCA(1, kernel=FeatureMap(phi)).fit(X)
    once = sum(made)
    made.clear()
    blocks = KernelPCA(1, kernel=FeatureMap(phi), memory="36MB").fit(X)
    assert sum(made) > once + 15_000
    np.testing.assert_allclose(blocks.eigenvalues_, whole.eigenvalues_, rtol=1e-10)


def test_what_the_inner_model_misses_is_said_once():
    """Its own warnings would name a class that the user never made."""
    X = rows(400)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        KernelPCA(2, kernel=Polynomial(2), tol=1e-300).fit(X)
    assert [w.category.__name__ for w in seen] == ["AccuracyWarning"]


def task(kernel, X, weights=None):
    return Task(kernel, X, weights, 5, "raise", 1e-5, 1e9, None, 0)


def start(n, weights):
    root = np.ones(n) if weights is None else np.sqrt(weights)
    r = root / np.linalg.norm(root)
    q = np.random.default_rng(0).standard_normal((n, 25))
    return np.linalg.qr(q - np.outer(r, r @ q))[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("kernel", [RBF(1.0), NegativeDistance(), Linear()], ids=repr)
def test_the_intervals_hold_the_eigenvalues_of_float64_entries(kernel, stored, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1300, 4)).astype(np.float32)
    weights = rng.integers(0, 3, 1300).astype(float) if weighted else None
    program, first = kernel.program(), start(1300, weights)
    side = prepare(program, X)
    if stored:
        op = kernel_matrix(program, side, weights, np.float32)
    else:
        op, _ = kernel_tiles(program, side, weights, first)
    found = BlockKrylov(25, start=first).solve(op, Goal(3, 1e-7, psd=True))
    wide = charged(found, op, task(kernel, X, weights))
    exact = kernel_matrix(program, prepare(program, X.astype(float)), weights).dense()
    truth = np.linalg.eigvalsh(exact)[::-1][:3]
    slack = 1300 * 1e-16 * truth[0]
    assert (wide.certificate.lower - slack <= truth).all()
    assert (truth <= wide.certificate.upper + slack).all()
    assert (wide.certificate.upper - wide.certificate.lower <= 1e-3 * truth).all()
    assert (found.certificate.upper <= wide.certificate.upper).all()


def test_a_given_matrix_is_as_exact_as_it_came():
    X = np.random.default_rng(0).standard_normal((1300, 4))
    K = RBF(1.0).block(X).astype(np.float32)
    kernel = Precomputed()
    op = kernel_matrix(kernel.program(), prepare(kernel.program(), K), None, np.float32)
    found = BlockKrylov(25, start=start(1300, None)).solve(op, Goal(3, 1e-7, psd=True))
    wide = charged(found, op, task(kernel, K))
    assert wide.certificate.reached < 1e-5
