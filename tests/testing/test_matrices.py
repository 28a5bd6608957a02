from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.testing import matrices
from mercer.testing.matrices import (
    LAPACK_TYPES,
    dyadic_rows,
    dyadic_symmetric,
    eigenvalues,
    lapack,
    rectangular,
    singular_values,
    spectra,
)


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


def test_matrices_of_other_seeds_differ_and_inexact_ones_are_refused():
    for make in (matrices.symmetric, lambda v, s: matrices.dyadic_symmetric(v, s)[0]):
        assert not np.array_equal(make([4.0, 3.0, 2.0, 1.0], 0), make([4.0, 3.0, 2.0, 1.0], 1))
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


EXTENDED = np.finfo(np.longdouble).eps < 1e-18
needs_extended = pytest.mark.skipif(not EXTENDED, reason="longdouble is float64 here")


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (12, 4), (4, 12), (7, 6)])
def test_it_agrees_with_lapack(rng, shape):
    a = rng.standard_normal(shape)
    found = singular_values(a)
    assert found.dtype == np.longdouble
    truth = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(found.astype(float), truth, rtol=0, atol=1e-14)


@needs_extended
@pytest.mark.parametrize("name", spectra(32))
def test_it_is_right_to_eighteen_digits(name):
    values = spectra(32)[name]
    a, _ = dyadic_rows(values, (128, 32))
    assert np.max(np.abs(singular_values(a) - values)) <= 1e-17 * max(values[0], 1)
    a, _ = dyadic_symmetric(values - values[-1])
    assert np.max(np.abs(eigenvalues(a) - (values - values[-1]))) <= 2e-17 * max(values[0], 1)


@needs_extended
def test_hilbert_matrices_keep_the_digits_that_squares_lose():
    n = 8
    a = np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
    rows = [[Fraction(float(x)) for x in row] for row in a]
    product = Fraction(1)
    for i in range(n):  # the determinant without rounding, by elimination
        product *= rows[i][i]
        for j in range(i + 1, n):
            share = rows[j][i] / rows[i][i]
            rows[j] = [x - share * y for x, y in zip(rows[j], rows[i], strict=True)]
    found = np.prod(singular_values(a))
    assert abs(float(found) / abs(float(product)) - 1) < 1e-8


def test_graded_columns_keep_every_digit():
    a = np.diag([1e-200, 1.0, 1e-100])
    np.testing.assert_allclose(
        singular_values(a).astype(float), [1, 1e-100, 1e-200], rtol=1e-15
    )
    np.testing.assert_array_equal(singular_values(np.zeros((4, 3))), np.zeros(3))
    np.testing.assert_array_equal(eigenvalues(np.zeros((3, 3))), np.zeros(3))


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_scales_near_the_ends_of_the_range(scale):
    a = rectangular([3.0, 2.0, 1.0], (5, 3)) * scale
    found = (singular_values(a) / np.longdouble(scale)).astype(float)
    np.testing.assert_allclose(found, [3, 2, 1], rtol=1e-13)


@pytest.mark.parametrize("number", [3, 8, 13, 21])
def test_eigenvalues_have_their_signs(number):
    a = lapack(number, 15)
    truth = np.linalg.eigvalsh(a)[::-1]
    np.testing.assert_allclose(eigenvalues(a).astype(float), truth, atol=1e-14)


ULP = np.finfo(float).eps


def test_special_types():
    assert list(LAPACK_TYPES) == list(range(1, 22))
    assert len(set(LAPACK_TYPES.values())) == 21
    assert not lapack(1, 4).any()
    np.testing.assert_array_equal(lapack(2, 4), np.eye(4))
    assert np.max(np.abs(lapack(13, 30))) < 1
    t = lapack(21, 10)
    np.testing.assert_array_equal(t, np.triu(np.tril(t, 1), -1))
    beside = np.abs(np.diagonal(t, 1))
    assert np.all(beside <= 0.5 * np.sqrt(np.diagonal(t)[1:] * np.diagonal(t)[:-1]))
    for number in (3, 8):
        values = eigenvalues(lapack(number, 20))
        assert values.min() < -0.1 < 0.1 < values.max()
    assert not np.array_equal(lapack(8, 5, seed=0), lapack(8, 5, seed=1))


@pytest.mark.parametrize("number", LAPACK_TYPES)
@pytest.mark.parametrize("order", [1, 2, 3, 5, 20])
def test_every_type_is_symmetric_finite_and_repeatable(number, order):
    a = lapack(number, order)
    assert a.shape == (order, order)
    assert np.isfinite(a).all()
    np.testing.assert_array_equal(a, a.T)
    np.testing.assert_array_equal(a, lapack(number, order))


def spectrum(number, order):
    i = np.arange(order)
    words = LAPACK_TYPES[number]
    if "even" in words:
        return np.linspace(1, ULP, order)
    if "clustered" in words:
        return np.where(i == 0, 1.0, ULP)
    return ULP ** (i / max(order - 1, 1))


TURNED = [
    n for n, words in LAPACK_TYPES.items() if words.split(",")[0] in ("turned", "diagonal")
]


@pytest.mark.parametrize("number", TURNED)
def test_spectra_are_as_prescribed(number):
    order = 12
    words = LAPACK_TYPES[number]
    scale = 2.0**511 if "overflow" in words else 2.0**-511 if "underflow" in words else 1.0
    found = eigenvalues(lapack(number, order) / scale).astype(float)
    expected = np.sort(np.abs(spectrum(number, order)))
    np.testing.assert_allclose(np.sort(np.abs(found)), expected, rtol=0, atol=4e-15)
    if "positive" in words:
        assert found.min() >= -4e-15


@pytest.mark.parametrize(("number", "base"), [(6, 4), (7, 4), (11, 8), (12, 8), (14, 13)])
def test_scaled_types_lie_near_the_ends_of_the_range(number, base):
    sizes = [np.max(np.abs(lapack(n, 10))) for n in (number, base)]
    assert sizes[0] / sizes[1] > 1e150 or sizes[0] / sizes[1] < 1e-150


@pytest.mark.parametrize(("number", "order"), [(0, 3), (22, 3), (5, 0)])
def test_other_numbers_are_refused(number, order):
    with pytest.raises(InputError, match="no such matrix"):
        lapack(number, order)
