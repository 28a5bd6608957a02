"""Text and JSON: what the head says, and values of every kind as text."""

import json

import pytest

from mercer.sources import Held, open_columns


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


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", " "])
def test_delimiters(tmp_path, delimiter):
    path = tmp_path / "t.txt"
    lines = [["k", "x", "y"], ["a", "1", "2.5"], ["b", "3", "4.5"]]
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines))
    columns = open_columns(path)
    assert next(columns.frames(["k"], 5, as_written=False))["k"].to_list() == ["a", "b"]
    assert [held.kind for held in columns.schema.values()] == ["text", "number", "number"]


def test_na_of_the_user(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("k,x\n-,1\nb,-\n")
    columns = open_columns(path, na=("-",))
    assert columns.na == {"-"}
    assert columns.schema["x"] == Held("number")
    assert next(columns.frames(["k"], 5, as_written=False))["k"].to_list() == [None, "b"]


def test_leading_zeros_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,x,y\n01234,0,0.5\n98765,10,0\n")
    assert open_columns(path).schema == {
        "zip": Held("number", "with leading zeros"),
        "x": Held("number"),
        "y": Held("number"),
    }
