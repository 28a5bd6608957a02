import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mercer import CorrespondenceAnalysis
from mercer.errors import DataWarning, InputError

TABLE = np.array([[3, 0, 1], [0, 2, 5]])


def names_of(given):
    """Return what rows are called by a fit of them."""
    return CorrespondenceAnalysis(1).fit(given).row_names_


def test_cells_that_stand_twice_are_one_count():
    twice = scipy.sparse.csr_array(
        (np.array([1.0, 2, 4]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    kept = twice.data.copy()
    with pytest.warns(DataWarning, match="2 blocks"):
        found = CorrespondenceAnalysis(1).fit(twice)
    np.testing.assert_allclose(found.row_masses_, [3 / 7, 4 / 7])
    np.testing.assert_array_equal(twice.data, kept)  # the user's own matrix is as it was


def test_sums_of_large_whole_numbers_do_not_wrap():
    table = TABLE * 10**18
    for given in (table, scipy.sparse.csr_array(table)):
        assert CorrespondenceAnalysis(1).fit(given).total_ == pytest.approx(1.1e19)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("cell", [-5, np.nan, np.inf, -np.inf])
def test_a_bad_cell_is_named_by_its_place(sparse, cell):
    frame = pd.DataFrame(TABLE.astype(float), columns=list("xyz"), index=["a", "b"])
    frame.iloc[1, 2] = cell
    with pytest.raises(InputError) as error:
        CorrespondenceAnalysis(1).fit(scipy.sparse.csr_array(frame) if sparse else frame)
    row, column = ("row 1 ('b')", "column 2 ('z')") if cell == -5 else ("row 1", "column 2")
    assert ("row 1, column 2" if sparse else f"{row}, {column}") in error.value.got


def test_names_of_rows():
    frame = pd.DataFrame(TABLE, columns=list("xyz"))
    assert names_of(frame) is None
    assert names_of(TABLE) is None
    assert names_of(TABLE.tolist()) is None
    assert names_of(frame.set_axis(["b", "b"])) == ["b", "b"]
    assert names_of(frame.set_axis([3, 7])) == ["3", "7"]
    double = frame.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert names_of(double) == ["a 1", "a 2"]
    text = frame.assign(w=["é", "<b>"])[["w", "x", "y", "z"]]
    for given in (
        text,
        pl.from_pandas(text),
        pa.Table.from_pandas(text, preserve_index=False),
        pl.from_pandas(text).with_columns(pl.col("w").cast(pl.Categorical)),
    ):
        assert names_of(given) == ["é", "<b>"]
    numbered = pd.DataFrame(TABLE)  # names of columns are numbers
    assert names_of(numbered) is None
    assert names_of(pd.DataFrame([["a", 1, 2], ["b", 3, 4]])) == ["a", "b"]


@pytest.mark.parametrize("kind", ["str", "category"])
def test_rows_left_out_of_a_frame_take_no_names_away(kind):
    frame = pd.DataFrame({"site": list("uvwx"), "a": [3, 1, 2, 5], "b": [4, 4, 1, 1]})
    frame["site"] = frame["site"].astype(kind)
    # Its index is 0, 2, 3.
    assert names_of(frame[frame["a"] != 1]) == ["u", "w", "x"]
    numbered = frame[["a", "b"]].iloc[[0, 2]]
    assert names_of(numbered) == ["0", "2"]
    with pytest.raises(InputError, match="'site'"):  # an index has the names already
        names_of(frame.set_index(pd.Index(list("klmn"))))
