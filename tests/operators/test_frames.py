import numpy as np
import pytest
import scipy.sparse

from mercer.arrays import Workspace
from mercer.errors import InputError, NotSupportedError
from mercer.kernels import RBF, Function, Linear, NegativeDistance, Precomputed, Sigmoid
from mercer.operators.kernel_matrices._landmarks import (
    LandmarkFrame,
    middle_row,
    program_of,
    refuse_negative,
    residuals,
    spread,
    whiten,
)


def table(n=40, p=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def shifted_kernel(kernel, X, Y, o):
    """Return k(x, y) - k(x, o) - k(o, y) + k(o, o)."""
    return kernel.block(X, Y) - kernel.block(X, o) - kernel.block(o, Y) + kernel.block(o)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_cpd_kernel_is_measured_from_its_origin(sparse, offset):
    if sparse and offset:
        pytest.skip("sparse rows have no offset")
    X, Y = table() + offset, table(7, seed=1) + offset
    X[0] = X[3]
    kernel = NegativeDistance()
    o = X[3:4]
    make = scipy.sparse.csr_array if sparse else np.asarray
    frame = LandmarkFrame.of(kernel.program(), make(Y), make(o))
    x = frame.ready(make(X))
    t = frame.tile(x, np.empty((7, 40)), Workspace())
    expected = shifted_kernel(kernel, X, Y, o)
    np.testing.assert_allclose(t.T, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    k, scale = frame.diagonal(x)
    exact = np.diag(shifted_kernel(kernel, X, X, o))
    np.testing.assert_allclose(k, exact, rtol=0, atol=1e-12 * exact.max())
    assert k[3] == 0
    assert np.all(scale >= np.abs(k))


def test_without_an_origin_the_kernel_is_as_it_is():
    X, Y = table(), table(5, seed=2)
    frame = LandmarkFrame.of(RBF(1.3).program(), Y)
    x = frame.ready(X)
    t = frame.tile(x, np.empty((5, 40)), Workspace())
    np.testing.assert_allclose(t.T, RBF(1.3).block(X, Y), rtol=1e-13)
    np.testing.assert_array_equal(frame.diagonal(x)[0], np.ones(40))


def test_only_cpd_kernels_get_an_origin_and_it_lies_in_the_middle():
    X = np.concatenate([table(), [[50.0, 0, 0]]])
    assert middle_row(RBF(1.0), X) is None
    o = middle_row(NegativeDistance(), X)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2).mean(axis=1)
    np.testing.assert_array_equal(o[0], X[np.argmin(distances)])


def test_what_cannot_have_landmarks_is_refused():
    with pytest.raises(NotSupportedError, match="kernel of two rows"):
        program_of(2.0 * Precomputed())
    with pytest.raises(InputError, match="indefinite"):
        program_of(Sigmoid(gamma=1.0, coef0=0.0))
    assert program_of(Linear()) == Linear().program()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("m", [1, 6, 64, 65, 200])
def test_whitening_solves_with_the_triangle_in_place(dtype, m):
    rng = np.random.default_rng(3)
    low = np.tril(rng.uniform(-0.5, 0.5, (m, m))) / m + np.eye(m)
    t = rng.standard_normal((m, 9)).astype(dtype)
    exact = np.linalg.solve(low, t.astype(np.float64))
    found = whiten(np.asfortranarray(low, dtype), t)
    assert found is t
    np.testing.assert_allclose(t, exact, rtol=0, atol=100 * np.finfo(dtype).eps)
    assert whiten(np.zeros((0, 0)), np.empty((0, 4))).shape == (0, 4)


def test_a_negative_residual_is_a_proof_and_rounding_is_not():
    ones, unknown = np.ones(2), Function(lambda x, y: x @ y.T)
    f = np.array([[1.0, 1.0 + 1e-9]])
    np.testing.assert_array_equal(residuals(f, ones, ones, np.float64, unknown), [0.0, 0.0])
    far = np.array([[1.0, 1.1]])
    with pytest.raises(InputError, match="not positive definite"):
        residuals(far, ones, ones, np.float64, unknown)
    np.testing.assert_array_equal(residuals(far, ones, ones, np.float64, Linear()), [0.0, 0.0])
    with pytest.raises(InputError, match="finite"):
        refuse_negative(np.array([0.0, np.nan]), ones, np.float64, Linear())


@pytest.mark.parametrize(("n", "most"), [(1, 5), (7, 7), (7, 3), (1000, 256)])
def test_numbers_are_spread_over_the_whole_range(n, most):
    found = spread(n, most)
    assert len(found) == min(n, most)
    assert found[0] == 0
    assert len(found) == 1 or found[-1] == n - 1
    steps, longest = np.diff(found), -(-(n - 1) // max(1, len(found) - 1))
    assert np.all((steps >= 1) & (steps >= longest - 1) & (steps <= longest))
