"""Spectrum: the one form of every result. Sorting and signs are settled here, once."""

import dataclasses
import enum

import numpy as np

from mercer.arrays import Array, as_numpy, asarray_like, is_numpy, namespace
from mercer.solvers._certificate import Certificate, FloatArray

_TIE = 1e-6  # entries this close to the largest count as equal; the lowest index wins


class Outcome(enum.Enum):
    """How a solve ended, as the sentence the user reads."""

    CONVERGED = "every requested pair reached the tolerance"
    BUDGET = "stopped at the pass budget before the tolerance was certified"
    LANDMARKS = "the landmarks leave too much of the rows to certify the tolerance"
    ONE_PASS = "the directions kept of the stream leave too much to certify the tolerance"
    FLOOR = "the arithmetic of this path cannot reach the tolerance"


@dataclasses.dataclass(frozen=True, eq=False)
class Spectrum:
    """The k leading pairs, sorted and sign-fixed: no one sorts after this.

    Symmetric A: A·right = right·diag(values). Rectangular A: AᵀA·right = right·diag(values).

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, descending, float64.
    right : Array of shape (n, k)
        Orthonormal columns, float64.
    total : float or None
        Sum of all eigenvalues, where it is known.
    passes : int
        Products with A (or passes over the data) that were made.
    outcome : Outcome
        How it ended.
    certificate : Certificate
        What is proved about the values and the axes.
    squares : float or None
        Sum of the squares of all eigenvalues, where it is known.
    image : Array of shape (n, k) or None
        The products C·right, where the solver has them.
    """

    values: FloatArray
    right: Array
    total: float | None
    passes: int
    outcome: Outcome
    certificate: Certificate
    squares: float | None = None
    image: Array | None = None

    @classmethod
    def of(
        cls,
        values: Array,
        right: Array,
        certificate: Certificate,
        *,
        total: float | None,
        passes: int,
        outcome: Outcome | None = None,
        squares: float | None = None,
        image: Array | None = None,
    ) -> "Spectrum":
        """Return the spectrum with signs fixed; `values` must come in descending order."""
        found = as_numpy(values)
        assert (found[1:] <= found[:-1]).all(), "solvers hand over sorted pairs"
        if outcome is None:
            outcome = Outcome.CONVERGED if certificate.met else Outcome.FLOOR
        signs = signs_of(right)
        image = None if image is None else image * signs
        turned = right * signs
        return cls(found, turned, total, passes, outcome, certificate, squares, image)

    def judged_by(self, tol: float) -> "Spectrum":
        """Return the spectrum judged by another tolerance than the one it was made for."""
        certificate = self.certificate.judged_by(tol)
        outcome = Outcome.CONVERGED if certificate.met else self.outcome
        return dataclasses.replace(self, certificate=certificate, outcome=outcome)

    def first(self, k: int) -> "Spectrum":
        """Return the first k pairs, k at most as many as there are."""
        values, right = self.values[:k], self.right[:, :k]
        certificate = self.certificate.first(k)
        return dataclasses.replace(self, values=values, right=right, certificate=certificate)

    def padded(self, k: int) -> "Spectrum":
        """Return k pairs, those beyond the order of the operator being named zeros."""
        short = k - len(self.values)
        if short <= 0:
            return self
        xp = namespace(self.right)
        zeros = xp.zeros((self.right.shape[0], short), dtype=self.right.dtype)
        return dataclasses.replace(
            self,
            values=np.concatenate([self.values, np.zeros(short)]),
            right=xp.concat([self.right, zeros], axis=1),
            certificate=self.certificate.padded(short),
        )


def signs_of(right: Array) -> Array:
    """Return ±1 (1, k) that makes the entry of largest modulus of each column positive.

    Entries within 1e-6 of the largest count as ties, and the lowest index wins, so that
    rounding cannot turn an axis round.
    """
    xp = namespace(right)
    if right.shape[1] == 0 or right.shape[0] == 0:
        return xp.ones((1, right.shape[1]), dtype=xp.float64)
    host = as_numpy(right)
    size = np.abs(host)
    first = (size >= (1 - _TIE) * size.max(axis=0)).argmax(axis=0)
    signs = np.where(host[first, np.arange(host.shape[1])] < 0, -1.0, 1.0)[None, :]
    return signs if is_numpy(right) else asarray_like(signs, right, xp.float64)


def fix_signs(right: Array) -> Array:
    """Return the columns (n, k) turned by `signs_of`."""
    return right * signs_of(right)


def signs_of_sums(right: Array) -> Array:
    """Return ±1 (1, k) that makes the sum of each column positive, as FactoMineR has it.

    Sums that are rounding, below 1e-12 of the sum of moduli, leave the column as it is.
    """
    xp = namespace(right)
    sums = as_numpy(right).sum(axis=0)
    level = 1e-12 * np.abs(as_numpy(right)).sum(axis=0)
    return asarray_like(np.where(sums < -level, -1.0, 1.0)[None, :], right, xp.float64)
