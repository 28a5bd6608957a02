from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import kernels as gp

from mercer.errors import InputError, NotSupportedError
from mercer.kernels import (
    RBF,
    FeatureMap,
    Flag,
    Function,
    Linear,
    Precomputed,
    as_kernel,
    neighbourhoods,
    ngrams,
    normalize,
)
from mercer.testing import check_kernel


def basis(rows):
    rows = np.asarray(rows)
    return np.concatenate([rows, rows**2, np.sin(rows)], axis=1)


def taxi(x, y):
    return float(np.minimum(x, y).sum())


def gram(x, y):
    return x @ y.T


def test_feature_maps(rng):
    X = rng.standard_normal((30, 2))
    k = FeatureMap(basis)
    assert k.flag is Flag.PD
    np.testing.assert_allclose(k(X, X[:5]), basis(X) @ basis(X[:5]).T)
    check_kernel(k, X)
    check_kernel(FeatureMap(sparse.csr_array), X)
    np.testing.assert_array_equal(k.features(2).phi(X), basis(X))
    assert k.count(2) is None
    assert FeatureMap(basis, width=6).count(2) == 6
    assert repr(k) == "FeatureMap(phi=basis)"


def test_functions_of_blocks(xp, rng):
    X = rng.standard_normal((40, 2))
    k = Function(gram)
    assert k.flag is Flag.UNKNOWN
    np.testing.assert_allclose(xp.numpy(k(xp.asarray(X))), X @ X.T)
    np.testing.assert_allclose(xp.numpy(k.diag(xp.asarray(X))), np.sum(X**2, axis=1))
    check_kernel(k, X)
    check_kernel(2.0 * k + Linear(), X)
    assert repr(k) == "Function(gram)"


def test_functions_of_rows(rng):
    X = rng.random((20, 3))
    k = Function.pairwise(taxi)
    truth = np.minimum(X[:, None], X[None]).sum(axis=2)
    np.testing.assert_allclose(k(X), truth)
    np.testing.assert_allclose(k.diag(X), X.sum(axis=1))
    check_kernel(k, X)
    assert k == Function.pairwise(taxi)
    assert repr(k) == "Function.pairwise(taxi)"
    with pytest.raises(InputError, match=r"Function\.pairwise"):
        Function(taxi)(X)
    np.testing.assert_allclose(as_kernel(gp.RBF(1.5))(X), RBF(1.5)(X), rtol=1e-12)
    for make in (FeatureMap, Function, Function.pairwise):
        with pytest.raises(InputError, match="must be a function"):
            make(np.ones((3, 3)))


def test_precomputed_matrices(xp, rng):
    X = rng.standard_normal((10, 2))
    K = X @ X.T
    k = Precomputed()
    assert k.flag is Flag.UNKNOWN
    assert k.resolved
    np.testing.assert_array_equal(xp.numpy(k(xp.asarray(K))), K)
    np.testing.assert_array_equal(xp.numpy(k.block(xp.asarray(K[:3]), xp.asarray(K))), K[:3])
    np.testing.assert_array_equal(xp.numpy(k.diag(xp.asarray(K))), np.diagonal(K))
    np.testing.assert_allclose(xp.numpy((2.0 * k + 1.0)(xp.asarray(K))), 2 * K + 1)
    assert k(K.tolist()).tolist() == K.tolist()


def test_wrong_matrices(rng):
    K = rng.standard_normal((4, 4))
    with pytest.raises(InputError, match=r"shape \(3, 4\)"):
        Precomputed()(K[:3])
    with pytest.raises(InputError, match="column for every training row"):
        Precomputed()(K[:, :3], K)
    with pytest.raises(NotSupportedError, match="does not hold"):
        Precomputed().diag(K[:3])


TEXTS = ["banana", "bandana", "", "apple", "pineapple", "an", "αβγαβ"]


def grams(text, n):
    return Counter(text[i : i + n] for i in range(len(text) - n + 1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_are_counted(n):
    truth = [
        [sum(grams(s, n)[g] * grams(t, n)[g] for g in grams(s, n)) for t in TEXTS]
        for s in TEXTS
    ]
    found = FeatureMap(ngrams(n))(TEXTS)
    np.testing.assert_array_equal(found, truth)


def test_rows_of_texts_and_graphs_in_any_form():
    phi, graphs = ngrams(2), FeatureMap(neighbourhoods())
    truth = phi(TEXTS).toarray()
    np.testing.assert_array_equal(phi(np.array(TEXTS)).toarray(), truth)
    np.testing.assert_array_equal(phi(np.array(TEXTS, dtype=object)[:, None]).toarray(), truth)
    assert phi(TEXTS).shape == (7, 2**16)
    k = FeatureMap(phi)
    for kernel, rows in ((k, TEXTS), (normalize(k), TEXTS), (graphs, GRAPHS)):
        assert kernel.flag is Flag.PD
        check_kernel(kernel, rows)
    assert repr(k) == "FeatureMap(phi=ngrams(2, width=65536))"
    assert ngrams(2) == ngrams(2)
    assert ngrams(2, width=32)(TEXTS).shape == (7, 32)


PATH = ("CCO", [(0, 1), (1, 2)])
RING = ("CCO", [(0, 1), (1, 2), (2, 0)])
SAME = ("OCC", [(1, 0), (2, 1)])  # the path with its vertices renamed
GRAPHS = [PATH, RING, SAME, ("N", []), ("", [])]


def test_neighbourhoods_do_not_know_names():
    found = FeatureMap(neighbourhoods(3))([PATH, RING, SAME])
    np.testing.assert_array_equal(found[0], found[2])
    assert found[0, 1] < min(found[0, 0], found[1, 1])


def test_neighbourhoods_by_hand():
    # Labels: 2·2 + 1·1. One round: "C beside C and O" occurs once and twice.
    found = FeatureMap(neighbourhoods(0))([PATH, RING])
    np.testing.assert_array_equal(found, [[5, 5], [5, 5]])
    found = FeatureMap(neighbourhoods(1))([PATH, RING])
    np.testing.assert_array_equal(found, [[8, 7], [7, 10]])


def test_wrong_parameters():
    for make in (
        lambda: ngrams(0),
        lambda: ngrams(1.5),
        lambda: ngrams(2, width=0),
        lambda: neighbourhoods(-1),
        lambda: ngrams(2)([1, 2]),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert len(str(caught.value).splitlines()) == 3
