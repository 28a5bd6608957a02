import dataclasses

import numpy as np
import pytest

from mercer.solvers import Exact, Outcome, Solver
from mercer.testing import check_solver


class Faulty(Solver):
    """Exact, with one thing wrong."""

    def solve(self, op, goal):
        found = Exact().solve(op, goal)
        return self.spoil(found, goal)

    def spoil(self, found, goal):
        raise NotImplementedError


def certified(found, **changes):
    return dataclasses.replace(
        found, certificate=dataclasses.replace(found.certificate, **changes)
    )


class TooNarrow(Faulty):
    def spoil(self, found, goal):
        c = found.certificate
        return certified(found, lower=found.values, upper=found.values, residual=c.residual)


class Biased(Faulty):
    def spoil(self, found, goal):
        shift = 1e-9 * max(1.0, float(found.values[0]))
        c = found.certificate
        return certified(found, lower=c.lower + shift, upper=c.upper + shift)


class NoResidual(Faulty):
    def spoil(self, found, goal):
        return certified(found, residual=np.zeros(goal.components))


class NoAngles(Faulty):
    def spoil(self, found, goal):
        return certified(found, sine=np.zeros(goal.components))


class Oblique(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, right=found.right * (1 + 1e-9))


class Upwards(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, values=found.values[::-1], right=found.right[:, ::-1])


class OtherSigns(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, right=-found.right)


class TooFew(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, values=found.values[:-1])


class Float32(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, values=found.values.astype(np.float32))


class NoGroups(Faulty):
    def spoil(self, found, goal):
        return certified(found, groups=())


class Boasting(Faulty):
    def spoil(self, found, goal):
        c = found.certificate
        wide = certified(found, lower=0 * c.lower, upper=2 * c.upper + 1)
        return certified(wide, converged=np.ones(goal.components, bool))


class Contradicting(Faulty):
    def spoil(self, found, goal):
        return dataclasses.replace(found, outcome=Outcome.BUDGET)


class Modest(Faulty):
    def spoil(self, found, goal):
        never = np.zeros(goal.components, bool)
        return dataclasses.replace(certified(found, converged=never), outcome=Outcome.BUDGET)


class Moody(Faulty):
    def __init__(self):
        self.calls = 0

    def spoil(self, found, goal):
        self.calls += 1
        wobble = 1 + 1e-15 * (self.calls % 2)
        return dataclasses.replace(found, values=found.values * wobble)


FAULTS = [
    (TooNarrow, "outside"),
    (Biased, "outside"),
    (NoResidual, "residual"),
    (NoAngles, "is off by"),
    (Oblique, "not orthonormal"),
    (Upwards, "do not descend"),
    (OtherSigns, "largest modulus"),
    (TooFew, "pairs wanted"),
    (Float32, "not float64"),
    (NoGroups, "no group"),
    (Boasting, "wider than tol"),
    (Contradicting, "outcome"),
    (Modest, "easy spectrum"),
    (Moody, "two identical calls differ"),
]


def test_a_sound_solver_passes(xp):
    check_solver(Exact(), order=8, like=xp.asarray(np.zeros((0, 0))))


@pytest.mark.parametrize(("kind", "words"), FAULTS)
def test_each_fault_is_found_and_named(kind, words):
    with pytest.raises(AssertionError, match=words):
        check_solver(kind(), order=16)


def test_the_message_names_the_matrix():
    with pytest.raises(AssertionError, match=r"^(symmetric|tall|wide) \w+.*, k = \d+: "):
        check_solver(OtherSigns(), order=8)
