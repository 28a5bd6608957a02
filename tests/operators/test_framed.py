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


SHAPES = [(60, 9), (9, 60), (2, 3), (900, 40)]
FORMS = [(s, kind, "C") for s in SHAPES for kind in ("float64", "int32", "csr", "csr int64")]
FORMS += [(s, kind, "F") for s in (*SHAPES[:2], (2500, 450)) for kind in ("float64", "int32")]


@pytest.mark.parametrize(("shape", "kind", "order"), FORMS, ids=str)
def test_it_is_the_matrix_of_its_formula(rng, shape, kind, order):
    table = rng.poisson(1.0, shape)
    wanted = np.float64 if kind in ("float64", "csr") else np.dtype(kind.removeprefix("csr "))
    table = table.astype(wanted)
    sparse = kind.startswith("csr")
    table = scipy.sparse.csr_array(table) if sparse else np.asarray(table, order=order)
    op, exact = make(rng, table)
    few = slice(0, 2)
    held = (op.stored(few).data, table.data) if sparse else (op.stored(few), table)
    assert np.shares_memory(*held) or kind not in ("float64", "csr")
    if not sparse:
        assert op.order == order
        assert order == "C" or op.block(slice(0, shape[0])).flags.f_contiguous
    np.testing.assert_allclose(op.half(few) * op.right, exact[few], rtol=1e-13, atol=1e-13)
    check_operator(op, exact)
    check_operator(op.T, exact.T)
    check_operator(op.T.T, exact)
    np.testing.assert_allclose(op.gram(), exact.T @ exact, rtol=1e-11, atol=1e-9)
    if shape[0] < 100:
        np.testing.assert_allclose(op.T.gram(), exact @ exact.T, rtol=1e-11, atol=1e-9)


def test_the_gram_matrix_loses_nothing_to_the_level(rng):
    # T is its level but for 1e-9: AᵀA formed as TᵀT - … would have no digits left.
    level, profile = np.ones(400), rng.uniform(1, 2, 6)
    small = rng.standard_normal((400, 6)) * 1e-9
    frame = {"left": level, "right": np.ones(6), "level": level, "profile": profile}
    op = Framed(profile + small, **frame)
    exact = (profile + small) - profile
    np.testing.assert_allclose(op.gram(), exact.T @ exact, rtol=1e-9, atol=0)
    square = np.eye(6)
    assert Framed(small, **frame, counted=lambda: square).gram() is square  # which is quicker


def test_the_start_is_tasted_from_some_of_the_rows(rng):
    csr = scipy.sparse.random_array((70_000, 30), density=0.1, random_state=rng, format="csr")
    op, exact = make(rng, csr)
    assert len(op.tiles) >= 16
    check_operator(op, exact)
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
