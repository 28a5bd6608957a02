"""Arrow files in both formats, packed or not, give the same rows."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pytest
from pieces import walked

from mercer.errors import NotSupportedError
from mercer.sources import scan

N = 53


@pytest.fixture(name="X")
def numbers(rng):
    X = rng.standard_normal((N, 3))
    X[7, 1] = np.nan
    return X


def table(X):
    columns = {"a": X[:, 0], "t": ["x"] * len(X), "b": X[:, 1], "c": X[:, 2]}
    return pa.table(columns)


def write(path, X, *, framed=True, packed=None, batch=10):
    options = pa.ipc.IpcWriteOptions(compression=packed)
    make = pa.ipc.new_file if framed else pa.ipc.new_stream
    with make(str(path), table(X).schema, options=options) as file:
        file.write_table(table(X), max_chunksize=batch)


@pytest.mark.parametrize("framed", [True, False])
@pytest.mark.parametrize("packed", [None, "zstd", "lz4"])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_any_layout_gives_the_same_rows(X, tmp_path, framed, packed, batch):
    write(tmp_path / "a.arrow", X, framed=framed, packed=packed, batch=batch)
    source = scan(tmp_path / "a.arrow", drop=["t"])
    assert source.shape == (N, 3)
    assert source.counted
    for rows in (1, 10, 64):
        assert np.array_equal(walked(source, rows), X, equal_nan=True)
    assert np.array_equal(walked(source, 10, 20), X[20:], equal_nan=True)
    assert np.array_equal(walked(source, 10, 50), X[50:], equal_nan=True)
    assert source.place(7, 1) == "a.arrow, row 7, column 1 ('b')"
    assert source.first_bad_cell()[:2] == (7, 1)


@pytest.mark.parametrize("packed", [None, "zstd"])
@pytest.mark.parametrize("batch", [7, 1000])
def test_the_file_format_without_pyarrow(X, tmp_path, packed, batch, monkeypatch):
    write(tmp_path / "a.arrow", X, packed=packed, batch=batch)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    source = scan(tmp_path / "a.arrow", columns=["c", "a"])
    assert np.array_equal(walked(source, 10), X[:, [2, 0]], equal_nan=True)
    assert np.array_equal(walked(source, 10, 30), X[30:, [2, 0]], equal_nan=True)


def test_the_stream_format_needs_pyarrow(X, tmp_path, monkeypatch):
    write(tmp_path / "a.arrow", X, framed=False)
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    with pytest.raises(NotSupportedError, match="pip install pyarrow"):
        scan(tmp_path / "a.arrow", drop=["t"])


def test_other_arrow_files_and_orders(X, tmp_path):
    write(tmp_path / "a.ipc", X)
    source = scan(tmp_path / "a.ipc", columns=["c", "a", "b"])
    assert np.array_equal(walked(source, 9), X[:, [2, 0, 1]], equal_nan=True)
    mark = source.fingerprint()
    assert scan(tmp_path / "a.ipc", columns=["a", "b", "c"]).fingerprint() != mark
    assert scan(tmp_path / "a.ipc", columns=["c", "a", "b"]).fingerprint() == mark
    pyarrow.feather.write_feather(table(X), str(tmp_path / "a.feather"))
    source = scan(tmp_path / "a.feather", columns="b")
    assert np.array_equal(walked(source, 9), X[:, [1]], equal_nan=True)
    write(tmp_path / "a.arrow", X[:0])
    source = scan(tmp_path / "a.arrow", drop="t")
    assert source.shape == (0, 3)
    assert list(source.blocks(5)) == []
    plain = pa.table({"a": pa.array([1, None], pa.float32())})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), plain.schema) as file:
        file.write_table(plain)
    source = scan(tmp_path / "a.arrow")
    assert source.dtype == np.float32
    assert np.array_equal(walked(source, 5), np.float32([[1], [np.nan]]), equal_nan=True)
