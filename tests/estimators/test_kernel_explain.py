"""What a component is made of: gradients against differences, shares that add up."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from tests.claims import refuses

import mercer.estimators.kernel._explanations as module
from mercer import KernelPCA
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, FeatureMap, Matern

KERNELS = {
    "rbf": "rbf", "columns": RBF((1.0, 2.0, 3.0)), "matern": Matern(nu=2.5),
    "sum": "rbf + linear", "linear": "linear", "poly": "poly(degree=2)",
    "features": FeatureMap(lambda x: np.column_stack([x, np.sin(x)])),
}  # fmt: skip


def table(n=70, seed=0, p=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * np.linspace(1, 2, p)


def differences(model, X, h=1e-5):
    """Return √(mean (∂z_j/∂x_f)²) (k, p), by central differences of `transform`."""
    out = np.empty((model.n_components_, X.shape[1]))
    for f in range(X.shape[1]):
        step = np.zeros(X.shape[1])
        step[f] = h
        slope = (model.transform(X + step) - model.transform(X - step)) / (2 * h)
        out[:, f] = np.sqrt(np.mean(slope**2, axis=0))
    return out


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_gradients(name, standardize):
    X, new = table(), table(20, seed=1)
    model = KernelPCA(3, kernel=KERNELS[name], standardize=standardize).fit(X)
    found = model.attributions(new)
    wanted = differences(model, new) * X.std(axis=0)
    np.testing.assert_allclose(found.amounts, wanted, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    np.testing.assert_allclose(found.shares, wanted / wanted.sum(axis=1)[:, None], rtol=1e-5)
    np.testing.assert_array_equal(np.asarray(found), found.shares)


@pytest.mark.parametrize("name", KERNELS)
def test_the_formula_and_the_differences_agree(monkeypatch, name):
    """Twice the kernel is no `RBF` and no `Linear`, so it goes the other way."""
    X = table()
    kernel = KernelPCA(3, kernel=KERNELS[name]).fit(X).kernel_
    one, two = (KernelPCA(3, kernel=k).fit(X) for k in (kernel, 2.0 * kernel))
    np.testing.assert_allclose(
        two.attributions(X).amounts, one.attributions(X).amounts * np.sqrt(2), rtol=1e-6
    )
    monkeypatch.setattr(module, "_CELLS", 5 * len(X))
    np.testing.assert_allclose(
        KernelPCA(3, kernel=kernel).fit(X).attributions(X).amounts,
        one.attributions(X).amounts,
        rtol=1e-9,
    )


@pytest.mark.parametrize("method", ["gradient", "permutation"])
@pytest.mark.parametrize("kernel", ["rbf", "matern", "linear"])
def test_what_does_not_matter_has_no_share(method, kernel):
    """A constant column, and a component that only one column makes."""
    rng = np.random.default_rng(0)
    X = np.column_stack([10 * rng.choice([-1.0, 1.0], 80), rng.normal(size=80), np.ones(80)])
    found = KernelPCA(1, kernel=kernel).fit(X).attributions(X, method)
    assert found.shares[0, 2] == 0
    assert found.shares[0, 0] > 0.6 or method == "gradient"
    assert found.top(1)[0][0][0] == "x0" or method == "gradient"


def test_permutation_by_its_definition():
    """One column that the component depends on alone: half the squared change is var z."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=3000) * 100, rng.normal(size=3000) * 1e-3])
    model = KernelPCA(1, kernel="linear").fit(X)
    found = model.attributions(X[:1000], "permutation", n_repeats=10)
    np.testing.assert_allclose(found.amounts[0], [1, 0], atol=0.02)
    X = table(40)
    model = KernelPCA(2).fit(X)
    found = model.attributions(X, "permutation", n_repeats=1, random_state=3)
    random, z = np.random.RandomState(3), model.transform(X)
    for f in range(3):
        moved = X.copy()
        moved[:, f] = X[random.permutation(40), f]
        change = np.mean((model.transform(moved) - z) ** 2, axis=0)
        np.testing.assert_allclose(found.amounts[:, f], change / (2 * z.var(axis=0)), rtol=1e-8)


def test_names_are_kept():
    frame = pd.DataFrame(table(), columns=["height", "weight", "age"])
    model = KernelPCA(2).fit(frame)
    found = model.attributions(frame)
    assert found.features == ("height", "weight", "age")
    (name, share), *rest = found.top(3)[0]
    assert name in found.features
    assert share == pytest.approx(found.shares[0].max())
    assert len(rest) == 2
    assert KernelPCA(2).fit(table()).attributions(table()).features == ("x0", "x1", "x2")


@pytest.mark.parametrize("kernel", ["rbf", "matern"])
def test_precision_offsets_and_sparse_rows(kernel):
    X = np.where(table() > -0.5, table(), 0.0)
    wanted = KernelPCA(2, kernel=kernel).fit(X).attributions(X)
    narrow = X.astype(np.float32)
    sparse = scipy.sparse.csr_array(X)
    for rows, rtol in ((narrow, 1e-3), (sparse, 1e-5), (X + 1e6, 1e-3), (X * 1e8, 1e-5)):
        found = KernelPCA(2, kernel=kernel).fit(rows).attributions(rows)
        np.testing.assert_allclose(found.amounts, wanted.amounts, rtol=rtol)


def test_a_dead_component_has_no_shares():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    model = KernelPCA(2, kernel=RBF(1.0)).fit(X)
    for method in ("gradient", "permutation"):
        found = model.attributions(X, method)
        np.testing.assert_allclose(found.shares[0], [0.5, 0.5], rtol=0, atol=0.2)
        np.testing.assert_array_equal(found.shares[1], [0, 0])


def test_prototypes():
    X = table()
    model = KernelPCA(3).fit(X)
    Z = model.transform(X)
    found = model.prototypes(2)
    for j in range(3):
        order = np.argsort(Z[:, j])
        np.testing.assert_array_equal(found.smallest[j], order[:2])
        np.testing.assert_array_equal(found.largest[j], order[::-1][:2])
        np.testing.assert_array_equal(found.nearest_zero[j], np.argsort(np.abs(Z[:, j]))[:2])
    assert model.prototypes(1000).largest.shape == (3, 70)


def test_prototypes_are_numbers_of_training_rows():
    X = table()
    weights = np.ones(70)
    weights[:10] = 0
    found = KernelPCA(2, kernel=RBF(2.0)).fit(X, sample_weight=weights).prototypes()
    assert min(found.largest.min(), found.smallest.min(), found.nearest_zero.min()) >= 10
    alone = KernelPCA(2, kernel=RBF(2.0)).fit(X[10:]).prototypes()
    np.testing.assert_array_equal(found.largest, alone.largest + 10)
    K = RBF(2.0).block(X)
    given = KernelPCA(2, kernel="precomputed").fit(K).prototypes()  # rows have numbers here too
    np.testing.assert_array_equal(
        given.largest, KernelPCA(2, kernel=RBF(2.0)).fit(X).prototypes().largest
    )


def test_refusals():
    X = table()
    model = KernelPCA(2).fit(X)
    refuses("no method 'shap'", model.attributions, X, "shap")
    refuses("two rows", model.attributions, X[:1], "permutation")
    refuses("at least once", model.attributions, X, "permutation", n_repeats=0)
    refuses("at least one row", model.prototypes, 0)
    X[3, 1] = np.nan
    with pytest.raises(InputError) as error:
        model.attributions(X)
    assert "row 3, column 1" in error.value.got
    given = KernelPCA(2, kernel="precomputed").fit(RBF(2.0).block(table()))
    refuses("no columns", given.attributions, RBF(2.0).block(table()), kind=NotSupportedError)
