import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer.arrays import (
    Tiles,
    add_gram,
    as_rows,
    column_squares,
    column_sums,
    columns_of,
    count_rows,
    in_units,
    namespace,
    not_zero,
    row_norms,
    scratch,
    shifted,
    unit_rows,
)
from mercer.errors import InputError


@given(st.integers(0, 10_000), st.integers(1, 3000))
def test_tiles_cover_everything_once(n, rows):
    tiles = Tiles(n, rows)
    covered = [i for t in range(len(tiles)) for i in range(tiles[t].start, tiles[t].stop)]
    assert covered == list(range(n))
    assert all(tiles[t].stop - tiles[t].start <= rows for t in range(len(tiles)))


@given(
    st.integers(1, 10**7),
    st.integers(1, 10**5),
    st.sampled_from([4, 8]),
    st.floats(1e3, 1e8),
    st.integers(16, 10**4),
)
def test_tiles_keep_their_bounds(n, width, itemsize, most, longest):
    tiles = Tiles.of(n, width, itemsize, most_bytes=most, longest=longest)
    assert 1 <= tiles.rows <= min(longest, n)
    assert tiles.rows <= 16 or tiles.rows * width * itemsize <= most


def test_scratch_only_where_arrays_are_written_in_place(xp):
    like = xp.asarray(np.zeros((0, 3)))
    space = scratch((4, 3), np.float32, like, "F")
    if xp.name in ("numpy", "read-only"):
        assert space.shape == (4, 3)
        assert space.dtype == np.float32
        assert space.flags.f_contiguous
    else:
        assert space is None


def test_shifted_leaves_the_data_alone(xp, rng):
    block, origin = rng.standard_normal((5, 3)), rng.standard_normal(3)
    held = xp.asarray(block)
    out = scratch((8, 3), np.float64, held)
    found = shifted(held, xp.asarray(origin), out)
    np.testing.assert_array_equal(xp.numpy(found), block - origin)
    np.testing.assert_array_equal(xp.numpy(held), block)
    if out is not None:
        assert np.shares_memory(found, out)


def test_subtraction_in_float32_is_exact_near_the_origin(rng):
    origin = np.float32(1e6)
    block = (1e6 + rng.standard_normal((100, 1))).astype(np.float32)
    out = scratch(block.shape, np.float32, block)
    exact = block.astype(np.float64) - np.float64(origin)
    np.testing.assert_array_equal(shifted(block, origin, out).astype(np.float64), exact)


@pytest.mark.parametrize("exponent", [*range(-1074, 1025, 61), -1074, -1, 0, 1, 1024])
def test_in_units_is_exact_for_every_exponent(xp, exponent):
    numbers = np.array([[1.0, -0.75, 0.5625]])
    # Numbers of the size that the exponent was taken from, none of them subnormal.
    data = np.ldexp(numbers, max(-1018, min(exponent, 1023)))
    found = xp.numpy(in_units(xp.asarray(data) * 1.0, exponent))
    np.testing.assert_array_equal(found, np.ldexp(data, -exponent))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_column_sums_and_squares(xp, rng, dtype):
    y = rng.standard_normal((700, 4)).astype(dtype)
    root = rng.uniform(0, 2, 700).astype(dtype)
    wide = y.astype(np.longdouble)
    rounding = np.finfo(dtype).eps
    found = column_sums(xp.asarray(y), None)
    assert xp.numpy(found).dtype == np.float64
    np.testing.assert_allclose(xp.numpy(found), wide.sum(axis=0), rtol=0, atol=700 * rounding)
    found = column_sums(xp.asarray(y), xp.asarray(root))
    truth = (wide * root[:, None]).sum(axis=0)
    np.testing.assert_allclose(xp.numpy(found), truth, rtol=0, atol=1400 * rounding)
    found = column_squares(xp.asarray(y))
    assert xp.numpy(found).dtype == np.float64
    np.testing.assert_allclose(xp.numpy(found), (wide**2).sum(axis=0), rtol=32 * rounding)


def test_long_float32_columns_keep_their_digits(rng):
    y = (1 + 0.1 * rng.standard_normal((200_000, 2))).astype(np.float32)
    truth = (y.astype(np.longdouble) ** 2).sum(axis=0)
    np.testing.assert_allclose(column_squares(y), truth.astype(float), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_add_gram_adds_the_product(xp, rng, dtype):
    y = rng.standard_normal((60, 4)).astype(dtype)
    held = xp.asarray(y)
    lib = namespace(held)
    total = lib.ones((4, 4), dtype=lib.float64)
    product = add_gram(total, held, scratch((4, 4), dtype, held))
    truth = y.astype(np.float64).T @ y.astype(np.float64)
    np.testing.assert_allclose(xp.numpy(product), truth, atol=60 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(xp.numpy(total), 1 + xp.numpy(product).astype(np.float64))
    assert xp.numpy(total).dtype == np.float64


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
