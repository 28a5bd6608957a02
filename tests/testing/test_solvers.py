import dataclasses
import itertools

import numpy as np
import pytest

from mercer.solvers import Exact, Outcome, Solver
from mercer.testing import check_solver


class Faulty(Solver):
    """Exact, with one thing wrong."""

    def __init__(self, spoil):
        self.spoil = spoil

    def solve(self, op, goal):
        return self.spoil(Exact().solve(op, goal), goal)


def changed(**changes):
    """Spoil a spectrum: each change is a function of it."""
    return lambda s, _: dataclasses.replace(s, **{n: f(s) for n, f in changes.items()})


def certified(s, **changes):
    return dataclasses.replace(s, certificate=dataclasses.replace(s.certificate, **changes))


def biased(s, _):
    shift, c = 1e-9 * max(1.0, float(s.values[0])), s.certificate
    return certified(s, lower=c.lower + shift, upper=c.upper + shift)


def boasting(s, goal):
    wide = certified(s, lower=0 * s.certificate.lower, upper=2 * s.certificate.upper + 1)
    return certified(wide, converged=np.ones(goal.components, bool))


def modest(s, goal):
    never = certified(s, converged=np.zeros(goal.components, bool))
    return dataclasses.replace(never, outcome=Outcome.BUDGET)


CALLS = itertools.count()
WRONG_SIGNS = changed(right=lambda s: -s.right)
FAULTS = {
    "too narrow": (lambda s, _: certified(s, lower=s.values, upper=s.values), "outside"),
    "biased": (biased, "outside"),
    "no residual": (lambda s, g: certified(s, residual=np.zeros(g.components)), "residual"),
    "no angles": (lambda s, g: certified(s, sine=np.zeros(g.components)), "is off by"),
    "oblique": (changed(right=lambda s: s.right * (1 + 1e-9)), "not orthonormal"),
    "upwards": (
        changed(values=lambda s: s.values[::-1], right=lambda s: s.right[:, ::-1]),
        "do not descend",
    ),
    "other signs": (WRONG_SIGNS, "largest modulus"),
    "too few": (changed(values=lambda s: s.values[:-1]), "pairs wanted"),
    "float32": (changed(values=lambda s: s.values.astype(np.float32)), "not float64"),
    "no groups": (lambda s, _: certified(s, groups=()), "no group"),
    "boasting": (boasting, "farther than tol"),
    "contradicting": (changed(outcome=lambda _: Outcome.BUDGET), "outcome"),
    "modest": (modest, "easy spectrum"),
    "moody": (
        changed(values=lambda s: s.values * (1 + 1e-15 * (next(CALLS) % 2))),
        "two identical calls differ",
    ),
}


def test_a_sound_solver_passes(xp):
    check_solver(Exact(), order=8, like=xp.asarray(np.zeros((0, 0))))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_and_named(name):
    spoil, words = FAULTS[name]
    with pytest.raises(AssertionError, match=words):
        check_solver(Faulty(spoil), order=16)


def test_the_message_names_the_matrix():
    with pytest.raises(AssertionError, match=r"^(symmetric|tall|wide) \w+.*, k = \d+: "):
        check_solver(Faulty(WRONG_SIGNS), order=8)
