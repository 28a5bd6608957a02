"""What a completion leaves open: draws of missing cells, and the spread of coordinates."""

from typing import Any

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.operators._completion import Completion, tiles_of
from mercer.operators._expectation import Expectation, Expected


def drawn(completion: Completion, block: Any, rng: np.random.Generator) -> Any:
    """Return rows (r, p) with their missing cells drawn, in the type they have.

    Given its observed cells o a row has the coordinates u ~ N(û, s²(s²I + W_oᵀW_o)⁻¹), and
    y = Wu + N(0, s²I) in its missing cells. Cells of one row are drawn together, so that they
    go with each other. Sparse rows keep their stored cells; those that are NaN are drawn.
    """
    if block.dtype.kind != "f":
        return block
    expectation = Expectation(completion)
    out: Any = block.copy() if is_sparse(block) else np.array(block)
    cells: Any = out.data if is_sparse(out) else out
    for part in tiles_of(block):
        found = expectation.of(block[part], every=True)
        if not found.count:
            continue
        rows = expectation.back(_open_rows(expectation, found, rng))
        if is_sparse(out):
            here = slice(out.indptr[part.start], out.indptr[part.stop])
            lengths = np.diff(out.indptr[part.start : part.stop + 1])
            at = np.repeat(np.arange(len(lengths)), lengths), out.indices[here]
            gaps = np.isnan(cells[here])
            cells[here] = np.where(gaps, rows[at], cells[here])
        else:
            np.copyto(cells[part], rows, where=found.missing, casting="unsafe")
    return out


def _open_rows(expectation: Expectation, found: Expected, rng: np.random.Generator) -> Array:
    """Return y (r, p) whose missing cells are draws."""
    u = found.coordinates
    if expectation.width:
        noise = rng.standard_normal(u.shape)
        u = u + np.sqrt(expectation.ridge) * np.einsum("abr,br->ar", found.roots, noise)
    rows = u.T @ expectation.loadings.T
    rows[found.missing] += np.sqrt(expectation.noise) * rng.standard_normal(
        int(np.count_nonzero(found.missing))
    )
    return rows


def projected(completion: Completion, block: Any, axes: Array) -> tuple[Array, Array]:
    """Return the expected coordinates ŷA (r, q) of rows, and their variances (r, q).

    With m the missing cells of a row and a column of A, the variance is
    s²(Σ_m a_j² + gᵀ(s²I + W_oᵀW_o)⁻¹g), g = Σ_m a_j w_j; complete rows have none. Both are
    in the unit of the completion.

    Parameters
    ----------
    completion : Completion
        The model of the rows.
    block : array or CSR matrix of shape (r, p)
        Rows with NaN where a cell is missing.
    axes : ndarray of shape (p, q)
        A, in the scale in which the completion analyses the rows.
    """
    expectation = Expectation(completion)
    n, q = block.shape[0], axes.shape[1]
    scores, variances = np.empty((n, q)), np.zeros((n, q))
    k, squares = expectation.width, axes**2
    products = (axes[:, :, None] * expectation.loadings[:, None, :]).reshape(len(axes), q * k)
    for part in tiles_of(block):
        found = expectation.of(block[part], every=True)
        scores[part] = found.rows @ axes
        if not found.count:
            continue
        gaps = found.missing.astype(np.float64)
        own = expectation.noise * (gaps @ squares)
        if k:
            turned = np.einsum("bar,rqb->raq", found.roots, (gaps @ products).reshape(-1, q, k))
            own += expectation.ridge * np.einsum("raq,raq->rq", turned, turned)
        variances[part] = own
    return scores, variances
