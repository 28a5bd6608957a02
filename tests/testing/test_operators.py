import numpy as np
import pytest

from mercer.operators import Dense, Operator
from mercer.testing import check_operator

A = np.random.default_rng(1).standard_normal((7, 4))


class Sound(Operator):
    """An operator without a fault; each subclass below has one."""

    def __init__(self, a=A):
        self.a, self.shape, self.like = a, a.shape, a[:0, :0]

    def matmat(self, v):
        return self.a @ v

    def rmatmat(self, u):
        return self.a.T @ u


class WrongTranspose(Sound):
    def rmatmat(self, u):
        return 1.001 * self.a.T @ u


class WrongGram(Sound):
    def gram_matmat(self, q):
        return 1.0001 * self.a.T @ (self.a @ q)


class NotLinear(Sound):
    def matmat(self, v):
        return np.abs(self.a @ v)


class Affine(Sound):
    def matmat(self, v):
        return self.a @ v + 1e-6


class Mixing(Sound):
    def matmat(self, v):
        return self.a @ v + (
            1e-3 * np.sum(self.a @ v, axis=1, keepdims=True) if v.shape[1] == 3 else 0
        )


class Float32(Sound):
    def matmat(self, v):
        return (self.a @ v).astype(np.float32)


class WrongShape(Sound):
    def matmat(self, v):
        return (self.a @ v)[:-1]


class Writing(Sound):
    def matmat(self, v):
        found = self.a @ v
        v *= 1 + 1e-13
        return found


class Moody(Sound):
    calls = 0

    def matmat(self, v):
        self.calls += 1
        return self.a @ v * (1 + 1e-15 * (self.calls % 2))


class WrongDense(Sound):
    def dense(self):
        return self.a + 1e-9


class WrongTriangle(Sound):
    def triangle(self):
        return 1.001 * np.linalg.qr(self.a, mode="r")


class LongTriangle(Sound):
    def triangle(self):
        return self.a


class NotSymmetric(Sound):
    symmetric = True

    def __init__(self):
        super().__init__(np.triu(np.ones((4, 4))))


class WrongTrace(Sound):
    @property
    def trace(self):
        return 1.0


class WrongT(Sound):
    @property
    def T(self):  # noqa: N802
        return Dense(2 * self.a.T)


class WrongTShape(Sound):
    @property
    def T(self):  # noqa: N802
        return Dense(self.a)


FAULTS = [
    (WrongTranspose, "rmatmat is not the product"),
    (WrongGram, "gram_matmat is not"),
    (NotLinear, "matmat is not the product|dot test|not linear"),
    (Affine, "matmat is not"),
    (Mixing, "matmat|dot test|columns"),
    (Float32, "not float64"),
    (WrongShape, "shape"),
    (Writing, "wrote into its argument"),
    (Moody, "two identical calls differ"),
    (WrongDense, "dense is not A"),
    (WrongTriangle, "triangle: RᵀR"),
    (LongTriangle, "triangle: 7 rows"),
    (NotSymmetric, "symmetric is set"),
    (WrongTrace, "trace is"),
    (WrongT, "T is not the transpose"),
    (WrongTShape, "T: shape"),
]


def test_a_sound_operator_passes(xp):
    check_operator(Sound(xp.asarray(A)), A)
    check_operator(Sound(xp.asarray(A)))


@pytest.mark.parametrize(("kind", "words"), FAULTS)
def test_each_fault_is_found_and_named(kind, words):
    op = kind()
    with pytest.raises(AssertionError, match=words):
        check_operator(op, op.a)


def test_faults_are_found_without_the_matrix():
    for kind in (WrongTranspose, WrongGram, NotLinear, WrongTriangle, Moody):
        with pytest.raises(AssertionError):
            check_operator(kind())


def test_a_matrix_of_another_shape():
    with pytest.raises(AssertionError, match="shape is"):
        check_operator(Sound(), A.T)


def test_the_tolerance_is_relative_to_the_size():
    for scale in (1e-50, 1.0, 1e50):
        check_operator(Sound(scale * A), scale * A)
        with pytest.raises(AssertionError):
            check_operator(Sound(scale * A), scale * A * (1 + 1e-9))
        check_operator(Sound(scale * A), scale * A * (1 + 1e-9), rtol=1e-8)
