"""The loops over stored cells, as Python runs them: machine code is held to the same."""

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.operators.sparse._sparse_gram import add_cell_pairs, add_columns


def rows(n, p, share, seed):
    """Return a table, its cells as the loops take them, and weights."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, p)) < share, rng.standard_normal((n, p)), 0.0)
    csr = scipy.sparse.csr_array(table)
    ends, columns = csr.indptr.astype(np.uint32), csr.indices.astype(np.uint32)
    return table, (ends, columns, csr.data), rng.random(n)


@given(
    n=st.integers(1, 8),
    p=st.integers(1, 9),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    width=st.integers(1, 9),
    skipped=st.integers(0, 2),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_strips_of_pairs_make_up_the_upper_triangle(n, p, share, width, skipped, seed):
    table, cells, weights = rows(n, p, share, seed)
    ends = cells[0]
    total, at = np.zeros((p, p)), ends[:-1].astype(np.uint64)
    lows = range(width * skipped, p, width)  # strips before belong to another lane
    for low in lows:
        add_cell_pairs(*cells, weights, np.uint64(low), np.uint64(low + width), at, total)
    expected = np.triu((table * weights[:, None]).T @ table)
    expected[: min(p, width * skipped)] = 0.0
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-14)
    if len(lows):
        np.testing.assert_array_equal(at, ends[1:])


def test_sums_of_columns():
    table, cells, weights = rows(20, 6, 0.5, 0)
    sums = np.ones((3, 6))
    add_columns(*cells, weights, sums)
    expected = [weights @ (table != 0), weights @ table, weights @ table**2]
    np.testing.assert_allclose(sums - 1, expected, rtol=1e-12, atol=1e-14)
