"""Centred rows of a file or stream as an operator: every product is one walk."""

import hashlib
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.operators._operator import CentredOperator
from mercer.operators._rounding import Probe, probes_kept, probes_restored
from mercer.operators.rows._block_rows import BlockRows
from mercer.operators.rows._centred_rows import CentredRows
from mercer.operators.rows._centred_sparse import CentredSparse
from mercer.sources import in_memory


@final
class CentredBlocks(CentredOperator):
    """The centred data X̃ (n, p) of rows that are read block by block.

    A block X̃_c is itself an operator, and X̃ᵀX̃Q = Σ X̃_cᵀ(X̃_cQ): one walk. Products are
    summed in the order of the blocks, and kept by the journal of the rows, so that a killed
    iteration goes on where it was.

    Parameters
    ----------
    rows : BlockRows
        Rows whose moments are known.
    centring : Centring
        The mean and the column factors.
    """

    tastes = 6
    rows: BlockRows

    def _part(self, part: slice, block: Any) -> CentredRows | CentredSparse:
        from mercer.operators._dense_or_sparse import centred

        op = centred(self.rows.rows(part, block), self.centring)
        assert isinstance(op, CentredRows | CentredSparse)
        return op

    def gram_matmat(self, q: Array, /) -> Array:
        """See `Operator.gram_matmat`: one walk."""
        sums = _Products(np.zeros((self.shape[1], q.shape[1])), q, self.rows.products)

        def step(part: slice, block: Any) -> None:
            op = self._part(part, block)
            if isinstance(op, CentredRows):
                op._probes = sums.probes  # what was measured in one block serves the next
            sums.matrix += op.gram_matmat(q)
            sums.error = max(sums.error, op.product_error)

        sums.error = self.product_error
        self.rows.walk(sums, step)
        self.product_error = max(self.product_error, sums.error)
        return sums.matrix

    def taste(self, q: Array, /) -> Array:
        """See `Operator.taste`: the rows that the first walk has kept."""
        sample = self.rows.sample
        if sample is None or len(sample) <= 2 * q.shape[1]:
            return q
        from mercer.operators._dense_or_sparse import centred, rows_of

        rows = rows_of(
            in_memory(sample), None, self.rows.products, self.rows.exponent, self.rows.origin
        )
        return centred(rows, self.centring).gram_matmat(q)

    def matmat(self, v: Array, /) -> Array:
        """See `Operator.matmat`: one walk."""
        parts = list[Array]()

        def step(part: slice, block: Any) -> None:
            parts.append(self._part(part, block).matmat(v))

        self.rows.walk(None, step)
        return np.concatenate(parts)

    def dense(self) -> Array:
        """See `Operator.dense`: one walk, and nothing beside the rows themselves."""
        out = np.empty(self.shape)

        def step(part: slice, block: Any) -> None:
            rows, here = self.rows.rows(part, block), slice(0, block.shape[0])
            out[part] = rows.centred_block(here, None, self.centring)

        self.rows.walk(None, step)
        return out

    def rmatmat(self, u: Array, /) -> Array:
        """See `Operator.rmatmat`: one walk."""
        sums = _Products(np.zeros((self.shape[1], u.shape[1])), u, self.rows.products)

        def step(part: slice, block: Any) -> None:
            sums.matrix += self._part(part, block).rmatmat(u[part])

        self.rows.walk(sums, step)
        return sums.matrix


class _Products:
    """The sum of products with one block of columns, and what it was multiplied with."""

    def __init__(self, matrix: Array, factor: Array, products: np.dtype[Any]) -> None:
        self.matrix, self.error, self.products = matrix, 0.0, products
        self.probes: dict[int, Probe] = {}
        digest = hashlib.sha256(np.ascontiguousarray(factor).tobytes()).digest()
        self.factor = np.frombuffer(digest, np.uint8)

    def keep(self) -> dict[str, Array]:
        return {
            "matrix": self.matrix,
            "error": np.array([self.error]),
            "probes": probes_kept(self.probes),
            "factor": self.factor,
        }

    def restore(self, kept: dict[str, Array], *, ended: bool) -> bool:
        # The same input and options give the same columns, but for another machine's rounding.
        if "factor" not in kept or not np.array_equal(kept["factor"], self.factor):
            return False
        self.matrix[...] = kept["matrix"]
        self.error = float(kept["error"][0])
        self.probes = probes_restored(kept["probes"], self.products)
        return True
