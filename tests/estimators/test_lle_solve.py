import numpy as np
import pytest
import scipy.sparse
from sheets import apart

from mercer.errors import BudgetError
from mercer.estimators.manifold.locally_linear import inverse_of, refuse_full, smallest
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Exact

WHOLE = Path("lapack", Exact(), 1, 0, 0.0, 0.0, "gram", 8, "")
KRYLOV = Path("inverse", BlockKrylov(block=8), 1, 0, 0.0, 0.0, "tol", 8, "")
BOTH = pytest.mark.parametrize("path", [WHOLE, KRYLOV], ids=["lapack", "inverse"])


def ring_laplacian(n, power=1):
    """L^power of a ring: (2 - 2·cos(2πj/n))^power, each but the first twice."""
    L = scipy.sparse.diags_array(
        [-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tolil()
    L[0, n - 1] = L[n - 1, 0] = -1.0
    L = scipy.sparse.csr_array(L)
    return scipy.sparse.csr_array(L @ L) if power == 2 else L


def path_laplacian(n):
    ends = np.full(n, 2.0)
    ends[[0, -1]] = 1.0
    off = -np.ones(n - 1)
    return scipy.sparse.diags_array([off, ends, off], offsets=[-1, 0, 1], format="csr")


@BOTH
@pytest.mark.parametrize("n", [12, 400])
def test_intervals_hold_the_eigenvalues_of_m(path, n):
    exact = 2 - 2 * np.cos(np.pi * np.arange(1, 4) / n)
    spectrum, values = smallest(path_laplacian(n), path, 3, 1e-4, 0)
    c = spectrum.certificate
    np.testing.assert_allclose(values, exact, rtol=1e-9)
    assert np.all((c.lower <= exact) & (exact <= c.upper))
    assert c.met
    assert c.reached < 1e-6
    assert c.groups == ()
    after = 2 - 2 * np.cos(4 * np.pi / n)
    assert 0.5 * after < c.next_upper <= after * (1 + 1e-6)
    modes = np.cos(np.pi * np.outer(np.arange(n) + 0.5, np.arange(1, 4)) / n)
    modes /= np.linalg.norm(modes, axis=0)
    got = np.asarray(spectrum.right)
    sines = np.sqrt(np.maximum(1 - np.sum(got * modes, axis=0) ** 2, 0))
    assert np.all(sines <= c.sine + 1e-7)
    assert np.all(c.sine < 1e-4)


@BOTH
def test_pairs_that_cannot_be_told_apart_are_grouped(path):
    spectrum, values = smallest(ring_laplacian(60), path, 3, 1e-4, 0)
    exact = 2 - 2 * np.cos(2 * np.pi * np.array([1, 1, 2]) / 60)
    np.testing.assert_allclose(values, exact, rtol=1e-9)
    assert spectrum.certificate.groups == ((0, 1), (2, 3))


@BOTH
def test_the_constant_vector_is_left_out(path):
    spectrum, _ = smallest(ring_laplacian(200, 2), path, 2, 1e-4, 0)
    right = np.asarray(spectrum.right)
    np.testing.assert_allclose(right.sum(axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(right.T @ right, np.eye(2), rtol=0, atol=1e-12)


def test_both_paths_find_the_same():
    m = ring_laplacian(150, 2) + 1e-3 * scipy.sparse.csr_array(path_laplacian(150))
    one, two = (smallest(m, path, 2, 1e-4, 0) for path in (WHOLE, KRYLOV))
    np.testing.assert_allclose(one[1], two[1], rtol=1e-8)
    assert apart(np.asarray(one[0].right), np.asarray(two[0].right)) < 1e-8


@BOTH
def test_eigenvalues_that_are_zero_are_called_zero(path):
    # Two rings: beside the constant there is one more vector that costs nothing.
    m = scipy.sparse.block_diag([ring_laplacian(40), ring_laplacian(60)], format="csr")
    spectrum, values = smallest(m, path, 1, 1e-4, 0)
    assert abs(values[0]) < 1e-14
    assert spectrum.certificate.met
    assert spectrum.certificate.upper[0] <= spectrum.certificate.zero_level
    got = np.asarray(spectrum.right)[:, 0]
    np.testing.assert_allclose(got[:40], got[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(got[40:], got[40], rtol=0, atol=1e-8)


def test_tiny_eigenvalues_of_a_large_norm_are_not_promised_more_than_there_is():
    n = 3000  # λ₂ = 2e-11 beside ‖M‖ = 16: rounding of M itself is 1e-4 of it
    exact = (2 - 2 * np.cos(2 * np.pi / n)) ** 2
    spectrum, values = smallest(ring_laplacian(n, 2), KRYLOV, 2, 1e-9, 0)
    c = spectrum.certificate
    assert np.all((c.lower <= exact) & (exact <= c.upper))
    assert values[0] == pytest.approx(exact, rel=1e-2)


def test_factors_are_bounded_before_they_are_made():
    m = path_laplacian(1000)
    refuse_full(m, 10**6)  # a band of one
    assert inverse_of(m).fill * 12 < 10**6
    full = scipy.sparse.csr_array(np.ones((400, 400)))
    with pytest.raises(BudgetError, match="factors") as caught:
        refuse_full(full, 10**6)
    assert "400 rows" in caught.value.got


def test_the_inverse_is_that_of_the_shifted_matrix():
    m = path_laplacian(30)
    op = inverse_of(m)
    p = np.eye(30) - 1 / 30
    exact = p @ np.linalg.inv(m.toarray() + op.shift * np.eye(30)) @ p
    np.testing.assert_allclose(op.dense(), exact, rtol=1e-6, atol=1e-6)
