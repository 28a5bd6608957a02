import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import _check_psd_eigenvalues

from mercer.dropin._kernel_rules import (
    NAMES,
    SingularError,
    kernel_of,
    positive,
    predicted,
    ridge,
    varies,
)
from mercer.errors import InputError
from mercer.kernels import RBF, Constant, Function, Linear, Precomputed


def rows(n=12, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def shared(x, y, weight=1.0):
    return weight * float(np.minimum(x, y).sum())


# -- names --------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "precomputed"])
@pytest.mark.parametrize(("gamma", "degree", "coef0"), [(0.25, 3, 1), (2.0, 2, 0), (0.0, 4, 1)])
def test_a_name_is_scikit_learns_kernel(name, gamma, degree, coef0, sparse):
    X, Y = rows(), rows(5, seed=1)
    given = {"gamma": gamma, "degree": degree, "coef0": coef0}
    want = pairwise_kernels(X, Y, metric=name, filter_params=True, **given)
    kernel = kernel_of(name, gamma, degree, coef0, None)
    X, Y = (scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)) if sparse else (X, Y)
    np.testing.assert_allclose(kernel.block(X, Y), want, rtol=1e-12, atol=1e-14)


def test_degree_zero_is_a_constant():
    assert kernel_of("poly", 0.5, 0, -2.0, None) == Constant(1.0)


def test_a_root_of_a_negative_constant_is_refused():
    with pytest.raises(InputError):
        kernel_of("poly", 0.0, 0.5, -1.0, None)


def test_precomputed_is_the_matrix():
    assert kernel_of("precomputed", 0.5, 3, 1, None) == Precomputed()


def test_a_function_takes_two_rows_and_further_arguments():
    X = np.abs(rows())
    want = pairwise_kernels(X, metric=shared, weight=2.0)
    got = kernel_of(shared, 0.5, 3, 1, {"weight": 2.0}).block(X)
    np.testing.assert_allclose(got, want)
    np.testing.assert_allclose(kernel_of(shared, 0.5, 3, 1, None).block(X), want / 2)


def test_kernels_of_gaussian_processes_take_blocks():
    X = rows()
    kernel = gaussian_process.RBF(2.0) + gaussian_process.DotProduct()
    made = kernel_of(kernel, 0.5, 3, 1, None)
    assert isinstance(made, Function)
    np.testing.assert_allclose(made.block(X), kernel(X), rtol=1e-12)


def test_our_kernels_stay_as_they_are():
    kernel = 0.5 * RBF() + Linear()
    assert kernel_of(kernel, 0.5, 3, 1, None) is kernel


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_what_varies(make):
    X = rows()
    assert varies(Linear(), make(X))
    assert varies(Linear(), make(np.concatenate([X[:1], X[:1], X])))
    assert not varies(Linear(), make(np.repeat(X[:1], 5, axis=0)))
    assert not varies(Constant(2.0), make(X))
    assert not varies(Precomputed(), make(np.ones((4, 4))))
    assert varies(Precomputed(), make(X @ X.T))


# -- eigenvalues --------------------------------------------------------------------------


SPECTRA = [
    [3.0, 2.0, 1e-3],
    [3.0, 1e-13, 1e-20],
    [3.0, 1e-7, 0.0],
    [3.0, 2.0, -1e-8],
    [1e-6, -1e-11],
    [0.0, 0.0],
    [],
]
REFUSED = [[3.0, -1e-3], [3.0, 2.0, -3.0], [1.0, -0.1]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("values", SPECTRA, ids=str)
def test_what_counts_as_zero_is_scikit_learns_rule(values, dtype):
    values = np.array(values)
    itemsize = np.dtype(dtype).itemsize
    if not len(values):
        assert positive(values, itemsize, 0.0).shape == (0,)
        return
    try:
        want = _check_psd_eigenvalues(values.astype(dtype))
    except ValueError:
        with pytest.raises(InputError, match="There are significant negative eigenvalues"):
            positive(values, itemsize, 0.0)
        return
    np.testing.assert_allclose(positive(values, itemsize, 0.0), want, rtol=1e-6)


@pytest.mark.parametrize("values", REFUSED, ids=str)
def test_negative_eigenvalues_are_refused_in_scikit_learns_words(values):
    values = np.array(values)
    with pytest.raises(ValueError, match="There are significant") as theirs:
        _check_psd_eigenvalues(values)
    with pytest.raises(InputError) as ours:
        positive(values, 8, 0.0)
    assert str(ours.value).startswith(str(theirs.value))
    assert "indefinite=" in str(ours.value)


def test_a_matrix_without_a_positive_eigenvalue_is_refused_too():
    with pytest.raises(InputError, match="none is positive"):
        positive(np.array([-1.0, -2.0]), 8, 0.0)


def test_what_rounding_can_produce_is_zero():
    np.testing.assert_array_equal(positive(np.array([1.0, 1e-9]), 8, 1e-8), [1.0, 0.0])
    np.testing.assert_array_equal(positive(np.array([1e-9, -1e-9]), 8, 1e-8), [0.0, 0.0])


# -- the way back -------------------------------------------------------------------------


def test_the_ridge_solves_its_equations():
    Z, X = rows(20, 2), rows(20, 5, seed=1)
    kernel = RBF(1.5)
    found = ridge(kernel, Z, X, 0.3)
    np.testing.assert_allclose(
        (kernel.block(Z) + 0.3 * np.eye(20)) @ found, X, rtol=0, atol=1e-12
    )


def test_blocks_give_what_one_product_gives(monkeypatch):
    Z, new, found = rows(20, 2), rows(7, 2, seed=1), rows(20, 5, seed=2)
    want = RBF(1.5).block(new, Z) @ found
    np.testing.assert_allclose(predicted(RBF(1.5), new, Z, found), want)
    monkeypatch.setattr("mercer.dropin._kernel_rules._BLOCK", 3)
    np.testing.assert_allclose(predicted(RBF(1.5), new, Z, found), want)


def test_a_singular_regression_says_so():
    with pytest.raises(SingularError, match="not positive definite") as caught:
        ridge(Linear(), rows(20, 2), rows(20, 5), 0.0)
    assert isinstance(caught.value, np.linalg.LinAlgError)
    assert "larger alpha" in str(caught.value)


def test_constants_are_numbers():
    assert kernel_of("sigmoid", 0.0, 3, 0.5, None) == Constant(math.tanh(0.5))
    assert kernel_of("rbf", 0.0, 3, 1, None) == Constant(1.0)
