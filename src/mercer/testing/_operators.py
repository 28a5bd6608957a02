"""check_operator: the laws of a matrix that is known only by its products."""

from typing import Any

import numpy as np

from mercer.arrays import Array, as_numpy, asarray_like, gaussian, namespace
from mercer.operators import Operator

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
_WIDTH = 3  # columns of a test block


def check_operator(
    op: Operator, dense: Any = None, *, rtol: float = 1e-12, seed: int = 0
) -> None:
    """Check that `op` is one linear map A, however it is asked.

    The laws: the dot test ⟨AV, U⟩ = ⟨V, AᵀU⟩; A(αV + βW) = αAV + βAW; a block is its columns
    one by one; `gram_matmat` is Aᵀ(AV); `dense` is A·I; the triangle has RᵀR = AᵀA; `trace`
    and `T`, where there are any, belong to the same A; `symmetric` says the truth; results
    are float64; arguments are not written to; the same call gives the same bits.

    Parameters
    ----------
    op : Operator
        The operator on trial, of shape (m, n).
    dense : array of shape (m, n) or None
        The matrix it should be. None takes A·I, so that only consistency is checked.
    rtol : float
        Largest error of a product, relative to ‖A‖_F·‖V‖; 1e-5 suits float32 products.
    seed : int
        Start of the random blocks.

    Raises
    ------
    AssertionError
        When a law is broken; it names the law and the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.operators import Dense
    >>> from mercer.testing import check_operator
    >>> a = np.arange(12.0).reshape(4, 3)
    >>> check_operator(Dense(a), a)
    >>> check_operator(Dense(a), a + 1)
    Traceback (most recent call last):
    AssertionError: matmat is not the product with A: error 6.3e-02 of ‖A‖·‖V‖, allowed 1.0e-12
    """
    trial = _OperatorTrial(op, dense, rtol, seed)
    trial.products()
    trial.linear()
    trial.repeatable()
    trial.whole()
    trial.names()


class _OperatorTrial:
    """One operator, the matrix it should be, and two random blocks."""

    def __init__(self, op: Operator, dense: Any, rtol: float, seed: int) -> None:
        self.op, self.rtol = op, rtol
        m, n = op.shape
        self.v = gaussian((n, _WIDTH), op.like, seed, 0)
        self.w = gaussian((n, _WIDTH), op.like, seed, 1)
        self.u = gaussian((m, _WIDTH), op.like, seed, 2)
        eye = asarray_like(np.eye(n), op.like, namespace(self.v).float64)
        whole = op.matmat(eye) if dense is None else dense
        self.a = np.asarray(as_numpy(whole), dtype=np.float64)
        if self.a.shape != op.shape:
            raise AssertionError(f"shape is {op.shape}, the matrix has {self.a.shape}")
        self.size = float(np.linalg.norm(self.a))

    def same(self, law: str, found: Array, truth: FloatArray, scale: float) -> None:
        """Compare an array of the operator's library with the truth, and check its type."""
        if found.dtype != namespace(found).float64:
            raise AssertionError(f"{law}: the result is {found.dtype}, not float64")
        if tuple(found.shape) != truth.shape:
            raise AssertionError(f"{law}: shape {tuple(found.shape)}, expected {truth.shape}")
        wrong = float(np.linalg.norm(as_numpy(found) - truth))
        error = wrong / scale if scale > 0 else wrong
        if not error <= self.rtol:
            raise AssertionError(
                f"{law}: error {error:.1e} of ‖A‖·‖V‖, allowed {self.rtol:.1e}"
            )

    def scale(self, block: Array, power: int = 1) -> float:
        """Return ‖A‖^power·‖block‖, the size against which rounding is measured."""
        return self.size**power * float(np.linalg.norm(as_numpy(block)))

    def products(self) -> None:
        """The three products, and the dot test that ties the first two."""
        op, a = self.op, self.a
        v, u = as_numpy(self.v).copy(), as_numpy(self.u).copy()
        along, back = op.matmat(self.v), op.rmatmat(self.u)
        self.same("matmat is not the product with A", along, a @ v, self.scale(v))
        self.same("rmatmat is not the product with Aᵀ", back, a.T @ u, self.scale(u))
        gap = float(np.sum(as_numpy(along) * u) - np.sum(v * as_numpy(back)))
        size = self.size * float(np.linalg.norm(v)) * float(np.linalg.norm(u))
        if not abs(gap) <= self.rtol * size:
            raise AssertionError(f"dot test: ⟨AV, U⟩ and ⟨V, AᵀU⟩ differ by {gap:.1e}")
        law = "gram_matmat is not Aᵀ(AV)"
        self.same(law, op.gram_matmat(self.v), a.T @ (a @ v), self.scale(v, 2))
        for block, before in ((self.v, v), (self.u, u)):
            if not np.array_equal(as_numpy(block), before):
                raise AssertionError("a product wrote into its argument")

    def linear(self) -> None:
        """Sums of blocks, and blocks as single columns."""
        op = self.op
        for name in ("matmat", "gram_matmat"):
            power = 2 if name == "gram_matmat" else 1
            product = getattr(op, name)
            both = 2.0 * self.v - 0.5 * self.w
            split = 2.0 * as_numpy(product(self.v)) - 0.5 * as_numpy(product(self.w))
            scale = 3 * (self.scale(self.v, power) + self.scale(self.w, power))
            self.same(f"{name} is not linear", product(both), split, scale)
            single = [as_numpy(product(self.v[:, i : i + 1])) for i in range(_WIDTH)]
            law = f"{name} of a block is not that of its columns"
            whole = product(self.v)
            self.same(law, whole, np.concatenate(single, axis=1), self.scale(self.v, power))

    def repeatable(self) -> None:
        """The same call twice gives the same bits."""
        for name, block in (("matmat", self.v), ("rmatmat", self.u), ("gram_matmat", self.v)):
            product = getattr(self.op, name)
            if not np.array_equal(as_numpy(product(block)), as_numpy(product(block))):
                raise AssertionError(f"{name}: two identical calls differ")

    def whole(self) -> None:
        """The matrix written down, and its triangle."""
        self.same("dense is not A", self.op.dense(), self.a, self.size)
        r = self.op.triangle()
        rows = int(r.shape[0])
        if rows > self.op.shape[1]:
            raise AssertionError(f"triangle: {rows} rows, at most {self.op.shape[1]}")
        found = namespace(r).matmul(r.T, r)
        self.same("triangle: RᵀR is not AᵀA", found, self.a.T @ self.a, self.size**2)

    def names(self) -> None:
        """What the operator says of itself: symmetric, trace, transpose."""
        op, a = self.op, self.a
        if op.symmetric and not np.linalg.norm(a - a.T) <= self.rtol * self.size:
            raise AssertionError("symmetric is set, but A is not Aᵀ")
        if op.trace is not None:
            truth = float(np.trace(a)) if op.symmetric else self.size**2
            scale = self.size * np.sqrt(len(a)) if op.symmetric else self.size**2
            if not abs(op.trace - truth) <= self.rtol * scale:
                raise AssertionError(f"trace is {op.trace:.6g}, that of A is {truth:.6g}")
        if hasattr(op, "T"):
            turned = op.T
            if turned.shape != op.shape[::-1]:
                raise AssertionError(f"T: shape {turned.shape}, expected {op.shape[::-1]}")
            law = "T is not the transpose"
            truth_block = a.T @ as_numpy(self.u)
            self.same(law, turned.matmat(self.u), truth_block, self.scale(self.u))
            truth_block = a @ as_numpy(self.v)
            self.same(law, turned.rmatmat(self.v), truth_block, self.scale(self.v))
            truth_block = a @ (a.T @ as_numpy(self.u))
            gram = turned.gram_matmat(self.u)
            self.same(law, gram, truth_block, self.scale(self.u, 2))
