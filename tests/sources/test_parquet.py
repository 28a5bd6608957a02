"""Parquet files give the same rows whatever their layout, and say where a row stands."""

import logging
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pieces import walked

from mercer.errors import InputError, NotSupportedError
from mercer.sources import scan
from mercer.sources.files._parquet import PyarrowPart, open_part

N, P = 103, 4


@pytest.fixture(name="X")
def numbers(rng):
    X = rng.standard_normal((N, P))
    X[5, 1], X[50, 2] = np.nan, np.inf
    return X


@pytest.fixture(params=["pyarrow", "polars"])
def library(request, monkeypatch):
    """Every test runs with pyarrow, and as if it were not installed."""
    if request.param == "polars":
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    return request.param


def table(X, dtype=np.float64):
    return pa.table({f"c{j}": np.asarray(X[:, j], dtype) for j in range(X.shape[1])})


@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.parametrize("rows", [1, 10, 64, 200])
@pytest.mark.usefixtures("library")
def test_any_layout_gives_the_same_rows(X, tmp_path, group, rows):
    pq.write_table(table(X), tmp_path / "a.parquet", row_group_size=group)
    source = scan(tmp_path / "a.parquet")
    assert source.shape == (N, P)
    assert source.counted
    assert np.array_equal(walked(source, rows), X, equal_nan=True)
    assert np.array_equal(walked(source, rows), X, equal_nan=True)


@pytest.mark.parametrize("start", [0, 10, 60, 100, 110])
@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.usefixtures("library")
def test_a_walk_may_begin_later(X, tmp_path, group, start):
    for number, part in enumerate(np.array_split(X, 3)):
        pq.write_table(table(part), tmp_path / f"{number}.parquet", row_group_size=group)
    found = walked(scan(tmp_path), 10, start)
    assert np.array_equal(found, X[start:], equal_nan=True)


def test_a_seek_reads_only_the_row_groups_it_needs(X, tmp_path, monkeypatch):
    pq.write_table(table(X), tmp_path / "a.parquet", row_group_size=10)
    asked, plain = [], pq.ParquetFile.read_row_group

    def spy(self, group, *args, **kwargs):
        asked.append(group)
        return plain(self, group, *args, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", spy)
    next(scan(tmp_path / "a.parquet").blocks(5, 85))
    assert asked == [8]


@pytest.mark.parametrize("files", [1, 2, 20])
@pytest.mark.usefixtures("library")
def test_many_files_follow_by_name(X, tmp_path, files):
    for number, part in enumerate(np.array_split(X, files)):
        pq.write_table(table(part), tmp_path / f"part-{number:02}.parquet")
    pq.write_table(table(X[:0]), tmp_path / "part-00a.parquet")  # no rows: fine
    (tmp_path / "_metadata.parquet").write_bytes(b"a note")
    (tmp_path / "notes.txt").write_text("not read")
    for path in (tmp_path, str(tmp_path / "part-*.parquet"), tmp_path / "*.parquet"):
        source = scan(path)
        assert source.shape == (N, P)
        assert np.array_equal(walked(source, 16), X, equal_nan=True)
    assert "files)" in repr(source)


def test_names_with_brackets_and_patterns(X, tmp_path):
    pq.write_table(table(X), tmp_path / "a[1].parquet")
    assert scan(tmp_path / "a[1].parquet").shape == (N, P)
    for number, part in enumerate(np.array_split(X, 2)):
        (tmp_path / f"year{number}").mkdir()
        pq.write_table(table(part), tmp_path / f"year{number}" / "a.parquet")
    source = scan(tmp_path / "year*" / "*.parquet")
    assert np.array_equal(walked(source, 50), X, equal_nan=True)


@pytest.mark.usefixtures("library")
def test_columns_are_chosen_by_name_and_place(X, tmp_path):
    mixed = table(X).append_column("when", pa.array(range(N), pa.date32()))
    pq.write_table(mixed, tmp_path / "a.parquet")
    source = scan(tmp_path / "a.parquet", columns=["c2", 0])
    assert source.names == ("c2", "c0")
    assert np.array_equal(walked(source, 10), X[:, [2, 0]], equal_nan=True)
    assert scan(tmp_path / "a.parquet", drop=["when", "c1"]).names == ("c0", "c2", "c3")
    with pytest.raises(InputError, match="'when' holds dates"):
        scan(tmp_path / "a.parquet", columns=["when"])
    names = ["a", "a.b", "^a.*$", "", "é", "a b"]
    pq.write_table(
        pa.table({name: [float(i)] for i, name in enumerate(names)}), tmp_path / "a.pq"
    )
    source = scan(tmp_path / "a.pq", columns=names[::-1])
    assert walked(source, 5).tolist() == [[5, 4, 3, 2, 1, 0]]
    pl.DataFrame(X, schema=["a", "b", "c", "d"]).write_parquet(tmp_path / "a.parquet")
    assert np.array_equal(walked(scan(tmp_path / "a.parquet"), 33), X, equal_nan=True)


@pytest.mark.usefixtures("library")
def test_types_may_differ_between_files(tmp_path):
    columns = {
        "half": pa.array([1, None], pa.float32()),
        "whole": pa.array([3, None]),
        "truth": pa.array([True, None]),
        "money": pa.array([1, None]).cast(pa.decimal128(30, 2)),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    source = scan(tmp_path / "a.parquet")
    assert source.dtype == np.float64
    assert np.array_equal(walked(source, 9), [[1, 3, 1, 1], [np.nan] * 4], equal_nan=True)
    assert scan(tmp_path / "a.parquet", columns="half").dtype == np.float32
    (tmp_path / "two").mkdir()
    pq.write_table(pa.table({"a": pa.array([1], pa.float32())}), tmp_path / "two" / "1.parquet")
    assert scan(tmp_path / "two").dtype == np.float32
    pq.write_table(pa.table({"a": pa.array([2], pa.int64())}), tmp_path / "two" / "2.parquet")
    source = scan(tmp_path / "two")
    assert source.dtype == np.float64
    assert walked(source, 9).tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"a": [1.0], "c": [2.0]}, "2.parquet: column 1 is 'c', and 'b' in 1.parquet"),
        ({"b": [1.0], "a": [2.0]}, "2.parquet: column 0 is 'b', and 'a' in 1.parquet"),
        ({"a": [1.0]}, "2.parquet: column 'b' of 1.parquet is missing"),
        ({"a": [1.0], "b": [1.0], "c": [1]}, "2.parquet: column 'c' is not in 1.parquet"),
        ({"a": [1.0], "b": ["x"]}, "2.parquet: 'b' holds text"),
    ],
)
@pytest.mark.usefixtures("library")
def test_the_file_that_differs_is_named(tmp_path, other, words):
    pq.write_table(pa.table({"a": [1.0], "b": [2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table(other), tmp_path / "2.parquet")
    with pytest.raises(InputError, match=words):
        scan(tmp_path)


def test_places_and_prints(X, tmp_path):
    for number, part in enumerate([X[:40], X[:0], X[40:]]):
        pq.write_table(table(part), tmp_path / f"{number}.parquet")
    source = scan(tmp_path)
    assert source.place(39, 1) == "0.parquet, row 39, column 1 ('c1')"
    assert source.place(50, 2) == "2.parquet, row 10, column 2 ('c2')"
    assert source.first_bad_cell()[:2] == (5, 1)
    pq.write_table(table(X), tmp_path / "a.parquet")
    mark = scan(tmp_path / "a.parquet").fingerprint()
    assert scan(tmp_path / "a.parquet").fingerprint() == mark
    assert scan(tmp_path / "a.parquet", drop=["c0"]).fingerprint() != mark
    X[0, 0] += 1
    pq.write_table(table(X), tmp_path / "a.parquet")
    assert scan(tmp_path / "a.parquet").fingerprint() != mark


def test_checksums_are_said(X, tmp_path, caplog, library):
    pq.write_table(table(X), tmp_path / "a.parquet", write_page_checksum=True)
    with caplog.at_level(logging.INFO, "mercer"):
        assert scan(tmp_path / "a.parquet").verified == (library == "pyarrow")
    assert ("damage may go unnoticed" in caplog.text) == (library == "polars")
    pq.write_table(table(X), tmp_path / "a.parquet", write_page_checksum=False)
    with caplog.at_level(logging.INFO, "mercer"):
        assert not scan(tmp_path / "a.parquet").verified
    assert "damage may go unnoticed" in caplog.text


def test_folders_with_columns_in_their_names(X, tmp_path):
    (tmp_path / "year=2020").mkdir()
    pq.write_table(table(X), tmp_path / "year=2020" / "a.parquet")
    with pytest.raises(NotSupportedError, match="year=2020"):
        scan(tmp_path)


MEASURE = """
import sys
from mercer.arrays import anonymous_bytes
from mercer.sources import scan
for block in scan(sys.argv[1]).blocks(4096):  # what the libraries take once
    pass
before, n, most = anonymous_bytes(), 0, 0
for block in scan(sys.argv[2]).blocks(4096):
    n, most = n + len(block), max(most, anonymous_bytes() - before)
print(n, most)
"""


@pytest.mark.parametrize(
    ("megabytes", "page", "bound"),
    [(30, 2**16, 20e6), pytest.param(200, 2**20, 64e6, marks=pytest.mark.slow)],
    ids=["tenth", "whole"],
)
@pytest.mark.parametrize("groups", [1, 10])
def test_a_walk_holds_little(rng, tmp_path, megabytes, page, bound, groups):
    """One row group or ten: a walk holds blocks, and a page or two of each column."""
    n, p = megabytes * 5000, 25
    schema = table(np.zeros((0, p))).schema
    options = {"use_dictionary": False, "data_page_size": page}
    with pq.ParquetWriter(tmp_path / "a.parquet", schema, **options) as file:
        for _ in range(groups):
            file.write_table(table(rng.standard_normal((n // groups, p))), row_group_size=n)
    assert (tmp_path / "a.parquet").stat().st_size > megabytes * 0.9e6
    pq.write_table(table(np.zeros((9, p))), tmp_path / "small.parquet")
    # A process of its own: memory that other tests have freed would hide what this takes.
    paths = [tmp_path / "small.parquet", tmp_path / "a.parquet"]
    command = [sys.executable, "-c", MEASURE, *map(str, paths)]
    found = subprocess.run(command, capture_output=True, check=True, text=True)
    rows, held = map(int, found.stdout.split())
    assert rows == n
    assert held < bound


def test_files_in_deeper_folders_are_not_passed_over(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    (tmp_path / "more").mkdir()
    frame.write_parquet(tmp_path / "one.parquet")
    frame.write_parquet(tmp_path / "more" / "two.parquet")
    with pytest.raises(NotSupportedError, match="holds more"):
        scan(tmp_path)
    assert scan(tmp_path / "**" / "*.parquet").shape == (4, 1)


def test_rows_are_decoded_a_few_at_a_time(tmp_path, X, monkeypatch):
    pl.from_numpy(X).write_parquet(tmp_path / "x.parquet")
    source = scan(tmp_path / "x.parquet")
    home = "mercer.sources.files._parquet"
    monkeypatch.setattr(f"{home}._PIECE", 10 * 8 * P)
    monkeypatch.setattr(f"{home}._COLUMNS", 24 * len(X) * 2)  # two columns after two others
    for pages, rows, most in ((1e9, 7, 7), (0, 16, 10)):  # column by column, page by page
        monkeypatch.setattr(f"{home}._PAGES", pages)
        assert max(len(piece) for piece in source._read(rows, 0)) == most
        for start in (0, 5 * rows):
            found = np.concatenate(list(source.blocks(rows, start)))
            assert np.array_equal(found, X[start:], equal_nan=True)


# One Parquet file: ends, counts and checksums are looked at before its rows.
TABLE = pa.table({"a": np.arange(20.0), "b": np.arange(20), "t": ["x"] * 20})


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=6)
    return tmp_path / "a.parquet"


def test_pyarrow_is_preferred(path):
    assert isinstance(open_part(path), PyarrowPart)


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("packed", ["none", "zstd"])
@pytest.mark.parametrize("checksum", [False, True])
def test_checksums_are_seen_in_page_headers(tmp_path, dictionary, version, packed, checksum):
    pq.write_table(
        TABLE,
        tmp_path / "a.parquet",
        use_dictionary=dictionary,
        data_page_version=version,
        compression=packed,
        write_page_checksum=checksum,
    )
    assert PyarrowPart(tmp_path / "a.parquet", pq).verified == checksum
