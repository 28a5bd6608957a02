import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_approximation
from sklearn.gaussian_process import kernels as gaussian_process_kernels
from tests.claims import agree, refuses, warned

import mercer.kernels
from mercer.dropin import Nystroem

CASES = [
    {}, {"gamma": 0.3}, {"gamma": 0.0}, {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "laplacian"}, {"kernel": "chi2"}, {"kernel": "chi2", "gamma": 2.0},
    {"kernel": "additive_chi2"}, {"kernel": "linear"}, {"kernel": "cosine"},
    {"kernel": "poly", "degree": 2, "coef0": 0.5}, {"kernel": "polynomial"},
    {"kernel": "sigmoid", "gamma": 0.01},
    {"kernel": "rbf", "kernel_params": {"gamma": 0.7, "degree": 9}},
    {"kernel": "rbf", "degree": 2, "coef0": 3.0},
    {"kernel": lambda x, y: float(np.minimum(x, y).sum())},
    {"kernel": lambda x, y, a: float(a * (x @ y)), "kernel_params": {"a": 2.0}},
    {"kernel": gaussian_process_kernels.RBF(1.5)},
]  # fmt: skip


def named(case):
    plain = int | float | str | dict
    shown = {k: v if isinstance(v, plain) else type(v).__name__ for k, v in case.items()}
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def table(n=60, p=6, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1, (n, p))


def both(case, **more):
    return tuple(
        kind(**case, **more) for kind in (Nystroem, sklearn.kernel_approximation.Nystroem)
    )


@pytest.mark.parametrize("case", CASES, ids=named)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_numbers_are_scikit_learns(case, dtype):
    X, new = table().astype(dtype), table(9, seed=1).astype(dtype)
    ours, theirs = both(case, n_components=5, random_state=3)
    F, G = ours.fit_transform(X), theirs.fit_transform(X)
    assert F.dtype == ours.normalization_.dtype == dtype
    np.testing.assert_array_equal(ours.component_indices_, theirs.component_indices_)
    np.testing.assert_array_equal(ours.components_, theirs.components_)
    # K_SS^-½ multiplies the rounding of the kernel by its condition number.
    square = F[ours.component_indices_].astype(np.float64)
    least = max(1e-12, np.linalg.svd(square @ square.T, compute_uv=False)[-1])
    atol = 200 * np.finfo(dtype).eps / min(least, 1.0)
    if atol > 1e-2:  # K_SS is singular: only products mean something, and in float64
        G = theirs.fit_transform(X.astype(np.float64))
        agree(F @ F.T, G @ G.T, 1e-9 if dtype == np.float64 else 1e-5)
        return
    agree(ours.normalization_, theirs.normalization_, atol / least)
    agree(F, G, atol)
    agree(ours.transform(new), theirs.transform(new), atol)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine", "poly", "sigmoid"])
def test_sparse_rows(kernel):
    X = scipy.sparse.csr_matrix(np.where(table() > 0.5, table(), 0))
    ours, theirs = both({"kernel": kernel, "gamma": 0.1}, n_components=5, random_state=0)
    agree(ours.fit_transform(X), theirs.fit_transform(X), 1e-9)
    assert scipy.sparse.issparse(ours.components_)


def test_a_precomputed_matrix_and_many_rows_in_blocks():
    X = table(12)
    K = mercer.kernels.RBF(0.5).block(X)
    ours, theirs = both({"kernel": "precomputed"}, n_components=12, random_state=0)
    agree(ours.fit_transform(K), theirs.fit_transform(K), 1e-8)
    refuses("n_components = n_samples", Nystroem(kernel="precomputed", n_components=5).fit, K)
    for model in both({"kernel": "precomputed", "gamma": 1.0}, n_components=12):
        refuses("Don't pass gamma", model.fit, K, kind=ValueError)
    X = table(9000)
    ours, theirs = both({"gamma": 5.0}, n_components=7, random_state=0)
    agree(ours.fit_transform(X), theirs.fit_transform(X), 1e-11)


def test_kernels_of_ours_generators_and_too_many_components():
    X = table()
    F = Nystroem(mercer.kernels.Matern(2.0), n_components=60, random_state=0).fit_transform(X)
    agree(F @ F.T, mercer.kernels.Matern(2.0).block(X), 1e-9)
    X = table()
    ours, theirs = (np.random.RandomState(7) for _ in range(2))
    for _ in range(3):
        one = Nystroem(n_components=4, random_state=ours).fit(X)
        two = sklearn.kernel_approximation.Nystroem(n_components=4, random_state=theirs).fit(X)
        np.testing.assert_array_equal(one.component_indices_, two.component_indices_)
    assert ours.randint(10**6) == theirs.randint(10**6)
    model = warned("n_components > n_samples", Nystroem(n_components=80).fit, table())
    assert model.transform(table()).shape == (60, 60)
    assert len(model.get_feature_names_out()) == 60


def test_duplicates_and_float32_do_not_blow_up():
    """A singular K_SS: noise of float32 stays noise of float32."""
    X = np.repeat(table(10), 2, axis=0)
    wide = Nystroem(n_components=20, random_state=0).fit_transform(X)
    narrow = Nystroem(n_components=20, random_state=0).fit_transform(X.astype(np.float32))
    assert narrow.dtype == np.float32
    K = mercer.kernels.RBF.from_gamma(1 / 6).block(X)
    agree(wide @ wide.T, K, 1e-6)
    agree(narrow @ narrow.T, K, 1e-5)
