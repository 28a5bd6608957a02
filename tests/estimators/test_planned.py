import dataclasses

import numpy as np
import pytest

import mercer
from mercer.arrays import Rates
from mercer.estimators.walk import _spectral_estimator as _planned
from mercer.planning import Problem, plan

GB = 10**9
SLOW = Rates(2, (6e8, 3e8), (4e8, 1.6e8), (2e7, 1e7), 8e7, 3e7, 6e7, 2e7)


def problem(rows=10**6, cols=2000, components=10, **more):
    given = {"itemsize": 8, "memory": 64 * GB, "threads": 2, **more}
    return Problem(rows=rows, cols=cols, components=components, **given)


@pytest.fixture
def asked(monkeypatch):
    """Return the list of thread counts that the self-test was asked for."""
    calls = []
    monkeypatch.setattr(_planned, "rates", lambda n: calls.append(n) or SLOW)
    return calls


@pytest.mark.parametrize(
    ("given", "measured"),
    [
        (problem(1000, 50), False),
        (problem(1000, 50, time=1e-6), False),
        (problem(1000, 50, time=1e6), False),
        (problem(10**6, 200, time=5.0), True),
        (problem(10**6, 200, time=4.9), False),
        (problem(10**6, 200), False),
        (problem(), True),
        (problem(time=1e6), True),
        (problem(time=1.0), True),
        (problem(memory=9 * 10**7), False),
    ],
)
def test_only_long_fits_are_worth_a_self_test(given, measured, asked):
    made = _planned.planned(given)
    assert asked == [2] * measured
    words = "seconds measured on this machine" if measured else "seconds from default rates"
    assert words in str(made).splitlines()[0]
    assert dataclasses.replace(made.problem, machine=None) == given


def test_a_plan_with_rates_is_not_measured_again(asked):
    made = _planned.planned(problem())
    assert _planned.planned(made.problem) == made == plan(made.problem)
    assert len(asked) == 1


def test_what_a_machine_does_badly_is_avoided(monkeypatch):
    given = problem(20_000, 20_000, 20)
    assert plan(given).chosen.name == "krylov"
    # Without thin products neither kind of iteration is left.
    lame = Rates(2, (6e12, 3e12), (4e7, 1.6e7), (2e9, 1e9), 8e9, 3e12, 6e9, 2e9)
    monkeypatch.setattr(_planned, "rates", lambda _n: lame)
    assert _planned.planned(given).chosen.name == "svd"


@pytest.mark.parametrize("method", [mercer.PCA, mercer.KernelPCA])
def test_small_fits_measure_nothing(method, monkeypatch):
    def refuse(_threads):
        raise AssertionError("a small fit measured the machine")

    monkeypatch.setattr(_planned, "rates", refuse)
    x = np.random.default_rng(0).standard_normal((300, 20))
    for time in (None, 0.5, 1e4):
        model = method(2, time=time).fit(x)
        assert "from default rates" in str(model.plan_)
        assert mercer.plan(method(2, time=time), x).problem.machine is None


@pytest.mark.parametrize("method", [mercer.PCA, mercer.KernelPCA])
def test_a_long_fit_says_so(method, monkeypatch, asked):
    monkeypatch.setattr(_planned, "_LONG", 0.0)
    x = np.random.default_rng(0).standard_normal((300, 20))
    model = method(2, memory="1GB").fit(x)
    assert "measured on this machine" in str(model.plan_)
    assert mercer.plan(method(2, memory="1GB"), x) == model.plan_
    assert model.certificate_.met
    assert len(asked) == 2
