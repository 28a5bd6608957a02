import itertools

import numpy as np
import pytest

from mercer.operators import Dense, Operator
from mercer.testing import check_operator

A = np.random.default_rng(1).standard_normal((7, 4))


class Sound(Operator):
    """An operator without a fault."""

    def __init__(self, a=A):
        self.a, self.shape, self.like = a, a.shape, a[:0, :0]

    def matmat(self, v):
        return self.a @ v

    def rmatmat(self, u):
        return self.a.T @ u


def writing(self, v):
    found = self.a @ v
    v *= 1 + 1e-13
    return found


def mixing(self, v):
    found = self.a @ v
    return found + (1e-3 * np.sum(found, axis=1, keepdims=True) if v.shape[1] == 3 else 0)


CALLS = itertools.count()
# The method that is wrong, what it does, and what must be said.
FAULTS = {
    "transpose": ("rmatmat", lambda op, u: 1.001 * op.a.T @ u, "rmatmat is not the product"),
    "gram": (
        "gram_matmat",
        lambda op, q: 1.0001 * op.a.T @ (op.a @ q),
        "gram_matmat is not",
    ),
    "not linear": (
        "matmat",
        lambda op, v: np.abs(op.a @ v),
        "matmat is not the product|dot test|not linear",
    ),
    "affine": ("matmat", lambda op, v: op.a @ v + 1e-6, "matmat is not"),
    "mixing": ("matmat", mixing, "matmat|dot test|columns"),
    "float32": ("matmat", lambda op, v: (op.a @ v).astype(np.float32), "not float64"),
    "shape": ("matmat", lambda op, v: (op.a @ v)[:-1], "shape"),
    "writing": ("matmat", writing, "wrote into its argument"),
    "moody": (
        "matmat",
        lambda op, v: op.a @ v * (1 + 1e-15 * (next(CALLS) % 2)),
        "two identical calls differ",
    ),
    "dense": ("dense", lambda op: op.a + 1e-9, "dense is not A"),
    "triangle": (
        "triangle",
        lambda op: 1.001 * np.linalg.qr(op.a, mode="r"),
        "triangle: RᵀR",
    ),
    "long triangle": ("triangle", lambda op: op.a, "triangle: 7 rows"),
    "not symmetric": ("symmetric", True, "symmetric is set"),
    "trace": ("trace", property(lambda _: 1.0), "trace is"),
    "T": ("T", property(lambda op: Dense(2 * op.a.T)), "T is not the transpose"),
    "shape of T": ("T", property(lambda op: Dense(op.a)), "T: shape"),
}


def faulty(name):
    """Return an operator that is sound but for one method."""
    method, wrong, _ = FAULTS[name]
    kind = type("Faulty", (Sound,), {method: wrong})
    return kind(np.triu(np.ones((4, 4)))) if name == "not symmetric" else kind()


def test_a_sound_operator_passes(xp):
    check_operator(Sound(xp.asarray(A)), A)
    check_operator(Sound(xp.asarray(A)))


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_and_named(name):
    op = faulty(name)
    with pytest.raises(AssertionError, match=FAULTS[name][2]):
        check_operator(op, op.a)


def test_faults_are_found_without_the_matrix():
    for name in ("transpose", "gram", "not linear", "triangle", "moody"):
        with pytest.raises(AssertionError):
            check_operator(faulty(name))


def test_a_matrix_of_another_shape():
    with pytest.raises(AssertionError, match="shape is"):
        check_operator(Sound(), A.T)


def test_the_tolerance_is_relative_to_the_size():
    for scale in (1e-50, 1.0, 1e50):
        check_operator(Sound(scale * A), scale * A)
        with pytest.raises(AssertionError):
            check_operator(Sound(scale * A), scale * A * (1 + 1e-9))
        check_operator(Sound(scale * A), scale * A * (1 + 1e-9), rtol=1e-8)
