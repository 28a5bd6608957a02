"""What a path is asked for and what it gives back."""

import dataclasses

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.errors import InputError
from mercer.estimators.kernel._indefinite_kernels import Signs
from mercer.estimators.kernel._kernel_task import (
    KernelFound,
    Task,
    captured_share,
    flips,
    no_variance,
    not_finite,
)
from mercer.kernels import RBF
from mercer.solvers import Certificate


def task(n=30, **others):
    X = np.random.default_rng(0).standard_normal((n, 2))
    made = Task(RBF(1.0), X, None, 2, "raise", 1e-6, 10**9, None, 0)
    return dataclasses.replace(made, **others)


def found(trace, landmarks=None):
    return KernelFound(10.0, trace, 1.0, np.zeros(2), None, Signs(), landmarks=landmarks)


def certificate(lower, upper):
    lower, upper = np.array(lower, float), np.array(upper, float)
    made = Certificate.of(lower, upper, upper - lower, error=0.0, tol=1.0, zero_level=0.0)
    return dataclasses.replace(made, lower=lower, upper=upper)


def test_counts_enter_the_total():
    assert task().total == 30
    weights = np.full(30, 2.0)
    assert task(weights=weights).total == 60
    assert task(weights=weights).n == 30


def test_a_task_is_a_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        task().tol = 1.0


def test_captured_share_of_exact_axes():
    share = captured_share(certificate([4, 2], [5, 3]), np.array([4.5, 2.5]), found(10.0))
    assert share == (0.6, 0.8)
    share = captured_share(certificate([6, 3], [7, 4]), np.array([6.5, 3.5]), found(10.0))
    assert share == (0.9, 1.0)  # never more than all


@dataclasses.dataclass
class Marks:
    values: np.ndarray
    residual: float
    error: float = 0.0


def test_captured_share_on_landmarks():
    """V_k of a total between V and V + t."""
    marks = Marks(np.array([4.0, 2.0, 2.0]), 2.0)
    share = captured_share(certificate([4], [6]), np.array([4.0]), found(10.0, marks))
    assert share == (0.4, 0.5)
    none = Marks(np.zeros(0), 0.0)
    assert captured_share(certificate([], []), np.zeros(0), found(1.0, none)) == (0.0, 0.0)


@pytest.mark.parametrize("landmarks", [None, 5, 20, 60])
def test_the_interval_holds_the_share(landmarks):
    """Of the variance along the axes that were found, measured on all rows."""
    X = np.random.default_rng(1).standard_normal((60, 2))
    K = RBF(1.0).block(X)
    H = np.eye(60) - 1 / 60
    total = np.trace(H @ K @ H)
    model = KernelPCA(3, kernel=RBF(1.0), landmarks=landmarks, tol=1e6).fit(X)
    z = model.transform(X)
    held = np.sum((z - z.mean(axis=0)) ** 2) / total
    low, high = model.captured_share_
    assert low - 1e-12 <= held <= high + 1e-12
    assert 0 < low <= high <= 1


def test_signs_of_the_largest_coordinate():
    u = np.array([[0.1, -0.9], [-0.8, 0.2], [0.3, 0.1]])
    np.testing.assert_array_equal(flips(u, None), [-1, -1])
    # z = u/√w: the second row counts often, so that its coordinate is small
    np.testing.assert_array_equal(flips(u, np.array([1.0, 100.0, 1.0])), [1, -1])
    # rows of weight zero have no say
    np.testing.assert_array_equal(flips(u, np.array([0.0, 0.0, 1.0])), [1, 1])


def test_refusals_have_three_lines():
    for error in (not_finite(task()), no_variance(RBF(1.0), 1e-20, "entries up to 1")):
        assert isinstance(error, InputError)
        assert str(error).count("\n") == 2
        assert "RBF" in str(error)
