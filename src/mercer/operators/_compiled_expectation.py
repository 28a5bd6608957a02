"""What a completion expects of rows, in compiled loops where they are worth loading."""

from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from mercer.arrays import Array, can_compile, compiled
from mercer.operators._gap_loops import NEIGHBOURS, complete_rows

if TYPE_CHECKING:
    from mercer.operators._completion import Completion

_WORTH_LOADING = 4e6  # cells whose completion gains a tenth of a second
_MOST_AXES = 24  # whose products, k²/2 for every missing cell, are cheap
_TOGETHER = 8  # numbers that a processor multiplies at a time
_CACHE = 4e6  # bytes of sums that are looked up
_NOISE = 1e-6  # of the largest variance: below it, differences of products say too little


def is_worth_compiling(cells: float) -> bool:
    """Tell whether rows with so many cells are completed in compiled loops."""
    return cells >= _WORTH_LOADING and can_compile()


def cells_of(block: Array) -> Array:
    """Return rows (r, p) in the form that loops are compiled for."""
    dtype = block.dtype if block.dtype in (np.float32, np.float64) else np.float64
    cells = np.ascontiguousarray(block, dtype).view()
    cells.flags.writeable = False  # one kind of array: each is compiled for itself
    return cells


@final
class CompiledExpectation:
    """One completion made ready for compiled loops; see `Expectation`.

    Cells are read once: centred, their row solved for and filled while it is in the cache.
    All is float64 but what is written. Several threads may use it at a time.

    Parameters
    ----------
    completion : Completion
        One that `can_be_compiled`.
    """

    def __init__(self, completion: "Completion") -> None:
        loadings = completion.loadings
        p, k = loadings.shape
        one, other = np.triu_indices(k)
        used = len(one)
        pairs = np.zeros((p, -(-used // _TOGETHER) * _TOGETHER))
        pairs[:, :used] = loadings[:, one] * loadings[:, other]
        whole = pairs.sum(axis=0)
        whole[:used][one == other] += completion.noise
        centring = completion.centring
        factor = np.ones(p) if centring.factor is None else centring.factor
        across = np.ascontiguousarray(loadings.T)
        self._model = centring.mean, factor, across, _sets_of(pairs), whole
        self._loop = compiled(complete_rows)
        self._blind = bool(np.any(factor == 0))  # 0 times infinity looks like a gap

    @classmethod
    def of(cls, completion: "Completion") -> Self | None:
        """Return a completion made ready, or None where the loops would not hold it."""
        return cls(completion) if can_be_compiled(completion) else None

    def rows(self, block: Array, out: Array) -> None:
        """Write y (r, p) with its missing cells filled."""
        self._run(block, out, back=False)

    def fill(self, out: Array, block: Array) -> bool:
        """Write x (r, p) with its missing cells filled; the observed ones keep their bits.

        Tell whether a cell may be infinite.
        """
        return self._run(block, out, back=True) > 0 or self._blind

    def _run(self, block: Any, out: Array, *, back: bool) -> int:
        return self._loop(cells_of(block), *self._model, back, out)  # type: ignore[no-any-return]


def _sets_of(pairs: Array) -> Array:
    """Return the sums of rows (p, q) that `complete_rows` looks up.

    They are those of all sets of four neighbours where they are no larger than a cache.
    """
    p, q = pairs.shape
    width = NEIGHBOURS if 4 * p * q * pairs.itemsize <= _CACHE else 1
    groups = np.zeros((-(-p // width), width, q))
    groups.reshape(-1, q)[:p] = pairs
    chosen = np.arange(2**width)[:, None] >> np.arange(width) & 1
    return np.matmul(chosen.astype(np.float64), groups).reshape(-1, q)


def can_be_compiled(completion: "Completion") -> bool:
    """Tell whether the loops hold a completion: no unit, few axes, noise that is not tiny."""
    k = len(completion.values)
    if completion.centring.exponent or not 0 < k <= _MOST_AXES:
        return False
    return bool(completion.noise > _NOISE * completion.values[0])
