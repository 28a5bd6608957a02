"""Delimited text: the same numbers whatever the block size, the quotes and the packing."""

import csv
import gzip
import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pieces import walked

from mercer.errors import DataWarning, InputError
from mercer.sources import scan
from mercer.sources.text._text_bytes import TextFile, look

BLOCKS = (1, 7, 64, 1000, 1 << 20)


def written(path, X, delimiter=",", header=True, end="\n"):
    names = delimiter.join(f"c{i}" for i in range(X.shape[1])) + end
    rows = "".join(delimiter.join(map(repr, row)) + end for row in X.tolist())
    path.write_bytes(((names if header else "") + rows).encode())
    return path


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_numbers_are_those_of_loadtxt(tmp_path, rng, block, end):
    X = rng.standard_normal((60, 5)) * 10.0 ** rng.integers(-200, 200, (60, 5))
    path = written(tmp_path / "x.csv", X, end=end)
    source = scan(path)
    source.block_bytes = block
    reference = np.loadtxt(path, delimiter=",", skiprows=1)
    assert np.array_equal(walked(source), reference)
    assert np.array_equal(reference, X)
    assert source.names == ("c0", "c1", "c2", "c3", "c4")
    assert np.array_equal(walked(source, 4, 24), X[24:])


@pytest.mark.parametrize("mark", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("header", [True, False])
def test_delimiter_and_header_are_found(tmp_path, rng, mark, header):
    X = rng.integers(-9, 9, (12, 3)).astype(float)
    source = scan(written(tmp_path / "x.txt", X, mark, header))
    assert np.array_equal(walked(source), X)
    assert source.names == (("c0", "c1", "c2") if header else ("0", "1", "2"))


@pytest.mark.filterwarnings("ignore:integers beyond 2\\^53")
@pytest.mark.parametrize(
    ("text", "options", "names", "expected"),
    [
        ("a,b\n+3,1e5\n.5,-2.\n", {}, ("a", "b"), [[3, 1e5], [0.5, -2]]),
        ("a,b\n 3 ,4\t\n5 , 6\n", {}, ("a", "b"), [[3, 4], [5, 6]]),
        ("a,b\ninf,-Infinity\nINF,1\n", {}, ("a", "b"), [[np.inf, -np.inf], [np.inf, 1]]),
        ("a,b\nNA,\nnan,null\n1,NaN\n", {}, ("a", "b"), [[np.nan] * 2] * 2 + [[1, np.nan]]),
        ("a,b\n-99,1\n2,3\n", {"na": "-99"}, ("a", "b"), [[np.nan, 1], [2, 3]]),
        ("a,b\n NA ,1\n2, \n", {}, ("a", "b"), [[np.nan, 1], [2, np.nan]]),
        ("a,b\ntrue,1\nFalse,2\n,3\n", {}, ("a", "b"), [[1, 1], [0, 2], [np.nan, 3]]),
        ('a,b\n"1"," 2 "\n3,"4"\n', {}, ("a", "b"), [[1, 2], [3, 4]]),
        ('"a,x", "b"\n1,2\n', {}, ("a,x", "b"), [[1, 2]]),
        (",b\n1,2\n3,4\n", {}, ("0", "b"), [[1, 2], [3, 4]]),
        ("1990,1991\n1,2\n", {"header": True}, ("1990", "1991"), [[1, 2]]),
        ("a,b\n,1\n,2\n", {}, ("a", "b"), [[np.nan, 1], [np.nan, 2]]),
        ("1\n2\n3\n", {}, ("0",), [[1], [2], [3]]),
        ("  1  2\n 3 4 \n", {}, ("0", "1"), [[1, 2], [3, 4]]),
        ("a;b\n1;2\n3;4\n", {"delimiter": ";"}, ("a", "b"), [[1, 2], [3, 4]]),
        ("1:2\n3:4\n", {"delimiter": ":"}, ("0", "1"), [[1, 2], [3, 4]]),
        ("a,b\n1,2\n3,4\n\n\r\n\n", {}, ("a", "b"), [[1, 2], [3, 4]]),
        ("a,b\n12345678901234567890,0.1\n", {}, ("a", "b"), [[12345678901234567890, 0.1]]),
        (
            "\n".join(["a,b", *["1,2"] * 3]) + "\n",
            {"columns": ["b", 0]},
            ("b", "a"),
            [[2, 1]] * 3,
        ),
        ("a,b,c\n1,2,3\n", {"drop": "b"}, ("a", "c"), [[1, 3]]),
    ],
)
@pytest.mark.parametrize("block", [1, 9, 1 << 20])
def test_spellings(tmp_path, text, options, names, expected, block):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    source = scan(path, **options)
    source.block_bytes = block
    np.testing.assert_array_equal(walked(source), np.array(expected, float))
    assert source.names == names
    assert source.shape == (len(expected), len(names))
    assert source.dtype == np.float64


CELL = st.text(st.sampled_from('ab,";\n\r é€😀 |\t'), max_size=6)
NUMBER = st.one_of(
    st.none(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)


@pytest.mark.filterwarnings("ignore:integers beyond 2\\^53")
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.tuples(CELL, NUMBER, CELL, NUMBER), min_size=2, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    packed=st.booleans(),
    block=st.sampled_from([1, 5, 33, 1 << 20]),
)
def test_tables_of_the_csv_module_come_back(
    tmp_path, rows, end, quoting, encoding, packed, block
):
    """Quotes, newlines in quotes, marks, missing cells: what csv writes is what is read."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=end, quoting=quoting)
    writer.writerows([("t,1", "x", 't"2', "y\ny"), *rows])
    data = out.getvalue().encode(encoding)
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    source = scan(path, columns=[1, 3], header=True, delimiter=",")
    source.block_bytes = block
    expected = [[np.nan if v is None else float(v) for v in (x, y)] for _, x, _, y in rows]
    np.testing.assert_array_equal(walked(source, 5), np.array(expected))
    assert source.names == ("x", "y\ny")
    last = source.place(len(rows) - 1, 1)
    text = out.getvalue().replace("\r\n", "\n").removesuffix("\n")
    final = rows[-1][0].replace("\r\n", "\n").count("\n")
    final += rows[-1][2].replace("\r\n", "\n").count("\n")
    assert last == f"{path.name}, line {text.count(chr(10)) + 1 - final}, column 'y\\ny'"


def test_a_walk_of_a_large_table_needs_little_memory(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"1.5,2.5,3.5\n" * 700_000)
    source = scan(path)
    source.block_bytes = 1 << 18
    tracemalloc.start()
    total = sum(block.sum() for block in source.blocks(1000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 700_000 * 7.5
    assert peak < path.stat().st_size
    assert source.shape == (700_000, 3)


@pytest.mark.parametrize("packed", [False, True])
def test_rows_are_forecast_from_the_head(tmp_path, rng, packed):
    rows = [",".join(map(repr, row)) for row in rng.standard_normal((30_000, 4)).tolist()]
    data = ("\n".join(rows) + "\n").encode()
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    source = scan(path)
    assert not source.counted
    assert source.nbytes == path.stat().st_size
    assert source.shape[0] == pytest.approx(30_000, rel=0.05)
    for _ in source.blocks(4096):
        pass
    assert source.counted
    assert source.shape == (30_000, 4)


def test_opening_reads_the_head_only(tmp_path):
    """What is wrong far behind the head is found by a walk."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"1.5,2.5\n" * 400_000 + b"1.5\n")
    source = scan(path)
    with pytest.raises(InputError, match="line 400001: 1 field, expected 2"):
        list(source.blocks(4096))


@pytest.mark.parametrize("block", [1, 20, 1 << 20])
def test_a_place_is_a_line(tmp_path, block):
    path = tmp_path / "x.csv"
    path.write_bytes(b'a,t\n1,"x\ny"\n2,z\nNA,"\n\n"\n4,u\n')
    with pytest.warns(DataWarning, match=r"'t' \(text\)"):
        source = scan(path)
    source.block_bytes = block
    row, column, value = source.first_bad_cell()
    assert (row, column, np.isnan(value)) == (2, 0, True)
    assert source.place(row, column) == "x.csv, line 5, column 'a'"
    assert source.place(3, 0) == "x.csv, line 8, column 'a'"
    assert dict(source.dropped) == {"t": "holds text, not numbers"}


def test_columns_left_out_and_odd_lines_are_said(tmp_path):
    path = tmp_path / "x.csv"
    rows = ["when;price;good;one", *["2024-01-01;1,5;2;3"] * 20, "2024-01-02;2,5;3;oops"]
    path.write_text("\n".join(rows) + "\n")
    with pytest.warns(DataWarning) as caught:
        source = scan(path)
    said = "\n".join(str(one.message) for one in caught)
    for words in ("'when' (dates)", "a decimal comma (1.234,5 is 1234.5)", "such as 'oops'"):
        assert words in said
    assert source.names == ("price", "good")
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,2\n3,45")
    source = scan(path)
    with pytest.warns(DataWarning, match="may be cut\n  got: x.csv, line 3"):
        assert np.array_equal(walked(source), [[1, 2], [3, 45]])
    walked(source)
    path.write_bytes(b"1,2")
    assert np.array_equal(walked(scan(path)), [[1, 2]])
    path = tmp_path / "long.csv"
    path.write_text("a,b\n9007199254740993,2\n9007199254740995,4\n1e300,5\n")
    with pytest.warns(DataWarning, match="line 2, column 'a': 9007199254740993"):
        list(scan(path).blocks(10))
    path.write_text("a,b\n1e300,2\n9007199254740995.5,4\n")
    list(scan(path).blocks(10))  # fractions are what they are


def test_the_fingerprint_knows_content_and_options(tmp_path, rng):
    path = written(tmp_path / "x.csv", rng.standard_normal((9, 3)))
    first = scan(path).fingerprint()
    assert scan(path).fingerprint() == first
    assert scan(path, columns=[0]).fingerprint() != first
    assert scan(path, na=["1"]).fingerprint() != first
    path.write_bytes(path.read_bytes()[:-2] + b"7\n")
    assert scan(path).fingerprint() != first


# What a file is by its first bytes.


@pytest.mark.parametrize(
    ("name", "content", "encoding", "found"),
    [
        ("x.csv", b"1,2\n", None, ("utf-8", 0)),
        ("x.csv", b"", None, ("utf-8", 0)),
        ("x.csv", b"\xef\xbb\xbf1,2\n", None, ("utf-8", 3)),
        ("x.csv", b"\xef\xbb\xbf1,2\n", "utf-8-sig", ("utf-8", 3)),
        ("x.csv", b"\xff\xfe1\0", None, ("utf-16-le", 2)),
        ("x.csv", b"\xff\xfe\0\0", None, ("utf-32-le", 4)),
        ("x.csv", b"\xfe\xff\x001", "UTF-16", ("utf-16-be", 2)),
        # A mark that belongs to another encoding than the one asked for is text.
        ("x.csv", b"\xff\xfe1,2\n", "latin-1", ("iso8859-1", 0)),
        ("x.csv", b"1,2\n", "ascii", ("utf-8", 0)),
    ],
)
def test_encodings(tmp_path, name, content, encoding, found):
    path = tmp_path / name
    path.write_bytes(content)
    assert look(path, encoding) == TextFile(path, False, *found)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04....", "zip archive.*\n.*unpack it first"),
        (b"PK\x03\x04....[Content_Types].xml", "Excel workbook"),
        (b"PAR1....", "Parquet"),
        (b"ARROW1..", "Arrow"),
        (b"\x89HDF\r\n", "HDF5"),
        (b"\x93NUMPY", "NumPy"),
        (b"BZh91AY", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xd0\xcf\x11\xe0", "old Excel"),
        (b"%PDF-1.7", "PDF"),
        (b"  <html>", "web page"),
        (b"<?xml version", "web page"),
    ],
)
def test_files_in_disguise_are_named(tmp_path, content, words):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        look(path)
    packed = tmp_path / "x.csv.gz"
    packed.write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match="inside its packing"):
        look(packed)


@pytest.mark.parametrize(("order", "name"), [("le", "x.csv"), ("be", "x.csv")])
def test_the_order_of_bytes_without_a_mark_is_proposed(tmp_path, order, name):
    path = tmp_path / name
    path.write_bytes("a,b\n1,2\n".encode(f"utf-16-{order}"))
    with pytest.raises(InputError, match=f"encoding='utf-16-{order}'"):
        look(path)
    assert look(path, f"utf-16-{order}").encoding == f"utf-16-{order}"
