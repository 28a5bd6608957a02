import numpy as np
import pytest
import scipy.sparse
from count_tables import with_factors

import mercer
from mercer.errors import DataWarning, InputError
from mercer.estimators.counts._count_margins import framed, projected, warn_empty
from mercer.estimators.counts._count_table import counts
from mercer.sources import scan


def made(table, weights=None):
    return framed(counts(scan(table), None), weights)


def by_hand(table):
    P = table / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    expected = np.outer(r, c)
    root = np.sqrt(np.where(expected > 0, expected, 1))
    return (P - expected) / root, r, c


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array, np.asfortranarray])
@pytest.mark.parametrize("weighted", [False, True])
def test_operator_masses_and_inertias(kind, weighted, rng):
    table = with_factors(50, 20, 2, 3, level=1.0)
    table[7], table[:, 4] = 0, 0
    weights = rng.integers(0, 4, 50).astype(float) if weighted else None
    op, margins = made(kind(table), weights)
    exact, r, c = by_hand(table if weights is None else table * weights[:, None])
    np.testing.assert_allclose(op.dense(), exact, rtol=0, atol=1e-15)
    np.testing.assert_allclose(margins.rows, r, rtol=1e-14)
    np.testing.assert_allclose(margins.columns, c, rtol=1e-14)
    np.testing.assert_allclose(margins.row_inertias, (exact**2).sum(axis=1), rtol=0, atol=1e-15)
    np.testing.assert_allclose(
        margins.column_inertias, (exact**2).sum(axis=0), rtol=0, atol=1e-15
    )
    assert margins.inertia == pytest.approx((exact**2).sum(), rel=1e-13)


def test_threads_and_blocks_change_nothing(rng):
    table = scipy.sparse.random_array(
        (30_000, 60), density=0.05, random_state=rng, format="csr"
    )
    table.data = np.ceil(5 * table.data)
    _, sparse = made(table)
    op, dense = made(table.toarray())
    assert op.cells > 1e6
    np.testing.assert_allclose(sparse.row_inertias, dense.row_inertias, rtol=1e-9, atol=1e-16)
    np.testing.assert_allclose(sparse.column_inertias, dense.column_inertias, rtol=1e-11)


def test_independence_leaves_nothing_but_rounding(rng):
    table = np.outer(rng.integers(1, 9, 40), rng.integers(1, 9, 30))
    for given in (table, scipy.sparse.csr_array(table)):
        assert made(given)[1].inertia < 1e-12  # 1 - Σ of a full row is rounding too


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0, 0], [0, 0]], "its total is zero"),
        ([[1, 2, 3]], "n_samples = 1"),
        ([[1], [2]], "n_features = 1"),
        ([[1, 2], [0, 0]], "n_samples = 2, 1 of them empty"),
        ([[1, 0], [2, 0], [5, 0]], "n_features = 2, 1 of them empty"),
    ],
)
def test_tables_without_a_map_are_refused(table, words):
    with pytest.raises(InputError, match=words):
        made(np.array(table))


def test_empty_rows_are_named():
    kept = np.ones(9, bool)
    warn_empty(kept, None, "row")  # nothing to say
    kept[[1, 8]] = False
    with pytest.warns(DataWarning, match="2 rows have no counts.*\n.*row 'b', 'i'"):
        warn_empty(kept, list("abcdefghi"), "row")
    with pytest.warns(DataWarning, match="8 columns .*\n.*column 0, 1, 2, 3, 4 and 3 more"):
        warn_empty(np.arange(9) > 7, None, "column")


def test_projection_keeps_its_digits(rng):
    """Profiles that are all alike but for 1e-9 still have places."""
    c = rng.dirichlet(np.ones(6))
    standard = np.linalg.qr(np.column_stack([np.sqrt(c), rng.standard_normal((6, 2))]))[0]
    standard = standard[:, 1:] / np.sqrt(c)[:, None]
    small = 1e-9 * rng.standard_normal((4, 6))
    rows = 1e3 * (c + small)
    found = projected(rows, rows.sum(axis=1), c, standard)
    exact = (rows / rows.sum(axis=1, keepdims=True) - c) @ standard
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    assert not projected(np.zeros((1, 6)), np.zeros(1), c, standard).any()


def test_the_map_is_the_eigenmap_of_the_graph_of_rows_and_columns(rng):
    """Edges are counts; eigenvalues of that Laplacian are 1 - √λ, vectors standard places."""
    table = rng.poisson(6, size=(15, 9)) + 1
    ca = mercer.CorrespondenceAnalysis(3).fit(table)
    blocks = [[None, table.astype(np.float64)], [table.T.astype(np.float64), None]]
    graph = scipy.sparse.block_array(
        [[b if b is None else scipy.sparse.csr_array(b) for b in row] for row in blocks]
    ).tocsr()
    found = mercer.LaplacianEigenmaps(3, metric="precomputed").fit(graph)
    np.testing.assert_allclose(
        found.laplacian_eigenvalues_, 1 - np.sqrt(ca.eigenvalues_), rtol=0, atol=1e-10
    )
    places = np.vstack([ca.row_standard_, ca.column_standard_])
    ratio = found.embedding_ / places
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:1], ratio.shape), rtol=1e-6)
