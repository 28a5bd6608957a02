import numpy as np
import pytest
from scipy import sparse

from mercer.arrays import (
    Apply,
    Call,
    ConstantNode,
    Ends,
    Given,
    Measure,
    Through,
    Unit,
    Workspace,
    as_rows,
    diagonal,
    namespace,
    prepare,
    tile,
)
from mercer.errors import InputError, NotSupportedError

DOT, DIST = Measure("dot"), Measure("dist")


def gram(x, y):
    return x @ y.T


def first(rows):
    return as_rows(rows)[:, 0]


def doubled(rows):
    return 2.0 * as_rows(rows)


PROGRAMS = {
    "constant": (ConstantNode(3.0), lambda _x, _y: 3.0),
    "affine": (2 * DOT + 1, lambda x, y: 2 * (x @ y) + 1),
    "gaussian": ((-0.5 * DIST**2).exp(), lambda x, y: np.exp(-0.5 * np.sum((x - y) ** 2))),
    "sum": (DOT + DIST, lambda x, y: x @ y + np.linalg.norm(x - y)),
    "plus": (DOT + ConstantNode(2.0), lambda x, y: x @ y + 2),
    "times": (DOT * ConstantNode(2.0), lambda x, y: 2 * (x @ y)),
    "constant first": (ConstantNode(2.0) * DOT, lambda x, y: 2 * (x @ y)),
    "product of sums": (
        (DOT + DIST) * (DOT * DIST + DIST),
        lambda x, y: (x @ y + np.linalg.norm(x - y)) * (x @ y + 1) * np.linalg.norm(x - y),
    ),
    "call": (Call(gram), lambda x, y: x @ y),
    "ends": (Ends(first, DOT), lambda x, y: x[0] * y[0] * (x @ y)),
    "unit": (
        Unit(DOT + 1),
        lambda x, y: (x @ y + 1) / np.sqrt((x @ x + 1) * (y @ y + 1)),
    ),
    "through": (
        Through(doubled, DOT + DIST),
        lambda x, y: 4 * x @ y + 2 * np.linalg.norm(x - y),
    ),
    "two maps": (
        Through(doubled, DOT) + Through(doubled, Ends(first, DOT)),
        lambda x, y: 4 * x @ y * (1 + 4 * x[0] * y[0]),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_are_their_formulas(xp, rng, name, dtype):
    program, formula = PROGRAMS[name]
    x, y = (rng.standard_normal((n, 3)).astype(dtype) for n in (9, 6))
    a = prepare(program, xp.asarray(x))
    b = prepare(program, xp.asarray(y), other=a)
    truth = np.array([[formula(u, v) for v in y.astype(float)] for u in x.astype(float)])
    rounding = 200 * np.finfo(dtype).eps
    found = xp.numpy(tile(program, a, b, slice(0, 9), slice(0, 6)))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, truth, rtol=0, atol=rounding * np.abs(truth).max())
    part = xp.numpy(tile(program, a, b, slice(2, 7), slice(1, 5)))
    np.testing.assert_allclose(
        part, truth[2:7, 1:5], rtol=0, atol=rounding * np.abs(truth).max()
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_diagonals_are_those_of_tiles(xp, rng, name):
    program, _ = PROGRAMS[name]
    x = rng.standard_normal((70, 3))
    side = prepare(program, xp.asarray(x))
    whole = xp.numpy(tile(program, side, side, slice(0, 70), slice(0, 70)))
    found = xp.numpy(diagonal(program, side))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.diagonal(whole), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_are_written_in_place(rng, name):
    program, _ = PROGRAMS[name]
    x = rng.standard_normal((40, 3))
    before = x.copy()
    side, space = prepare(program, x), Workspace()
    matrix = np.full((40, 40), np.nan)
    for i in range(0, 40, 16):
        for j in range(0, 40, 16):
            rows, cols = slice(i, min(i + 16, 40)), slice(j, min(j + 16, 40))
            made = tile(program, side, side, rows, cols, matrix[rows, cols], space)
            assert np.shares_memory(made, matrix)
    whole = tile(program, side, side, slice(0, 40), slice(0, 40))
    np.testing.assert_allclose(matrix, whole, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(x, before)
    assert len(space._idle) <= 3


def test_scratch_is_lent_and_taken_back():
    space = Workspace()
    with space.borrow((2, 3), np.float64) as one, space.borrow((2, 3), np.float32) as two:
        assert not np.shares_memory(one, two)
        assert two.dtype == np.float32
    with space.borrow((2, 3), np.float64) as three:
        assert three.shape == (2, 3)
    assert len(space._idle) == 2


def test_a_given_matrix(xp, rng):
    matrix = rng.standard_normal((8, 8))
    side = prepare(2 * Given() + 1, xp.asarray(matrix))
    found = xp.numpy(tile(2 * Given() + 1, side, side, slice(1, 4), slice(2, 8)))
    np.testing.assert_allclose(found, 2 * matrix[1:4, 2:8] + 1)
    found = xp.numpy(diagonal(2 * Given() + 1, side))
    np.testing.assert_allclose(found, 2 * np.diagonal(matrix) + 1)
    new = prepare(Given(), xp.asarray(matrix[:3] + 1), other=side)
    found = tile(Given(), new, side, slice(0, 3), slice(0, 8))
    np.testing.assert_array_equal(xp.numpy(found), matrix[:3] + 1)
    with pytest.raises(NotSupportedError, match="does not hold k\\(x, x\\)"):
        diagonal(Given(), new)
    np.testing.assert_array_equal(xp.numpy(side.rows), matrix)
    stored = prepare(Given(), sparse.csr_array(matrix))
    found = tile(Given(), stored, stored, slice(0, 2), slice(1, 5))
    np.testing.assert_array_equal(found, matrix[:2, 1:5])
    np.testing.assert_array_equal(diagonal(Given(), stored), np.diagonal(matrix))


def test_rows_that_are_no_numbers():
    program = Through(lambda rows: np.array([[len(r), 1.0] for r in rows]), DOT)
    a = prepare(program, ["a", "bb", "ccc"])
    b = prepare(program, ["dddd"], other=a)
    assert tile(program, a, b, slice(0, 3), slice(0, 1)).tolist() == [[5], [9], [13]]
    assert diagonal(program, a).tolist() == [2, 5, 10]
    both = program + Call(lambda x, y: [[len(u) + len(v) for v in y] for u in x])
    a = prepare(both, ["a", "bb"])
    assert tile(both, a, a, slice(0, 2), slice(0, 2)).tolist() == [[4, 6], [6, 9]]
    assert diagonal(both, a).tolist() == [4, 9]


def test_sparse_rows_stay_sparse(rng):
    x = sparse.random_array(
        (50, 30), density=0.1, random_state=rng, format="csr", dtype=np.float32
    )
    program = (-0.5 * DIST**2).exp() * DOT
    side = prepare(program, x)
    found = tile(program, side, side, slice(0, 50), slice(0, 50))
    dense = x.toarray().astype(float)
    d2 = np.sum((dense[:, None] - dense[None]) ** 2, axis=2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.exp(-0.5 * d2) * (dense @ dense.T), rtol=0, atol=1e-6)
    assert all(sparse.issparse(getattr(h, "rows", h)) for h in side.held.values())
    program = Through(sparse.csr_array, DOT + DIST)  # and rows may become sparse
    side = prepare(program, dense)
    found = tile(program, side, side, slice(0, 50), slice(0, 50))
    np.testing.assert_allclose(found, dense @ dense.T + np.sqrt(d2), rtol=1e-11, atol=1e-13)
    kept = rng.standard_normal((4, 4))
    program, before = 2 * Call(lambda _x, _y: kept), kept.copy()
    side = prepare(program, rng.standard_normal((4, 2)))
    tile(program, side, side, slice(0, 4), slice(0, 4))
    np.testing.assert_array_equal(kept, before)  # the array of the user is not spoiled


def test_functions_of_rows_return_one_number_each(rng):
    x = rng.standard_normal((4, 2))
    with pytest.raises(InputError, match="shape \\(4, 2\\) for 4 rows"):
        prepare(Ends(lambda rows: rows, DOT), x)
    side = prepare(Call(lambda _x, _y: np.ones(3)), x)
    with pytest.raises(InputError, match="shape \\(3,\\) for 4 and 4 rows"):
        tile(Call(lambda _x, _y: np.ones(3)), side, side, slice(0, 4), slice(0, 4))
    side = prepare(Ends(lambda _rows: [1.0, 2.0, 3.0, 4.0], ConstantNode(1.0)), x)
    whole = tile(Ends(first, ConstantNode(1.0)), side, side, slice(0, 4), slice(0, 4))
    np.testing.assert_allclose(whole, np.outer(range(1, 5), range(1, 5)))


def test_new_rows_must_have_the_same_columns(xp):
    a = prepare(DOT, xp.asarray(np.ones((3, 2))))
    with pytest.raises(InputError, match="the same columns"):
        prepare(DOT, xp.asarray(np.ones((3, 4))), other=a)


def test_a_sum_of_lengthscales_keeps_one_copy(rng):
    program = Apply("exp", -(Measure("dist", scale=2.0) ** 2)) + Measure("dist", scale=0.1)
    side = prepare(program, rng.standard_normal((5, 3)))
    assert len(side.held) == 1


def test_no_rows_at_all(xp):
    for program in (DOT, DIST, (-(DIST**2)).exp(), Unit(DOT), Measure("chi2")):
        side = prepare(program, xp.asarray(np.ones((0, 3))))
        assert tile(program, side, side, slice(0, 0), slice(0, 0)).shape == (0, 0)
        assert namespace(diagonal(program, side)) is not None
