"""Frames in memory: blocks from slices, whatever library holds them."""

import datetime as dt
import decimal
import sys
import tracemalloc
import types

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from pieces import walked

from mercer.errors import DataWarning, InputError, NotSupportedError
from mercer.sources import is_scannable, like_given, scan
from mercer.sources.frames import _frame_sources as _lazy_frames
from mercer.sources.frames import _table_source as _tables
from mercer.sources.frames._frame_sources import is_lazy, open_frame
from mercer.sources.frames._numeric_columns import Cells, stored_types
from mercer.sources.frames._table_source import columns_at, readable, spread


@pytest.fixture(name="X")
def numbers(rng):
    X = rng.standard_normal((31, 3))
    X[4, 1] = np.nan
    return X


NAMES = ["a", "b", "c"]


MAKERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, odd index": lambda X: pd.DataFrame(X, columns=NAMES, index=[5] * len(X)),
    "pandas, nullable": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "pandas, arrow": lambda X: pd.DataFrame(X, columns=NAMES).astype("float64[pyarrow]"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "pyarrow batch": lambda X: pa.record_batch(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("maker", list(MAKERS))
@pytest.mark.parametrize("rows", [1, 10, 31, 50])
def test_rows_of_every_library(X, maker, rows):
    source = scan(MAKERS[maker](X))
    assert source.shape == X.shape
    assert source.names == tuple(NAMES)
    assert source.dtype == np.float64
    assert np.array_equal(walked(source, rows), X, equal_nan=True)
    late = rows * (30 // rows)
    assert np.array_equal(walked(source, rows, late), X[late:], equal_nan=True)


@pytest.mark.parametrize("maker", list(MAKERS))
def test_columns_and_fingerprints(X, maker):
    frame = MAKERS[maker](X)
    source = scan(frame, columns=["c", 0])
    assert np.array_equal(walked(source, 8), X[:, [2, 0]], equal_nan=True)
    assert source.fingerprint() == scan(frame, columns=["c", "a"]).fingerprint()
    assert source.fingerprint() != scan(frame, columns=["a", "c"]).fingerprint()
    for row in (0, 17, 30):
        Y = X.copy()
        Y[row, 0] += 1e-9
        assert scan(MAKERS[maker](Y), columns=["c", 0]).fingerprint() != source.fingerprint()


def test_blocks_are_by_rows_and_names_may_be_numbers(X):
    for maker in MAKERS.values():
        assert next(scan(maker(X)).blocks(31)).flags.c_contiguous
    source = scan(pd.DataFrame(X), columns=[2, 1])
    assert source.names == ("2", "1")
    assert source.place(4, 1) == "pandas frame, row 4, column 1 ('1')"


def test_frames_without_rows_or_numbers_and_twins():
    assert scan(pd.DataFrame({"a": np.zeros(0)})).shape == (0, 1)
    assert scan(pd.DataFrame({"a": np.zeros(0)})).fingerprint()
    with pytest.raises(InputError, match="no column of numbers"):
        scan(pd.DataFrame({"a": ["x"]}))
    with pytest.raises(InputError, match="no column of numbers"):
        scan(pl.DataFrame())
    twins = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert not is_lazy(twins)
    with pytest.raises(InputError, match="names must be unique"):
        scan(twins)
    pair = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(InputError, match="names must be unique"):
        scan(pair)


def test_what_is_a_frame():
    for data in (np.eye(2), [[1, 2]], iter([]), pd.Series([1]), None):
        assert open_frame(data) is None
        assert not is_lazy(data)
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    assert is_lazy(frame.lazy())
    assert not is_lazy(frame)


@pytest.mark.parametrize("maker", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_not_copied(rng, maker):
    source = scan(MAKERS[maker](rng.standard_normal((100_000, 3))))
    ours = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    tracemalloc.start()
    for number, _ in enumerate(source.blocks(1000)):
        if number % 20 == 0:  # arrays alone: threads of other tests may be at work as well
            traces = tracemalloc.take_snapshot().filter_traces([ours]).traces
            assert sum(trace.size for trace in traces) < 300_000  # the frame holds 2,400,000
    source.fingerprint()
    assert tracemalloc.get_traced_memory()[1] < 1_200_000
    tracemalloc.stop()


ROWS = np.array([[1.5, 1.0, 7.0], [2.5, 2.0, 8.0], [3.5, 3.0, 9.0]])


def test_pandas_keeps_index_order_and_whole_columns():
    given = pd.DataFrame(
        {"b": np.array([1.5, np.nan, 3.5], "float32"), "n": [1, 2, 3], "a": [7.0, 8.0, 9.0]},
        index=["x", "y", "z"],
    )
    found = like_given(given, ROWS)
    expected = given.copy()
    expected["b"] = np.array([1.5, 2.5, 3.5], "float32")
    pd.testing.assert_frame_equal(found, expected)
    assert given["b"].isna().sum() == 1
    given = pd.DataFrame(
        {"b": [1.5, 2.5, 3.5], "n": pd.array([1, None, 3], "Int64"), "a": [7.0, 8.0, 9.0]}
    )
    found = like_given(given, ROWS + 0.25)
    assert found["n"].tolist() == [1.25, 2.25, 3.25]
    assert found["b"].tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_polars_and_arrow_fill_null_and_nan(gap):
    given = pl.DataFrame({"b": [1.5, gap, 3.5], "n": [1, None, 3], "a": [7.0, 8.0, 9.0]})
    found = like_given(given, ROWS)
    assert found.columns == ["b", "n", "a"]
    np.testing.assert_array_equal(found.to_numpy(), ROWS)
    assert found.schema["b"] == pl.Float64
    table = like_given(given.to_arrow(), ROWS)
    assert isinstance(table, pa.Table)
    assert table["b"].to_pylist() == [1.5, 2.5, 3.5]
    assert table["a"].type == pa.float64()


def test_what_is_no_frame_comes_back_as_the_rows():
    assert like_given([[1.0, 2.0]], ROWS) is ROWS
    assert like_given(np.zeros((3, 3)), ROWS) is ROWS
    sparse = scipy.sparse.csr_matrix(ROWS)
    assert like_given(sparse, sparse) is sparse
    whole = pl.DataFrame({"a": [1.0]})
    assert like_given(whole, np.zeros((1, 1))) is whole


# Foreign errors become three lines; slices are in order.


@pytest.mark.parametrize(
    "error",
    [
        OSError("end of\nstream"),
        MemoryError(),
        pa.ArrowInvalid("end of stream"),
        pa.ArrowNotImplementedError("x"),
        pl.exceptions.ComputeError("x"),
        pl.exceptions.PanicException("x"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_foreign_errors_are_three_lines(error):
    with pytest.raises(InputError) as caught, readable("a.parquet", "the file"):
        raise error
    assert len(str(caught.value).splitlines()) == 3
    assert "a.parquet" in caught.value.got


@pytest.mark.parametrize(
    "kind", [KeyError, ZeroDivisionError, KeyboardInterrupt, GeneratorExit]
)
def test_our_own_faults_are_not_hidden(kind):
    with pytest.raises(kind), readable("a.parquet", "the file"):
        raise kind


def test_our_own_refusals_stay():
    own = InputError("what", got="got", fix="fix")
    with pytest.raises(InputError) as caught, readable("a.parquet", "the file"):
        raise own
    assert caught.value is own


@pytest.mark.parametrize("start", [0, 3, 10, 11])
def test_slices(start, monkeypatch):
    monkeypatch.setattr(_tables, "SLICE", 64)
    frame = pl.DataFrame({"a": range(11), "^b.*$": range(20, 31), "bc": range(11)})
    parts = list(spread([1, 0], frame.lazy(), start, 11, 2))
    assert all(len(part) <= 4 for part in parts)
    rows = [row for part in parts for row in part.rows()]
    assert rows == [(20 + i, i) for i in range(start, 11)]


def test_names_are_no_patterns_and_no_rows_no_harm():
    lazy = pl.DataFrame({"^.*$": [1], "b": [2]}).lazy()
    assert columns_at(lazy, [0]).collect().rows() == [(1,)]
    assert columns_at(lazy, [1, 0]).collect().rows() == [(2, 1)]
    native = pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, int)})
    assert cells_of(native).block(native).shape == (0, 2)


# Columns of any type become floats, or are named for what they hold.


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


# Lazy frames are run anew in every walk, in blocks.


N = 997


@pytest.fixture
def frame(rng):
    X = rng.standard_normal((N, 3))
    return pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        t=pl.lit("x"), k=pl.int_range(N), f=pl.lit(0.5, pl.Float32)
    )


@pytest.fixture
def relation(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    with duckdb.connect() as connection:
        yield connection.read_parquet(str(tmp_path / "a.parquet"))


@pytest.mark.parametrize("batches", [True, False], ids=["batches", "slices"])
@pytest.mark.parametrize("rows", [10, 100, 2000])
def test_lazy_polars(frame, rows, batches, monkeypatch):
    if not batches:  # as in the oldest polars
        monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
        monkeypatch.setattr(_tables, "SLICE", 5000)
    lazy = frame.lazy().filter(pl.col("k") % 3 == 0).with_columns(d=pl.col("a") * 2)
    wanted = lazy.select("d", "k").collect().to_numpy()
    source = scan(lazy, columns=["d", "k"])
    assert is_scannable(lazy)
    assert source.shape == wanted.shape
    assert source.counted
    assert np.array_equal(walked(source, rows), wanted)
    assert np.array_equal(walked(source, rows), wanted)
    assert np.array_equal(walked(source, 100, 200), wanted[200:])
    assert scan(lazy, columns="f").dtype == np.float32


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "numpy"])
@pytest.mark.parametrize("rows", [10, 100, 2000])
def test_relations_of_duckdb(frame, relation, rows, arrow, monkeypatch):
    wanted = frame.select("b", "k", "a").to_numpy()
    if not arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setattr(_lazy_frames, "SLICE", 5000)
    source = scan(relation, columns=["b", "k", "a"])
    assert source.shape == wanted.shape
    assert np.array_equal(walked(source, rows), wanted)
    assert np.array_equal(walked(source, 100, 300), wanted[300:])
    short = scan(relation, columns="f")
    assert np.array_equal(walked(short, rows), np.full((N, 1), 0.5, np.float32))
    assert short.dtype == np.float32


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "numpy"])
def test_types_of_duckdb(arrow, monkeypatch):
    if not arrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    relation = duckdb.sql(
        'select 1.25::decimal(9, 2) as "a""b", true as b, 7::hugeint as h, null::int as n,'
        " 3::utinyint as u, date '2020-01-01' as d"
    )
    source = scan(relation, drop="d")
    assert source.names == ('a"b', "b", "h", "n", "u")
    assert np.array_equal(walked(source, 9), [[1.25, 1, 7, np.nan, 3]], equal_nan=True)


def test_a_walk_may_be_left_and_begun_twice(relation):
    source = scan(relation, drop="t")
    for _ in range(3):
        walking = source.blocks(10)
        next(walking)
        walking.close()
    assert walked(source, 10).shape == (N, 5)
    source = scan(relation, columns="k")
    first, second = source.blocks(10), source.blocks(10)
    next(first)
    try:
        found = str(next(second)[0, 0])
    except InputError as error:
        found = error.got
    assert found == "0.0" or found.startswith("duckdb relation: ")
    first.close()
    second.close()


def test_fingerprints(frame, relation):
    lazy = frame.lazy()
    mark = scan(lazy, columns=["a", "b"]).fingerprint()
    assert scan(lazy, columns=["a", "b"]).fingerprint() == mark
    assert scan(lazy, columns=["b", "a"]).fingerprint() != mark
    assert scan(lazy.head(9), columns=["a", "b"]).fingerprint() != mark
    other = lazy.with_columns(a=pl.col("a") + 1e-9)
    assert scan(other, columns=["a", "b"]).fingerprint() != mark
    mark = scan(relation, columns=["a", "b"]).fingerprint()
    assert scan(relation, columns=["a", "b"]).fingerprint() == mark
    assert scan(relation.limit(9), columns=["a", "b"]).fingerprint() != mark


def test_a_query_that_fails_is_three_lines(tmp_path):
    pl.DataFrame({"a": ["1", "x"]}).write_csv(tmp_path / "a.csv")
    lazy = pl.scan_csv(tmp_path / "a.csv").with_columns(b=pl.col("a").cast(pl.Float64))
    with pytest.raises(InputError, match="polars lazy frame: ") as caught:
        walked(scan(lazy, columns="b"), 9)
    assert len(str(caught.value).splitlines()) == 3
    with pytest.raises(InputError, match="its query cannot be read"):
        scan(pl.scan_csv(tmp_path / "a.csv").select("nothing"))


def test_a_query_whose_length_changes(frame, tmp_path):
    frame.select("a").write_csv(tmp_path / "a.csv")
    source = scan(pl.scan_csv(tmp_path / "a.csv"))
    frame.select("a").head(10).write_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match="10 rows were read, 997 announced"):
        walked(source, 100)


def test_other_lazy_frames_are_refused():
    frame = types.SimpleNamespace(implementation=nw.Implementation.DASK, to_native=object)
    with pytest.raises(NotSupportedError, match="dask, object"):
        _lazy_frames.open_lazy(frame, None, None)
