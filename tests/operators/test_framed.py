import numpy as np
import pytest
import scipy.sparse

from mercer.operators import Framed
from mercer.testing import check_operator


def make(rng, table):
    m, n = table.shape
    frame = {
        "left": rng.uniform(0.5, 2, m),
        "right": rng.uniform(0.5, 2, n),
        "level": rng.random(m),
        "profile": rng.random(n),
    }
    plain = table.toarray() if scipy.sparse.issparse(table) else table
    exact = plain - np.outer(frame["level"], frame["profile"])
    return Framed(table, **frame), frame["left"][:, None] * exact * frame["right"]


@pytest.mark.parametrize("shape", [(60, 9), (9, 60), (2, 3), (900, 40)])
@pytest.mark.parametrize("kind", ["float64", "int32", "csr", "csr int64"])
def test_it_is_the_matrix_of_its_formula(rng, shape, kind):
    table = rng.poisson(1.0, shape)
    wanted = np.float64 if kind in ("float64", "csr") else np.dtype(kind.removeprefix("csr "))
    table = table.astype(wanted)
    table = scipy.sparse.csr_array(table) if kind.startswith("csr") else table
    op, exact = make(rng, table)
    check_operator(op, exact)
    check_operator(op.T, exact.T)
    check_operator(op.T.T, exact)
    np.testing.assert_allclose(op.gram(), exact.T @ exact, rtol=1e-11, atol=1e-9)
    if shape[0] < 100:
        np.testing.assert_allclose(op.T.gram(), exact @ exact.T, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 9), (2500, 450), (9, 60)])
def test_columns_that_lie_one_after_another_give_the_same(rng, shape):
    table = rng.poisson(1.0, shape)
    op, exact = make(rng, np.asfortranarray(table))
    assert (op.order, op.block(slice(0, shape[0])).flags.f_contiguous) == ("F", True)
    check_operator(op, exact)
    check_operator(op.T, exact.T)
    np.testing.assert_allclose(op.gram(), exact.T @ exact, rtol=1e-11, atol=1e-9)
    few = slice(1, 8)
    np.testing.assert_allclose(op.half(few) * op.right, exact[few], rtol=1e-13, atol=1e-13)


def test_many_blocks_and_lanes(rng):
    csr = scipy.sparse.random_array((30_000, 100), density=0.1, random_state=rng, format="csr")
    op, exact = make(rng, csr)
    assert len(op.tiles) > 2
    check_operator(op, exact)


def test_the_gram_matrix_loses_nothing_to_the_level(rng):
    # T is its level but for 1e-9: AᵀA formed as TᵀT - … would have no digits left.
    level, profile = np.ones(400), rng.uniform(1, 2, 6)
    small = rng.standard_normal((400, 6)) * 1e-9
    op = Framed(
        profile + small, left=np.ones(400), right=np.ones(6), level=level, profile=profile
    )
    exact = (profile + small) - profile
    np.testing.assert_allclose(op.gram(), exact.T @ exact, rtol=1e-9, atol=0)


def test_a_quicker_square_is_taken(rng):
    table = rng.random((6, 3))
    ones, means = np.ones(6), table.mean(axis=0)
    square = np.eye(3)
    op = Framed(
        table,
        left=ones,
        right=np.ones(3),
        level=ones,
        profile=means,
        counted=lambda: square,
    )
    assert op.gram() is square


def test_the_start_is_tasted_from_some_of_the_rows(rng):
    csr = scipy.sparse.random_array((70_000, 30), density=0.1, random_state=rng, format="csr")
    op, exact = make(rng, csr)
    assert len(op.tiles) >= 16
    q = rng.standard_normal((30, 3))
    chosen = np.concatenate(
        [np.arange(70_000)[op.tiles[i]] for i in range(0, len(op.tiles), 8)]
    )
    part = exact[chosen]
    np.testing.assert_allclose(op.taste(q), part.T @ (part @ q), rtol=1e-9, atol=1e-9)
    small, _ = make(rng, csr[:50])
    assert small.taste(q) is q


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_nothing_at_all(shape, rng):
    op, _ = make(rng, np.zeros(shape))
    assert op.dense().shape == shape
    assert not op.gram_matmat(np.ones((shape[1], 2))).any()
    assert op.matmat(np.ones((shape[1], 2))).shape == (shape[0], 2)
    assert op.gram().shape == (shape[1], shape[1])
    assert op.T.gram().shape == (shape[0], shape[0])


def test_rows_that_are_tables_of_their_own_are_not_copied(rng):
    table = rng.random((300, 5))
    op, _ = make(rng, table)
    assert np.shares_memory(op.stored(slice(10, 20)), table)
    csr = scipy.sparse.csr_array(table)
    op, _ = make(rng, csr)
    assert np.shares_memory(op.stored(slice(10, 20)).data, csr.data)
