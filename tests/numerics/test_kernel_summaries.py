"""Numbers told beside the axes: share of variance, effective rank, alignment, score."""

import numpy as np
import pytest
from kernel_fits import MATRIX, PLAIN, blobs, centred, eigenvalues, fit, fit_transform, matrix

from mercer import PCA
from mercer.kernels import RBF, Linear, Polynomial


@pytest.mark.parametrize("wanted", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("path", ["primal", "lapack", "stored"])
def test_share_of_polynomial_features(path, wanted):
    X = blobs(300, 3) / 3
    kernel = Polynomial(2, 0.3, 1.0)
    values = eigenvalues((0.3 * X @ X.T + 1) ** 2)
    k = 1 + int(np.argmax(np.cumsum(values) >= wanted * values.sum()))
    model = fit(path, X, wanted, kernel=kernel)
    assert model.n_components_ == k
    assert model.transform(X).shape == (300, k) == model.fit_transform(X).shape
    assert fit("auto", X, wanted, kernel="linear").n_components_ == (
        PCA(wanted).fit(X).n_components_
    )


@pytest.mark.parametrize("path", MATRIX)
def test_share_of_a_flat_spectrum(path):
    """Most axes are needed: an iteration cannot give them, LAPACK behind it does."""
    X = np.random.default_rng(0).standard_normal((300, 30)) / 3
    values = eigenvalues(matrix("rbf", X))
    k = 1 + int(np.argmax(np.cumsum(values) >= 0.9 * values.sum()))
    model, Z = fit_transform(path, X, 0.9, kernel=PLAIN["rbf"][0])
    assert model.n_components_ == k > 37
    np.testing.assert_allclose(model.transform(X), Z, rtol=0, atol=1e-9 * np.abs(Z).max())
    np.testing.assert_allclose(Z.T @ Z, np.diag(values[:k]), rtol=0, atol=1e-5 * values[0])


FEATURES = (Linear(), Polynomial(2, 0.3, 1.0))
RANKS = [(path, PLAIN[name]) for path in MATRIX for name in ("rbf", "log", "sum")]
RANKS += [(path, (kernel, None)) for path in ("auto", "primal") for kernel in FEATURES]


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize(
    ("path", "case"), RANKS, ids=lambda v: str(v[0]) if isinstance(v, tuple) else v
)
def test_effective_rank(path, case, k):
    """(tr K̃)²/‖K̃‖²_F, whatever was asked for."""
    kernel, formula = case
    X = blobs(250, 3) if formula else blobs(120, 8) / 3
    A = centred(formula(X, X) if formula else kernel.block(X))
    model = fit(path, X, k, kernel=kernel)
    np.testing.assert_allclose(
        model.effective_rank_, np.trace(A) ** 2 / np.sum(A**2), rtol=1e-8
    )
    ratios = model.eigenvalues_ / np.trace(A)
    np.testing.assert_allclose(model.explained_variance_ratio_, ratios, rtol=1e-8)


@pytest.mark.parametrize("length", [1.0, 1e2, 1e4])
def test_effective_rank_of_a_nearly_constant_matrix(length):
    """A long lengthscale tends to the linear kernel, and so does its effective rank."""
    X = blobs(120, 4)
    Y = X - X.mean(axis=0)
    flat = np.sum(Y**2) ** 2 / np.sum((Y.T @ Y) ** 2)
    found = fit("lapack", X, 2, kernel=RBF(length)).effective_rank_
    if length > 10:
        np.testing.assert_allclose(found, flat, rtol=3e-2 if length < 1e3 else 1e-4)
    assert 1 <= found <= 119


@pytest.mark.parametrize("path", MATRIX)
@pytest.mark.parametrize("name", ["rbf", "laplacian", "distance"])
def test_alignment(path, name):
    X = blobs(300, 4) + 100
    A, L = centred(matrix(name, X)), centred((X - 100) @ (X - 100).T)
    wanted = np.sum(A * L) / np.sqrt(np.sum(A**2) * np.sum(L**2))
    model = fit(path, X, 2, kernel=PLAIN[name][0])
    assert model.alignment_ == pytest.approx(wanted, rel=1e-8)
    assert fit("auto", X, 2, kernel="linear").alignment_ == pytest.approx(1)
    K = matrix(name, X)
    assert fit("lapack", K, 2, kernel="precomputed", indefinite="clip").alignment_ is None


def test_score_is_the_share_of_input_space_that_comes_back():
    X, new = blobs(150, 5) + 50, blobs(60, 5, 3) + 50
    for kernel in (RBF(), Linear(), Polynomial(2)):
        model = fit("auto", X, 3, kernel=kernel)
        for rows in (X, new):
            left = rows - model.inverse_transform(model.transform(rows))
            spread = np.sum((rows - rows.mean(axis=0)) ** 2)
            assert model.score(rows) == pytest.approx(1 - np.sum(left**2) / spread, abs=1e-10)
    flat = PCA(3).fit(X)
    linear = fit("auto", X, 3, kernel="linear")
    assert linear.score(X) == pytest.approx(flat.explained_variance_ratio_.sum(), rel=1e-9)


@pytest.mark.parametrize("path", MATRIX)
def test_standardised(path):
    X = blobs(150, 4) * [1, 10, 1e3, 1e-3] + [0, 5, 1e6, 0]
    Y = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    one = fit(path, X, 3, kernel=RBF(2.0), standardize=True, tol=1e-10)
    two = fit(path, Y, 3, kernel=RBF(2.0), tol=1e-10)
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(one.transform(X), two.transform(Y), rtol=0, atol=1e-6)
    back = two.inverse_transform(two.transform(Y)) * X.std(axis=0, ddof=1) + X.mean(axis=0)
    found = one.inverse_transform(one.transform(X))
    np.testing.assert_allclose(found, back, rtol=1e-5, atol=1e-5)


SHARED = ("rbf", "laplacian", "log", "sum")
CASES = [(path, name, w) for path in MATRIX for name in SHARED for w in (0.5, 0.9, 0.99)]
CASES += [(path, "wide", w) for path in ("tiles", "tiles32") for w in (0.7, 0.95)]


@pytest.mark.parametrize(("path", "name", "wanted"), CASES)
def test_share_of_variance(path, name, wanted):
    X = blobs(300, 3, 1, dtype="float32" if path.endswith("32") else "float64")
    K = matrix("rbf", X * 0.375) if name == "wide" else matrix(name, X)
    kernel = RBF(4.0) if name == "wide" else PLAIN[name][0]
    values = eigenvalues(K)
    k = 1 + int(np.argmax(np.cumsum(values) >= wanted * values.sum()))
    model = fit(path.removesuffix("32"), X, wanted, kernel=kernel)
    assert model.n_components_ == k == len(model.certificate_.lower)
    assert model.transform(X).shape == (300, k)
    loose = 1e-6 if path in MATRIX else 2 * model.certificate_.tol
    np.testing.assert_allclose(model.eigenvalues_, values[:k], rtol=loose)
    assert model.explained_variance_ratio_.sum() >= wanted * (1 - 1e-9)
    least, most = model.captured_share_
    assert least - 1e-10 <= values[:k].sum() / values.sum() <= most + 1e-10
