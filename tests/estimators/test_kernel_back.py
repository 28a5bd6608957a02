"""The way back: which method, what it promises, and what is refused."""

import numpy as np
import pytest
import scipy.sparse
from tests.claims import agree, refuses
from tests.faults.interruptions import AtCall, traced

import mercer.estimators.kernel._way_back as module
from mercer import PCA, KernelPCA
from mercer.errors import InputError, NotSupportedError
from mercer.estimators.kernel import _preimages
from mercer.kernels import (
    RBF,
    Laplacian,
    Linear,
    Log,
    Matern,
    Multiquadric,
    NegativeDistance,
    PowerExponential,
    RationalQuadratic,
)

METHODS = ("ridge", "fixed_point", "distances")


def ring(n=120, seed=0, noise=0.05, p=4):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    rows = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(2 * t), 0.2 * np.sin(t)])[:, :p]
    return rows + noise * rng.standard_normal(rows.shape)


def shares(model, Z):
    """Return γ: the image that has these coordinates is Σ γ_i φ(x_i)."""
    inner = Z @ model.dual_.T
    return inner + (1 - inner.sum(axis=1, keepdims=True)) / len(model.dual_)


@pytest.fixture(scope="module")
def model():
    return KernelPCA(5, kernel=RBF(1.0)).fit(ring())


def test_the_default_is_the_best_on_held_out_rows(model):
    errors = model.preimage_errors_
    assert set(errors) == set(METHODS)
    assert model.preimage_ == min(errors, key=errors.get)
    assert all(0 < error < 1 for error in errors.values())
    Z = model.transform(ring(20, seed=1))
    np.testing.assert_array_equal(
        model.inverse_transform(Z), model.inverse_transform(Z, model.preimage_)
    )
    errors["ridge"] = 7.0  # a copy: the model is not changed
    assert model.preimage_errors_["ridge"] < 1


def test_the_fixed_point_is_nearest_and_errors_foretell_those_of_new_rows(model):
    new = ring(400, seed=1)
    spread = np.sum((new - new.mean(axis=0)) ** 2)
    for method, error in model.preimage_errors_.items():
        left = np.sum((new - model.inverse_transform(model.transform(new), method)) ** 2)
        assert error / 3 < left / spread < 3 * error
    X = ring(40, seed=1)
    apart = {name: model.reconstruction(X, name).feature_residual for name in METHODS}
    assert np.all(apart["fixed_point"] <= apart["ridge"] + 1e-9)
    assert apart["fixed_point"].mean() <= apart["distances"].mean() + 1e-9


@pytest.mark.parametrize(
    ("kernel", "offered"),
    [
        ("rbf", METHODS), ("matern", ("ridge", "distances")),
        ("rbf + rbf(lengthscale=3)", ("ridge", "distances")), ("laplacian", ("ridge",)),
        ("poly(degree=2)", ("ridge",)), ("cosine", ("ridge",)), ("linear", ("linear",)),
        (RBF(1.0).on([0]), ("ridge",)), (RBF(1.0) * Linear(), ("ridge",)),
    ],
)  # fmt: skip
def test_what_a_kernel_offers(kernel, offered):
    X = ring()
    found = KernelPCA(2, kernel=kernel).fit(X)
    assert tuple(found.preimage_errors_) == offered
    assert found.preimage_ in offered
    for method in set(METHODS) - set(offered) - {"ridge"}:
        with pytest.raises(InputError, match="no pre-images") as error:
            found.inverse_transform(found.transform(X), method)
        assert "'ridge'" in error.value.fix
    refuses("no method 'magic'", found.inverse_transform, found.transform(X), "magic")


def test_the_linear_kernel_has_the_inverse_of_pca():
    X, new = ring() + 3, ring(30, seed=1) + 3
    one, two = KernelPCA(2, kernel="linear").fit(X), PCA(2).fit(X)
    back = two.inverse_transform(two.transform(new))
    for found in (one.inverse_transform(one.transform(new)), one.denoise(new)):
        agree(found, back, 1e-12)
    assert one.score(X) == pytest.approx(two.explained_variance_ratio_.sum(), rel=1e-12)
    forced = one.inverse_transform(one.transform(new), "ridge")
    assert np.mean((forced - new) ** 2) < np.mean((back - new) ** 2)  # it may bend


def test_denoising_takes_the_fixed_point_where_there_is_one():
    X = ring()
    gaussian = KernelPCA(3).fit(X)
    np.testing.assert_array_equal(
        gaussian.denoise(X), gaussian.inverse_transform(gaussian.transform(X), "fixed_point")
    )
    np.testing.assert_array_equal(
        gaussian.denoise(X, "ridge"), gaussian.inverse_transform(gaussian.transform(X), "ridge")
    )
    other = KernelPCA(3, kernel=Matern()).fit(X)
    np.testing.assert_array_equal(
        other.denoise(X), other.inverse_transform(other.transform(X), other.preimage_)
    )


def test_score_takes_one_measure_for_all_kernels():
    X, new = ring(), ring(60, seed=1)
    for kernel in (RBF(1.0), Matern(), Laplacian()):
        model = KernelPCA(4, kernel=kernel).fit(X)
        back = model.inverse_transform(model.transform(new), "ridge")
        spread = np.sum((new - new.mean(axis=0)) ** 2)
        wanted = 1 - np.sum((new - back) ** 2) / spread
        assert model.score(new) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("kernel", [RBF(1.0), Matern(1.5), "linear", "poly(degree=2)"])
def test_reconstruction_by_its_definition(kernel):
    """All three numbers from dense kernel matrices."""
    X, new = ring(60), ring(8, seed=1)
    model = KernelPCA(3, kernel=kernel).fit(X)
    found = model.reconstruction(new)
    assert found.method == model.preimage_
    back = model.inverse_transform(model.transform(new))
    agree(found.rows, back, 1e-12)
    agree(found.residual, np.sum((new - back) ** 2, axis=1), 1e-12)
    k, gamma = model.kernel_, shares(model, model.transform(new))
    K = k.block(X)
    for rows, apart in ((back, found.feature_residual), (new, found.unexplained)):
        own = np.diag(k.block(rows))
        cross = np.sum(gamma * k.block(rows, X), axis=1)
        wanted = own - 2 * cross + np.einsum("ai,ij,aj->a", gamma, K, gamma)
        agree(apart, wanted, 1e-8)


@pytest.mark.parametrize("lengthscale", [1.0, (0.5, 1.0, 2.0, 1.0)])
def test_the_end_is_a_fixed_point_and_a_maximum(lengthscale):
    X, kernel = ring(), RBF(lengthscale)
    model = KernelPCA(5, kernel=kernel).fit(X)
    Z = model.transform(ring(20, seed=1))
    back, gamma = model.inverse_transform(Z, "fixed_point"), shares(model, Z)
    weights = gamma * kernel.block(back, X)
    aim = weights.sum(axis=1)
    agree(weights @ X / aim[:, None], back, 1e-4)
    for step in 0.02 * np.random.default_rng(0).standard_normal((10, 4)):
        assert np.all(np.sum(gamma * kernel.block(back + step, X), axis=1) <= aim + 1e-8)


def test_coordinates_of_no_row_lead_nowhere_far(model):
    """Where the denominator of the fixed point vanishes the start stays, that of ridge."""
    Z = model.transform(ring(20, seed=1))
    Z = np.concatenate([-8 * Z, 3 * Z, 0 * Z])
    start, found = (model.inverse_transform(Z, m) for m in ("ridge", "fixed_point"))
    moved = np.any(np.abs(found - start) > 1e-9, axis=1)
    assert 0 < moved.sum() < len(Z)
    assert np.abs(found[moved]).max() < 10
    assert np.abs(model.inverse_transform(Z, "distances")).max() < 10


FALLING = [
    RBF(0.8), Matern(1.0), Matern(2.0, nu=0.5), RationalQuadratic(0.7),
    PowerExponential(1.5, power=1.5), 2.0 * RBF(0.5) + 1.0, NegativeDistance(1.0), Log(),
    Multiquadric(2.0),
]  # fmt: skip


@pytest.mark.parametrize("kernel", FALLING, ids=repr)
def test_distances_lead_back_exactly_when_nothing_is_left_out(kernel):
    X = ring(25)
    model = KernelPCA(24, kernel=kernel).fit(X)
    back = model.inverse_transform(model.transform(X), "distances")
    agree(back, X, 1e-4)


@pytest.mark.parametrize("method", ["distances", "fixed_point"])
def test_a_lengthscale_for_each_column_is_a_unit(method):
    unit = np.array([1.0, 10, 0.1, 1])
    X = ring()
    one = KernelPCA(5, kernel=RBF(tuple(0.5 * unit))).fit(X * unit)
    two = KernelPCA(5, kernel=RBF(0.5)).fit(X)
    Z = two.transform(X)
    back = one.inverse_transform(one.transform(X * unit), method) / unit
    agree(back, two.inverse_transform(Z, method), 1e-3)


@pytest.mark.parametrize("n", [2, 3, 9, 10, 11])
def test_few_rows(n):
    X = ring(n)
    model = KernelPCA(1, kernel=RBF(2.0)).fit(X)
    assert bool(model.preimage_errors_) == (n >= 10)
    assert n >= 10 or model.preimage_ == "ridge"
    for method in (None, *METHODS):
        assert np.isfinite(model.inverse_transform(model.transform(X), method)).all()
    assert np.isfinite(model.denoise(X)).all()


@pytest.mark.parametrize("factor", [1e-160, 1e-8, 1e8, 1e150])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_units_and_offsets(factor, shift):
    X = ring()
    plain, moved = KernelPCA(3).fit(X), KernelPCA(3).fit((X + shift) * factor)
    for method in METHODS:
        one = plain.inverse_transform(plain.transform(X), method)
        two = moved.inverse_transform(moved.transform((X + shift) * factor), method)
        agree(two / factor - shift, one, 1e-4)
    assert moved.score((X + shift) * factor) == pytest.approx(plain.score(X), abs=1e-4)
    assert moved.preimage_errors_ == pytest.approx(plain.preimage_errors_, abs=1e-4)


def test_duplicates_constant_columns_and_standardised_rows_come_back():
    X = np.repeat(ring(30), 4, axis=0)
    X[:, 1] = 7.0
    model = KernelPCA(4, kernel=RBF(1.0)).fit(X)
    for method in METHODS:
        back = model.inverse_transform(model.transform(X), method)
        agree(back[:, 1], 7.0, 1e-6)
        assert np.mean((back - X) ** 2) < 0.05
    X = ring() * [1, 100, 1e-3, 1] + [0, 5e3, 0, 1]
    model = KernelPCA(5, standardize=True).fit(X)
    for method in METHODS:
        left = X - model.inverse_transform(model.transform(X), method)
        assert np.all(np.mean(left**2, axis=0) < 0.3 * np.var(X, axis=0))
    found = model.reconstruction(X)
    np.testing.assert_allclose(found.residual, np.sum((X - found.rows) ** 2, axis=1))


def test_float32():
    X = ring()
    narrow, wide = KernelPCA(3).fit(X.astype(np.float32)), KernelPCA(3).fit(X)
    for method in METHODS:
        back = narrow.inverse_transform(narrow.transform(X.astype(np.float32)), method)
        assert back.dtype == np.float32
        agree(back, wide.inverse_transform(wide.transform(X), method), 2e-2)
    assert narrow.denoise(X.astype(np.float32)).dtype == np.float32
    one, two = narrow.reconstruction(X.astype(np.float32)), wide.reconstruction(X)
    agree(one.feature_residual, two.feature_residual, 1e-3)


def test_standardised_sparse_rows_are_those_of_the_dense_table():
    """In both forms at fit, and in both afterwards."""
    X = np.where(ring() > 0.2, ring() + 3, 0.0) * [1, 10, 100, 1]
    dense = KernelPCA(3, standardize=True).fit(X)
    sparse = KernelPCA(3, standardize=True).fit(scipy.sparse.csr_array(X))
    Z = dense.transform(X)
    for rows in (X, scipy.sparse.csr_array(X)):
        agree(sparse.transform(rows), Z, 1e-8)
    for method in METHODS:
        one, two = sparse.inverse_transform(Z, method), dense.inverse_transform(Z, method)
        np.testing.assert_allclose(one, two, atol=1e-2, rtol=1e-3)
    assert sparse.score(scipy.sparse.csr_array(X)) == pytest.approx(dense.score(X), abs=1e-4)


def test_weights_of_zero_have_no_say():
    X = ring()
    weights = np.ones(len(X))
    weights[::5] = 0
    spoiled = X.copy()
    spoiled[::5] += 50
    one = KernelPCA(3, kernel=RBF(1.0)).fit(X, sample_weight=weights)
    two = KernelPCA(3, kernel=RBF(1.0)).fit(X[weights > 0])
    three = KernelPCA(3, kernel=RBF(1.0)).fit(spoiled, sample_weight=weights)
    new = ring(20, seed=1)
    for method in METHODS:
        found = [m.denoise(new, method) for m in (one, two, three)]
        agree(found[0], found[1], 1e-4)
        agree(found[0], found[2], 1e-4)
    assert one.preimage_errors_ == pytest.approx(two.preimage_errors_, rel=1e-3)


def test_large_models_compare_what_is_cheap(monkeypatch):
    monkeypatch.setattr(module, "_ALL_PAIRS", 100)
    monkeypatch.setattr(module, "_PRODUCTS", 1.0)
    monkeypatch.setattr(module, "_ALWAYS", 7)
    model = KernelPCA(3).fit(ring())
    assert set(model.preimage_errors_) == {"ridge", "fixed_point"}
    assert np.isfinite(model.denoise(ring(), "distances")).all()  # it can still be asked for


def test_where_there_are_no_rows_to_go_back_to():
    K = RBF(1.0).block(ring())
    model = KernelPCA(2, kernel="precomputed").fit(K)
    for call in (
        lambda: model.inverse_transform(np.zeros((1, 2))),
        lambda: model.denoise(K),
        lambda: model.reconstruction(K),
        lambda: model.preimage_,
        lambda: model.preimage_errors_,
        lambda: model.decoder_,
    ):
        refuses("no rows of numbers", call, kind=NotSupportedError)


@pytest.mark.parametrize("number", [3, 30, 90])
def test_what_is_learned_is_kept_only_if_all_ends_well(number):
    X = ring(50)
    model, Z = KernelPCA(2).fit(X), KernelPCA(2).fit(X).transform(X)
    for call in (
        lambda: model.inverse_transform(Z),
        lambda: model.denoise(X),
        lambda: model.reconstruction(X),
        lambda: model.preimage_errors_,
    ):
        refuses(None, traced, AtCall(number, KeyboardInterrupt()), call, kind=KeyboardInterrupt)
    np.testing.assert_array_equal(
        model.inverse_transform(Z), KernelPCA(2).fit(X).inverse_transform(Z)
    )


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("penalty", [1e-3, 1.0])
def test_the_error_is_that_of_rows_left_out_one_by_one(monkeypatch, penalty, weighted):
    """Against regressions that were learned anew without each row."""
    monkeypatch.setattr(_preimages, "_PENALTIES", np.array([penalty]))
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 30)
    scores = np.column_stack([t, t**2 - 1 / 3])
    rows = np.column_stack([np.cos(2 * t), np.sin(2 * t), 0.3 * t]) + 0.1 * rng.random((30, 3))
    share = rng.random(30) + 0.5 if weighted else np.ones(30)
    share /= share.sum()
    empty = np.zeros(0)
    shell = _preimages.Decoder(1.0, RBF(0.5), scores[::3], empty, np.zeros((0, 0)), empty)
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
