"""What float32 tiles cost is measured, and the measure holds."""

import numpy as np
import pytest

from mercer.arrays import prepare
from mercer.estimators.kernel._eigenproblem import Task
from mercer.estimators.kernel._matrix_paths import charged
from mercer.kernels import RBF, Linear, NegativeDistance, Precomputed
from mercer.operators import kernel_matrix, kernel_tiles
from mercer.solvers import BlockKrylov, Goal


def task(kernel, X, weights=None):
    return Task(kernel, X, weights, 5, "raise", 1e-5, 1e9, None, 0)


def start(n, weights):
    root = np.ones(n) if weights is None else np.sqrt(weights)
    r = root / np.linalg.norm(root)
    q = np.random.default_rng(0).standard_normal((n, 25))
    return np.linalg.qr(q - np.outer(r, r @ q))[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("kernel", [RBF(1.0), NegativeDistance(), Linear()], ids=repr)
def test_the_intervals_hold_the_eigenvalues_of_float64_entries(kernel, stored, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1300, 4)).astype(np.float32)
    weights = rng.integers(0, 3, 1300).astype(float) if weighted else None
    program, first = kernel.program(), start(1300, weights)
    side = prepare(program, X)
    if stored:
        op = kernel_matrix(program, side, weights, np.float32)
    else:
        op, _ = kernel_tiles(program, side, weights, first)
    found = BlockKrylov(25, start=first).solve(op, Goal(3, 1e-7, psd=True))
    wide = charged(found, op, task(kernel, X, weights))
    exact = kernel_matrix(program, prepare(program, X.astype(float)), weights).dense()
    truth = np.linalg.eigvalsh(exact)[::-1][:3]
    slack = 1300 * 1e-16 * truth[0]
    assert (wide.certificate.lower - slack <= truth).all()
    assert (truth <= wide.certificate.upper + slack).all()
    assert (wide.certificate.upper - wide.certificate.lower <= 1e-3 * truth).all()
    assert (found.certificate.upper <= wide.certificate.upper).all()


def test_a_given_matrix_is_as_exact_as_it_came():
    X = np.random.default_rng(0).standard_normal((1300, 4))
    K = RBF(1.0).block(X).astype(np.float32)
    kernel = Precomputed()
    op = kernel_matrix(kernel.program(), prepare(kernel.program(), K), None, np.float32)
    found = BlockKrylov(25, start=start(1300, None)).solve(op, Goal(3, 1e-7, psd=True))
    wide = charged(found, op, task(kernel, K))
    assert wide.certificate.reached < 1e-5
