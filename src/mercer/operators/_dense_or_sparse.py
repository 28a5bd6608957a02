"""Dense or sparse: the one place that asks."""

from typing import Any, overload

from mercer.arrays import Array
from mercer.operators._centring import Centring
from mercer.operators.rows._block_rows import BlockRows
from mercer.operators.rows._centred_blocks import CentredBlocks
from mercer.operators.rows._centred_rows import CentredRows
from mercer.operators.rows._centred_sparse import CentredSparse
from mercer.operators.rows._dense_rows import DenseRows, Rows
from mercer.operators.rows._distributed_rows import CentredParts, SpreadRows
from mercer.operators.rows._sparse_rows import SparseRows
from mercer.sources import Source, SparseSource


def rows_of(
    source: Source,
    weights: Array | None = None,
    products: Any = None,
    exponent: int | None = None,
    origin: Array | None = None,
) -> Rows:
    """Return the rows of a source about their origin. See `Rows`."""
    kind = SparseRows if isinstance(source, SparseSource) else DenseRows
    return kind(source, weights, products, exponent, origin)


@overload
def centred(rows: Rows, centring: Centring) -> CentredRows | CentredSparse: ...


@overload
def centred(rows: BlockRows, centring: Centring) -> CentredBlocks: ...


@overload
def centred(rows: SpreadRows, centring: Centring) -> CentredParts: ...


def centred(
    rows: Rows | BlockRows | SpreadRows, centring: Centring
) -> CentredRows | CentredSparse | CentredBlocks | CentredParts:
    """Return the centred data as an operator."""
    if isinstance(rows, SpreadRows):
        return CentredParts(rows, centring)
    if isinstance(rows, BlockRows):
        return CentredBlocks(rows, centring)
    if isinstance(rows, SparseRows):
        return CentredSparse(rows, centring)
    return CentredRows(rows, centring)
