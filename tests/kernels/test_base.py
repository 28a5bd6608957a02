import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mercer.errors import InputError, NotSupportedError
from mercer.kernels import (
    RBF,
    Constant,
    FeatureMap,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    exp,
)
from mercer.kernels._parameter_checks import lengths, number, whole


def test_kernels_are_values():
    assert RBF(2) == RBF(2.0)
    assert RBF(2.0) != Laplacian(2.0)
    assert len({RBF(2.0), RBF(2.0), RBF()}) == 2
    with pytest.raises(AttributeError):
        RBF(2.0).lengthscale = 3.0
    k = 0.5 * RBF([1.0, 2.0]) + Linear()
    assert pickle.loads(pickle.dumps(k)) == k
    assert clone(k) is k


def test_blocks_and_diagonals(xp, rng):
    x, y = rng.standard_normal((6, 2)), rng.standard_normal((4, 2))
    k = RBF(1.5) + Linear()
    truth = x @ y.T + np.exp(-0.5 * np.sum((x[:, None] - y) ** 2, axis=2) / 1.5**2)
    found = k.block(xp.asarray(x), xp.asarray(y))
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=1e-12)
    np.testing.assert_array_equal(xp.numpy(k(xp.asarray(x), xp.asarray(y))), xp.numpy(found))
    np.testing.assert_allclose(xp.numpy(k.diag(xp.asarray(x))), 1 + np.sum(x**2, axis=1))
    assert Linear()([[1, 2]], [[3, 4]]).tolist() == [[11.0]]  # lists are rows
    with pytest.raises(TypeError):
        Kernel()


def test_resolving(rng):
    X = rng.standard_normal((30, 2))
    k = 0.5 * RBF() + exp(Polynomial(2)) * Matern(2.0)
    assert not k.resolved
    done = k.resolve(X)
    assert done.resolved
    assert done.resolve(X[:3]) is done
    assert done.left.kernel == RBF().resolve(X)
    assert done.right.right == Matern(2.0)
    assert RBF().on([0]).resolve(X).kernel == RBF().resolve(X[:, [0]])
    with pytest.raises(InputError, match="must have numbers for parameters") as caught:
        k.block(X)
    assert "kernel.resolve(sample)" in str(caught.value)
    for call in (k.program, lambda: k.diag(X)):
        with pytest.raises(InputError):
            call()


def test_parameters():
    k = RBF(2.0) + 3.0 * Linear()
    assert RBF(2.0).get_params() == {"lengthscale": 2.0}
    assert set(k.get_params(deep=False)) == {"left", "right"}
    assert k.get_params()["left__lengthscale"] == 2.0
    assert k.get_params()["right__factor"] == 3.0
    changed = k.with_params(left__lengthscale=5, right__factor=1.0)
    assert changed == RBF(5.0) + 1.0 * Linear()
    assert k == RBF(2.0) + 3.0 * Linear()
    assert k.with_params(left=Matern(), left__nu=0.5).left == Matern(nu=0.5)
    assert k.with_params() == k


def test_wrong_parameters():
    with pytest.raises(InputError, match="no parameter 'lenghtscale'") as caught:
        RBF().with_params(lenghtscale=1.0)
    assert "did you mean 'lengthscale'?" in str(caught.value)
    with pytest.raises(InputError, match="RBF has no parameter 'nu'"):
        (RBF() + Linear()).with_params(left__nu=1)
    with pytest.raises(InputError, match="parameters: none"):
        Linear().with_params(x=1)
    with pytest.raises(InputError, match="above 0"):
        RBF().with_params(lengthscale=-1)
    with pytest.raises(NotSupportedError, match="cannot be changed") as caught:
        RBF().set_params(lengthscale=1.0)
    assert "with_params" in str(caught.value)


def test_only_kernels_and_numbers_join():
    for wrong in ("rbf", None, np.ones(3)):
        with pytest.raises(TypeError):
            RBF() + wrong
        with pytest.raises(TypeError):
            wrong * RBF()
    assert sum([RBF(1.0), Linear()]) == Constant(0.0) + RBF(1.0) + Linear()


@pytest.mark.parametrize(
    ("kernel", "code", "text"),
    [
        (RBF(), "RBF()", "rbf"),
        (RBF((1, 2)), "RBF(lengthscale=(1.0, 2.0))", "rbf(lengthscale=(1.0, 2.0))"),
        (Matern(nu=0.5), "Matern(nu=0.5)", "matern(nu=0.5)"),
        (
            (RBF() + Linear()) * RBF() + 2,
            "(RBF() + Linear())*RBF() + Constant(value=2.0)",
            "(rbf + linear)*rbf + constant(value=2.0)",
        ),
        (RBF() + (Linear() + RBF()), "RBF() + (Linear() + RBF())", "rbf + (linear + rbf)"),
        (-2.0 * (RBF() * Linear()), "-2.0*(RBF()*Linear())", "-2.0*(rbf*linear)"),
        ((2.0 * RBF()) ** 2, "(2.0*RBF())**2", "(2.0*rbf)**2"),
        ((RBF() + Linear()).on(1), "(RBF() + Linear()).on([1])", "(rbf + linear).on([1])"),
    ],
)
def test_written_forms(kernel, code, text):
    assert repr(kernel) == code
    assert str(kernel) == text


def test_a_kernel_that_parse_does_not_know_is_written_as_code():
    assert str(2.0 * FeatureMap(np.sin) + RBF()) == "2.0*FeatureMap(phi=sin) + rbf"


def test_stationary_kernels():
    for kernel in (RBF() + 2.0 * Laplacian(), RBF() + 1.0, exp(RBF()), RBF().on([0])):
        assert kernel.stationary
    for kernel in (Linear(), RBF() + Linear()):
        assert not kernel.stationary


def test_numbers_become_plain():
    for value in (2, 2.0, np.float32(2), np.int64(2)):
        found = number(RBF, "x", value)
        assert type(found) is float
        assert found == 2.0
        assert type(whole(RBF, "x", value)) is int


@pytest.mark.parametrize("bad", [None, "2", True, np.nan, np.inf, [2.0], 0.0, -1.0])
def test_numbers_above_a_bound(bad):
    with pytest.raises(InputError, match="must be a finite number above 0") as caught:
        number(RBF(1.0), "lengthscale", bad, least=0.0)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("bad", [1.5, -1, None, "2", True, np.nan])
def test_whole_numbers(bad):
    with pytest.raises(InputError, match="must be a whole number from 0 on"):
        whole(RBF(1.0), "x", bad)


def test_lengths():
    assert lengths(RBF, "x", "median") == "median"
    assert lengths(RBF, "x", 2) == 2.0
    assert lengths(RBF, "x", np.float32(2)) == 2.0
    assert lengths(RBF, "x", [1, 2]) == (1.0, 2.0)
    assert lengths(RBF, "x", np.array([1, 2])) == (1.0, 2.0)
    assert lengths(RBF, "x", np.array([3.0])) == (3.0,)


@pytest.mark.parametrize(
    "bad", ["mean", [0.0], [1.0, -1.0], 0, -1, None, [[1.0]], np.ones((2, 2))]
)
def test_other_lengths_are_refused(bad):
    with pytest.raises(InputError) as caught:
        RBF(bad)
    assert len(str(caught.value).splitlines()) == 3
    with pytest.raises(InputError):
        lengths(RBF(1.0), "period", "median", median=False)
