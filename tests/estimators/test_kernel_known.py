"""What a model knows in feature space, against the dense centred kernel matrix."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.kernels import RBF, FeatureMap, Linear, Matern, NegativeDistance, Polynomial

KERNELS = {
    "rbf": RBF(1.5),
    "matern": Matern(2.0),
    "cpd": NegativeDistance(1.0),
    "linear": Linear(),
    "poly": Polynomial(2, gamma=0.3),
    "features": FeatureMap(lambda x: np.column_stack([x, np.asarray(x) ** 2])),
}


def centred(kernel, rows, X, weights=None):
    """Return ‖φ(x) - φ̄‖² by its definition."""
    pi = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    pi = pi / pi.sum()
    own = np.array([kernel.block(row[None])[0, 0] for row in rows])
    return own - 2 * kernel.block(rows, X) @ pi + pi @ kernel.block(X) @ pi


@pytest.mark.parametrize("name", KERNELS)
def test_what_the_axes_leave_out(name):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(60, 3)) + 5, rng.normal(size=(9, 3)) + 5
    model = KernelPCA(3, kernel=KERNELS[name]).fit(X)
    for rows in (X, new):
        z = model.transform(rows)
        wanted = centred(model.kernel_, rows, X) - np.sum(z**2, axis=1)
        np.testing.assert_allclose(model._unexplained(rows, z), wanted, rtol=0, atol=1e-8)


def test_the_sum_over_training_rows_is_the_variance_left():
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = KernelPCA(4, kernel=RBF(1.0)).fit(X)
    left = model._known(residuals=True).residuals
    total = model.eigenvalues_.sum() / model.explained_variance_ratio_.sum()
    assert left.sum() == pytest.approx(total - model.eigenvalues_.sum(), rel=1e-8)


def test_weights_are_repeats():
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(40, 3)), rng.integers(0, 4, 40)
    one = KernelPCA(3, kernel=RBF(1.5)).fit(X, sample_weight=counts)
    two = KernelPCA(3, kernel=RBF(1.5)).fit(np.repeat(X, counts, axis=0))
    known = one._known(residuals=True)
    assert len(known.rows) == np.sum(counts > 0)
    assert known.share.sum() == pytest.approx(1)
    new = rng.normal(size=(7, 3))
    left = [m._unexplained(new, m.transform(new)) for m in (one, two)]
    np.testing.assert_allclose(*left, rtol=0, atol=1e-10)
    z = one.transform(new)
    twice = two._known()
    np.testing.assert_array_equal(twice.rows, known.rows)  # twins are one row
    direct = two.kernel_.block(new, twice.rows) @ twice.weights(z).T
    found = two.kernel_.block(new, known.rows) @ known.weights(z).T
    np.testing.assert_allclose(np.abs(found), np.abs(direct), rtol=0, atol=1e-9)


def test_what_is_learned_is_kept_only_if_all_ends_well(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = KernelPCA(2).fit(X)
    Z = model.transform(X)

    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.estimators.kernel._kernel_back.learn", interrupted)
    for call in (
        lambda: model.inverse_transform(Z),
        lambda: model.denoise(X),
        lambda: model.reconstruction(X),
        lambda: model.preimage_errors_,
    ):
        with pytest.raises(KeyboardInterrupt):
            call()
        assert model._decoder is None
