import dataclasses
import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer.arrays import Measure
from mercer.kernels import RBF, FeatureMap, Flag, Function, Isotropic, Kernel, Linear
from mercer.testing import check_kernel

X = np.random.default_rng(3).standard_normal((40, 3))


@dataclasses.dataclass(frozen=True, repr=False)
class Sound(Kernel):
    """A kernel without a fault."""

    weight: float = 2.0

    @property
    def flag(self):
        return Flag.PD

    def _formula(self):
        return self.weight * Measure("dot")


def block_of(change):
    """A block that is changed: a function of the block, X and Y."""
    return {"block": lambda self, x, y=None: change(Sound.block(self, x, y), x, y)}


def written_to(found, x, _):
    if x.flags.writeable:
        x *= 1 + 1e-15
    return found


def positional(found, x, y):
    i, j = np.arange(len(x)), np.arange(len(x if y is None else y))
    return found + 1e-3 * np.cos(np.subtract.outer(i, j))


def moody(found, *_):
    found[0, 0] *= 1 + 1e-15 * next(CALLS)
    return found


CALLS = itertools.count()
WRONG_DIAG = {"diag": lambda self, x: Sound.diag(self, x) + 1e-6}
RESTLESS = {"resolve": lambda self, _: dataclasses.replace(self, weight=self.weight + 1)}
FORGETFUL = {"with_params": lambda self, **_: dataclasses.replace(self, weight=9.0)}
MANY_FEATURES = FeatureMap(lambda rows: 2**0.5 * rows, width=7)
FICKLE = property(lambda self: Flag.PD if self.resolved else Flag.UNKNOWN)
# What is wrong with a sound kernel, and what must be said.
FAULTS = {
    "writing": (block_of(written_to), "wrote into X"),
    "diag": (WRONG_DIAG, "diag is not the diagonal"),
    "shape": (block_of(lambda found, *_: found[:-1]), "block: shape"),
    "not finite": (block_of(lambda found, *_: found * np.inf), "not every value is finite"),
    "not symmetric": (
        block_of(lambda found, x, _: found + np.arange(len(x))[:, None]),
        "not symmetric",
    ),
    "positional": (block_of(positional), "rows in another order"),
    "other tiles": (block_of(lambda found, *_: 1.001 * found), "a tile is not that part"),
    "other new rows": (
        block_of(lambda found, _, y: found * (1.0 if y is None else 1.001)),
        "new rows",
    ),
    "narrow": (
        block_of(lambda found, *_: found.astype(np.float32)),
        "is float32, not|tile",
    ),
    "features": (
        {"features": lambda *_: FeatureMap(lambda rows: rows)},
        "φ\\(X\\)φ\\(X\\)ᵀ is not K",
    ),
    "count": ({"features": lambda *_: MANY_FEATURES}, "features: 3, promised 7"),
    "restless": (RESTLESS, "resolve changes"),
    "never ready": (
        {"resolved": property(lambda _: False)},
        "not resolved|numbers for parameters",
    ),
    "forgetful": (FORGETFUL, "with_params"),
    "mumbling": ({"written": lambda *_, **__: "Linear()"}, "repr is not read back"),
    "moody": (block_of(moody), "two identical calls differ"),
}
# Isotropic kernels: what they claim, their function of the distance, and what must be said.
CLAIMS = {
    "pd": (
        {"claim": Flag.PD},
        lambda d: (-(d**4)).exp(),
        "flagged pd, but K has the eigenvalue -",
    ),
    "cpd": ({"claim": Flag.CPD}, lambda d: d, "flagged cpd, but HKH has the eigenvalue -"),
    "fickle": ({"flag": FICKLE}, lambda d: (-d).exp(), "before resolve"),
}


@pytest.mark.parametrize("name", [*FAULTS, *CLAIMS])
def test_each_fault_is_found_and_named(name):
    if name in FAULTS:
        wrong, words = FAULTS[name]
        kernel = type("Faulty", (Sound,), wrong)()
    else:
        wrong, formula, words = CLAIMS[name]
        parts = wrong | {"of_distance": lambda _, d: formula(d)}
        kernel = type("Faulty", (Isotropic,), parts)(*[1.0] * (name != "fickle"))
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
    check_kernel(type("Faulty", (Sound,), WRONG_DIAG)(), X.copy(), rtol=1e-5)
