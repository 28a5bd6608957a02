"""Columns of any kind: the same rows as the numbers, whatever the file and the block length."""

import csv
import datetime as dt
import gzip
import io
import json
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mercer.errors import InputError
from mercer.sources import Held, open_columns, other_columns, scan, schema_of

N = 57
FRAME = pl.DataFrame(
    {
        "x": np.arange(N) * 0.5,
        "name": [f"row {i}" for i in range(N)],
        "day": [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(N)],
        "group": pl.Series([("a", "b", None)[i % 3] for i in range(N)], dtype=pl.Categorical),
        "count": np.arange(N) % 5,
        "yes": np.arange(N) % 2 == 0,
    }
)


def write_folder(path, frame):
    path.mkdir()
    frame[:20].write_parquet(path / "a.parquet")
    frame[20:].write_parquet(path / "b.parquet")


def write_ndjson(path, frame):
    plain = frame.with_columns(pl.col("day").cast(pl.String), pl.col("group").cast(pl.String))
    plain.write_ndjson(path)


WRITERS = {
    "t.csv": lambda path, frame: frame.write_csv(path, null_value="NA"),
    "t.tsv": lambda path, frame: frame.write_csv(path, separator="\t", null_value=""),
    "t.csv.gz": lambda path, frame: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    "t.parquet": lambda path, frame: frame.write_parquet(path),
    "folder": write_folder,
    "t.arrow": lambda path, frame: frame.write_ipc(path),
    "t.ndjson": write_ndjson,
}


def joined(path, names, rows, **options):
    frames = list(other_columns(path, names, rows=rows, **options))
    assert all(frame.height == rows for frame in frames[:-1])
    return pl.concat(frames)


@pytest.mark.parametrize("rows", [1, 8, 1000])
@pytest.mark.parametrize("name", WRITERS)
def test_rows_are_those_of_the_file_in_its_order(tmp_path, name, rows):
    path = tmp_path / name
    WRITERS[name](path, FRAME)
    found = joined(path, ["group", "name"], rows)
    assert found.columns == ["group", "name"]
    assert found["name"].to_list() == FRAME["name"].to_list()
    assert found["group"].to_list() == FRAME["group"].to_list()
    assert found["group"].dtype == pl.String
    x = np.concatenate(list(scan(path, columns=["x"]).blocks(rows)))
    assert np.array_equal(x[:, 0], FRAME["x"])


@pytest.mark.parametrize("name", ["t.parquet", "folder", "t.arrow"])
def test_types_of_a_file_stay(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path, FRAME)
    found = joined(path, ["day", "count"], 10)
    assert found["day"].to_list() == FRAME["day"].to_list()
    assert found["count"].dtype == FRAME["count"].dtype
    assert schema_of(path) == {
        "x": Held("number"),
        "name": Held("text"),
        "day": Held("date"),
        "group": Held("text", "categories"),
        "count": Held("integer"),
        "yes": Held("flag"),
    }


def test_cells_of_text_as_they_are_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x\n007,1.50\n010,2\n")
    assert joined(path, ["x", "id"], 9).rows() == [("1.50", "007"), ("2", "010")]
    path = tmp_path / "t.csv"
    path.write_text("land,x\nNA,1\n,2\nDE,3\n")
    assert joined(path, ["land"], 9)["land"].to_list() == [None, None, "DE"]
    assert joined(path, ["land"], 9, as_written=True)["land"].to_list() == ["NA", "", "DE"]
    marks = joined(path, ["land"], 9, reading={"na": ["DE"]})
    assert marks["land"].to_list() == ["NA", "", None]
    path = tmp_path / "t.csv"
    FRAME.write_csv(path)
    assert list(other_columns(path, [], rows=5)) == []
    path = tmp_path / "t.csv"
    path.write_text("zip,x,y\n01234,0,0.5\n98765,10,0\n")
    assert open_columns(path).schema == {
        "zip": Held("number", "with leading zeros"),
        "x": Held("number"),
        "y": Held("number"),
    }


def test_schemas_by_type_and_by_the_head(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        'a,b,c,d,e,f\n1,x,true,2024-01-05,"1,5",4\n2,y,false,2024-01-06,"2,5",5\n'
        + "3,y,false,2024-01-06,3,5\n" * 20
        + "3,y,false,2024-01-06,3,?\n"
    )
    assert schema_of(path) == {
        "a": Held("number"),
        "b": Held("text"),
        "c": Held("flag"),
        "d": Held("date"),
        "e": Held("number"),
        "f": Held("number"),
    }
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
    folder = tmp_path / "three"
    folder.mkdir()
    pq.write_table(TABLE.select(["text", "real"]), folder / "a.parquet")
    other = pa.table({"text": TABLE["code"], "real": TABLE["real"]})
    pq.write_table(other, folder / "b.parquet")
    third = pa.table({"text": TABLE["small"], "real": TABLE["real"]})
    pq.write_table(third, folder / "c.parquet")
    found = pl.concat(open_columns(folder).frames(["text"], 4, as_written=False))
    assert found["text"].to_list() == ["x", "y", None, "u", "v", "u", "1", "2", "3"]


def test_files_of_words_and_of_numbers_alone(tmp_path, rng):
    path = tmp_path / "t.parquet"
    FRAME.select("name", "group").write_parquet(path)
    assert [held.kind for held in schema_of(path).values()] == ["text", "text"]
    path = tmp_path / "t.csv"
    path.write_text("one,two\nx,y\nu,v\n")
    assert joined(path, ["one"], 9, reading={"header": True})["one"].to_list() == ["x", "u"]
    X = rng.standard_normal((9, 3))
    np.save(tmp_path / "x.npy", X)
    columns = open_columns(tmp_path / "x.npy")
    assert columns.schema == dict.fromkeys(["0", "1", "2"], Held("number"))
    found = joined(tmp_path / "x.npy", ["2", "0"], 4)
    assert np.array_equal(found.to_numpy(), X[:, [2, 0]])
    np.save(tmp_path / "i.npy", X.astype(int))
    assert schema_of(tmp_path / "i.npy")["0"] == Held("integer")


def test_numbers_of_an_open_file_are_those_of_scan(tmp_path):
    for name in ("t.csv", "t.ndjson", "t.parquet", "t.arrow"):
        path = tmp_path / name
        WRITERS[name](path, FRAME)
        columns = open_columns(path)
        source, other = columns.numbers(["yes", "x"]), columns.numbers(["count"])
        assert source.names == ("yes", "x")
        assert source.shape[1] == 2
        blocks = np.concatenate(list(source.blocks(10)))
        assert np.array_equal(blocks, FRAME.select("yes", "x").cast(pl.Float64).to_numpy())
        assert np.array_equal(np.concatenate(list(other.blocks(10)))[:, 0], FRAME["count"])


@pytest.mark.parametrize(
    ("names", "reading", "what"),
    [
        (["nobody"], {}, "there is no column 'nobody'"),
        (["name"], {"delimeter": ","}, "there is no option 'delimeter'"),
        (["name"], {"header": 3}, "`header` says whether"),
    ],
)
def test_refusals_in_three_lines(tmp_path, names, reading, what):
    path = tmp_path / "t.csv"
    FRAME.write_csv(path)
    with pytest.raises(InputError, match=what) as caught:
        list(other_columns(path, names, rows=5, reading=reading))
    assert str(caught.value).count("\n") == 2


def test_files_that_change_or_are_ragged_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "x,1\n" * 400_000 + "y,1,2\n")
    with pytest.raises(InputError, match="line 400002: 3 fields, expected 2"):
        list(other_columns(path, ["a"], rows=5000))
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\n")
    columns = open_columns(path)
    path.write_text("a,b\nx,1\ny,2\n")
    with pytest.raises(InputError, match="has changed"):
        list(columns.frames(["a"], 5, as_written=False))


cells = st.text(st.sampled_from('ab",;\n\t é€x"'), max_size=6)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12),
    length=st.integers(1, 5),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_any_quoted_text_is_that_of_the_csv_module(tmp_path_factory, rows, length, quoting):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator="\n")
    writer.writerows([("n", "a", "b", "c"), *((i, *row) for i, row in enumerate(rows))])
    path.write_text(text.getvalue(), newline="")
    reading = {"delimiter": ",", "header": True}
    columns = open_columns(path, **reading)
    columns._source.block_bytes = 16  # blocks that end inside of records
    frames = list(columns.frames(["c", "a", "b"], length, as_written=True))
    with path.open(newline="") as file:
        reference = list(csv.reader(file))[1:]
    expected = [tuple(row[i].strip(" \t") for i in (3, 1, 2)) for row in reference]
    assert pl.concat(frames).rows() == expected


# Parquet and Arrow: kinds by type, with pyarrow and without.


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


# Text and JSON: what the head says, and values of every kind as text.


def test_values_of_json_as_text(tmp_path):
    path = tmp_path / "t.ndjson"
    rows = [
        {"x": 1, "a": "é", "b": [1, 2], "c": 2, "d": None},
        {"x": 2, "a": None, "b": {"k": 1}, "c": "two", "d": "2024-01-02"},
        {"x": 3, "a": "", "b": [], "c": 2.5, "d": "2024-01-03"},
        {"x": 3, "a": "NA", "b": [], "c": True, "d": "2024-01-03"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = open_columns(path)
    assert columns.schema == {
        "x": Held("number"),
        "a": Held("text"),
        "b": Held("other", "objects or lists"),
        "c": Held("text"),
        "d": Held("text"),
    }
    frame = next(columns.frames(["c", "a", "b", "x"], 9, as_written=True))
    assert frame["c"].to_list() == ["2", "two", "2.5", "true"]
    assert frame["a"].to_list() == ["é", None, "", "NA"]
    assert [json.loads(cell) for cell in frame["b"]] == [[1, 2], {"k": 1}, [], []]
    assert frame["x"].to_list() == ["1", "2", "3", "3"]
