import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.solvers import bordered_upper, complement_norm, lanczos_norm, probe_factor
from mercer.solvers._eigenvalue_bounds import psd_norm
from mercer.testing import matrices


def split(a, q):
    """Return Θ, T and ‖(I-QQᵀ)A(I-QQᵀ)‖ of a symmetric matrix and a subspace."""
    theta, z = np.linalg.eigh(q.T @ a @ q)
    theta, q = theta[::-1], q @ z[:, ::-1]
    _, s, vt = np.linalg.svd(a @ q - q * theta, full_matrices=False)
    t = (s[:, None] * vt)[: len(a) - q.shape[1]]  # residuals have no other directions
    project = np.eye(len(a)) - q @ q.T
    return theta, t, float(np.linalg.norm(project @ a @ project, 2))


spectra = st.lists(st.floats(0, 10), min_size=2, max_size=12)


@given(spectra, st.integers(1, 12), st.integers(0, 10**6), st.floats(1, 3))
@settings(max_examples=200)
def test_the_border_bounds_every_eigenvalue(values, m, seed, more):
    n = len(values)
    m = min(m, n)
    a = matrices.symmetric(values, seed)
    q = matrices.rotation(n, seed + 1)[:, :m]
    theta, t, c = split(a, q)
    truth = np.linalg.eigvalsh(a)[::-1]
    for count in range(1, m + len(t) + 1):
        upper = bordered_upper(theta, t, more * c, count)
        assert upper.shape == (count,)
        assert np.all(upper >= truth[:count] - 1e-12)
        assert np.all(np.diff(upper) <= 0)


@given(spectra, st.integers(0, 10**6), st.integers(1, 5))
def test_a_subspace_that_nearly_holds_the_axes(values, seed, m):
    a = matrices.symmetric(values, seed)
    n, m = len(values), min(m, len(values))
    w, v = np.linalg.eigh(a)
    noise = 1e-3 * np.random.default_rng(seed).standard_normal((n, m))
    q = np.linalg.qr(v[:, ::-1][:, :m] + noise)[0]
    theta, t, c = split(a, q)
    upper = bordered_upper(theta, t, c, m)
    assert np.all(upper >= w[::-1][:m] - 1e-12)
    assert np.all(upper <= np.maximum(w[::-1][:m], c) + 0.1)


def test_directions_beyond_the_residuals_count_too():
    a = np.array([[10.0, 3, 0], [3, 5, 0], [0, 0, 5]])
    upper = bordered_upper(np.array([10.0]), np.array([[3.0]]), 5.0, 2)
    assert np.all(upper >= np.linalg.eigvalsh(a)[::-1][:2] - 1e-12)
    several = bordered_upper(np.array([3.0, 2.0, 1.0]), np.zeros((0, 3)), 2.5, 3)
    np.testing.assert_array_equal(several, [3.0, 2.5, 2.5])
    theta = np.array([3.0, 2.0])  # an invariant subspace gives the values themselves
    np.testing.assert_array_equal(bordered_upper(theta, np.zeros((0, 2)), 1.0, 2), theta)
    assert np.all(np.isinf(bordered_upper(theta, np.ones((1, 2)), math.inf, 2)))
    assert complement_norm(np.ones(10), 0) == lanczos_norm(1.0, 0, 10, 100) == math.inf


@pytest.mark.parametrize("probes", [1, 2, 5, 10, 20, 100])
def test_the_factor_fails_five_times_in_a_billion(probes):
    level = 1 / probe_factor(probes)
    below = math.erf(level / math.sqrt(2))  # P(|z| < level)
    assert below**probes == pytest.approx(5e-9, rel=1e-6)
    assert probe_factor(probes) > probe_factor(probes + 1)
    assert probe_factor(20) == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("spectrum", ["even", "graded", "clustered", "flat", "low rank"])
@pytest.mark.parametrize("probes", [3, 10])
def test_powers_of_random_probes_bound_the_norm(spectrum, probes):
    values = matrices.spectra(32)[spectrum]
    rng = np.random.default_rng(5)
    for _ in range(40):
        z = rng.standard_normal((32, probes))
        previous = math.inf
        for products in range(1, 6):
            z = values[:, None] * z
            bound = complement_norm(np.linalg.norm(z, axis=0), products)
            assert values[0] <= bound
            previous = min(previous, bound)
        assert previous <= 8 * values[0]


def krylov_ritz(values, z, q):
    block, basis = z, np.zeros((len(z), 0))
    for _ in range(q):
        block = block - basis @ (basis.T @ block)
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
        basis = np.hstack([basis, block])
        block = values[:, None] * block
    return float(np.linalg.eigvalsh(basis.T @ (values[:, None] * basis))[-1])


@pytest.mark.parametrize("spectrum", ["even", "flat", "repeated"])
def test_ritz_values_of_random_probes_bound_the_norm(spectrum):
    values = matrices.spectra(64)[spectrum]
    rng = np.random.default_rng(6)
    for q in (2, 4, 6):
        for _ in range(10):
            ritz = krylov_ritz(values, rng.standard_normal((64, 10)), q)
            assert values[0] <= lanczos_norm(ritz, q, 10, 64)


def test_more_products_and_probes_tighten_the_ritz_bound():
    bounds = [lanczos_norm(1.0, q, 10, 1000) for q in (4, 8, 16, 24)]
    assert bounds == sorted(bounds, reverse=True)
    assert 1 < bounds[-1] < 1.05
    assert lanczos_norm(1.0, 8, 20, 1000) < lanczos_norm(1.0, 8, 10, 1000)
    q, n, probes = 8, 1000, 10
    epsilon = 1 - 1 / lanczos_norm(1.0, q, probes, n)
    chance = 1.648 * math.sqrt(n) * math.exp(-math.sqrt(epsilon) * (2 * q - 1))
    assert chance**probes == pytest.approx(5e-9, rel=1e-9)


@pytest.mark.parametrize("spectrum", ["flat", "even", "one", "geometric", "zero"])
@pytest.mark.parametrize("order", [1, 2, 50])
def test_trace_and_frobenius_norm_bound_the_norm(spectrum, order):
    i = np.arange(order)
    values = {
        "flat": np.ones(order),
        "even": 1.0 - i / (order + 1),
        "one": (i == 0).astype(float),
        "geometric": 0.7**i,
        "zero": np.zeros(order),
    }[spectrum]
    frobenius = float(np.linalg.norm(values))
    found = psd_norm(float(values.sum()), frobenius, order)
    assert values.max() * (1 - 1e-12) <= found <= frobenius * (1 + 1e-12)
    if spectrum in ("flat", "one"):  # the extreme ones are met
        assert found == pytest.approx(values.max())
    # A trace that is only known from below and a norm from above bound it too.
    assert values.max() <= psd_norm(0.9 * values.sum(), 1.1 * frobenius, order) + 1e-15


@pytest.mark.parametrize("seed", range(20))
def test_known_eigenvalues_sharpen_the_norm(seed):
    """Lower bounds on the eigenvalues never lose the norm; all of them give it."""
    rng = np.random.default_rng(seed)
    order = int(rng.integers(2, 300))
    values = np.sort(np.exp(rng.uniform(0, 4) * rng.standard_normal(order)))[::-1]
    trace, frobenius = float(values.sum()), float(np.linalg.norm(values))
    least = values[: rng.integers(1, order + 1)] * rng.uniform(0.5, 1)
    plain = psd_norm(trace, frobenius, order)
    found = psd_norm(trace, frobenius, order, least)
    assert values[0] * (1 - 1e-9) <= found <= plain * (1 + 1e-9)
    assert psd_norm(trace, frobenius, order, values) == pytest.approx(values[0], rel=1e-5)
    # More bounds than the matrix has eigenvalues, and squares out of range.
    more = psd_norm(trace, frobenius, order, np.append(values, np.zeros(9)))
    assert more == pytest.approx(values[0], rel=1e-5)
    tiny = psd_norm(1e-200 * trace, 1e-200 * frobenius, order, 1e-200 * least)
    assert tiny == pytest.approx(1e-200 * found, rel=1e-9)
    # By hand: the two others are known, ρ² = f² - 2² - 1², the trace telling nothing more.
    known = np.array([2.5, 2.0, 1.0])
    assert psd_norm(0.0, np.sqrt(14.0), 3, known) == pytest.approx(3.0)
