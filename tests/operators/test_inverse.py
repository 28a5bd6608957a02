import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.operators import ShiftInverse
from mercer.solvers import BlockKrylov, Goal
from mercer.testing import check_operator


def path_laplacian(n):
    """The Laplacian of a path: eigenvalues 2 - 2·cos(πj/n), the constant vector at zero."""
    ends = np.full(n, 2.0)
    ends[[0, -1]] = 1.0
    off = -np.ones(n - 1)
    return scipy.sparse.diags_array([off, ends, off], offsets=[-1, 0, 1], format="csr")


def constant(n):
    return np.full(n, n**-0.5)


@pytest.mark.parametrize("n", [2, 40, 300])
@pytest.mark.parametrize("shift", [1e-3, 1.0])
@pytest.mark.parametrize("off", [False, True])
def test_it_is_the_inverse(n, shift, off):
    m = path_laplacian(n)
    r = constant(n) if off else None
    exact = np.linalg.inv(m.toarray() + shift * np.eye(n))
    if off:
        p = np.eye(n) - np.outer(r, r)
        exact = p @ exact @ p
    before = m.toarray()
    check_operator(ShiftInverse(m.tocoo(), shift, r), exact, rtol=1e-10)
    np.testing.assert_array_equal(m.toarray(), before)


def test_leading_pairs_are_the_smallest_ones():
    n = 3000  # λ₂ = 1.1e-6, and an iteration on M itself would need thousands of steps
    m = path_laplacian(n)
    op = ShiftInverse(m, 1e-9, constant(n))
    start = op.project(np.random.default_rng(0).standard_normal((n, 8)))
    found = BlockKrylov(block=8, start=start).solve(op, Goal(4, psd=True))
    exact = 2 - 2 * np.cos(np.pi * np.arange(1, 5) / n)
    np.testing.assert_allclose(op.values(found.values), exact, rtol=1e-6)
    assert found.certificate.met
    np.testing.assert_allclose(constant(n) @ found.right, 0, rtol=0, atol=1e-12)
    fiedler = found.right[:, 0]
    assert np.all(np.diff(fiedler) > 0) or np.all(np.diff(fiedler) < 0)


def test_the_backward_error_is_measured():
    op = ShiftInverse(path_laplacian(500), 1e-8, constant(500))
    assert 2**-52 * 4 <= op.backward_error() < 1e-13
    assert op.norm == 4.0
    assert op.fill > 2 * 500


def test_a_singular_matrix_is_refused():
    with pytest.raises(InputError, match="without an inverse") as caught:
        ShiftInverse(scipy.sparse.csr_array((5, 5)))
    assert "shift 0" in caught.value.got
