"""Parquet and Arrow: kinds by type, with pyarrow and without."""

import datetime as dt
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer.sources import Held, open_columns

TABLE = pa.table(
    {
        "text": pa.array(["x", "y", None]),
        "code": pa.array(["u", "v", "u"]).dictionary_encode(),
        "when": pa.array([dt.datetime(2024, 1, 1, 5), None, dt.datetime(2024, 1, 2)]),
        "clock": pa.array([dt.time(1), dt.time(2), None]),
        "list": pa.array([[1], [2, 3], None]),
        "none": pa.nulls(3),
        "small": pa.array([1, 2, 3], pa.int8()),
        "real": pa.array([1.5, 2.0, 3.0], pa.float32()),
        "truth": pa.array([True, None, False]),
    }
)
KINDS = ["text", "text", "date", "other", "other", "empty", "integer", "number", "flag"]


def test_kinds_by_type(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), TABLE.schema) as writer:
        writer.write_table(TABLE)
    for name in ("t.parquet", "t.arrow"):
        schema = open_columns(tmp_path / name).schema
        assert [held.kind for held in schema.values()] == KINDS
        assert schema["clock"] == Held("other", "times of day")
        assert schema["code"] == Held("text", "categories")
        frame = next(
            open_columns(tmp_path / name).frames(["when", "code", "text"], 9, as_written=False)
        )
        assert frame["when"].to_list() == TABLE["when"].to_pylist()
        assert frame["code"].to_list() == ["u", "v", "u"]
        assert frame["text"].to_list() == ["x", "y", None]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_without_pyarrow(tmp_path, monkeypatch, name):
    frame = pl.DataFrame({"k": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]})
    write = frame.write_parquet if name == "t.parquet" else frame.write_ipc
    write(tmp_path / name)
    for module in ("pyarrow", "pyarrow.parquet", "pyarrow.ipc"):
        monkeypatch.setitem(sys.modules, module, None)
    columns = open_columns(tmp_path / name)
    assert columns.schema == {"k": Held("text"), "x": Held("number")}
    found = pl.concat(columns.frames(["x", "k"], 2, as_written=False))
    assert found.equals(frame.select("x", "k"))


def test_files_that_type_a_column_differently(tmp_path):
    pq.write_table(TABLE.select(["text", "real"]), tmp_path / "a.parquet")
    other = pa.table({"text": TABLE["code"], "real": TABLE["real"]})
    pq.write_table(other, tmp_path / "b.parquet")
    third = pa.table({"text": TABLE["small"], "real": TABLE["real"]})
    pq.write_table(third, tmp_path / "c.parquet")
    found = pl.concat(open_columns(tmp_path).frames(["text"], 4, as_written=False))
    assert found["text"].to_list() == ["x", "y", None, "u", "v", "u", "1", "2", "3"]


def test_a_damaged_file_is_refused_in_three_lines(tmp_path):
    from mercer.errors import InputError

    pq.write_table(TABLE, tmp_path / "t.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-50])
    with pytest.raises(InputError, match="cut short"):
        open_columns(tmp_path / "cut.parquet")
