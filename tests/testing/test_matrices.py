from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.testing import matrices


@given(st.integers(1, 30), st.integers(0, 1000))
def test_rotations_are_orthogonal(order, seed):
    q = matrices.rotation(order, seed)
    np.testing.assert_allclose(q.T @ q, np.eye(order), rtol=0, atol=1e-13)


def test_rotations_are_uniform():
    traces = [np.trace(matrices.rotation(3, seed)) for seed in range(2000)]
    assert abs(np.mean(traces)) < 0.1
    assert abs(np.mean(np.square(traces)) - 1) < 0.15


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=12), st.integers(0, 1000))
def test_symmetric_matrices_have_their_spectrum(values, seed):
    a = matrices.symmetric(values, seed)
    np.testing.assert_array_equal(a, a.T)
    np.testing.assert_allclose(np.linalg.eigvalsh(a), np.sort(values), rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_rectangular_matrices_have_their_singular_values(shape):
    a = matrices.rectangular([3.0, 0.5], shape)
    s = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(s, [3, 0.5, 0, 0][: min(shape)], rtol=0, atol=1e-14)


def exact(matrix):
    return [[Fraction(float(x)) for x in row] for row in matrix]


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in columns] for r in a]


@pytest.mark.parametrize("order", [1, 2, 8])
def test_dyadic_symmetric_matrices_are_exact(order):
    for values in matrices.spectra(order).values():
        a, signs = matrices.dyadic_symmetric(values, seed=3)
        assert set(np.unique(signs)) <= {-1.0, 1.0}
        for i in range(order):  # A s = λ s without rounding
            s = exact(signs[:, i : i + 1])
            image = product(exact(a), s)
            assert image == [[Fraction(float(values[i])) * x for x in row] for row in s]


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("shape", [(16, 4), (4, 16), (8, 8)])
def test_dyadic_rows_are_exact(shape, centred):
    values = np.array([5.0, 3.0, 0.25])
    a, signs = matrices.dyadic_rows(values, shape, seed=2, centred=centred)
    assert a.shape == shape
    gram = product(exact(a.T), exact(a))
    for i, value in enumerate(values):
        s = exact(signs[:, i : i + 1])
        assert product(gram, s) == [[Fraction(value) ** 2 * x for x in row] for row in s]
    trace = sum(gram[i][i] for i in range(shape[1]))
    assert trace == sum(Fraction(v) ** 2 for v in values)
    if centred:
        assert [sum(column) for column in zip(*exact(a), strict=True)] == [0] * shape[1]


def test_what_cannot_be_exact_is_refused():
    with pytest.raises(InputError, match="powers of two"):
        matrices.dyadic_symmetric([3.0, 2.0, 1.0])
    with pytest.raises(InputError, match="without rounding"):
        matrices.dyadic_symmetric([1.0, 2.0**-60])
    with pytest.raises(InputError, match="cannot hold"):
        matrices.dyadic_rows([1.0], (8, 4))
    with pytest.raises(InputError, match="cannot hold"):
        matrices.dyadic_rows(np.ones(4), (4, 4), centred=True)


@pytest.mark.parametrize("order", [2, 16, 64])
def test_spectra_descend_and_can_be_exact(order):
    for name, values in matrices.spectra(order).items():
        assert values.shape == (order,), name
        assert np.all(np.diff(values) <= 0), name
        assert values[-1] >= 0, name
        matrices.dyadic_symmetric(values)


def test_seeds_differ():
    for make in (matrices.symmetric, lambda v, s: matrices.dyadic_symmetric(v, s)[0]):
        assert not np.array_equal(make([4.0, 3.0, 2.0, 1.0], 0), make([4.0, 3.0, 2.0, 1.0], 1))
