"""The filter is Chebyshev's polynomial, and its values lead back."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from mercer.operators import Filtered, NormalisedGraph, graph
from mercer.testing import check_operator


@pytest.mark.parametrize("degree", [1, 2, 7, 20])
def test_it_is_the_matrix_of_its_formula(degree):
    x = np.random.default_rng(0).standard_normal((50, 2))
    base, cut = NormalisedGraph(graph(x, 6).weights), 0.6
    lam, u = np.linalg.eigh(base.s.toarray() - np.outer(base.direction, base.direction))
    t = chebyshev.chebval((2 * lam + 1 - cut) / (1 + cut), [0] * degree + [1])
    f = 0.5 * (1 + t)
    f[np.argmax(np.abs(u.T @ base.direction))] = 0
    op = Filtered(base, degree, cut)
    check_operator(op, (u * f) @ u.T, rtol=1e-10)
    above = lam > cut
    np.testing.assert_allclose(op.values(f[above]), lam[above], rtol=1e-9)
    assert np.all(np.abs(f[~above]) <= 1 + 1e-12)
    assert np.all(op.values(np.array([0.0, 1.0])) == pytest.approx(cut))
