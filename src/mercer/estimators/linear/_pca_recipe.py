"""What PCA asks of a path, in numbers, and what a path learns beside the pairs."""

import dataclasses
from numbers import Integral
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.estimators.walk._parameters import as_numbers, no_numbers, refuse_truth
from mercer.operators import Centring, Journal, Scaling


@dataclasses.dataclass(frozen=True)
class PCARecipe:
    """What the estimator asks of a path, in numbers."""

    components: int
    tol: float
    seed: int
    standardize: bool
    root_feature_weight: Array | None
    block_bytes: float = 0.0  # of rows that are read block by block
    journal: Journal | None = None  # where their sums are kept
    counts: bool = False  # whether it is asked how many components there are
    groups: Array | None = None  # which rows belong together
    whole: bool = False  # whether every rule is to be answered, and so all pairs found

    @property
    def halved(self) -> bool:
        """Whether two halves of the rows are to be compared."""
        return self.counts and self.whole

    @property
    def scaling(self) -> Scaling:
        """What columns are multiplied by."""
        return Scaling(self.standardize, self.root_feature_weight)

    def factor_of(self, variances: Array, step: Array, start: int = 0) -> Array | None:
        """See `Scaling.factor_of`."""
        return self.scaling.factor_of(variances, step, start)


def asked_axes(wanted: int | float | str | None, shape: tuple[int, int]) -> int:
    """Return how many axes of a table (n, p) are asked for: all but where a number is given."""
    n, p = shape
    refuse_truth(wanted, 'pass a whole number, a share such as 0.95, "mle" or None')
    if not isinstance(wanted, Integral):
        return min(n, p)
    if wanted > min(n, p):
        raise InputError(
            f"n_components={wanted} must be between 1 and min(n_samples, n_features)="
            f"{min(n, p)}",
            got=f"n_components={wanted}, X of "
            + (f"{p} columns" if wanted > p else f"shape {shape}"),
            fix=f"ask for at most {min(n, p)} components",
        )
    return int(wanted)


def root_feature_weight(weights: Array | None, p: int) -> Array | None:
    """Return √weights (p,), or None."""
    if weights is None:
        return None
    found = as_numbers(weights)
    if found is None or found.shape != (p,) or not np.all((found > 1e-100) & (found < 1e100)):
        raise InputError(
            "feature_weight must hold one positive number, 1e-100 to 1e100, per column",
            got=_told(weights, found, p),
            fix=f"pass {p} positive numbers; drop the columns that should not count",
        )
    return np.sqrt(found)


def _told(weights: Array | None, found: Array | None, p: int) -> str:
    """Return the weights in words: all of a few, else their shape or the first odd one."""
    if found is None:
        odd = no_numbers(weights)
        return f"{odd[0][1]!r:.40} at column {odd[0][0]}" if odd else type(weights).__name__
    if found.size <= 8:
        return f"{found.tolist()}"
    if found.shape != (p,):
        return f"an array of shape {found.shape}"
    j = int(np.flatnonzero(~((found > 1e-100) & (found < 1e100)))[0])
    return f"{found[j]} at column {j}"


@dataclasses.dataclass(frozen=True)
class Found:
    """What a path learns beside the pairs.

    Attributes
    ----------
    centring : Centring
        Mean and factors, kept for new rows.
    total : float
        Σw, the number of rows.
    trace : float
        Sum of all eigenvalues of X̃ᵀX̃, in units of 4^exponent.
    storage : float
        Eigenvalue that the rounding of the stored data alone would give, same units.
    possible_rank : int
        Number of axes that could have variance: columns that vary, rows that count, less one.
    hidden : int
        Columns that vary, but so little beside the first axis that its sums hide them.
    columns : Array of shape (p,) or None
        Variances of the columns as they are analysed, in units of 4^exponent.
    counted : Counting or None
        How many components there are, where that was asked.
    settled : dict
        What the estimator has settled from all this.
    """

    centring: Centring
    total: float
    trace: float
    storage: float
    possible_rank: int
    hidden: int = 0
    columns: Array | None = None
    counted: Any = None
    settled: dict[str, Any] = dataclasses.field(default_factory=dict)


def decade(value: float, unit: int) -> int:
    """Return the power of ten of value·4^unit."""
    return int(np.log10(value) + 2 * unit * np.log10(2)) if value > 0 else 0
