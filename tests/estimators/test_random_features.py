import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import mercer
from mercer import PCA, KernelPCA, RandomFeatures
from mercer.errors import InputError
from mercer.kernels import RBF, Laplacian, Linear

X = np.random.default_rng(0).standard_normal((200, 5))
DIGITS = load_digits(return_X_y=True)[0]


def test_the_map_is_that_of_the_kernel():
    model = RandomFeatures(5000).fit(X)
    wanted = RBF().resolve(X)
    assert model.kernel_ == wanted
    phi = model.transform(X)
    assert np.max(np.abs(phi @ phi.T - wanted(X))) < 0.1
    assert model.certificate_ is None
    assert "no certificate" in RandomFeatures.__doc__


def test_fit_keeps_no_row_and_learns_only_the_lengthscale():
    models = [RandomFeatures(50, kernel=RBF(2.0)).fit(part) for part in (X[:90], X[90:])]
    np.testing.assert_allclose(
        models[0].transform(X), models[1].transform(X), rtol=0, atol=1e-12
    )
    kept = [v for v in vars(models[0]._map).values() if isinstance(v, np.ndarray)]
    assert max(len(array) for array in kept) == 50


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_batches_in_any_order_give_the_same_numbers(offset):
    x = X + offset
    batches = [x[:30], x[30:100], x[100:]]
    found = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        model = RandomFeatures(64, kernel=RBF(2.0))
        for i in order:
            assert model.partial_fit(batches[i]) is model
        parts = {i: model.transform(batches[i]) for i in order}
        found.append(np.concatenate([parts[i] for i in range(3)]))
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-14 * (100 + 50 * offset))
    np.testing.assert_allclose(found[2], found[0], rtol=0, atol=1e-14 * (100 + 50 * offset))


def test_the_first_batch_fixes_the_lengthscale():
    model = RandomFeatures(32).partial_fit(X[:50])
    first, phi = model.kernel_, model.transform(X)
    model.partial_fit(100 * X)
    assert model.kernel_ == first == RBF().resolve(X[:50])
    np.testing.assert_array_equal(model.transform(X), phi)
    assert model.fit(100 * X).kernel_ != first


def test_far_from_the_origin():
    """Products at 1e6 are the kernel to the accuracy that m features have."""
    x = X + 1e6
    phi = RandomFeatures(4000, kernel=RBF(1.5)).fit_transform(x)
    assert np.max(np.abs(phi @ phi.T - RBF(1.5)(x))) < 0.1
    near = RandomFeatures(4000, kernel=RBF(1.5)).fit_transform(x - 1e6)
    spread = np.abs(phi @ phi.T - near @ near.T)
    assert np.max(spread) < 0.1


def test_float32_is_kept():
    wide = RandomFeatures(40, kernel=RBF(2.0)).fit(X)
    narrow = RandomFeatures(40, kernel=RBF(2.0)).fit(X.astype(np.float32))
    found = narrow.transform(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wide.transform(X), rtol=0, atol=1e-5)
    assert wide.transform(X.astype(np.float32)).dtype == np.float32
    assert wide.transform((10 * X).astype(int)).dtype == np.float64


def test_sparse_rows():
    x = np.where(X > 0.5, X, 0.0)
    dense, sparse = (RandomFeatures(40).fit(rows) for rows in (x, csr_array(x)))
    assert dense.kernel_ == sparse.kernel_
    np.testing.assert_allclose(
        sparse.transform(csr_array(x)), dense.transform(x), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        dense.transform(csr_array(x)), dense.transform(x), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    "rows",
    [np.zeros((3, 2)), np.ones((2, 1)), np.repeat(X[:1], 5, axis=0)],
    ids=["zeros", "ones", "equal"],
)
def test_equal_rows_need_a_number(rows):
    with pytest.raises(InputError, match="all equal"):
        RandomFeatures(5).fit(rows)
    phi = RandomFeatures(5, kernel=RBF(1.0)).fit_transform(rows)
    assert np.ptp(phi, axis=0).max() == 0


def test_parameters():
    model = RandomFeatures(7, kernel="laplacian(lengthscale=3)", random_state=4)
    assert clone(model).get_params()["kernel"] == "laplacian(lengthscale=3)"
    model.set_params(kernel__lengthscale=2.0, n_features=9)
    assert model.fit(X).kernel_ == Laplacian(2.0)
    assert model.transform(X).shape == (200, 9)
    assert list(model.get_feature_names_out()[:2]) == ["randomfeatures0", "randomfeatures1"]
    for wrong in ({"n_features": 0}, {"n_features": 2.5}, {"kernel": 3}, {"orthogonal": 2}):
        with pytest.raises(InputError) as caught:
            RandomFeatures(**wrong).fit(X)
        assert str(caught.value).count("\n") == 2


def test_seeds():
    same = [RandomFeatures(9, random_state=s).fit_transform(X) for s in (1, 1, 2, None)]
    np.testing.assert_array_equal(same[0], same[1])
    assert np.abs(same[0] - same[2]).max() > 0.01
    assert np.abs(same[0] - same[3]).max() > 0.01
    for state in (np.random.default_rng(3), np.random.RandomState(3)):
        assert RandomFeatures(9, random_state=state).fit_transform(X).shape == (200, 9)


def test_a_failed_fit_changes_nothing():
    model = RandomFeatures(9).fit(X)
    old = dict(vars(model))
    bad = X.copy()
    bad[4, 2] = np.nan
    for call in (model.fit, model.partial_fit, model.transform):
        with pytest.raises(InputError, match="NaN"):
            call(bad)
        assert vars(model) == old
    model.set_params(kernel=Linear())
    with pytest.raises(InputError, match="no random features"):
        model.fit(X)
    assert model.transform(X).shape == (200, 9)
    with pytest.raises(NotFittedError):
        RandomFeatures().transform(X)


def test_pca_after_it_is_kernel_pca_nearly():
    exact = KernelPCA(5).fit(DIGITS)
    lines = make_pipeline(RandomFeatures(4000), PCA(5)).fit(DIGITS)
    found = lines[-1].explained_variance_
    np.testing.assert_allclose(found, exact.explained_variance_, rtol=0.1)
    assert lines.transform(DIGITS[:3]).shape == (3, 5)
    assert lines[-1].certificate_.met  # of the PCA of the features, not of the kernel


def landmarks(k, m, seed):
    """Return F (n, m) of randomly pivoted Cholesky: k ≈ FFᵀ."""
    rng, left = np.random.default_rng(seed), np.diag(k).copy()
    f = np.zeros((len(k), m))
    for j in range(m):
        i = rng.choice(len(k), p=left / left.sum())
        column = k[:, i] - f[:, :j] @ f[i, :j]
        f[:, j] = column / np.sqrt(column[i])
        left = np.maximum(left - f[:, j] ** 2, 0.0)
    return f


def worst(features, exact):
    """Return the largest relative error of the leading eigenvalues of the centred matrix."""
    centred = features - features.mean(axis=0)
    found = np.linalg.eigvalsh(centred.T @ centred)[::-1][: len(exact)]
    return float(np.max(np.abs(found / exact - 1)))


def ratio(m, seeds):
    """Return how much larger the error of m random features is than that of m landmarks."""
    kernel = RBF().resolve(DIGITS)
    exact = KernelPCA(10, kernel=kernel).fit(DIGITS).eigenvalues_
    maps = [RandomFeatures(m, kernel=kernel, random_state=seed) for seed in seeds]
    random = np.median([worst(phi.fit_transform(DIGITS), exact) for phi in maps])
    k = kernel(DIGITS)
    return random / np.median([worst(landmarks(k, m, seed), exact) for seed in seeds])


def test_landmarks_are_better_at_equal_size():
    assert ratio(300, range(3)) > 3


@pytest.mark.slow
def test_the_more_features_the_more_landmarks_are_better():
    """What the docs say: about 2, 6 and 70 times on all the digits."""
    few, some, many = (ratio(m, range(5)) for m in (100, 300, 1000))
    assert 1.5 < few < 4
    assert 4 < some < 10
    assert 40 < many < 150


def test_it_is_public():
    assert mercer.RandomFeatures is RandomFeatures
