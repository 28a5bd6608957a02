"""scan opens by type and by the end of a file's name."""

import os

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer import PCA
from mercer.arrays import as_numpy
from mercer.errors import InputError
from mercer.sources import (
    ArrayBlocks,
    DenseSource,
    MissingCellError,
    Source,
    SparseSource,
    bad_cell_error,
    counted_error,
    has_missing,
    in_memory,
    is_scannable,
    missing_counts,
    scan,
)


def test_arrays_stay_where_they_are():
    X = np.eye(3)
    assert scan(X).array is X
    csr = scipy.sparse.csr_array(X)
    assert scan(csr).array is csr
    source = scan(X)
    assert isinstance(source, DenseSource)
    assert scan(source) is source
    assert scan(np.ones((3, 2))).max_passes == float("inf")
    with pytest.raises(TypeError, match="abstract"):
        Source()
    assert is_scannable("table.csv")
    assert is_scannable(iter([np.eye(2)]))
    assert not is_scannable(np.eye(2))
    assert not is_scannable([[1, 2]])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.csv", "no such file"),
        ("model.pkl", "run code"),
        ("model.joblib", "run code"),
        ("absent", "no such file"),
    ],
)
def test_names_that_cannot_be_opened(name, words):
    with pytest.raises(InputError, match=words):
        scan(name)


def test_files_that_scan_does_not_open(tmp_path):
    path = tmp_path / "table.xyz"
    path.write_text("1,2\n")
    with pytest.raises(InputError, match=r"'\.xyz'"):
        scan(path)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="did you mean 'columns'"):
        scan(tmp_path / "a.csv", colums=["a"])
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(InputError, match="a pipe or device"):
        mercer.scan(tmp_path / "x.csv")
    with pytest.raises(InputError, match="by a pattern"):
        mercer.scan(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        ([np.eye(2)], {}, "list"),
        (5, {}, "int"),
        (np.zeros(3), {}, "ndarray"),
        (pl.DataFrame({"a": [1.0]}), {"colums": ["a"]}, "did you mean 'columns'"),
        (pl.DataFrame({"a": [1.0]}), {"columns": slice(0, 1)}, "slice"),
        (np.eye(2), {"columns": [0]}, "an array takes no options"),
    ],
    ids=["list", "number", "vector", "misspelt", "slice", "array"],
)
def test_what_cannot_be_scanned(data, options, words):
    with pytest.raises(InputError, match=words):
        scan(data, **options)


@pytest.mark.parametrize(
    ("columns", "drop", "words"),
    [
        (["hieght"], None, "did you mean 'height'"),
        ([7], None, "no column number 7"),
        ([1.5], None, "name or its position"),
        (["id"], None, "'id' holds text"),
        (["height"], ["height"], "no column of numbers"),
        ([], None, "no column of numbers"),
    ],
)
def test_columns_that_cannot_be_had_are_refused(tmp_path, columns, drop, words):
    path = tmp_path / "t.csv"
    path.write_text("id,height,weight,when\n" + "a,1,2,2024-01-01\nb,2,5,2024-01-02\n" * 9)
    with pytest.raises(InputError, match=words):
        scan(path, columns=columns, drop=drop)


def test_arrays_of_every_library_are_sources(xp):
    assert isinstance(scan(xp.asarray(np.ones((3, 2)))), DenseSource)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        assert isinstance(scan(kind(np.eye(3))), SparseSource)
    source = scan(xp.asarray(np.ones((5, 3), np.float32)))
    assert (source.shape, source.dtype, source.nbytes) == ((5, 3), np.float32, 60)
    assert source.nnz is None
    data = np.arange(12).reshape(6, 2)
    sample = scan(xp.asarray(data.astype(np.float32))).sample(3)
    np.testing.assert_array_equal(as_numpy(sample), data[::2].astype(np.float32))
    assert scan(data).sample(3).dtype == np.float64
    assert scan(scipy.sparse.csr_array(data.astype(bool))).sample(3).dtype == np.float64
    assert scan(xp.asarray(np.ones((5, 3)))).first_bad_cell() is None
    assert scan(np.ones((5, 3), int)).first_bad_cell() is None
    assert scan(scipy.sparse.csr_array((5, 3))).first_bad_cell() is None


@pytest.mark.parametrize(
    ("dtype", "products"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_only_float32_is_multiplied_as_float32(dtype, products):
    assert scan(np.ones((3, 2), dtype)).products == products
    if dtype != np.float16:
        assert scan(scipy.sparse.csr_array(np.ones((3, 2), dtype))).products == products


def test_bad_cells_of_sparse_rows():
    csr = scipy.sparse.csr_array(([1.0, np.nan], ([1, 4], [0, 2])), shape=(6, 3))
    assert scan(csr).first_bad_cell()[:2] == (4, 2)
    assert scan(scipy.sparse.csr_array(np.eye(3, dtype=int))).first_bad_cell() is None
    source = scan(scipy.sparse.csr_array(np.eye(4)))
    assert (source.shape, source.dtype, source.nnz) == ((4, 4), np.float64, 4)
    assert source.nbytes == 4 * 8 + 4 * 4 + 5 * 4


@given(st.integers(1, 300), st.integers(1, 400))
def test_a_sample_is_spread_evenly(n, count):
    data = np.arange(n, dtype=float)[:, None]
    for source in (scan(data), scan(scipy.sparse.csr_array(data))):
        rows = source.sample(count)[:, 0]
        assert 1 <= len(rows) <= count
        assert rows[0] == 0
        steps = np.unique(np.diff(rows))
        assert steps.size <= 1
        assert len(rows) >= min(n, count) / 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (7, 2), (4999, 1), (4096, 0)])
def test_the_first_bad_cell_is_named(xp, value, place):
    data = np.ones((5000, 3))
    data[place] = value
    data[4999, 2] = np.nan
    for source in (scan(xp.asarray(data)), scan(scipy.sparse.csr_array(data))):
        row, column, found = source.first_bad_cell()
        assert (row, column) == place
        np.testing.assert_equal(found, value)


# Missing cells counted, in memory, sparse and in files.


def gaps():
    X = np.arange(5000 * 3.0).reshape(5000, 3)
    X[[1, 4500], 0], X[4999, 2] = np.nan, np.nan
    return X


@pytest.mark.parametrize(
    "source",
    [
        in_memory(gaps()),
        in_memory(scipy.sparse.csr_array(gaps())),
        ArrayBlocks(in_memory(gaps())),
        ArrayBlocks(in_memory(scipy.sparse.csr_array(gaps()))),
        in_memory(gaps().astype(np.float32)),
    ],
    ids=["dense", "sparse", "blocks", "sparse blocks", "float32"],
)
def test_counts(source):
    rows, counts = missing_counts(source)
    assert rows == 5000
    assert counts.tolist() == [2, 0, 1]
    assert has_missing(source)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_infinity_and_nothing_are_not_missing(form):
    whole = np.zeros((9, 2))
    assert not has_missing(in_memory(form(whole)))
    whole[3, 1] = -np.inf
    assert not has_missing(in_memory(form(whole)))


def test_the_message_counts_and_names():
    error = counted_error(in_memory(gaps()), "row 1, column 0", ["a", "b", "c"], "drop them")
    assert str(error) == (
        "X contains NaN; 3 of 15,000 cells are missing, in 2 of 3 columns\n"
        "  got: 'a' 2, 'c' 1; the first is NaN at row 1, column 0\n"
        "  fix: drop them"
    )
    assert isinstance(error, MissingCellError)
    assert error.counted
    assert error.place == "row 1, column 0"
    X = np.where(np.arange(60).reshape(6, 10) % 7 == 0, np.nan, 1.0)
    X[:, 8] = np.nan
    text = str(counted_error(in_memory(X), "here", None, "fix"))
    assert "column 8 6" in text
    assert "and 4 more columns" in text
    source = scan(iter([gaps()]))
    list(source.blocks(100))
    assert counted_error(source, "here", None, "fix") is None
    assert not has_missing(in_memory(np.ones((4, 2), int)))
    assert missing_counts(in_memory(np.ones((4, 2), int)))[1].tolist() == [0, 0]
    whole = scipy.sparse.csr_array(np.ones((4, 2), int))
    assert missing_counts(in_memory(whole))[1].tolist() == [0, 0]


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_no_missing_cell(value):
    assert not isinstance(bad_cell_error("here", value), MissingCellError)
    assert not bad_cell_error("here", np.nan).counted


# Files that change, go, or are not files at all.


X = np.random.default_rng(0).standard_normal((60, 3))


def written(kind, folder, rows):
    path = folder / f"t.{kind}"
    frame = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    if kind == "npy":
        np.save(path, rows)
    elif kind == "csv":
        frame.write_csv(path)
    elif kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path)
    return path


@pytest.mark.parametrize("kind", ["npy", "csv", "parquet", "arrow"])
def test_files_that_change_are_refused(kind, tmp_path):
    source = mercer.scan(written(kind, tmp_path, X))
    model = PCA(1).fit(source)
    written(kind, tmp_path, np.concatenate([X, X + 1]))
    with pytest.raises(InputError, match="changed since it was opened"):
        model.transform(source)
    path = written(kind, tmp_path, X)
    source = mercer.scan(path)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read any more"):
        PCA(1).fit(source)


def test_names_with_newlines_stay_on_their_line():
    with pytest.raises(InputError) as caught:
        PCA(1).fit("1,2\n3,4\n")
    assert len(str(caught.value).split("\n")) == 3


def test_rows_that_change_are_another_fit(tmp_path):
    calls = []

    def rows():
        calls.append(1)
        return iter([X[:30], X[30:] * (1 if len(calls) < 4 else 3)])

    class Twice(PCA):
        def _allowed(self):
            return ("svd",)  # one pass for the mean, one for the rows

    source = mercer.scan(rows)
    calls[:] = [1, 1]
    with pytest.raises(InputError, match="not those of the pass before"):
        Twice(2).fit(source)
    frame = pl.DataFrame({"a": np.arange(9000.0), "b": np.arange(9000.0) ** 2})
    PCA(1).fit(mercer.scan(frame), checkpoint=tmp_path / "c.mercer")
    other = frame.with_columns(
        pl.when(pl.col("a") == 4500).then(0.0).otherwise(pl.col("b")).alias("b")
    )
    with pytest.raises(InputError, match="belongs to another fit"):
        PCA(1).fit(mercer.scan(other), checkpoint=tmp_path / "c.mercer")


@pytest.mark.parametrize("kind", ["function", "lazy"])
def test_rows_that_cannot_be_recognised_have_no_checkpoint(kind, tmp_path):
    lazy = pl.LazyFrame({"a": X[:, 0], "b": X[:, 1]})
    source = mercer.scan(lambda: iter([X])) if kind == "function" else lazy
    with pytest.raises(InputError, match="rows that can be recognised"):
        PCA(1).fit(source, checkpoint=tmp_path / "c.mercer")
