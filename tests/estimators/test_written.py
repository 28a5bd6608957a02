"""Coordinates on disk: the numbers to the last bit, and the old file or the new one."""

import csv
import itertools

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.claims import refuses

from mercer.estimators.walk._coordinate_files import harmless, harmless_columns, writer_of

NAMES = ["pca0", "pca1"]
ENDS = [".npy", ".csv", ".tsv", ".parquet"]
HARD = np.array(
    [
        [0.1, -0.0], [1 / 3, 5e-324], [-1.7976931348623157e308, 2.2250738585072014e-308],
        [123456789.123456789, 1e22], [1e-7, 2.0**53 + 2],
    ]
)  # fmt: skip


def write(path, parts, names=NAMES):
    with writer_of(path, names) as add:
        for part in parts:
            add(part)


def read(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".parquet":
        frame = pl.from_arrow(pq.read_table(path))
    else:
        between = "\t" if path.suffix == ".tsv" else ","
        frame = pl.read_csv(path, separator=between, schema_overrides=[pl.Float64] * 2)
    assert frame.columns == NAMES
    return frame.to_numpy()


@pytest.mark.parametrize("sizes", [[5], [1] * 5, [2, 0, 3], [0, 5], []], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("end", ENDS)
def test_every_bit_comes_back(tmp_path, end, dtype, sizes):
    path = tmp_path / f"out{end}"
    with np.errstate(over="ignore"):
        rows = np.clip(HARD, -1e30, 1e30).astype(dtype) if dtype == np.float32 else HARD
    cuts = np.cumsum([0, *sizes])
    write(path, [rows[a:b] for a, b in itertools.pairwise(cuts)])
    found = read(path)
    assert found.shape == (cuts[-1], 2)
    assert np.array_equal(found.astype(dtype), rows[: cuts[-1]])
    assert np.array_equal(np.signbit(found), np.signbit(rows[: cuts[-1]]))
    if sizes and end in (".npy", ".parquet"):
        assert found.dtype == dtype
    assert list(tmp_path.iterdir()) == [path]


def test_the_header_of_npy_is_numpys_own(tmp_path):
    path = tmp_path / "out.npy"
    for rows in (0, 1, 99_999):
        write(path, [np.zeros((rows, 2), np.float32)] if rows else [])
        with path.open("rb") as file:
            assert np.lib.format.read_magic(file) == (1, 0)
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
            assert file.tell() % 64 == 0
        assert (shape, fortran) == ((rows, 2), False)
        assert dtype == (np.float32 if rows else np.float64)
        assert len(np.load(path, mmap_mode="r")) == rows


def test_blocks_that_are_not_contiguous(tmp_path):
    rows = np.asfortranarray(HARD)
    write(tmp_path / "a.npy", [rows[::2], rows[1::2]])
    assert np.array_equal(np.load(tmp_path / "a.npy"), np.concatenate([HARD[::2], HARD[1::2]]))


def test_names_that_need_quotes(tmp_path):
    names = ['a,"b"', "c\td"]
    for end in (".csv", ".tsv", ".parquet"):
        path = tmp_path / f"out{end}"
        write(path, [HARD[:1]], names)
        if end == ".parquet":
            assert pq.read_table(path).column_names == names
        else:
            between = "\t" if end == ".tsv" else ","
            with path.open(newline="") as file:
                assert next(csv.reader(file, delimiter=between)) == names


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [b"old", None])
@pytest.mark.parametrize("end", ENDS)
def test_an_error_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path, end, old, error):
    path = tmp_path / f"out{end}"
    if old is not None:
        path.write_bytes(old)

    def parts():
        yield HARD
        raise error

    refuses(None, write, path, parts(), kind=error)
    left = {found.name: found.read_bytes() for found in tmp_path.iterdir()}
    assert left == ({} if old is None else {path.name: old})


@pytest.mark.parametrize("name", ["out", "out.txt", "out.npz", ".npy"])
def test_a_kind_that_is_not_known(tmp_path, name):
    refuses("not known by its name", write, tmp_path / name, [HARD])
    assert list(tmp_path.iterdir()) == []


def test_places_links_and_permissions(tmp_path):
    refuses("folder to write to", write, tmp_path / "none" / "out.npy", [HARD])
    (tmp_path / "out.npy").mkdir()
    refuses("written to a file", write, tmp_path / "out.npy", [HARD])
    real, link = tmp_path / "real.npy", tmp_path / "link.npy"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write(link, [HARD])
    assert link.is_symlink()
    assert np.array_equal(np.load(real), HARD)
    path = tmp_path / "OUT.NPY"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write(path, [HARD])
    assert np.array_equal(np.load(path), HARD)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy"])
def test_other_columns_stand_before_the_numbers(tmp_path, kind):
    path, Z = tmp_path / f"z.{kind}", np.array([[0.1], [1 / 3], [-0.0]])
    text = pl.DataFrame({"=id": [None, "=b", "-c"], "n": pl.Series([-1, 2, 3], dtype=pl.Int8)})
    with writer_of(path, ["PC1"]) as write:
        write(Z[:1], text[:1])  # a column that begins with nothing still holds text
        write(Z[1:], text[1:])
    if kind == "npy":
        assert np.array_equal(np.load(path), Z)
        return
    read = {
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "parquet": pl.read_parquet,
    }[kind](path)
    quote = "" if kind == "parquet" else "'"
    assert read.columns == [f"{quote}=id", "n", "PC1"]
    assert read[f"{quote}=id"].to_list() == [None, f"{quote}=b", f"{quote}-c"]
    assert read["n"].to_list() == [-1, 2, 3]
    assert read["PC1"].to_numpy().tobytes() == Z[:, 0].tobytes()


def test_raw_text_is_left_as_it_is(tmp_path):
    with writer_of(tmp_path / "z.csv", ["=a"], raw=True) as write:
        write(np.ones((1, 1)), pl.DataFrame({"id": ["=b"]}))
    assert (tmp_path / "z.csv").read_text(encoding="utf-8") == "id,=a\n=b,1.0\n"


PAYLOADS = [
    "=1+1", '=HYPERLINK("http://x","y")', "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+9)", "\t=1+1", "\r=1+1", "\n=1+1", "＝1+1", "-a",
]  # fmt: skip
SAFE = ["", "a=b", "'=1", "-5", "+5", "-1.5e-3", ".5", "1-2", "x@y", " plain", "7"]


def test_payloads_get_a_quote_and_other_cells_stay():
    wanted = [*("'" + text for text in PAYLOADS), *SAFE]
    assert [harmless(text) for text in (*PAYLOADS, *SAFE)] == wanted
    frame = pl.DataFrame({"=name": [*PAYLOADS, *SAFE, None], "n": [-1.5] * (len(wanted) + 1)})
    found = harmless_columns(frame)
    assert found.columns == ["'=name", "n"]
    assert found["n"].to_list() == frame["n"].to_list()
    assert found["'=name"].to_list() == [*wanted, None]
    frame = pl.DataFrame({"a": pl.Series(["=1", "b"], dtype=pl.Categorical)})
    assert harmless_columns(frame)["a"].to_list() == ["'=1", "b"]
