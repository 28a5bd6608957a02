"""Columns of any type become floats, or are named for what they hold."""

import datetime as dt
import decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.errors import DataWarning, InputError
from mercer.sources.frames._numeric_columns import (
    Cells,
    stored_types,
)

NAN = float("nan")


def cells_of(native, columns=None, drop=None):
    frame = nw.from_native(native)
    return Cells(frame.collect_schema(), stored_types(native), columns, drop, "t")


def same(block, wanted):
    assert block.flags.c_contiguous
    assert np.array_equal(block, np.array(wanted, dtype=block.dtype), equal_nan=True)


PANDAS = {
    "int": (pd.array([1, None, 3], dtype="Int64"), [1, NAN, 3]),
    "truth": (pd.array([True, None, False], dtype="boolean"), [1, NAN, 0]),
    "float": (pd.array([1.5, None, 2], dtype="Float32"), [1.5, NAN, 2]),
    "arrow truth": (pd.array([True, None, False], dtype="bool[pyarrow]"), [1, NAN, 0]),
    "arrow int": (pd.array([1, None, 2], dtype="int64[pyarrow]"), [1, NAN, 2]),
    "arrow float": (pd.array([1, None, 2], dtype="float32[pyarrow]"), [1, NAN, 2]),
    "decimal": (
        pd.array([decimal.Decimal("1.25"), None, 2], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
        [1.25, NAN, 2],
    ),
    "plain truth": (np.array([True, False, True]), [1, 0, 1]),
    "half": (np.array([1.5, 0, 2], dtype=np.float16), [1.5, 0, 2]),
    "small": (np.array([1, 255, 3], dtype=np.uint8), [1, 255, 3]),
    "infinite": (np.array([np.inf, -np.inf, NAN]), [np.inf, -np.inf, NAN]),
}


@pytest.mark.parametrize("name", list(PANDAS))
def test_columns_of_pandas(name):
    values, wanted = PANDAS[name]
    native = pd.DataFrame({"x": values})
    same(cells_of(native).block(native), np.transpose([wanted]))


ARROW = {
    "truth": pa.array([True, None, False]),
    "int": pa.array([1, None, 0]),
    "small": pa.array([1, None, 0], pa.uint8()),
    "float": pa.array([1, None, 0], pa.float32()),
    "half": pa.array([np.float16(1), None, np.float16(0)], pa.float16()),
    "decimal": pa.array([decimal.Decimal(1), None, decimal.Decimal(0)], pa.decimal128(9, 3)),
    "long decimal": pa.array(
        [decimal.Decimal(1), None, decimal.Decimal(0)], pa.decimal256(50, 3)
    ),
}


@pytest.mark.parametrize("name", list(ARROW))
def test_columns_of_arrow(name):
    native = pa.table({"x": ARROW[name]})
    same(cells_of(native).block(native), [[1], [NAN], [0]])


@pytest.mark.parametrize(
    "kind", [pl.Boolean, pl.Int8, pl.UInt64, pl.Int128, pl.Float32, pl.Decimal(9, 2)], ids=str
)
def test_columns_of_polars(kind):
    native = pl.DataFrame({"x": pl.Series([1, None, 0]).cast(kind)})
    same(cells_of(native).block(native), [[1], [NAN], [0]])


WORDS = {
    "text": pl.Series(["a"]),
    "categories": pl.Series(["a"], dtype=pl.Categorical),
    "dates": pl.Series([dt.date(2020, 1, 1)]),
    "time spans": pl.Series([dt.timedelta(1)]),
    "times of day": pl.Series([dt.time(1)]),
    "lists": pl.Series([[1]]),
    "structures": pl.Series([{"a": 1}]),
    "bytes": pl.Series([b"a"]),
    "only missing values": pl.Series([None]),
}


@pytest.mark.parametrize("word", list(WORDS))
def test_kinds_in_words(word):
    native = pl.DataFrame({"x": WORDS[word], "y": [1]})
    with pytest.raises(InputError, match=f"'x' holds {word}"):
        cells_of(native, ["x"])
    with pytest.warns(DataWarning, match=f"'x' \\({word}\\)"):
        assert cells_of(native).names == ("y",)


@pytest.mark.parametrize("large", [2**53, -(2**53) - 1, 2**62])
def test_long_integers_are_said_once(large):
    native = pa.table({"a": [1, large], "b": [1, 2], "f": [1e300, 1e300]})
    cells = cells_of(native)
    with pytest.warns(DataWarning, match="beyond 2\\^53") as said:
        block = cells.block(native)
    assert "'a'" in str(said[0].message)
    assert "'b'" not in str(said[0].message)
    assert block[1, 0] == float(large)
    cells.block(native)  # a second warning would be an error here


def test_no_rows():
    native = pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, int)})
    assert cells_of(native).block(native).shape == (0, 2)
