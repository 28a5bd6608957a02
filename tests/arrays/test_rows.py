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
from mercer.errors import InputError


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, float])
def test_rows_are_float32_or_float64(xp, dtype):
    rows = np.ones((3, 2), dtype=dtype)
    wanted = np.float32 if dtype is np.float32 else np.float64
    found = as_rows(rows)
    assert (found is rows) == (dtype in (np.float32, float))
    assert found.dtype == wanted
    if dtype is not np.float16:  # which SciPy and the strict library do not hold
        assert as_rows(sparse.csr_array(rows)).dtype == wanted
        assert xp.numpy(as_rows(xp.asarray(rows))).dtype == wanted


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.ones(3), "table with rows and columns"),
        (np.ones((2, 2, 2)), "table with rows and columns"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[1j]]), "real numbers"),
    ],
)
def test_tables_of_real_numbers_only(rows, said):
    with pytest.raises(InputError, match=said):
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


def test_lengths_of_rows(xp, rng):
    rows = rng.standard_normal((5, 4)).astype(np.float32)
    norms = xp.numpy(row_norms(xp.asarray(rows)))
    assert norms.dtype == np.float64
    np.testing.assert_allclose(norms, np.linalg.norm(rows.astype(np.float64), axis=1))
    np.testing.assert_allclose(row_norms(sparse.csr_array(rows)), norms)


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
