import numpy as np
import pytest

from mercer.errors import InputError
from mercer.testing.matrices import LAPACK_TYPES, eigenvalues, lapack

ULP = np.finfo(float).eps


def test_there_are_twenty_one():
    assert list(LAPACK_TYPES) == list(range(1, 22))
    assert len(set(LAPACK_TYPES.values())) == 21


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


def test_signs_are_drawn():
    for number in (3, 8):
        values = eigenvalues(lapack(number, 20))
        assert values.min() < -0.1 < 0.1 < values.max()


def test_special_types():
    assert not lapack(1, 4).any()
    np.testing.assert_array_equal(lapack(2, 4), np.eye(4))
    assert np.max(np.abs(lapack(13, 30))) < 1
    t = lapack(21, 10)
    np.testing.assert_array_equal(t, np.triu(np.tril(t, 1), -1))
    beside = np.abs(np.diagonal(t, 1))
    assert np.all(beside <= 0.5 * np.sqrt(np.diagonal(t)[1:] * np.diagonal(t)[:-1]))


def test_seeds_differ():
    assert not np.array_equal(lapack(8, 5, seed=0), lapack(8, 5, seed=1))


@pytest.mark.parametrize(("number", "order"), [(0, 3), (22, 3), (5, 0)])
def test_other_numbers_are_refused(number, order):
    with pytest.raises(InputError, match="no such matrix"):
        lapack(number, order)
