import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.arrays import as_rows, namespace
from mercer.errors import InputError
from mercer.kernels import (
    RBF,
    Constant,
    Laplacian,
    Linear,
    Matern,
    NegativeDistance,
    exp,
    mapped,
    normalize,
    parse,
    warp,
)
from mercer.kernels._algebra import Columns, Power, Product, Scaled, Sum


def first(rows):
    return as_rows(rows)[:, 0]


def turned(rows):
    rows = as_rows(rows)
    return namespace(rows).concat([rows[:, 1:], rows[:, :1] * 2], axis=1)


def test_the_algebra_is_that_of_matrices(xp, rng):
    x, y = rng.standard_normal((7, 3)), rng.standard_normal((4, 3))
    a, b = RBF(1.5), Linear() + 1.0

    def at(kernel, one=x, two=y):
        return xp.numpy(kernel(xp.asarray(one), xp.asarray(two)))

    def same(found, truth):
        np.testing.assert_allclose(at(found), truth, rtol=1e-11, atol=1e-12)

    same(a + b, at(a) + at(b))
    same(a * b, at(a) * at(b))
    same(a * b + b * a * a, at(a) * at(b) + at(b) * at(a) ** 2)
    same(2.5 * a, 2.5 * at(a))
    same(a * 2.5, 2.5 * at(a))
    same(a + 2, at(a) + 2)
    same(2 + a, at(a) + 2)
    same(b**3, at(b) ** 3)
    same(b**0, np.ones((7, 4)))
    same(exp(a), np.exp(at(a)))
    same(warp(a, first), x[:, :1] * at(a) * y[:, 0])
    same(mapped(b, turned), at(b, x[:, [1, 2, 0]] * [1, 1, 2], y[:, [1, 2, 0]] * [1, 1, 2]))
    same(b.on([0, 2]), at(b, x[:, [0, 2]], y[:, [0, 2]]))
    same(b.on(1), at(b, x[:, [1]], y[:, [1]]))
    same(b.on([1]).on([0, 2]), at(b, x[:, [2]], y[:, [2]]))
    roots = np.sqrt(xp.numpy(b.diag(xp.asarray(x)))), np.sqrt(xp.numpy(b.diag(xp.asarray(y))))
    same(normalize(b), at(b) / np.outer(*roots))


KERNELS = st.recursive(
    st.sampled_from([RBF(2.0), Linear(), Matern(1.0), Laplacian(0.5), Constant(2.0)]),
    lambda inner: st.one_of(
        st.builds(Sum, inner, inner),
        st.builds(Product, inner, inner),
        st.builds(Scaled, inner, st.floats(-4, 4).map(lambda v: round(v, 2))),
        st.builds(Power, inner, st.integers(0, 3)),
        st.builds(exp, inner),
        st.builds(normalize, inner),
        st.builds(lambda k, c: Columns(k, c), inner, st.sampled_from([(0,), (0, 1), (1, 0)])),
    ),
    max_leaves=5,
)


@given(KERNELS)
def test_written_forms_are_read_back(kernel):
    import mercer.kernels

    assert eval(repr(kernel), vars(mercer.kernels)) == kernel
    assert parse(str(kernel)) == kernel


@given(KERNELS, st.integers(0, 2**16))
def test_any_formula_is_symmetric_and_has_its_diagonal(kernel, seed):
    X = np.random.default_rng(seed).uniform(0.1, 0.5, (6, 2))
    with contextlib.suppress(InputError):  # normalised where k(x, x) is negative
        K = kernel(X)
        if np.isfinite(K).all():  # towers of exponentials are not
            is_symmetric(kernel, X, K)


def is_symmetric(kernel, X, K):
    size = np.abs(K).max() + 1e-300
    np.testing.assert_allclose(K / size, K.T / size, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.diagonal(K) / size, kernel.diag(X) / size, rtol=0, atol=1e-10)


def test_parts_must_be_kernels():
    for make in (
        lambda: Sum(RBF(), 2.0),
        lambda: Product("rbf", RBF()),
        lambda: exp("rbf"),
        lambda: normalize(None),
        lambda: warp(3.0, len),
    ):
        with pytest.raises(InputError, match="must be a kernel"):
            make()
    for bad in (0.5, -1, "2"):
        with pytest.raises(InputError, match="whole number"):
            RBF() ** bad
    with pytest.raises(InputError, match="one number for each row"):
        warp(RBF(1.0), lambda rows: rows)(np.ones((3, 2)))


def test_columns_are_column_numbers(rng):
    for bad in ([], [-1], [0.5], ["a"]):
        with pytest.raises(InputError):
            RBF().on(bad)
    with pytest.raises(InputError, match="column that is not there"):
        RBF(1.0).on([3])(rng.standard_normal((3, 2)))
    assert RBF().on(np.array([0, 2])).columns == (0, 2)
    assert RBF().on(range(2)).columns == (0, 1)


def test_normalised_kernels_are_one_on_the_diagonal(rng):
    X = rng.standard_normal((10, 3))
    X[4] = 0
    k = normalize(Linear())
    assert k.diag(X).tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(np.diagonal(k(X)), k.diag(X), atol=1e-15)
    np.testing.assert_array_equal(k(X)[4], 0)
    with pytest.raises(InputError, match="not negative"):
        normalize(Linear() + -100.0)(X)
    np.testing.assert_array_equal(normalize(NegativeDistance())(X), 0)
