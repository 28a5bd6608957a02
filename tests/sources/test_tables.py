"""Foreign errors become three lines; slices are in order."""

import polars as pl
import pyarrow as pa
import pytest

from mercer.errors import InputError
from mercer.sources.frames import _table_source as _tables
from mercer.sources.frames._table_source import columns_at, readable, spread


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


def test_a_name_is_no_pattern():
    lazy = pl.DataFrame({"^.*$": [1], "b": [2]}).lazy()
    assert columns_at(lazy, [0]).collect().rows() == [(1,)]
    assert columns_at(lazy, [1, 0]).collect().rows() == [(2, 1)]
