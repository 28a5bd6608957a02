"""Matrices at the edge: exactly k axes or the reason, and the same reason on every path."""

import numpy as np
import pytest
from kernel_fits import FORCED, MATRIX, apart, blobs, fit, fit_transform
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.errors import DataWarning, InputError, MercerError
from mercer.kernels import RBF, Cosine, Linear, Polynomial


def three_lines(error):
    text = str(error.value)
    lines = text.split("\n")
    assert len(lines) == 3, text
    assert lines[1].strip().startswith("got:"), text
    assert lines[2].strip().startswith("fix:"), text
    return text


SHAPES = [(20, 10), (200, 10), (500, 10), (100, 3), (12, 12)]


@pytest.mark.parametrize(
    ("path", "n", "k"),
    [("lapack", n, k) for n, k in SHAPES] + [("stored", n, k) for n, k in SHAPES[1:4]],
)
def test_identity(path, n, k):
    """Every row alone: λ = 1, n - 1 times. As many axes as were asked for, in one group."""
    X = load_digits().data[:n]
    model, Z = fit_transform(path, X, k, kernel=RBF.from_gamma(1e3))
    assert Z.shape == (n, k)
    real = min(k, n - 1)
    np.testing.assert_allclose(model.eigenvalues_[:real], 1.0, rtol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_[real:], 0.0, rtol=0, atol=1e-12)
    assert model.rank_ == real
    np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-10)
    np.testing.assert_allclose(Z[:, :real].T @ Z[:, :real], np.eye(real), rtol=0, atol=1e-9)
    assert model.certificate_.groups
    if n >= 50:
        with pytest.warns(DataWarning, match="lengthscale is too short"):
            FORCED[path](k, kernel=RBF.from_gamma(1e3)).fit(X)


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("gamma", [1e-20, 1e-17])
def test_all_ones(path, gamma):
    with pytest.raises(InputError, match="constant up to rounding") as error:
        fit(path, blobs(100, 3), 3, kernel=RBF.from_gamma(gamma))
    assert "lengthscale" in three_lines(error)


@pytest.mark.parametrize("path", MATRIX)
def test_nearly_all_ones(path):
    """A long lengthscale: K̃ is small, but there. In the limit it is PCA of the rows."""
    X = blobs(100, 3)
    model = fit(path, X, 2, kernel=RBF(1e4))
    flat = fit("auto", X, 2, kernel="linear")
    np.testing.assert_allclose(model.eigenvalues_ * 1e8, flat.eigenvalues_, rtol=1e-5)
    assert apart(1e4 * model.transform(X), flat.transform(X)) <= 1e-4


ONES = {
    "precomputed": lambda: ("precomputed", np.ones((30, 30))),
    "callable": lambda: (lambda x, y: np.ones((len(x), len(y))), blobs(30, 3)),
    "rows": lambda: (RBF(1.0), np.full((30, 3), 3.7)),
    "default": lambda: (RBF(), np.full((30, 3), 3.7)),
    "linear": lambda: (Linear(), np.full((30, 3), 3.7)),
    "polynomial": lambda: (Polynomial(2, 1.0), np.full((30, 3), 3.7)),
    "zeros": lambda: (Linear(), np.zeros((30, 3))),
    "matrix of zeros": lambda: ("precomputed", np.zeros((30, 30))),
}


@pytest.mark.parametrize("name", ONES)
def test_nothing_varies(name):
    kernel, X = ONES[name]()
    for k in (1, 2, 0.9, None):
        with pytest.raises(InputError) as error:
            fit("auto", X, k, kernel=kernel)
        three_lines(error)


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("entry", [(3, 17), (17, 3), (0, 69)])
def test_not_symmetric(path, entry):
    K = RBF(2.0).block(blobs(70, 3)).copy()
    K[entry] += 0.5
    with pytest.raises(InputError, match="symmetric") as error:
        fit(path, K, 3, kernel="precomputed")
    three_lines(error)
    assert any(f"row {place}" in error.value.got for place in entry)

    def odd(x, y):
        return np.exp(-((x[:, :1] - y[:, :1].T) ** 2)) + 0.3 * (x[:, 1:2] > y[:, 1:2].T)

    with pytest.raises(InputError, match="symmetric") as error:
        fit("auto", blobs(1100, 3) if entry[0] else blobs(60, 3), 3, kernel=odd)
    three_lines(error)


def test_not_square():
    with pytest.raises(InputError, match="square") as error:
        KernelPCA(2, kernel="precomputed").fit(np.ones((5, 4)))
    assert "(5, 4)" in three_lines(error)
    model = fit("auto", RBF(1.0).block(blobs(20, 3)), 2, kernel="precomputed")
    with pytest.raises(MercerError) as error:
        model.transform(np.ones((3, 7)))
    three_lines(error)


@pytest.mark.parametrize("path", MATRIX)
def test_duplicates(path):
    """Forty rows of five kinds have four axes; the others are named zeros, not noise."""
    X = np.repeat(blobs(5, 3, 4), 8, axis=0)
    model, Z = fit_transform(path, X, 5, kernel=RBF(2.0))
    assert model.rank_ == 4
    assert model.n_components_ == 5
    assert Z.shape == (40, 5)
    np.testing.assert_array_equal(Z[:, 4], 0)
    np.testing.assert_array_equal(model.transform(X)[:, 4], 0)
    np.testing.assert_array_equal(model.transform(blobs(9, 3))[:, 4], 0)
    np.testing.assert_array_equal(model.dual_[:, 4], 0)
    same = Z.reshape(5, 8, 5)
    np.testing.assert_allclose(
        same, np.broadcast_to(same[:, :1], same.shape), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("path", MATRIX)
def test_rows_of_zeros_under_the_cosine(path):
    """A row of zeros has the angle of none: k = 0 with all rows, itself too."""
    X = blobs(60, 3)
    X[7] = 0
    model, Z = fit_transform(path, X, 3, kernel=Cosine())
    assert np.isfinite(Z).all()
    safe = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    flat = fit("auto", safe, 3, kernel="linear")
    np.testing.assert_allclose(model.eigenvalues_, flat.eigenvalues_, rtol=1e-6)
    assert apart(Z, flat.transform(safe)) <= 1e-4
    np.testing.assert_allclose(model.transform(np.zeros((1, 3)))[0], Z[7], rtol=0, atol=1e-10)


KERNELS = ["rbf", "linear", "poly(degree=2)", "laplacian", "cosine", "negativedistance"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("k", [1, 2])
def test_two_rows(kernel, k):
    X = np.array([[1.0, 2.0], [4.0, -2.0]])
    model = KernelPCA(k, kernel=kernel)
    Z = model.fit_transform(X)
    K = model.kernel_.block(X)
    wanted = (K[0, 0] + K[1, 1]) / 2 - K[0, 1]
    np.testing.assert_allclose(model.eigenvalues_[0], wanted, rtol=1e-12)
    assert Z.shape == (2, k)
    assert model.rank_ == 1
    np.testing.assert_allclose(np.abs(Z[:, 0]), np.sqrt(wanted / 2), rtol=1e-10)
    np.testing.assert_allclose(Z[:, 1:], 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-10)
    assert model.inverse_transform(Z).shape == (2, 2)
    np.testing.assert_allclose(model.explained_variance_ratio_[0], 1, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("short", [1, 0])
@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_as_many_axes_as_rows(kernel, short, n):
    X, k = blobs(n, 30), n - short
    model = KernelPCA(k, kernel=kernel)
    Z = model.fit_transform(X)
    assert Z.shape == (n, k) == model.transform(X).shape
    assert model.n_components_ == k
    assert model.rank_ == n - 1
    Y = Z[:, : n - 1] / np.sqrt(model.eigenvalues_[: n - 1])
    np.testing.assert_allclose(Y.T @ Y, np.eye(Y.shape[1]), rtol=0, atol=1e-6)
    np.testing.assert_allclose(Z, model.transform(X), rtol=0, atol=1e-9 * np.abs(Z).max())
    if short == 0:
        np.testing.assert_array_equal(Z[:, -1], 0)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-9)


def test_more_axes_than_features():
    """Two columns carry two linear axes; the third is a named zero in every result."""
    X = blobs(30, 2)
    model = KernelPCA(4, kernel="linear")
    Z = model.fit_transform(X)
    assert Z.shape == (30, 4) == model.transform(X).shape
    assert model.rank_ == 2
    assert model.n_components_ == 4 == len(model.certificate_.lower)
    np.testing.assert_array_equal(Z[:, 2:], 0)
    np.testing.assert_allclose(model.inverse_transform(Z), X, rtol=0, atol=1e-10)
    assert len(model.get_feature_names_out()) == 4
