import numpy as np

from mercer.estimators.categories.multiple_correspondence import settled


def matrix(rng, values):
    basis = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    return (basis * values) @ basis.T, basis


def test_a_space_gets_the_same_basis_whatever_it_was_given(rng):
    values = np.array([3.0, 2, 2, 2, 1, 0.5, 0.1, 0])
    square, basis = matrix(rng, values)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one = settled(values[:4], basis[:, :4], [(1, 2, 3)], square)
    other = np.column_stack([basis[:, 0], basis[:, 1:4] @ turn])
    two = settled(values[:4], other, [(1, 2, 3)], square)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.T @ one, np.eye(4), rtol=0, atol=1e-12)
    np.testing.assert_allclose(square @ one, one * values[:4], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(one[:, 0], basis[:, 0])


def test_a_group_that_reaches_beyond_the_axes_asked_for(rng):
    values = np.array([3.0, 2, 2, 2, 1, 0.5, 0.1, 0])
    square, basis = matrix(rng, values)
    one = settled(values[:2], basis[:, :2], [(1, 2)], square)
    two = settled(values[:2], basis[:, [0, 3]], [(1, 2)], square)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    assert one[np.argmax(np.abs(one[:, 1])), 1] > 0


def test_axes_that_are_close_but_not_equal_stay(rng):
    values = np.array([3.0, 2, 2 - 1e-6, 1, 0.8, 0.5, 0.1, 0])
    square, basis = matrix(rng, values)
    found = settled(values[:3], basis[:, :3], [], square)
    np.testing.assert_array_equal(found, basis[:, :3])
