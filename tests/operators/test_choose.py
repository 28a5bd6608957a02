import numpy as np
import pytest
import scipy.sparse

from mercer.operators import (
    CentredRows,
    CentredSparse,
    Centring,
    DenseRows,
    SparseRows,
    centred,
    rows_of,
)
from mercer.sources import scan


@pytest.mark.parametrize(
    ("make", "rows_kind", "centred_kind"),
    [(np.asarray, DenseRows, CentredRows), (scipy.sparse.csr_array, SparseRows, CentredSparse)],
)
def test_dense_and_sparse_find_their_classes(rng, make, rows_kind, centred_kind):
    rows = rows_of(scan(make(rng.standard_normal((6, 3)))))
    assert isinstance(rows, rows_kind)
    op = centred(rows, Centring(rows.origin, rows.moments().offset, rows.exponent))
    assert isinstance(op, centred_kind)
    np.testing.assert_allclose(op.dense().sum(axis=0), 0, rtol=0, atol=1e-14)
