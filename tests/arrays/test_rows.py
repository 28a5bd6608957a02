import numpy as np
import pytest
from scipy import sparse

from mercer.arrays import (
    as_rows,
    columns_of,
    count_rows,
    not_zero,
    row_norms,
    unit_rows,
)
from mercer.arrays.programs._program_rows import (
    refuse_negative,
    row_sums,
    scaled,
    squares,
    unit_exponent,
)
from mercer.errors import InputError


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, float])
def test_rows_are_float32_or_float64(dtype):
    rows = np.ones((3, 2), dtype=dtype)
    found = as_rows(rows)
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert (found is rows) == (dtype in (np.float32, float))
    found = (
        as_rows(sparse.csr_array(rows.astype(float)).astype(dtype if dtype else float))
        if (dtype not in (np.float16,))
        else found
    )
    assert found.dtype in (np.float32, np.float64)


def test_rows_of_every_library(xp):
    assert xp.numpy(as_rows(xp.asarray(np.ones((2, 2), dtype=np.int64)))).dtype == np.float64
    assert xp.numpy(as_rows(xp.asarray(np.ones((2, 2), np.float32)))).dtype == np.float32


@pytest.mark.parametrize("rows", [np.ones(3), np.ones((2, 2, 2))])
def test_tables_only(rows):
    with pytest.raises(InputError, match="table with rows and columns"):
        as_rows(rows)


@pytest.mark.parametrize("rows", [np.array([["a"]]), np.array([[1j]])])
def test_real_numbers_only(rows):
    with pytest.raises(InputError, match="real numbers"):
        as_rows(rows)


def test_count_rows():
    assert count_rows(["a", "b"]) == 2
    assert count_rows(np.ones((3, 1))) == 3
    assert count_rows(sparse.csr_array((4, 2))) == 4


def test_columns(xp, rng):
    rows = rng.standard_normal((4, 3))
    found = columns_of(xp.asarray(rows), (2, 0))
    np.testing.assert_array_equal(xp.numpy(found), rows[:, [2, 0]])
    assert columns_of(rows, None) is rows
    np.testing.assert_array_equal(columns_of(rows.tolist(), (1,)), rows[:, [1]])
    np.testing.assert_array_equal(
        columns_of(sparse.csr_array(rows), (2, 0)).toarray(), rows[:, [2, 0]]
    )
    with pytest.raises(InputError, match="column 3, rows with 3"):
        columns_of(xp.asarray(rows), (0, 3))


def test_scaled(xp, rng):
    rows = rng.standard_normal((4, 3))
    found = scaled(xp.asarray(rows), (1.0, 2.0, 3.0))
    np.testing.assert_allclose(xp.numpy(found), rows * [1, 2, 3])
    np.testing.assert_allclose(
        scaled(sparse.csr_array(rows), (1.0, 2.0, 3.0)).toarray(), rows * [1, 2, 3]
    )
    with pytest.raises(InputError, match="2 scales, rows with 3"):
        scaled(xp.asarray(rows), (1.0, 2.0))


def test_negative_numbers_are_refused_with_their_place(xp):
    rows = np.zeros((4, 3))
    refuse_negative(xp.asarray(rows), "chi2")
    rows[2, 1] = -0.5
    with pytest.raises(InputError, match=r"-0.5 in row 2, column 1"):
        refuse_negative(xp.asarray(rows), "chi2")


def test_sums_and_squares(xp, rng):
    rows = rng.standard_normal((5, 4)).astype(np.float32)
    wide = rows.astype(np.float64)
    np.testing.assert_allclose(xp.numpy(squares(xp.asarray(rows))), (wide**2).sum(axis=1))
    np.testing.assert_allclose(xp.numpy(row_sums(xp.asarray(rows))), wide.sum(axis=1))
    assert xp.numpy(squares(xp.asarray(rows))).dtype == np.float64
    np.testing.assert_allclose(squares(sparse.csr_array(rows)), (wide**2).sum(axis=1))
    norms = xp.numpy(row_norms(xp.asarray(rows)))
    np.testing.assert_allclose(norms, np.linalg.norm(wide, axis=1))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_unit_rows(xp, rng, scale):
    rows = rng.standard_normal((5, 4))
    rows[2] = 0
    truth = rows / np.where(rows.any(axis=1), np.linalg.norm(rows, axis=1), 1)[:, None]
    found = xp.numpy(unit_rows(xp.asarray(rows * scale)))
    np.testing.assert_allclose(found, truth, rtol=1e-15, atol=1e-16)
    found = unit_rows(sparse.csr_array(rows * scale)).toarray()
    np.testing.assert_allclose(found, truth, rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(xp.numpy(not_zero(xp.asarray(rows))), [1, 1, 0, 1, 1])
    np.testing.assert_array_equal(not_zero(sparse.csr_array(rows)), [1, 1, 0, 1, 1])


def test_unit_exponent(xp):
    assert unit_exponent(xp.asarray(np.array([[0.5, -3.0]]))) == 2
    assert unit_exponent(xp.asarray(np.zeros((0, 2)))) == 0
    assert unit_exponent(sparse.csr_array(np.array([[0.0, 8.0]]))) == 4
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            unit_exponent(xp.asarray(np.array([[1.0, bad]])))
