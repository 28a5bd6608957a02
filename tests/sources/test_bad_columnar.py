"""Every bad columnar file and every bad stream is refused in three lines that name it."""

import random
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from mercer.errors import InputError, MercerError
from mercer.sources import scan

ROWS = 1000
X = np.random.default_rng(1).standard_normal((ROWS, 3))
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1], "n": np.arange(ROWS), "t": ["x"] * ROWS})


def parquet(**options):
    sink = pa.BufferOutputStream()
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(TABLE.select(["a", "b", "n"]), sink, **(plain | options))
    return bytearray(sink.getvalue().to_pybytes())


def arrow(framed, packed=None):
    sink = pa.BufferOutputStream()
    make = pa.ipc.new_file if framed else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=packed)
    table = TABLE.select(["a", "b", "n"])
    with make(sink, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=100)
    return bytearray(sink.getvalue().to_pybytes())


def footer_start(data):
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def with_other_count(data, times):
    """Return the file with 1000 rows announced as 5000, in as many places of its footer.

    A 64-bit number is stored doubled, in groups of seven bits: 2000 and 10000 take two bytes.
    """
    at = footer_start(data)
    head, tail = bytes(data[:at]), bytes(data[at:])
    assert tail.count(b"\xd0\x0f") >= 5  # the file, its row group and its columns
    return head + tail.replace(b"\xd0\x0f", b"\x90\x4e", times)


def with_absurd_count(data):
    """Return the file with 2^50 rows announced everywhere, and a footer of the new length."""
    number, digits = 2**51, b""
    while number:
        digits += bytes([number % 128 | (0x80 if number > 127 else 0)])
        number //= 128
    at = footer_start(data)
    footer = bytes(data[at:-8]).replace(b"\xd0\x0f", digits)
    return bytes(data[:at]) + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def changed(data, at, value):
    data = bytearray(data)
    data[at : at + len(value)] = value
    return data


def flipped_page():
    data = parquet(write_page_checksum=True)
    at = data.index(X[500, 0].tobytes())
    return changed(data, at + 3, bytes([data[at + 3] ^ 0x10]))


def without_middle():
    data = parquet()
    return data[:4000] + data[8000:]


def huge_buffer():
    """Return a file with the lengths of its buffers, 800 bytes, made absurd."""
    data = arrow(True)
    assert data.count((800).to_bytes(8, "little")) >= 30
    return data.replace((800).to_bytes(8, "little"), (1 << 60).to_bytes(8, "little"))


def case(make, words="", name="a.parquet"):
    """Name of the file, its bytes, and what the refusal must say."""
    return name, make, words


FILES = {
    "no bytes": case(lambda: b"", "is empty"),
    "text": case(lambda: b"a,b\n1,2\n" * 9, "begins with b'a,b"),
    "a web page": case(lambda: b"<html>not found</html>", "begins with b'<htm'"),
    "marks only": case(lambda: b"PAR1PAR1", "no Parquet file"),
    "marks and no footer": case(lambda: b"PAR1\0\0\0\0PAR1", "cannot be read"),
    "encrypted": case(lambda: b"PARE" + bytes(99), "decrypt it"),
    "cut footer": case(lambda: parquet()[:-20], "cut short"),
    "half": case(lambda: parquet()[:9000], "cut short"),
    "footer too long": case(lambda: changed(parquet(), -8, b"\xff\xff\xff\x7f"), "cut short"),
    "footer of zeros": case(
        lambda: changed(parquet(), footer_start(parquet()), bytes(60)), "cannot be read"
    ),
    "flipped byte in a page": case(flipped_page, "CRC"),
    "broken packing": case(
        lambda: changed(parquet(compression="zstd"), 60, b"\x99" * 40), "cannot be read"
    ),
    "broken page header": case(lambda: changed(parquet(), 4, bytes(8))),
    "bytes missing in the middle": case(without_middle),
    "row counts that differ": case(lambda: with_other_count(parquet(), 1)),
    "more rows than there are": case(lambda: with_other_count(parquet(), 8)),
    "more rows than it can hold": case(
        lambda: with_absurd_count(parquet()), "1,125,899,906,842,624 rows"
    ),
    "arrow, no bytes": case(lambda: b"", "is empty", name="a.arrow"),
    "arrow, text": case(lambda: b"a,b\n1,2\n" * 9, "no Arrow file", name="a.arrow"),
    "arrow, parquet inside": case(lambda: parquet(), "no Arrow file", name="a.arrow"),
    "feather 1": case(
        lambda: b"FEA1" + bytes(99), "first version of Feather", name="a.feather"
    ),
    "arrow, mark only": case(lambda: b"ARROW1\0\0", "cannot be read", name="a.arrow"),
    "arrow, cut footer": case(lambda: arrow(True)[:-9], "cannot be read", name="a.arrow"),
    "arrow, half": case(lambda: arrow(True)[:9000], "cannot be read", name="a.arrow"),
    "arrow, absurd length": case(huge_buffer, "cannot be read", name="a.arrow"),
    "arrow stream, half": case(lambda: arrow(False)[:9001], "cannot be read", name="a.arrow"),
    "arrow stream, absurd length": case(
        lambda: b"\xff\xff\xff\xff\xff\xff\xff\x7f", "cannot be read", name="a.arrow"
    ),
    "arrow, broken packing": case(
        lambda: changed(arrow(True, "zstd"), 2000, b"\x99" * 200), name="a.arrow"
    ),
}


def refusal(data, **options):
    with pytest.raises(MercerError) as caught:
        for _ in scan(data, **options).blocks(64):
            pass
    assert len(str(caught.value).splitlines()) == 3
    return str(caught.value)


# Without pyarrow checksums are not looked at, the stream format is not read, and polars does
# not use the length of a buffer.
ONLY_PYARROW = {
    "flipped byte in a page",
    "arrow, absurd length",
    "arrow stream, half",
    "arrow stream, absurd length",
}


@pytest.mark.parametrize("case", list(FILES))
def test_bad_files(tmp_path, case):
    name, make, words = FILES[case]
    (tmp_path / name).write_bytes(make())
    said = refusal(tmp_path / name)
    assert name in said
    assert words in said


@pytest.mark.parametrize("case", [case for case in FILES if case not in ONLY_PYARROW])
def test_bad_files_without_pyarrow(tmp_path, case, monkeypatch):
    name, make, _ = FILES[case]
    (tmp_path / name).write_bytes(make())
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    assert name in refusal(tmp_path / name)


def test_the_files_are_good_before_they_are_spoilt(tmp_path):
    for name, data in [
        ("a.parquet", parquet()),
        ("b.arrow", arrow(True)),
        ("c.arrow", arrow(0)),
    ]:
        (tmp_path / name).write_bytes(data)
        found = np.concatenate(list(scan(tmp_path / name).blocks(64)))
        assert np.array_equal(found[:, :2], X[:, :2])


def test_folders_and_names(tmp_path):
    assert "no Parquet file here" in refusal(tmp_path)
    assert "no Parquet file here" in refusal(tmp_path / "*.parquet")
    twins = pa.table([[1.0], [2.0]], names=["a", "a"])
    pq.write_table(twins, tmp_path / "a.parquet")
    assert "'a'" in refusal(tmp_path / "a.parquet")
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), twins.schema) as file:
        file.write_table(twins)
    assert "'a'" in refusal(tmp_path / "a.arrow")
    pq.write_table(pa.table({"t": ["x"]}), tmp_path / "b.parquet")
    assert "'t' (holds text" in refusal(tmp_path / "b.parquet")


EYE = scipy.sparse.eye_array(2)
FRAME = pd.DataFrame({"a": [1.0], "b": [2.0]})
HALF = FRAME.astype(np.float32)
# the blocks, and what the refusal must say
STREAMS = {
    "no blocks": ([], "no blocks"),
    "one dimension": ([np.ones(3)], "block 0 has shape (3,)"),
    "three dimensions": ([np.ones((2, 3)), np.ones((2, 3, 1))], "block 1 has shape (2, 3, 1)"),
    "a number": ([3.0], "block 0 is float"),
    "a list": ([np.ones((1, 2)), [[1.0, 2.0]]], "block 1 is list"),
    "nothing at first": ([None], "block 0 is NoneType"),
    "nothing": ([np.ones((1, 2)), None], "block 1 is NoneType"),
    "text": ([np.array([["a", "b"]])], "block 0 of the stream has a type"),
    "objects": ([np.array([[1, None]])], "block 0 of the stream has a type"),
    "complex": ([np.ones((1, 2)), np.ones((1, 2)) * 1j], "block 1 of the stream has a type"),
    "masked": ([np.ma.masked_array([[1.0, 2.0]], [[0, 1]])], "masked arrays"),
    "no columns": ([np.ones((3, 0))], "no column"),
    "wider": ([np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 4))], "block 2 has 4, the first"),
    "empty but wider": ([np.ones((2, 3)), np.ones((0, 4))], "block 1 has 4"),
    "longer type": ([np.ones((1, 2), np.float32), np.ones((1, 2))], "block 1"),
    "sparse after dense": (
        [np.eye(2), scipy.sparse.eye_array(2)],
        "block 1 is a sparse matrix",
    ),
    "dense after sparse": (
        [scipy.sparse.eye_array(2), np.eye(2)],
        "block 1 is a dense ndarray",
    ),
    "sparse and wider": (
        [scipy.sparse.eye_array(2), scipy.sparse.eye_array(3)],
        "block 1 has 3",
    ),
    "sparse complex": ([EYE * 1j], "block 0 of the stream has a type"),
    "array after frame": ([FRAME, np.ones((1, 2))], "block 1 is a dense ndarray"),
    "frame after array": ([np.ones((1, 2)), FRAME], "block 1 is a dense DataFrame"),
    "other names": ([FRAME, FRAME[["b", "a"]]], "column 0 is 'b', and 'a' in the first"),
    "column missing": ([FRAME, FRAME[["a"]]], "block 1 has 1, the first has 2"),
    "column of text": ([FRAME, FRAME.assign(b="x")], "'b' holds text"),
    "longer column": ([HALF, FRAME], "'a' holds Float64, not float32"),
    "twins": ([pd.DataFrame([[1, 2]], columns=["a", "a"])], "unique"),
    "only text": ([pl.DataFrame({"t": ["x"]})], "no column of numbers"),
    "lazy": ([pl.LazyFrame({"a": [1]})], "block 0 is LazyFrame"),
}


@pytest.mark.parametrize("made", ["iterator", "function"])
@pytest.mark.parametrize("case", list(STREAMS))
def test_bad_streams(case, made):
    blocks, words = STREAMS[case]
    assert words in refusal(iter(blocks) if made == "iterator" else lambda: iter(blocks))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a: iter([a]), "needs arguments"),
        (lambda: np.eye(2), "returns ndarray"),
        (lambda: None, "returns NoneType"),
        (lambda: 3, "returns int"),
        (lambda: FRAME, "returns DataFrame"),
    ],
    ids=["arguments", "array", "None", "number", "frame"],
)
def test_bad_functions(function, words):
    assert words in refusal(function)


def spoilt(data, seed):
    """Return the file with some bytes flipped, zeroed, cut out or put in."""
    draw, data = random.Random(seed), bytearray(data)
    at, length = draw.randrange(len(data)), draw.choice([1, 8, 100])
    how = seed % 4
    if how == 0:
        data[at] ^= 1 << draw.randrange(8)
    elif how == 1:
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif how == 2:
        del data[at : at + length]
    else:
        data[at:at] = draw.randbytes(length)
    return data


@pytest.mark.parametrize(
    "seeds",
    [range(60), pytest.param(range(60, 3000), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_checksums_leave_no_damage_unseen(tmp_path, seeds):
    """A spoilt file with checksums is refused, or gives the very numbers that were written."""
    good, path = parquet(write_page_checksum=True, row_group_size=100), tmp_path / "a.parquet"
    refused = []
    for seed in seeds:
        path.write_bytes(spoilt(good, seed))
        try:
            found = np.concatenate(list(scan(path, columns=["a", "b"]).blocks(64)))
        except InputError as error:
            refused.append(error.got)
        else:
            assert np.array_equal(found, X[:, :2])
    assert all("a.parquet" in got for got in refused)
    assert len(refused) > 0.6 * len(seeds)
