"""Lazy frames are run anew in every walk, in blocks."""

import sys
import types

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from mercer.errors import InputError, NotSupportedError
from mercer.sources import is_scannable, scan
from mercer.sources.frames import _frame_sources as _lazy_frames
from mercer.sources.frames import _table_source as _tables

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


def walk(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert all(block.dtype == source.dtype for block in blocks)
    return np.concatenate(blocks)


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
    assert np.array_equal(walk(source, rows), wanted)
    assert np.array_equal(walk(source, rows), wanted)
    assert np.array_equal(walk(source, 100, 200), wanted[200:])
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
    assert np.array_equal(walk(source, rows), wanted)
    assert np.array_equal(walk(source, 100, 300), wanted[300:])
    short = scan(relation, columns="f")
    assert np.array_equal(walk(short, rows), np.full((N, 1), 0.5, np.float32))
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
    assert np.array_equal(walk(source, 9), [[1.25, 1, 7, np.nan, 3]], equal_nan=True)


def test_a_walk_may_be_left(relation):
    source = scan(relation, drop="t")
    for _ in range(3):
        walking = source.blocks(10)
        next(walking)
        walking.close()
    assert walk(source, 10).shape == (N, 5)


def test_two_walks_at_once_are_refused_or_right(relation):
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
        walk(scan(lazy, columns="b"), 9)
    assert len(str(caught.value).splitlines()) == 3
    with pytest.raises(InputError, match="its query cannot be read"):
        scan(pl.scan_csv(tmp_path / "a.csv").select("nothing"))


def test_a_query_whose_length_changes(frame, tmp_path):
    frame.select("a").write_csv(tmp_path / "a.csv")
    source = scan(pl.scan_csv(tmp_path / "a.csv"))
    frame.select("a").head(10).write_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match="10 rows were read, 997 announced"):
        walk(source, 100)


def test_other_lazy_frames_are_refused():
    frame = types.SimpleNamespace(implementation=nw.Implementation.DASK, to_native=object)
    with pytest.raises(NotSupportedError, match="dask, object"):
        _lazy_frames.open_lazy(frame, None, None)
