import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.solvers import Certificate


def certificate(values, upper, residual=None, *, error=0.0, tol=1e-2, zero_level=0.0):
    values, upper = np.array(values, float), np.array(upper, float)
    residual = np.zeros(len(values)) if residual is None else np.array(residual, float)
    return Certificate.of(values, upper, residual, error=error, tol=tol, zero_level=zero_level)


def test_intervals_hold_values_and_error():
    c = certificate([4, 2], [4.01, 2.02, 1.0], [0.1, 0.2], error=0.005)
    np.testing.assert_allclose(c.lower, [3.995, 1.995])
    np.testing.assert_allclose(c.upper, [4.015, 2.025])
    np.testing.assert_allclose(c.residual, [0.105, 0.205])
    assert c.next_upper == pytest.approx(1.005)
    assert c.tol == 1e-2
    assert c.reached == pytest.approx(0.025 / 1.995)
    assert c.converged.tolist() == [True, False]
    assert c.judged_by(1.3e-2).met

    c = certificate([4, 2], [4, 2, 1], error=np.array([0.5, 0.25]))  # each its own error
    np.testing.assert_allclose(c.lower, [3.5, 1.75])
    np.testing.assert_allclose(c.upper, [4.5, 2.25])
    assert not c.met
    c = certificate([1, 1e-9, 0], [1, 2e-9, 1e-9, 1e-9], zero_level=1e-8)
    assert c.met  # what lies below the zero level is done, and not what lies just above
    assert (c.reached, c.zero_level) == (0.0, 1e-8)
    assert not certificate([1, 2e-8], [1, 5e-8, 1e-9], zero_level=1e-8).met


@pytest.mark.parametrize(
    ("values", "upper", "residual", "error", "gap"),
    [
        ([5, 3, 2], [5.1, 3.2, 2.3, 1.9], None, 0.0, [5 - 3.2, 3 - 2.3, 2 - 1.9]),
        ([5, 3, 2], [5.1, 3.2, 2.3, 1.9], None, 0.05, [5 - 3.25, 3 - 2.35, 2 - 1.95]),
        ([5, 3, 1], [5, 3, 1, 0], None, 0.5, [5 - 3.5, min(4.5 - 3, 3 - 1.5), 1 - 0.5]),
        ([3, 2.9], [3.2, 3.1, 1], [0.1, 0.1], 0.0, [0, 0.1]),  # the first is at least 3
        ([3, 2], [3, 2, 1], [0.01, 5.0], 0.0, [1, 1]),
        ([3.0], [3.0], [0.1], 0.0, [np.inf]),  # without others the axis is certain
        ([3.0], [np.inf, np.inf], [0.1], 0.0, [0.0]),  # nothing is known, nothing is claimed
    ],
)
def test_gaps_look_both_ways_and_sines_are_residuals_over_them(
    values, upper, residual, error, gap
):
    c = certificate(values, upper, residual, error=error)
    np.testing.assert_allclose(c.gap, gap)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(c.sine, np.minimum(1, c.residual / gap))
    if len(values) == 1:
        assert (c.groups, c.met) == (((), True) if gap == [np.inf] else (((0, 1),), False))


def test_another_tolerance_may_be_asked_for():
    c = certificate([4, 2], [4.01, 2.2, 1.0], tol=1e-4)
    assert c.converged.tolist() == [False, False]
    looser = c.judged_by(1e-2)
    assert looser.converged.tolist() == [True, False]
    assert (looser.tol, looser.reached) == (1e-2, c.reached)
    assert c.judged_by(0.11).met
    older = dataclasses.replace(c, far=None)  # as files of old hold it: any value in between
    assert older.judged_by(1e-2).converged.tolist() == [True, False]
    assert older.judged_by(0.09).converged.tolist() == [True, False]


def test_tol_is_the_distance_from_the_value_to_the_far_end():
    """A value that lies at one end of its interval is wrong by the whole of it."""
    for tol, met in ((0.0101, True), (0.0099, False)):
        assert certificate([1.0], [1.01, 0.5], tol=tol).met is met
    c = certificate([1.0, 0.1], [1.0, 0.2, 0.05])
    assert c.converged.tolist() == [True, False]
    assert c.reached == pytest.approx(1.0)
    other = c.between(np.array([1.0, 0.15]), c.lower, c.upper, zero_level=0.0)
    assert other.reached == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("values", "upper", "said"),
    [
        ([4, 2, 1], [4, 2.01, 1, 0], "3 of 3 eigenvalues within 1e-02 (worst 5.0e-03)"),
        ([4, 2, 1], [4, 2.1, 1, 0], "2 of 3 eigenvalues within 1e-02 (worst 5.0e-02)"),
        (
            [4, 2, 0],
            [4, 2, 0.5, 0],
            "2 of 3 eigenvalues within 1e-02"
            " (worst 0.0e+00; 1 cannot be told from zero, at most 5.0e-01)",
        ),
        (
            [0, 0],
            [0.5, 0.25, 0],
            "0 of 2 eigenvalues within 1e-02 (2 cannot be told from zero, at most 5.0e-01)",
        ),
        ([0, 0], [0, 0, 0], "2 of 2 eigenvalues within 1e-02 (worst 0.0e+00)"),
    ],
)
def test_the_sentence_is_true_of_the_values_given(values, upper, said):
    assert str(certificate(values, upper, zero_level=1e-9)).splitlines()[0] == (
        f"certificate: {said}"
    )


@pytest.mark.parametrize(
    ("values", "upper", "groups"),
    [
        ([5, 4, 3], [5, 4, 3, 1], ()),
        ([5, 5, 3], [5, 5, 3, 1], ((0, 1),)),
        ([5, 4, 4, 4, 2], [5, 4, 4, 4, 2, 0], ((1, 2, 3),)),
        ([5, 5, 3, 3], [5, 5, 3, 3, 1], ((0, 1), (2, 3))),
        ([5, 4, 3], [5, 4, 3, 3], ((2, 3),)),
        ([5, 4, 3], [5, 5, 4, 3], ((0, 1, 2, 3),)),
        ([2, 0, 0], [2, 0, 0, 0], ()),
    ],
)
def test_groups_are_runs_that_overlap(values, upper, groups):
    assert certificate(values, upper, zero_level=1e-9).groups == groups


def test_the_first_pairs_keep_what_is_known():
    whole = certificate([5, 3, 3, 2, 1], [5, 3, 3.5, 2, 1, 0.5], [1, 2, 3, 4, 5.0])
    part = whole.first(2)
    np.testing.assert_array_equal(part.lower, whole.lower[:2])
    np.testing.assert_array_equal(part.gap, whole.gap[:2])
    assert part.groups == ((1, 2),)
    assert part.next_upper == 3.5
    assert part.converged.tolist() == [True, True]
    assert part.met
    assert part.reached < whole.reached
    assert whole.first(5).groups == whole.groups == ((1, 2),)
    assert whole.first(1).groups == ()
    assert whole.first(5).next_upper == whole.next_upper
    assert whole.first(5).reached == pytest.approx(whole.reached)


def test_padding_adds_certain_zeros():
    c = certificate([5, 3], [5, 3]).padded(2)
    np.testing.assert_array_equal(c.lower, [5, 3, 0, 0])
    np.testing.assert_array_equal(c.upper, [5, 3, 0, 0])
    assert c.converged.tolist() == [True] * 4
    assert c.groups == ()
    assert len(c.gap) == len(c.residual) == 4
    assert certificate([5], [5]).padded(0).lower.tolist() == [5]


@given(st.floats(1e-100, 1e100))
def test_scaling_scales_everything_but_shares(factor):
    c = certificate([5, 3, 3], [5.1, 3, 3, 1], [0.1, 0.2, 0.3], error=0.01, zero_level=1e-3)
    s = c.scaled(factor)
    for name in ("lower", "upper", "residual", "gap", "zero_level", "next_upper"):
        np.testing.assert_allclose(getattr(s, name), getattr(c, name) * factor, rtol=1e-15)
    np.testing.assert_allclose(s.sine, c.sine, rtol=1e-12)
    assert (s.groups, s.tol, s.reached, s.met) == (c.groups, c.tol, c.reached, c.met)
    again = c.scaled(0.5, 1000).scaled(1.0, -999)  # without overflow on the way
    np.testing.assert_array_equal(again.upper, c.upper)
    assert again.zero_level == c.zero_level
    first = "certificate: 2 of 3 eigenvalues within 1e-02 (worst 2.2e-02)"
    assert str(c).splitlines()[0] == first
    assert "axes 2, 3 cannot be told apart" in str(c)


def test_other_pairs_keep_the_upper_ends_and_the_better_lower_ones():
    first = certificate([5.0, 3.0, 1.0], [5.2, 3.3, 1.4, 0.5], [0.1, 0.1, 0.1])
    values = np.array([5.1, 3.1, 1.2])
    after = first.of_pairs(values, np.array([5.1, 2.0, 1.2]), np.array([0.2, 0.0, 0.1]))
    np.testing.assert_array_equal(after.upper, first.upper)
    np.testing.assert_allclose(after.lower, [5.1, first.lower[1], 1.2])
    np.testing.assert_allclose(after.gap, [5.1 - 3.3, 3.1 - 1.4, 1.2 - 0.5])
    np.testing.assert_allclose(after.sine, after.residual / after.gap)
    assert after.reached < first.reached
    assert after.next_upper == first.next_upper
    known = dataclasses.replace(first, converged=np.array([True, False, True]))
    assert known.of_pairs(values, first.lower, first.residual).converged.tolist() == [
        True,
        False,
        True,
    ]
