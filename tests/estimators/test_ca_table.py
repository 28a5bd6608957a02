import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer.errors import InputError
from mercer.estimators.counts._count_table import counts, named_rows
from mercer.sources import scan

TABLE = np.array([[3, 0, 1], [0, 2, 5]])


def made(table, names=None, columns=None):
    return counts(scan(table), names, columns)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_look_finds_the_margins(kind, sparse):
    table = TABLE.astype(kind)
    found = made(scipy.sparse.csr_array(table) if sparse else table)
    np.testing.assert_array_equal(found.rows, table.sum(axis=1))
    np.testing.assert_array_equal(found.columns, table.sum(axis=0))
    assert found.rows.dtype == found.columns.dtype == np.float64
    assert (found.exponent, found.whole, found.narrow) == (0, True, kind == "float32")
    assert (found.nnz is None) is not sparse


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_blocks_are_added_up(rng, order):
    table = np.asarray(rng.poisson(1.0, (3000, 200)), dtype=float, order=order)
    found = made(table)
    np.testing.assert_array_equal(found.rows, table.sum(axis=1))
    np.testing.assert_array_equal(found.columns, table.sum(axis=0))
    assert found.table is table  # nothing is copied
    table[2999, 199] += 0.5
    assert not made(table).whole


def test_cells_that_stand_twice_are_one_count():
    twice = scipy.sparse.csr_array(
        (np.array([1.0, 2, 4]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    kept = twice.data.copy()
    found = made(twice)
    np.testing.assert_array_equal(found.table.toarray(), [[0, 3], [4, 0]])
    np.testing.assert_array_equal(twice.data, kept)  # the user's own matrix is as it was


@pytest.mark.parametrize("size", [1e307, 1e200, 1e-200, 1e-300])
@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_at_the_ends_of_the_range_are_scaled(size, sparse):
    table = TABLE * size
    found = made(scipy.sparse.csr_array(table) if sparse else table)
    assert found.exponent != 0
    share = found.rows / found.rows.sum()
    np.testing.assert_allclose(share, [4 / 11, 7 / 11], rtol=1e-12)
    assert np.isfinite(found.rows).all()


def test_sums_of_large_whole_numbers_do_not_wrap():
    table = np.full((3, 4), 4 * 10**18)
    np.testing.assert_allclose(made(table).rows, 1.6e19)
    np.testing.assert_allclose(made(scipy.sparse.csr_array(table)).columns, 1.2e19)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_bad_cell_is_named_by_its_place(sparse):
    def refused(cell):
        table = TABLE.astype(float)
        table[1, 2] = cell
        table = scipy.sparse.csr_array(table) if sparse else table
        with pytest.raises(InputError) as error:
            made(table, ["a", "b"], ["x", "y", "z"])
        return str(error.value)

    assert "-5.0 at row 1 ('b'), column 2 ('z')" in refused(-5)
    assert "row 1, column 2 ('z')" in refused(np.nan)
    assert "row 1, column 2 ('z')" in refused(np.inf)
    assert "row 1, column 2" in refused(-np.inf)


def test_names_of_rows():
    frame = pd.DataFrame(TABLE, columns=list("xyz"))
    assert named_rows(frame)[1] is None
    assert named_rows(TABLE)[1] is None
    assert named_rows([[1, 2]])[1] is None
    assert named_rows(frame.set_axis(["b", "b"]))[1] == ["b", "b"]
    assert named_rows(frame.set_axis([3, 7]))[1] == ["3", "7"]
    double = frame.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert named_rows(double)[1] == ["a 1", "a 2"]
    text = frame.assign(w=["é", "<b>"])[["w", "x", "y", "z"]]
    for given in (
        text,
        pl.from_pandas(text),
        pa.Table.from_pandas(text, preserve_index=False),
        pl.from_pandas(text).with_columns(pl.col("w").cast(pl.Categorical)),
    ):
        rest, names = named_rows(given)
        assert names == ["é", "<b>"]
        assert rest.shape == (2, 3)
    numbered = pd.DataFrame(TABLE)  # names of columns are numbers
    assert named_rows(numbered)[1] is None
    rest, names = named_rows(pd.DataFrame([["a", 1, 2], ["b", 3, 4]]))
    assert (rest.shape, names) == ((2, 2), ["a", "b"])
    twins = pd.DataFrame(TABLE, columns=["x", "x", "z"])
    assert named_rows(twins)[1] is None  # the door refuses it


@pytest.mark.parametrize("kind", ["str", "category"])
def test_rows_left_out_of_a_frame_take_no_names_away(kind):
    frame = pd.DataFrame({"site": list("uvwx"), "a": [3, 1, 2, 5], "b": [4, 4, 1, 1]})
    frame["site"] = frame["site"].astype(kind)
    table, names = named_rows(frame[frame["a"] != 1])  # its index is 0, 2, 3
    assert names == ["u", "w", "x"]
    assert list(table.columns) == ["a", "b"]
    numbered = frame[["a", "b"]].iloc[[0, 2]]
    assert named_rows(numbered)[1] == ["0", "2"]
    both = frame.set_index(pd.Index(list("klmn")))
    assert named_rows(both)[1] == ["k", "l", "m", "n"]  # the column of text is refused later
