"""check_kernel: what every kernel must keep, whoever wrote it."""

from itertools import pairwise
from typing import Any

import numpy as np

from mercer import kernels
from mercer.arrays import (
    Array,
    Workspace,
    as_numpy,
    diagonal,
    eigvalsh,
    is_numpy,
    is_sparse,
    prepare,
    tile,
)
from mercer.kernels import Flag, Kernel

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
_MOST = 300  # rows that are looked at


def check_kernel(kernel: Kernel, X: Any, *, rtol: float | None = None) -> None:
    """Check that `kernel` is one symmetric function of two rows, and what its flag says.

    The laws: resolving twice changes nothing; K = Kᵀ; tiles of any cut make up the block;
    `diag` is its diagonal; new rows equal training rows where they are the same; a permuted
    X gives a permuted K; float32 gives float32 and float64 float64; no eigenvalue of K (pd)
    or HKH (cpd) is negative beyond rounding; φ(X)φ(X)ᵀ = K where there are features;
    `with_params` of its own parameters is the same kernel; its written form is read back; X
    is not written to; the same call gives the same bits.

    Parameters
    ----------
    kernel : Kernel
        The kernel on trial, resolved or not.
    X : rows
        Rows that the kernel is meant for; at most 300 are used.
    rtol : float or None
        Largest error relative to max|K|; None takes 64 roundings of the tiles' precision.

    Raises
    ------
    AssertionError
        When a law is broken; it names the law and the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import RBF, Linear
    >>> from mercer.testing import check_kernel
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> check_kernel(0.5 * RBF() + Linear(), X)
    """
    trial = _KernelTrial(kernel, X, rtol)
    trial.resolving()
    trial.symmetric()
    trial.tiles()
    trial.new_rows()
    trial.precision()
    trial.positive()
    trial.explicit()
    trial.values()
    trial.untouched()


class _KernelTrial:
    """One kernel, some rows, and the matrix it makes of them."""

    def __init__(self, kernel: Kernel, X: Any, rtol: float | None) -> None:
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        self.X = _first(X, min(_MOST, count))
        self.n = min(_MOST, count)
        self.given = kernel
        self.before = _copy(self.X)
        self.kernel = kernel.resolve(self.X)
        found = self.kernel.block(self.X)
        self.raw = as_numpy(found)
        self.K: FloatArray = np.asarray(self.raw, dtype=np.float64)
        if self.K.shape != (self.n, self.n):
            raise AssertionError(f"block: shape {self.K.shape} for {self.n} rows")
        if not np.isfinite(self.K).all():
            raise AssertionError("block: not every value is finite")
        self.size = float(np.abs(self.K).max()) or 1.0
        eps = 2.0**-23 if self.raw.dtype == np.float32 else 2.0**-52
        self.eps, self.rtol = eps, 64 * eps if rtol is None else rtol

    def same(self, law: str, found: Array, truth: Any) -> None:
        """Compare numbers relative to max|K|."""
        one = np.asarray(as_numpy(found), dtype=np.float64)
        if one.shape != np.shape(truth):
            raise AssertionError(f"{law}: shape {one.shape}, expected {np.shape(truth)}")
        wrong = float(np.abs(one - truth).max(initial=0.0)) / self.size
        if not wrong <= self.rtol:
            raise AssertionError(
                f"{law}: off by {wrong:.1e} of max|K|, allowed {self.rtol:.1e}"
            )

    def resolving(self) -> None:
        """A resolved kernel is settled once and for all."""
        if not self.kernel.resolved:
            raise AssertionError("resolve returned a kernel that is not resolved")
        if self.kernel.resolve(self.X) != self.kernel:
            raise AssertionError("resolve changes a kernel that is resolved")

    def symmetric(self) -> None:
        """K = Kᵀ, and rows in another order give K in that order."""
        self.same("K is not symmetric", self.K.T, self.K)
        order = np.random.default_rng(0).permutation(self.n)
        if not hasattr(self.X, "dtype"):
            rows: Any = [self.X[i] for i in order]
        elif is_numpy(self.X) or is_sparse(self.X):
            rows = self.X[order]
        else:
            return
        law = "rows in another order give another kernel"
        self.same(law, self.kernel.block(rows), self.K[np.ix_(order, order)])

    def tiles(self) -> None:
        """Any cut into tiles makes up the block, in place too, and `diag` is its diagonal."""
        program = self.kernel.program()
        side, space = prepare(program, self.X), Workspace()
        cut = [0, self.n // 3, self.n // 2, self.n]
        for top, bottom in pairwise(cut):
            for left, right in pairwise(cut):
                rows, cols = slice(top, bottom), slice(left, right)
                found = tile(program, side, side, rows, cols, space=space)
                self.same("a tile is not that part of the block", found, self.K[rows, cols])
                if is_numpy(found):
                    out = np.full(found.shape, np.nan, dtype=found.dtype)
                    tile(program, side, side, rows, cols, out, space)
                    if not np.array_equal(out, found):
                        raise AssertionError("a tile written in place has other bits")
        law = "diag is not the diagonal of the block"
        self.same(law, self.kernel.diag(self.X), np.diagonal(self.K))
        self.same(law, diagonal(program, side), np.diagonal(self.K))

    def new_rows(self) -> None:
        """k(new, training) is the same function."""
        half = self.n // 2
        some = _first(self.X, half)
        found = self.kernel.block(some, self.X)
        self.same("k(new rows, rows) is not a part of K", found, self.K[:half, :])
        found = self.kernel.block(self.X, some)
        self.same("k(rows, new rows) is not a part of K", found, self.K[:, :half])

    def precision(self) -> None:
        """float32 in, float32 out; everything else float64."""
        if not (is_numpy(self.X) and self.X.dtype.kind in "fiu"):
            return
        wanted = np.float32 if self.X.dtype == np.float32 else np.float64
        if self.raw.dtype != wanted:
            raise AssertionError(f"block of {self.X.dtype} is {self.raw.dtype}, not {wanted}")
        if as_numpy(self.kernel.diag(self.X)).dtype != np.float64:
            raise AssertionError("diag is not float64")

    def positive(self) -> None:
        """The flag against eigenvalues: a negative one is a proof that the flag is wrong."""
        flag = self.kernel.flag
        if flag is not self.given.flag:
            raise AssertionError(f"flag: {self.given.flag} before resolve, {flag} after")
        rounding = self.n * self.eps * float(np.abs(eigvalsh(self.K)).max())
        rounding += self.n * self.rtol * self.size
        if flag is Flag.PD:
            least = float(eigvalsh(0.5 * (self.K + self.K.T))[-1])
            if least < -rounding:
                raise AssertionError(f"flagged pd, but K has the eigenvalue {least:.3g}")
        if flag.centred:
            c = self.K - self.K.mean()
            c = c - c.mean(axis=0) - c.mean(axis=1)[:, None]
            least = float(eigvalsh(0.5 * (c + c.T))[-1])
            if least < -rounding:
                raise AssertionError(
                    f"flagged {flag.value}, but HKH has the eigenvalue {least:.3g}"
                )

    def explicit(self) -> None:
        """φ(X)φ(X)ᵀ = K, and as many features as promised."""
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        p = int(shape[1]) if len(shape) == 2 else 0
        features = self.kernel.features(p)
        if features is None:
            return
        phi = features.phi(self.X)
        phi = phi.toarray() if is_sparse(phi) else as_numpy(phi)
        wide = np.asarray(phi, dtype=np.float64)
        if features.count(p) not in (None, wide.shape[1]):
            raise AssertionError(f"features: {wide.shape[1]}, promised {features.count(p)}")
        self.same("features: φ(X)φ(X)ᵀ is not K", wide @ wide.T, self.K)

    def values(self) -> None:
        """Parameters and the written form give the same kernel back."""
        for k in (self.given, self.kernel):
            if k.with_params(**k.get_params(deep=False)) != k:
                raise AssertionError("with_params of its own parameters is another kernel")
            try:
                again = eval(repr(k), {**vars(kernels), type(k).__name__: type(k)})
            except (NameError, SyntaxError):  # a function of the user's has no written form
                continue
            if again != k:
                raise AssertionError(f"repr is not read back: {k!r} gives {again!r}")

    def untouched(self) -> None:
        """X is as it was, and the same call gives the same bits."""
        if is_numpy(self.X):
            if not np.array_equal(self.X, self.before):
                raise AssertionError("the kernel wrote into X")
            frozen = self.before.copy()
            frozen.flags.writeable = False
            self.same(
                "rows that are read-only give another kernel", self.kernel.block(frozen), self.K
            )
        if is_sparse(self.X) and abs(self.X - self.before).sum() > 0:
            raise AssertionError("the kernel wrote into X")
        if not np.array_equal(as_numpy(self.kernel.block(self.X)), self.raw):
            raise AssertionError("block: two identical calls differ")


def _first(X: Any, count: int) -> Any:
    return X[:count, :] if len(getattr(X, "shape", ())) == 2 else X[:count]


def _copy(X: Any) -> Any:
    return X.copy() if is_numpy(X) or is_sparse(X) else X
