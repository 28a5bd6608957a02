"""The matrices of locally linear methods as their papers have them, and their pairs."""

import numpy as np
import pytest
import scipy.sparse
from sheets import roll
from tests.claims import hold

from mercer.errors import BudgetError, InputError
from mercer.estimators.manifold._local_matrices import METHODS, local_matrix, strangers
from mercer.estimators.manifold.locally_linear import inverse_of, refuse_full, smallest
from mercer.operators import neighbours
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Exact

RNG = np.random.default_rng(0)
FLAT = RNG.random((120, 2))
BENT = roll(150, seed=1)[0]


def near(rows, k=9):
    return neighbours(rows, k).indices


def unit(columns):
    """Return the columns made orthonormal one after the other, as the papers do."""
    found = []
    for column in columns.T:
        for q in found:
            column = column - q * (q @ column)
        for q in found:  # once more, for the digits
            column = column - q * (q @ column)
        found.append(column / np.linalg.norm(column))
    return np.array(found).T


def by_hessian(rows, at, d):
    """The estimator of Donoho and Grimes, row by row."""
    n, k = at.shape
    M = np.zeros((n, n))
    for each in at:
        z = rows[each] - rows[each].mean(axis=0)
        u = np.linalg.svd(z, full_matrices=False)[0][:, :d]
        products = [u[:, a] * u[:, b] for a in range(d) for b in range(a, d)]
        whole = unit(np.column_stack([np.ones(k), u, *products]))
        h = whole[:, 1 + d :]
        M[np.ix_(each, each)] += h @ h.T
    return M


def by_alignment(rows, at, d):
    """The local tangent space alignment of Zhang and Zha, row by row."""
    n, k = at.shape
    M = np.zeros((n, n))
    for each in at:
        z = rows[each] - rows[each].mean(axis=0)
        u = np.linalg.svd(z, full_matrices=False)[0][:, :d]
        g = np.column_stack([np.full(k, k**-0.5), u])
        M[np.ix_(each, each)] += np.eye(k) - g @ g.T
    return M


def by_several_weights(rows, at, d, reg=1e-3):
    """The weights of Zhang and Wang with their Householder matrices, row by row."""
    n, k = at.shape
    parts = []
    for i, each in enumerate(at):
        v, s, _ = np.linalg.svd(rows[each] - rows[i])
        parts.append((v, np.append(s**2, np.zeros(k))[:k]))
    usual = np.median([s[d:].sum() / s[:d].sum() for _, s in parts])
    M = np.zeros((n, n))
    for i, (each, (v, s)) in enumerate(zip(at, parts, strict=True)):
        fits = [c for c in range(1, k - d + 1) if s[k - c :].sum() / s[: k - c].sum() < usual]
        count = max([*fits, 1, k - rows.shape[1]])
        w = v @ ((v.T @ np.ones(k)) / (s + reg * s.sum()))
        w /= w.sum()
        low = v[:, k - count :]
        alpha = np.linalg.norm(low.sum(axis=0)) / count**0.5
        h = np.full(count, alpha) - low.sum(axis=0)
        h /= np.linalg.norm(h)
        several = low - 2 * np.outer(low @ h, h) + (1 - alpha) * w[:, None]
        lost = np.zeros((n, count))
        lost[each] = several
        lost[i] -= 1
        M += lost @ lost.T
    return M


def by_weights(rows, at, _d):
    n, k = at.shape
    lost = np.eye(n)
    for i, each in enumerate(at):
        z = rows[each] - rows[i]
        G = z @ z.T
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(k), np.ones(k))
        lost[i, each] -= w / w.sum()
    return lost.T @ lost


SLOWLY = {
    "standard": by_weights,
    "modified": by_several_weights,
    "hessian": by_hessian,
    "ltsa": by_alignment,
}


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_matrix_of_the_paper(method):
    at = near(BENT)
    M = local_matrix(BENT, at, 2, method, 1e-3).toarray()
    exact = SLOWLY[method](BENT, at, 2)
    np.testing.assert_allclose(M, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("columns", [3, 40])  # fewer and more than neighbours
def test_constants_cost_nothing_and_nothing_is_negative(method, columns):
    rows = RNG.standard_normal((90, columns))
    M = local_matrix(rows, near(rows), 2, method, 1e-3).toarray()
    np.testing.assert_array_equal(M, M.T)
    np.testing.assert_allclose(M @ np.ones(90), 0, rtol=0, atol=1e-12 * np.abs(M).max())
    assert np.linalg.eigvalsh(M)[0] > -1e-12 * np.abs(M).max()


def test_the_hessian_counts_second_derivatives_alike_wherever_they_are():
    # xy and (x² - y²)/2 are turned into each other by 45 degrees: their cost is about one.
    M = local_matrix(FLAT, near(FLAT, 12), 2, "hessian", 1e-3)
    x, y = (FLAT - 0.5).T
    one, two = ((f @ (M @ f)) for f in (x * y, (x**2 - y**2) / 2))
    assert one == pytest.approx(two, rel=0.5)


class TestStrangers:
    """A row that is nobody's neighbour is tied to nothing by tangents alone."""

    rows = np.append(BENT, [[20.0, 0, 0]], axis=0)

    def test_they_are_found(self):
        at = near(self.rows)
        assert 150 in strangers(at)
        assert not np.isin(strangers(at), at).any()

    @pytest.mark.parametrize("method", ["hessian", "ltsa"])
    def test_they_are_tied_to_their_own_neighbours(self, method):
        at = near(self.rows)
        assert np.abs(SLOWLY[method](self.rows, at, 2)[150]).max() == 0
        M = local_matrix(self.rows, at, 2, method, 1e-3).toarray()
        assert M[150, 150] > 1e-3
        np.testing.assert_allclose(M @ np.ones(151), 0, rtol=0, atol=1e-12)


class TestFlatNeighbourhoods:
    line = np.outer(np.arange(30.0), [1.0, 2.0, 3.0])

    @pytest.mark.parametrize("method", METHODS)
    def test_points_on_a_line_have_no_second_axis(self, method):
        with pytest.raises(InputError, match="2 dimensions") as caught:
            local_matrix(self.line, near(self.line, 6), 2, method, 1e-3)
        assert "span 1" in caught.value.got
        local_matrix(self.line, near(self.line, 6), 1, method, 1e-3)

    @pytest.mark.parametrize("method", ["modified", "hessian", "ltsa"])
    def test_one_row_with_too_many_doubles_is_named(self, method):
        rows = np.concatenate([BENT, np.repeat(BENT[70:71], 8, axis=0)])
        with pytest.raises(InputError, match="2 dimensions") as caught:
            local_matrix(rows, near(rows, 9), 2, method, 1e-3)
        assert "row " in caught.value.got
        assert "duplicates" in caught.value.fix


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
    hold(c, exact)
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
def test_equal_eigenvalues_are_grouped_and_zeros_called_zero(path):
    spectrum, values = smallest(ring_laplacian(60), path, 3, 1e-4, 0)
    exact = 2 - 2 * np.cos(2 * np.pi * np.array([1, 1, 2]) / 60)
    np.testing.assert_allclose(values, exact, rtol=1e-9)
    assert spectrum.certificate.groups == ((0, 1), (2, 3))
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
    hold(c, exact)
    assert values[0] == pytest.approx(exact, rel=1e-2)


def test_factors_are_bounded_before_they_are_made():
    m = path_laplacian(1000)
    refuse_full(m, 10**6)  # a band of one
    assert inverse_of(m).fill * 12 < 10**6
    full = scipy.sparse.csr_array(np.ones((400, 400)))
    with pytest.raises(BudgetError, match="factors") as caught:
        refuse_full(full, 10**6)
    assert "400 rows" in caught.value.got
