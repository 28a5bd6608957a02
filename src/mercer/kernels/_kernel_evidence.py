"""Positive or not, by evidence: one negative direction is a proof, a sample without is none."""

import dataclasses
from typing import Any

import numpy as np

from mercer.arrays import EPS, as_numpy, eigvalsh, eps_of
from mercer.errors import InputError
from mercer.kernels._default_scales import thinned
from mercer.kernels._definiteness import Flag
from mercer.kernels._kernel_comparison import centred
from mercer.kernels._kernel_text import as_kernel
from mercer.kernels._kernel_value import Kernel, as_table
from mercer.kernels.families._user_kernels import Precomputed


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What the eigenvalues of K and HKH on a sample say.

    Parameters
    ----------
    flag : Flag
        What is known of the kernel without data.
    rows : int
        Size of the sample.
    smallest, smallest_centred : float
        The smallest eigenvalue of K and of HKH.
    rounding : float
        What rounding alone can make of zero: n·ε·max|λ|.
    negative_share : float
        Σ|λ⁻|/Σ|λ| of HKH, eigenvalues within rounding left out.
    """

    flag: Flag
    rows: int
    smallest: float
    smallest_centred: float
    rounding: float
    negative_share: float

    @property
    def not_pd(self) -> bool:
        """Whether a direction with ξᵀKξ < 0 was found: a proof that k is not pd."""
        return self.smallest < -self.rounding

    @property
    def not_cpd(self) -> bool:
        """Whether one with Σξ_i = 0 was found: a proof that k is not even cpd."""
        return self.smallest_centred < -self.rounding

    @property
    def contradicts(self) -> bool:
        """Whether the evidence disproves the flag."""
        return (self.flag is Flag.PD and (self.not_pd or self.not_cpd)) or (
            self.flag is Flag.CPD and self.not_cpd
        )

    @property
    def words(self) -> str:
        """The finding in a sentence."""
        if self.not_cpd:
            found = (
                f"not conditionally positive definite: HKH of {self.rows} rows has the "
                f"eigenvalue {self.smallest_centred:.3g}, a proof; the negative share is "
                f"{self.negative_share:.2g}"
            )
        elif self.not_pd:
            found = (
                f"not positive definite: K of {self.rows} rows has the eigenvalue "
                f"{self.smallest:.3g}, a proof; HKH has none below rounding, so kernel PCA of "
                "these rows is sound"
            )
        else:
            found = (
                f"no negative eigenvalue in {self.rows} rows; that is no proof, other rows may "
                "have one"
            )
        wrong = f", although it is flagged {self.flag.value}" if self.contradicts else ""
        return found + wrong

    def __str__(self) -> str:
        return self.words


def evidence(kernel: Kernel | str, X: Any) -> Evidence:
    """Return what the eigenvalues of K and HKH on at most 2000 rows say about positivity.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel on trial; Precomputed() takes `X` as the matrix.
    X : rows, or a square matrix with Precomputed()
        Of more than 2000 rows every few are taken.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> evidence("rbf", X).words
    'no negative eigenvalue in 50 rows; that is no proof, other rows may have one'
    >>> evidence("sigmoid(gamma=1, coef0=-1)", X).not_cpd
    True
    """
    k = as_kernel(kernel)
    if isinstance(k, Precomputed):
        matrix = _thinned_matrix(X)
    else:
        sample = thinned(as_table(X))
        matrix = k.resolve(sample).block(sample)
    computed = np.asarray(as_numpy(matrix))
    eps, whole = max(EPS, eps_of(computed.dtype)), computed.astype(np.float64, copy=False)
    if not np.isfinite(whole).all():
        raise InputError(
            "a kernel matrix with missing or infinite values has no eigenvalues",
            got=f"{int(np.count_nonzero(~np.isfinite(whole)))} such values",
            fix="look for them in X, or choose smaller parameters",
        )
    del matrix, computed
    whole = 0.5 * whole
    whole += whole.T
    values, middle = eigvalsh(whole), eigvalsh(centred(whole))
    rounding = len(whole) * eps * float(np.abs(values).max())
    real = middle[np.abs(middle) > rounding]
    total = float(np.abs(real).sum())
    share = float(-real[real < 0].sum()) / total if total > 0 else 0.0
    smallest = float(values[-1]), float(middle[-1])
    return Evidence(k.flag, len(whole), *smallest, rounding, share)


def _thinned_matrix(matrix: Any) -> Any:
    whole = Precomputed().block(as_table(matrix))
    step = max(1, -(-int(whole.shape[0]) // 2000))
    return whole[::step, ::step]
