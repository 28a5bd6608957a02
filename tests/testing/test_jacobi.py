from fractions import Fraction

import numpy as np
import pytest

from mercer.testing.matrices import (
    dyadic_rows,
    dyadic_symmetric,
    eigenvalues,
    lapack,
    rectangular,
    singular_values,
    spectra,
)

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


@pytest.mark.parametrize("scale", [1e-290, 1e290])
def test_scales_near_the_ends_of_the_range(scale):
    a = rectangular([3.0, 2.0, 1.0], (5, 3)) * scale
    found = (singular_values(a) / np.longdouble(scale)).astype(float)
    np.testing.assert_allclose(found, [3, 2, 1], rtol=1e-13)


def test_nothing_comes_of_nothing():
    np.testing.assert_array_equal(singular_values(np.zeros((4, 3))), np.zeros(3))
    np.testing.assert_array_equal(eigenvalues(np.zeros((3, 3))), np.zeros(3))


@pytest.mark.parametrize("number", [3, 8, 13, 21])
def test_eigenvalues_have_their_signs(number):
    a = lapack(number, 15)
    truth = np.linalg.eigvalsh(a)[::-1]
    np.testing.assert_allclose(eigenvalues(a).astype(float), truth, atol=1e-14)
