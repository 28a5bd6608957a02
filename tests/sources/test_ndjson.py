"""Lines of JSON: the numbers that json reads; every other line is refused by its place."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pieces import walked

from mercer.errors import DataWarning, InputError
from mercer.sources import scan

NUMBER = st.none() | st.sampled_from([7, -(10**30), 10**400]) | st.floats(allow_nan=False)


def as_float(value):
    return (
        np.nan if value is None else float(str(value))
    )  # float(int) refuses what is too large


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(NUMBER, st.text(max_size=4), NUMBER), min_size=1, max_size=8),
    st.integers(1, 200),
    st.booleans(),
    st.booleans(),
)
def test_tables_of_the_json_module_come_back(tmp_path, rows, block, packed, swapped):
    order = [("é\n", 0), ("t", 1), ("y", 2)]
    lines = [json.dumps({key: row[i] for key, i in order}) for row in rows]
    if swapped:
        lines[-1] = json.dumps({key: rows[-1][i] for key, i in reversed(order)})
    data = "".join(line + "\n" for line in lines).encode()
    path = tmp_path / ("x.ndjson.gz" if packed else "x.ndjson")
    path.write_bytes(gzip.compress(data) if packed else data)
    names = ("y", "t", "é\n") if swapped and len(rows) == 1 else ("é\n", "t", "y")
    source = scan(path, drop=["t"])
    source.block_bytes = block
    expected = [[as_float(row[0]), as_float(row[2])] for row in rows]
    expected = [row[::-1] for row in expected] if names[0] == "y" else expected
    np.testing.assert_array_equal(walked(source), np.array(expected))
    assert source.names == (names[0], names[2])
    assert source.shape == (len(rows), 2)
    assert (
        source.place(len(rows) - 1, 1) == f"{path.name}, line {len(rows)}, column {names[2]!r}"
    )


def test_what_is_no_number_is_left_out_and_said(tmp_path):
    path = tmp_path / "x.jsonl"
    row = {"a": 1, "ok": True, "t": "x", "deep": {"u": 1}, "list": [1], "mix": 1}
    path.write_text(
        json.dumps(row) + "\n" + json.dumps({**row, "ok": False, "mix": True}) + "\n"
    )
    with pytest.warns(DataWarning) as caught:
        source = scan(path)
    assert source.names == ("a", "ok")
    assert np.array_equal(walked(source), [[1, 1], [1, 0]])
    for words in ("'t' (text)", "'deep' (objects or lists)", "'mix' (mixed values)"):
        assert words in str(caught[0].message)


GOOD = b'{"a": 1, "b": 2.5}\n'
LATE = GOOD * 1500

BAD = {
    "no-object": (GOOD + b"[1, 2]\n", ["line 2", "'[1, 2]'"]),
    "first-is-no-object": (b"17\n" + GOOD, ["line 1", "'17'"]),
    "no-json": (GOOD + b'{"a": 1, "b": x}\n', ["line 2", "Expecting value"]),
    "two-on-a-line": (GOOD + GOOD.strip() + GOOD, ["line 2", "Extra data"]),
    "one-over-two-lines": (GOOD + b'{"a": 1,\n"b": 2}\n', ["line 2"]),
    "array-of-objects": (b"[\n" + GOOD + b"]\n", ["line 1", "'['"]),
    "key-missing": (LATE + b'{"a": 1}\n', ["line 1501", "lacks the key 'b'"]),
    "key-more": (LATE + b'{"a": 1, "b": 2, "c": 3}\n', ["line 1501", "another key, 'c'"]),
    "key-twice": (LATE + b'{"a": 1, "a": 2}\n', ["line 1501", "key 'a'", "only once"]),
    "text-late": (LATE + b'{"a": "one", "b": 2}\n', ["line 1501", "key 'a'", "'one'"]),
    "text-number-late": (LATE + b'{"a": "1", "b": 2}\n', ["line 1501", "key 'a'", "'1'"]),
    "truth-late": (LATE + b'{"a": true, "b": 2}\n', ["line 1501", "key 'a'", "True"]),
    "object-late": (
        LATE + b'{"a": {"u": 1}, "b": 2}\n',
        ["line 1501", "key 'a'", "{'u': 1.0}"],
    ),
    "number-among-truth": (
        b'{"a": 1, "f": true}\n' * 1500 + b'{"a": 1, "f": 3}\n',
        ["line 1501", "key 'f'", "3.0", "neither true nor false"],
    ),
    "too-deep": (GOOD + b'{"a": ' + b"[" * 100_000 + b"\n", ["line 2", "nested too deeply"]),
    "cut": (GOOD + b'{"a": 1, "b', ["line 2", "last line is cut"]),
    "empty-line": (GOOD + b"\n" + GOOD, ["line 2", "empty line"]),
    "empty": (b"", ["is empty"]),
    "only-text": (b'{"t": "x"}\n', ["no column of numbers", "'t'"]),
    "no-keys": (b"{}\n", ["no column of numbers"]),
    "too-many-keys": (
        json.dumps(dict.fromkeys(map(str, range(100_001)), 1)).encode() + b"\n",
        ["line 1", "100,001 keys"],
    ),
    "latin-1": (GOOD + b'{"a": 1, "b": "\xe9"}\n', ["line 2", "character 16"]),
    "nul": (GOOD + b'{"a": 1, "b": \x00}\n', ["line 2", "NUL"]),
}


def walk(path, block):
    source = scan(path)
    source.block_bytes = block
    for _ in source.blocks(512):
        pass


@pytest.mark.parametrize("block", [100, 1 << 20])
@pytest.mark.parametrize("case", sorted(BAD))
def test_bad_lines_are_refused_by_place(tmp_path, case, block):
    content, words = BAD[case]
    path = tmp_path / "x.ndjson"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        walk(path, block)
    said = str(caught.value)
    assert [line[:7] for line in said.split("\n")[1:]] == ["  got: ", "  fix: "]
    for word in ("x.ndjson", *words):
        assert word in said


def test_last_lines_and_prints(tmp_path):
    path = tmp_path / "x.ndjson"
    path.write_bytes(GOOD + GOOD.strip())
    source = scan(path)
    with pytest.warns(DataWarning, match="may be cut\n  got: x.ndjson, line 2"):
        assert walked(source).shape == (2, 2)
    path = tmp_path / "x.ndjson"
    path.write_bytes(GOOD)
    assert scan(path).fingerprint() == scan(path).fingerprint()
    assert scan(path).fingerprint() != scan(path, columns=["a"]).fingerprint()
