import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.solvers import Certificate, Outcome, Spectrum, fix_signs
from mercer.testing import matrices


def certificate(values, tol=1e-6, error=0.0):
    upper = np.append(values, 0.0)
    zeros = np.zeros(len(values))
    return Certificate.of(values, upper, zeros, error=error, tol=tol, zero_level=0.0)


@given(st.integers(1, 20), st.integers(0, 5), st.integers(0, 10**6))
def test_signs_do_not_depend_on_the_signs_given(n, k, seed):
    rng = np.random.default_rng(seed)
    v = rng.standard_normal((n, k))
    fixed = fix_signs(v)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(v))
    np.testing.assert_array_equal(fix_signs(v * rng.choice([-1.0, 1.0], k)), fixed)
    np.testing.assert_array_equal(fix_signs(fixed), fixed)
    if k:
        assert np.all(fixed[np.argmax(np.abs(fixed), axis=0), np.arange(k)] > 0)


def test_the_lowest_of_tied_entries_decides():
    v = np.array([[-0.5], [0.5 * (1 + 5e-7)], [0.5], [0.0]])
    assert fix_signs(v)[0, 0] > 0
    v = np.array([[-0.5], [0.5 * (1 + 5e-6)], [0.5], [0.0]])
    assert fix_signs(v)[0, 0] < 0
    for empty in (np.zeros((3, 2)), np.zeros((3, 0)), np.zeros((0, 3))):  # left alone
        np.testing.assert_array_equal(fix_signs(empty), empty)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_turn_an_axis_round(seed):
    rng = np.random.default_rng(seed)
    v = rng.choice([-1.0, 1.0], (8, 3)) / np.sqrt(8)
    wobbly = v * (1 + 1e-9 * rng.standard_normal(v.shape))
    np.testing.assert_array_equal(np.sign(fix_signs(wobbly)), np.sign(fix_signs(v)))


def test_a_spectrum_is_sorted_and_signed(xp):
    v = matrices.rotation(4)[:, :2]
    values = np.array([3.0, 1.0])
    found = Spectrum.of(
        xp.asarray(values), xp.asarray(v), certificate(values), total=5.0, passes=2
    )
    np.testing.assert_array_equal(found.values, values)
    assert isinstance(found.values, np.ndarray)
    np.testing.assert_array_equal(xp.numpy(found.right), fix_signs(v))
    assert (found.total, found.passes, found.outcome) == (5.0, 2, Outcome.CONVERGED)
    missed = certificate(values, error=0.1)
    found = Spectrum.of(values, np.eye(4)[:, :2], missed, total=1.0, passes=1)
    assert found.outcome is Outcome.FLOOR
    assert all(outcome.value[0].islower() for outcome in Outcome)
    with pytest.raises(AssertionError, match="sorted"):
        Spectrum.of(values[::-1], np.eye(2), certificate(values[::-1]), total=None, passes=1)


def test_padding_adds_named_zeros(xp):
    values = np.array([3.0, 1.0])
    right = xp.asarray(np.eye(4)[:, :2])
    found = Spectrum.of(xp.asarray(values), right, certificate(values), total=4.0, passes=1)
    longer = found.padded(4)
    np.testing.assert_array_equal(longer.values, [3, 1, 0, 0])
    np.testing.assert_array_equal(xp.numpy(longer.right)[:, 2:], 0)
    assert len(longer.certificate.lower) == 4
    assert found.padded(2) is found
    assert found.padded(1) is found


def test_another_tolerance_changes_the_outcome():
    values = np.array([2.0, 1.0])
    found = Spectrum.of(
        values,
        np.eye(3)[:, :2],
        certificate(values, tol=1e-6, error=1e-4),
        total=3.0,
        passes=1,
        outcome=Outcome.BUDGET,
    )
    assert found.judged_by(1e-5).outcome is Outcome.BUDGET
    assert found.judged_by(1e-3).outcome is Outcome.CONVERGED
    assert found.judged_by(1e-3).certificate.tol == 1e-3
