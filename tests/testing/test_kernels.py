import dataclasses

import numpy as np
import pytest
from scipy import sparse

from mercer.arrays import Measure
from mercer.kernels import RBF, FeatureMap, Flag, Function, Isotropic, Kernel, Linear
from mercer.testing import check_kernel

X = np.random.default_rng(3).standard_normal((40, 3))


@dataclasses.dataclass(frozen=True, repr=False)
class Sound(Kernel):
    """A kernel without a fault; each subclass below has one."""

    weight: float = 2.0

    @property
    def flag(self):
        return Flag.PD

    def _formula(self):
        return self.weight * Measure("dot")


class Writing(Sound):
    def block(self, x, y=None):
        found = super().block(x, y)
        if x.flags.writeable:
            x *= 1 + 1e-15
        return found


class WrongDiag(Sound):
    def diag(self, x):
        return super().diag(x) + 1e-6


class WrongShape(Sound):
    def block(self, x, y=None):
        return super().block(x, y)[:-1]


class NotFinite(Sound):
    def block(self, x, y=None):
        return super().block(x, y) * np.inf


class NotSymmetric(Sound):
    def block(self, x, y=None):
        return super().block(x, y) + np.arange(len(x))[:, None]


class Positional(Sound):
    def block(self, x, y=None):
        i = np.arange(len(x))
        j = i if y is None else np.arange(len(y))
        return super().block(x, y) + 1e-3 * np.cos(np.subtract.outer(i, j))


class OtherTiles(Sound):
    def block(self, x, y=None):
        return 1.001 * super().block(x, y)


class OtherNewRows(Sound):
    def block(self, x, y=None):
        return super().block(x, y) * (1.0 if y is None else 1.001)


class Narrow(Sound):
    def block(self, x, y=None):
        return super().block(x, y).astype(np.float32)


class Boasting(Isotropic):
    claim = Flag.PD

    def of_distance(self, d):
        return (-(d**4)).exp()


class BoastingConditionally(Isotropic):
    claim = Flag.CPD

    def of_distance(self, d):
        return d


class WrongFeatures(Sound):
    def features(self, p):
        return FeatureMap(lambda rows: rows)


class WrongCount(Sound):
    def features(self, p):
        return FeatureMap(lambda rows: 2**0.5 * rows, width=7)


class Restless(Sound):
    def resolve(self, sample):
        return dataclasses.replace(self, weight=self.weight + 1)


class NeverReady(Sound):
    @property
    def resolved(self):
        return False


class Forgetful(Sound):
    def with_params(self, **params):
        return dataclasses.replace(self, weight=9.0)


class Mumbling(Sound):
    def written(self, short):
        return "Linear()"


class Fickle(Isotropic):
    @property
    def flag(self):
        return Flag.PD if self.resolved else Flag.UNKNOWN

    def of_distance(self, d):
        return (-d).exp()


class Moody(Sound):
    def block(self, x, y=None):
        found = super().block(x, y)
        found[0, 0] *= 1 + 1e-15 * next(CALLS)
        return found


CALLS = iter(range(1000))

FAULTS = [
    (Writing(), "wrote into X"),
    (WrongDiag(), "diag is not the diagonal"),
    (WrongShape(), "block: shape"),
    (NotFinite(), "not every value is finite"),
    (NotSymmetric(), "not symmetric"),
    (Positional(), "rows in another order"),
    (OtherTiles(), "a tile is not that part"),
    (OtherNewRows(), "new rows"),
    (Narrow(), "is float32, not|tile"),
    (Boasting(1.0), "flagged pd, but K has the eigenvalue -"),
    (BoastingConditionally(1.0), "flagged cpd, but HKH has the eigenvalue -"),
    (WrongFeatures(), "φ\\(X\\)φ\\(X\\)ᵀ is not K"),
    (WrongCount(), "features: 3, promised 7"),
    (Restless(), "resolve changes"),
    (NeverReady(), "not resolved|numbers for parameters"),
    (Forgetful(), "with_params"),
    (Mumbling(), "repr is not read back"),
    (Fickle(), "before resolve"),
    (Moody(), "two identical calls differ"),
]


@pytest.mark.parametrize(("kernel", "words"), FAULTS, ids=lambda v: type(v).__name__)
def test_each_fault_is_found_and_named(kernel, words):
    with pytest.raises((AssertionError, ValueError), match=words):
        check_kernel(kernel, X.copy())


def test_a_sound_kernel_passes(xp):
    check_kernel(Sound(), X)
    check_kernel(Sound(), xp.asarray(X))
    check_kernel(RBF() + 2.0 * Linear(), xp.asarray(X.astype(np.float32)))
    check_kernel(Sound(), sparse.csr_array(X))
    check_kernel(Function(lambda x, y: x @ y.T), X)


def test_one_row_and_two_rows():
    for n in (1, 2):
        check_kernel(Sound(), X[:n])
        check_kernel(RBF(1.0), X[:n])


def test_a_tolerance_can_be_given():
    check_kernel(WrongDiag(), X.copy(), rtol=1e-5)
