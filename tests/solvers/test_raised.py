import dataclasses

import numpy as np
import pytest

from mercer.operators import Dense
from mercer.solvers import BlockKrylov, Floor, Goal, Outcome, raised


def matrix(values, seed=0):
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    return (q * values) @ q.T, q


def started(a, q, k, noise, width, seed=1, **goal):
    """Return the pairs of one product, from axes that are off by `noise`."""
    rng = np.random.default_rng(seed)
    first = q[:, :width] + noise * rng.standard_normal((len(a), width)) / np.sqrt(len(a))
    goal = {"tol": 1e-12, "trace": float(np.trace(a)), "psd": True} | goal
    return BlockKrylov(width, max_passes=1, start=first).solve(
        Dense(a, symmetric=True), Goal(k, **goal)
    )


SPECTRA = {
    "slow": 1.0 / np.arange(1, 201),
    "fast": 0.8 ** np.arange(200),
    "pairs": np.repeat(1.0 / np.arange(1, 101), 2),
    "low rank": np.append(np.linspace(3, 1, 12), np.zeros(188)),
    "large": 1e150 / np.arange(1, 201) ** 2,
}


@pytest.mark.parametrize("noise", [1e-9, 1e-3, 0.3, 3.0])
@pytest.mark.parametrize("name", SPECTRA)
def test_values_rise_towards_the_eigenvalues_and_not_above_them(name, noise):
    values = SPECTRA[name]
    a, q = matrix(values)
    before = started(a, q, 5, noise, 9)
    after = raised(before)
    slack = 1e-13 * values[0] * len(values)
    assert (after.values >= before.values - slack).all()
    assert (after.values <= values[:5] + slack).all()
    sure = after.certificate
    assert (sure.lower <= values[:5] + slack).all()
    assert (values[:5] <= sure.upper + slack).all()
    assert (sure.lower >= before.certificate.lower).all()
    np.testing.assert_array_equal(
        sure.upper, np.maximum(before.certificate.upper, after.values)
    )
    assert sure.reached <= before.certificate.reached + 1e-14


@pytest.mark.parametrize("name", ["slow", "fast"])
def test_the_values_are_those_of_the_span_of_the_root(name):
    """Rayleigh-Ritz of A in the span of √A·U, by LAPACK."""
    values = SPECTRA[name]
    a, q = matrix(values)
    before = started(a, q, 5, 0.3, 9)
    root = (q * np.sqrt(values)) @ q.T
    basis, _ = np.linalg.qr(root @ before.right)
    expected = np.linalg.eigvalsh(basis.T @ a @ basis)[::-1]
    after = raised(before)
    np.testing.assert_allclose(after.values, expected, rtol=1e-12)
    assert ((values[:5] - after.values) < 0.7 * (values[:5] - before.values)).all()


@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_vectors_and_products_belong_together(noise):
    a, q = matrix(SPECTRA["slow"])
    after = raised(started(a, q, 5, noise, 9))
    np.testing.assert_allclose(after.image, a @ after.right, rtol=0, atol=1e-13)
    inner = after.right.T @ a @ after.right
    np.testing.assert_allclose(inner, np.diag(after.values), rtol=0, atol=1e-13)
    # The coordinates image/√ν have the variance ν.
    np.testing.assert_allclose(
        after.image.T @ after.image, np.diag(after.values**2), rtol=0, atol=1e-13
    )
    largest = np.abs(after.right).argmax(axis=0)
    assert (after.right[largest, np.arange(5)] > 0).all()


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.1])
def test_sines_and_residuals_hold_for_the_new_vectors(noise):
    values = np.array([9.0, 7.0, 5.0, 3.0, *np.linspace(1, 0.1, 60)])
    a, q = matrix(values)
    after = raised(started(a, q, 3, noise, 6))
    unit = after.right / np.linalg.norm(after.right, axis=0)
    left = np.linalg.norm(a @ unit - unit * after.values, axis=0)
    assert (left <= after.certificate.residual * (1 + 1e-9)).all()
    cosine = np.abs(np.sum(unit * q[:, :3], axis=0))
    sine = np.sqrt(np.maximum(1 - cosine**2, 0))
    assert (sine <= after.certificate.sine + 1e-7).all()
    if noise < 0.1:
        assert (after.certificate.sine < 1).all()


@pytest.mark.parametrize("error", [1e-3, 1e-6])
def test_a_matrix_that_is_off_by_the_error_stays_inside(error):
    """The products are those of a neighbour; the eigenvalues in question are those of A."""
    values = 1.0 / np.arange(1, 121)
    a, q = matrix(values)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        b = rng.standard_normal(a.shape)
        b = (b + b.T) / np.linalg.norm(b + b.T, 2)
        near = a + error * b * (1 if seed % 2 else np.sign(np.trace(b @ a)))
        found = started(near, q, 6, 0.2, 10, seed, error=error, psd=False)
        sure = raised(found).certificate
        assert (sure.lower <= values[:6]).all()
        assert (values[:6] <= sure.upper).all()


def test_pairs_at_the_zero_level_stay():
    values = np.append([4.0, 2.0], np.full(58, 1e-12))
    a, q = matrix(values)
    before = started(a, q, 4, 1e-9, 6, floor=Floor(absolute=1e-9))
    after = raised(before)
    np.testing.assert_array_equal(after.values[2:], before.values[2:])
    np.testing.assert_array_equal(after.certificate.converged, before.certificate.converged)
    none = dataclasses.replace(
        before, certificate=dataclasses.replace(before.certificate, zero_level=9.0)
    )
    assert raised(none) is none
    assert raised(dataclasses.replace(before, image=None)).image is None


def test_a_goal_that_is_met_after_all_is_said_to_be():
    values = np.append(np.arange(9.0, 4.0, -1), np.full(100, 1e-4))
    a, q = matrix(values)
    wide = started(a, q, 5, 0.2, 5)
    tol = float(np.sqrt(wide.certificate.reached * raised(wide).certificate.reached))
    before = started(a, q, 5, 0.2, 5, tol=tol)
    assert before.outcome is Outcome.BUDGET
    after = raised(before)
    assert after.certificate.met
    assert after.outcome is Outcome.CONVERGED
