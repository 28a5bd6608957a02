import datetime as dt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mercer import PCA
from mercer.errors import InputError, MercerError
from mercer.estimators.walk._admission import admit


def refused(data, fit=True):
    """Return the refusal of `data`, which must have three lines."""
    model = PCA(1)
    with pytest.raises(MercerError) as caught:
        model.fit(data) if fit else model.fit(np.eye(3)).transform(data)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value).splitlines()) == 3
    return caught.value


class TestBadCells:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize(
        "make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array]
    )
    def test_the_place_is_named(self, table, value, make):
        table[17, 4] = value
        error = refused(make(table))
        assert "row 17, column 4" in error.got

    def test_the_column_has_its_name(self, table):
        pandas = pytest.importorskip("pandas")
        table[17, 4] = np.nan
        error = refused(pandas.DataFrame(table, columns=list("abcdefgh")))
        assert "row 17, column 4 ('e')" in error.got

    def test_missing_values_of_polars_and_pandas(self):
        polars = pytest.importorskip("polars")
        assert "row 1" in refused(polars.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 5]})).got
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(
            {"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1, 2, 5]}
        )
        assert "row 1" in refused(frame).got

    def test_they_are_named_at_transform_too(self, table):
        model = PCA(2).fit(table)
        table[3, 1] = np.inf
        for make in (np.asarray, scipy.sparse.csr_array):
            with pytest.raises(InputError, match="row 3, column 1"):
                model.transform(make(table))

    def test_deep_in_a_long_table(self, rng):
        x = rng.standard_normal((30_000, 3))
        x[29_999, 2] = np.nan
        assert "row 29999, column 2" in refused(x).got

    def test_masked_cells(self):
        x = np.ma.masked_array(np.arange(6.0).reshape(3, 2), mask=[[0, 0], [0, 1], [0, 0]])
        assert "(1, 1)" in refused(x).got
        assert PCA(1).fit(np.ma.masked_array(np.arange(6.0).reshape(3, 2))).rank_ == 1


class TestOddTables:
    @pytest.mark.parametrize(
        "data",
        [
            None,
            "file.csv",
            b"bytes",
            3.0,
            {"a": [1, 2]},
            [1.0, 2.0, 3.0],
            [[1, 2], [3]],
            np.zeros((2, 2, 2)),
            np.zeros((0, 3)),
            np.zeros((3, 0)),
            np.ones((1, 3)),
            np.array([[1 + 2j, 0], [0, 1]]),
            np.array([["a", "b"], ["c", "d"]]),
            np.array([["1", "2"], ["3", "5"]]),
            np.array([[1, "x"], [2, 3]], dtype=object),
            np.array([[dt.date(2020, 1, 1)], [dt.date(2020, 1, 2)]]),
            np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]"),
            np.zeros((2, 2), dtype=[("a", "f8")]),
            scipy.sparse.csr_array(np.array([[1j, 0], [0, 1]])),
        ],
        ids=lambda data: str(type(data).__name__),
    )
    def test_they_are_refused_in_three_lines(self, data):
        refused(data)

    def test_text_is_quoted_with_its_place(self):
        error = refused(np.array([[1, 2], [3, "oak"]], dtype=object))
        assert "'oak' at row 1, column 1" in error.got

    def test_numbers_held_as_objects_are_numbers(self):
        model = PCA(1).fit(np.array([[1, 2.5], [3, 4], [9, 1]], dtype=object))
        assert model.components_.dtype == np.float64

    def test_one_row_is_enough_to_be_projected(self, table):
        assert PCA(2).fit(table).transform(table[:1]).shape == (1, 2)

    def test_another_number_of_columns(self, table):
        error = refused(table, fit=False)
        assert "8 features" in str(error)


class TestFrames:
    @pytest.fixture
    def pandas(self):
        return pytest.importorskip("pandas")

    def test_columns_that_are_no_numbers_are_named(self, pandas):
        frame = pandas.DataFrame({"height": [1.0, 2.0], "name": ["a", "b"], "born": ["x", "y"]})
        frame["when"] = pandas.to_datetime(["2020-01-01", "2020-01-02"])
        got = refused(frame).got
        assert "3 of 4 columns" in got
        for name in ("'name'", "'born'", "'when'"):
            assert name in got

    def test_names_that_stand_twice(self, pandas):
        frame = pandas.DataFrame(np.eye(3), columns=["a", "b", "a"])
        assert "'a'" in refused(frame).got

    def test_numbers_held_as_objects_are_numbers(self, pandas):
        frame = pandas.DataFrame({"a": np.array([1, 2.5, 7], object), "b": [1.0, 5.0, 2.0]})
        assert PCA(1).fit(frame).feature_names_in_.tolist() == ["a", "b"]
        frame["a"] = np.array([1, "oak", 7], object)
        assert "'a'" in refused(frame).got

    def test_a_series_is_no_table(self, pandas):
        error = refused(pandas.Series([1.0, 2.0, 3.0]))
        assert "to_frame" in error.fix

    def test_lazy_frames_are_read_when_they_are_walked(self):
        polars = pytest.importorskip("polars")
        model = PCA(1).fit(polars.LazyFrame({"a": [1.0, 2.0], "b": [0.0, 5.0]}))
        assert (model.n_samples_, list(model.feature_names_in_)) == (2, ["a", "b"])

    def test_empty_frames(self, pandas):
        refused(pandas.DataFrame({"a": []}))
        refused(pandas.DataFrame(index=[1, 2, 3]))

    def test_pyarrow_text_columns(self):
        pyarrow = pytest.importorskip("pyarrow")
        error = refused(pyarrow.table({"a": [1.0, 2.0], "kind": ["x", "y"]}))
        assert "'kind'" in error.got

    def test_categories_are_no_numbers(self, pandas):
        frame = pandas.DataFrame({"a": [1.0, 2.0], "b": pandas.Categorical(["x", "y"])})
        assert "'b'" in refused(frame).got


def test_the_table_handed_on_is_the_one_that_came(table):
    from mercer.estimators.walk._admission import admit

    assert admit(PCA(), table, reset=True).array is table
    csr = scipy.sparse.csr_array(table)
    assert np.shares_memory(admit(PCA(), csr, reset=True).array.data, csr.data)
    whole = np.arange(12).reshape(4, 3)
    assert admit(PCA(), whole, reset=True).array is whole


@pytest.mark.parametrize("kind", ["int64", "uint8", "bool", "float32", "float64"])
def test_numbers_of_one_kind_in_a_frame_are_not_copied(kind):
    frame = pd.DataFrame(np.arange(12).reshape(4, 3).astype(kind))
    found = admit(PCA(), frame, reset=True)
    assert found.dtype == np.dtype(kind)
    assert np.shares_memory(found.array, frame.to_numpy())
    mixed = frame.assign(more=[0.5, 1, 2, 3])
    mixed.columns = mixed.columns.astype(str)
    assert admit(PCA(), mixed, reset=True).dtype == np.float64
