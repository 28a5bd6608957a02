"""The way back: pre-images against their equations, and what a regression learns."""

import dataclasses
import tracemalloc

import numpy as np
import pytest

import mercer.estimators.kernel._preimages as module
from mercer import KernelPCA
from mercer.estimators.kernel import _preimages
from mercer.estimators.kernel._fitted_kernel import FittedKernel
from mercer.estimators.kernel._known_rows import known as known_of
from mercer.estimators.kernel._preimages import (
    Decoder,
    DistanceConstraints,
    FixedPoint,
    Known,
    Radial,
    _laterated,
    learn,
    radial_of,
)
from mercer.kernels import (
    RBF,
    Isotropic,
    Laplacian,
    Linear,
    Log,
    Matern,
    Multiquadric,
    NegativeDistance,
    Polynomial,
    PowerExponential,
    RationalQuadratic,
)


@dataclasses.dataclass(frozen=True)
class Constantly:
    """Every point starts at one row."""

    row: np.ndarray

    def decode(self, scores):
        return np.broadcast_to(self.row, (len(scores), len(self.row))).copy()


def ring(n=80, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    rows = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(2 * t)])
    return rows + noise * rng.standard_normal(rows.shape)


def known(X, k=4, kernel=None, residuals=True):
    """Return all that is known, by dense float64 LAPACK."""
    K = (RBF(0.8) if kernel is None else kernel).block(X)
    n = len(X)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(H @ K @ H)
    values, u = values[::-1][:k], vectors[:, ::-1][:, :k]
    scores, dual = u * np.sqrt(values), u / np.sqrt(values)
    left = np.diag(H @ K @ H) - np.sum(scores**2, axis=1)
    found = Known(X, scores, dual, np.full(n, 1 / n))
    return dataclasses.replace(found, residuals=left) if residuals else found


def images(known, z):
    """Return γ by its definition, entry by entry."""
    n, k = known.dual.shape
    out = np.empty((len(z), n))
    for a in range(len(z)):
        inner = [sum(known.dual[i, j] * z[a, j] for j in range(k)) for i in range(n)]
        out[a] = [inner[i] + (1 - sum(inner)) / n for i in range(n)]
    return out


def test_weights_are_those_of_the_projected_image():
    X = ring(30)
    found = known(X)
    z = found.scores[:5] * 0.7
    np.testing.assert_allclose(found.weights(z), images(found, z), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.weights(z).sum(axis=1), 1, rtol=1e-12)


def test_distances_of_images_need_no_kernel():
    """‖Pφ - φ(x_i)‖² = γᵀKγ - 2(Kγ)_i + k_ii = ‖z - z_i‖² + r_i."""
    X = ring(40)
    found = known(X, 5)
    K = RBF(0.8).block(X)
    z = found.scores[::4] + 0.05
    gamma = found.weights(z)
    wanted = np.einsum("ai,ij,aj->a", gamma, K, gamma)[:, None] - 2 * gamma @ K + 1
    near, apart = DistanceConstraints(radial_of(RBF(0.8), X), found)._nearest(z, 10)
    np.testing.assert_allclose(apart, np.take_along_axis(wanted, near, 1), rtol=0, atol=1e-12)
    order = np.sort(wanted, axis=1)[:, :10]
    np.testing.assert_allclose(np.sort(apart, axis=1), order, rtol=0, atol=1e-12)


# -- fixed point --------------------------------------------------------------------------


def test_the_end_is_a_fixed_point_and_a_maximum():
    X = ring()
    found = known(X, 6)
    z = found.scores[:20]
    kernel = RBF(0.8)
    back = FixedPoint(kernel, found, Constantly(X[0])).decode(z)
    weights = found.weights(z) * kernel.block(back, X)
    again = weights @ X / weights.sum(axis=1)[:, None]
    np.testing.assert_allclose(again, back, atol=2e-5)
    aim = weights.sum(axis=1)
    for step in 0.02 * np.random.default_rng(0).standard_normal((10, 3)):
        moved = np.sum(found.weights(z) * kernel.block(back + step, X), axis=1)
        assert np.all(moved <= aim + 1e-9)


@pytest.mark.parametrize("lengthscale", [(0.5, 1.0, 2.0), 0.3])
def test_the_image_comes_nearer(lengthscale):
    """⟨Pφ, φ(x)⟩ never falls below that of the start, whatever the start."""
    X = ring()
    kernel = RBF(lengthscale)
    found = known(X, 6, kernel)
    z = np.concatenate([found.scores[:30], 3 * found.scores[:10], -found.scores[:10]])
    for start in (X[3], X.mean(axis=0), np.full(3, 2.5)):
        back = FixedPoint(kernel, found, Constantly(start)).decode(z)
        gamma = found.weights(z)
        before = np.sum(gamma * kernel.block(start[None], X), axis=1)
        after = np.sum(gamma * kernel.block(back, X), axis=1)
        assert np.all(after >= before - 1e-12)
        assert np.all(np.isfinite(back))
        moved = np.any(back != start, axis=1)
        assert np.linalg.norm(back[moved], axis=1).max(initial=0) < 10


def test_the_start_is_kept_where_the_denominator_vanishes():
    X = ring()
    found = known(X, 6)
    z = found.scores[:8]
    sums = np.sum(found.weights(-8 * z) * RBF(0.8).block(X[:1], X), axis=1)
    against = sums <= 0
    assert against.any()
    back = FixedPoint(RBF(0.8), found, Constantly(X[0])).decode(-8 * z)
    np.testing.assert_allclose(
        back[against], np.tile(X[0], (against.sum(), 1)), rtol=0, atol=1e-12
    )
    # Weights that cancel to the last digit: nothing can be said, so nothing is done.
    pair = Known(
        np.array([[-1.0], [1.0]]), np.zeros((2, 1)), np.array([[1.0], [-1.0]]), np.zeros(2)
    )
    found = FixedPoint(RBF(1.0), pair, Constantly(np.zeros(1))).decode(np.array([[5.0]]))
    np.testing.assert_array_equal(found, [[0.0]])


def test_a_start_out_of_sight_comes_back():
    """All kernel values are as small as they get there; the step goes to Σγ_i x_i."""
    X = ring()
    found = known(X, 6)
    back = FixedPoint(RBF(0.8), found, Constantly(np.full(3, 1e3))).decode(found.scores[:4])
    np.testing.assert_allclose(back, X[:4], atol=0.3)


def test_blocks_change_nothing(monkeypatch):
    X = ring()
    found = known(X, 6)
    z = found.scores[:30]
    methods = [
        FixedPoint(RBF(0.8), found, Constantly(X[0])),
        DistanceConstraints(radial_of(RBF(0.8), X), found),
    ]
    whole = [method.decode(z) for method in methods]
    monkeypatch.setattr(module, "_CELLS", 7 * len(X))
    for method, one in zip(methods, whole, strict=True):
        np.testing.assert_allclose(method.decode(z), one, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_memory_is_that_of_a_block(monkeypatch):
    """8000 rows, 2000 points: neither the matrix of rows nor that with points is held."""
    monkeypatch.setattr(module, "_STEPS", 2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3))
    share, residuals = np.full(8000, 1 / 8000), X[:, 0] ** 2
    found = Known(X, X[:, :2], rng.normal(size=(8000, 2)), share, residuals)
    for method in (
        FixedPoint(RBF(1.0), found, Constantly(X[0])),
        DistanceConstraints(radial_of(RBF(1.0), X), found),
    ):
        tracemalloc.start()
        method.decode(found.scores[:2000])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100e6  # the block with 2000 points alone would take 128 MB


# -- distance constraints -----------------------------------------------------------------


def test_lateration_is_exact_for_true_distances():
    rng = np.random.default_rng(0)
    around, points = rng.standard_normal((7, 10, 4)), rng.standard_normal((7, 4))
    distances = np.linalg.norm(around - points[:, None], axis=2)
    np.testing.assert_allclose(_laterated(around, distances, 1e-12), points, rtol=0, atol=1e-10)


def test_lateration_of_neighbours_in_a_plane_finds_the_foot():
    rng = np.random.default_rng(0)
    around, point = rng.standard_normal((1, 6, 3)), np.array([0.2, -0.1, 0.7])
    around[..., 2] = 0
    distances = np.linalg.norm(around - point, axis=2)
    np.testing.assert_allclose(
        _laterated(around, distances, 1e-12)[0], [0.2, -0.1, 0], rtol=0, atol=1e-10
    )


def test_lateration_cannot_run_away():
    """Neighbours nearly on a line, distances that contradict each other."""
    rng = np.random.default_rng(0)
    around = rng.standard_normal((20, 5, 1)) * [1.0, 1e-2] + 1e-3 * rng.random((20, 5, 2))
    distances = rng.uniform(0.1, 3, (20, 5))
    mean = around.mean(axis=1)
    size = np.linalg.norm(around - mean[:, None], axis=2)
    out = np.linalg.norm(_laterated(around, distances, 1e-12) - mean, axis=1)
    assert np.all(out <= np.min(distances + size, axis=1) * (1 + 1e-12))
    same = np.ones((1, 4, 2))
    np.testing.assert_array_equal(_laterated(same, np.ones((1, 4)), 1e-12), [[1.0, 1.0]])


def test_rows_come_back_when_nothing_is_left_out():
    """With all axes the distances are true ones, so the way back is exact."""
    X = ring(25)
    for kernel in (RBF(0.8), Matern(1.0), RationalQuadratic(0.7), 2.0 * RBF(0.5) + 1.0):
        found = known(X, 24, kernel)
        back = DistanceConstraints(radial_of(kernel, X), found).decode(found.scores)
        np.testing.assert_allclose(back, X, rtol=0, atol=1e-4)


# -- κ ------------------------------------------------------------------------------------

KERNELS = {
    "rbf": (RBF(0.7), lambda d: np.exp(-0.5 * (d / 0.7) ** 2)),
    "matern": (Matern(2.0, nu=0.5), lambda d: np.exp(-d / 2)),
    "quadratic": (RationalQuadratic(2.0, alpha=0.5), lambda d: (1 + d**2 / 4) ** -0.5),
    "power": (PowerExponential(1.5, power=1.5), lambda d: np.exp(-((d / 1.5) ** 1.5))),
    "sum": (RBF(1.0) + 3 * RBF(4.0), lambda d: np.exp(-(d**2) / 2) + 3 * np.exp(-(d**2) / 32)),
    "distance": (NegativeDistance(1.0), lambda d: -d),
    "log": (Log(), lambda d: -np.log1p(d**2)),
    "multiquadric": (Multiquadric(2.0), lambda d: -np.sqrt(4 + d**2)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_distances_are_found_again(name):
    kernel, formula = KERNELS[name]
    radial = radial_of(kernel, np.array([[0.0, 0.0], [3.0, 4.0]]))
    unit = radial.unit
    assert radial.reach * unit == pytest.approx(5)
    d = np.linspace(0.05, 4.9, 40)
    np.testing.assert_allclose(radial(d / unit), formula(d), rtol=1e-12)
    found = radial.distances(2 * (formula(0) - formula(d))) * unit
    np.testing.assert_allclose(found, d, rtol=0, atol=1e-6)
    furthest = radial.distances(np.full((2, 3), 1e9)) * unit
    np.testing.assert_allclose(furthest, np.full((2, 3), 5.0))


class Wavy(Isotropic):
    """It rises again, so a distance cannot be read from it."""

    def of_distance(self, d):
        return d.squared_sine()


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(2, gamma=1.0),
        Laplacian(1.0),
        Wavy(1.0),
        RBF(1.0).on([0]),
        RBF((1.0, 2.0)) + RBF(1.0),
        RBF(1.0) * Linear(),
    ],
    ids=repr,
)
def test_kernels_that_are_no_falling_function_of_a_distance(kernel):
    assert radial_of(kernel, np.random.default_rng(0).normal(size=(9, 2))) is None


def test_one_lengthscale_for_each_column():
    X = np.random.default_rng(0).normal(size=(30, 2)) * [1, 10]
    radial = radial_of(RBF((0.5, 5.0)), X)
    assert isinstance(radial, Radial)
    np.testing.assert_array_equal(radial.unit, [0.5, 5.0])
    one = KernelPCA(5, kernel=RBF((0.5, 5.0))).fit(X)
    two = KernelPCA(5, kernel=RBF(0.5)).fit(X / [1, 10])
    Z, unit = one.transform(X), np.array([1, 10])
    back = two.inverse_transform(Z, "distances") * unit
    np.testing.assert_allclose(one.inverse_transform(Z, "distances"), back, rtol=0, atol=1e-4)
    start = X.mean(axis=0)
    found = FixedPoint(one.kernel_, known_of(FittedKernel.of(one)), Constantly(start)).decode(Z)
    back = FixedPoint(
        two.kernel_, known_of(FittedKernel.of(two)), Constantly(start / unit)
    ).decode(Z)
    np.testing.assert_allclose(found, back * unit, rtol=0, atol=1e-6)


def test_equal_rows_have_no_distances():
    assert radial_of(RBF(1.0), np.ones((5, 3))) is None


def curve(n, seed=0, noise=0.0):
    """Return scores on a parabola (n, 2) and the rows (n, 3) that they stand for."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, n)
    scores = np.column_stack([t, t**2 - 1 / 3])
    rows = np.column_stack([np.cos(2 * t), np.sin(2 * t), 0.3 * t])
    return scores, rows + noise * rng.standard_normal(rows.shape)


def test_a_curve_comes_back():
    scores, rows = curve(300)
    fresh, wanted = curve(100, seed=1)
    decoder = learn(scores, rows, None)
    assert isinstance(decoder, Decoder)
    np.testing.assert_allclose(decoder.decode(fresh), wanted, rtol=0, atol=1e-4)


def test_noise_is_not_learned():
    """With rows that have nothing to do with the scores the best answer is the mean."""
    rng = np.random.default_rng(0)
    scores, rows = rng.standard_normal((400, 3)), rng.standard_normal((400, 5)) + 3
    back = learn(scores, rows, None).decode(rng.standard_normal((200, 3)))
    assert np.mean((back - 3) ** 2) < 0.1


def test_many_rows_are_mapped_in_blocks(monkeypatch):
    monkeypatch.setattr(_preimages, "_LANDMARKS", 100)
    monkeypatch.setattr(_preimages, "_BLOCK", 64)
    scores, rows = curve(1000)
    decoder = learn(scores, rows, None)
    assert len(decoder.landmarks) <= 100
    np.testing.assert_allclose(decoder.decode(scores), rows, rtol=0, atol=1e-3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_the_error_is_that_of_rows_left_out_one_by_one(monkeypatch, penalty, weighted):
    """Against regressions that were learned anew without each row."""
    monkeypatch.setattr(_preimages, "_PENALTIES", np.array([penalty]))
    scores, rows = curve(30, noise=0.1)
    share = np.random.default_rng(0).random(30) + 0.5 if weighted else np.ones(30)
    share /= share.sum()
    empty = np.zeros(0)
    shell = Decoder(1.0, RBF(0.5), scores[::3], empty, np.zeros((0, 0)), empty)
    found, made = _preimages._regress(shell, scores, rows, share)
    f = shell.features(scores)
    size = f.shape[1]
    centred = f - share @ f
    alpha = penalty * np.trace(centred.T @ (share[:, None] * centred)) / size
    errors = []
    for i in range(30):
        others = np.arange(30) != i
        w = share[others] / share[others].sum()
        mean, about = w @ rows[others], w @ f[others]
        g, x = f[others] - about, rows[others] - mean
        # The penalty stands beside the sum over the rows that remain, not their mean.
        gram = g.T @ (share[others][:, None] * g) + alpha * np.eye(size)
        beta = np.linalg.solve(gram, g.T @ (share[others][:, None] * x))
        errors.append(np.sum((rows[i] - mean - (f[i] - about) @ beta) ** 2))
    unit = np.max(np.abs(rows - share @ rows)) ** 2
    assert found == pytest.approx(share @ np.array(errors) / unit, rel=1e-8)
    assert made.mean.shape == (3,)


HARD = {
    "twins": lambda rng: np.where(rng.random((70, 6)) < 0.4, rng.random((70, 6)), 0.0),
    "heavy tails": lambda rng: rng.standard_t(2, (400, 8)) @ rng.standard_normal((8, 8)),
    "few": lambda rng: rng.standard_normal((25, 10)),
}


@pytest.mark.parametrize("kernel", ["rbf", "poly(degree=2)", "matern"])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", HARD)
def test_new_rows_do_not_run_away(name, k, kernel):
    """No worse than the mean by much, on rows that were not there."""
    X = HARD[name](np.random.default_rng(0))
    train, test = X[: len(X) * 2 // 3], X[len(X) * 2 // 3 :]
    model = KernelPCA(k, kernel=kernel).fit(train)
    back = model.decoder_.decode(model.transform(test))
    assert np.sum((back - test) ** 2) < 1.5 * np.sum((test - train.mean(axis=0)) ** 2)
