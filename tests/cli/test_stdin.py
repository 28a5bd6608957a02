import gzip
import io
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._stdin import end_of, opened
from mercer.errors import InputError

X = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pl.DataFrame(X, schema=["a", "b", "c"])


def _npy():
    file = io.BytesIO()
    np.save(file, X)
    return file.getvalue()


def _written(method):
    file = io.BytesIO()
    getattr(FRAME, method)(file)
    return file.getvalue()


KINDS = {
    ".npy": _npy,
    ".csv": lambda: FRAME.write_csv().encode(),
    ".csv.gz": lambda: gzip.compress(FRAME.write_csv().encode()),
    ".parquet": lambda: _written("write_parquet"),
    ".arrow": lambda: _written("write_ipc"),
    ".ndjson": lambda: _written("write_ndjson"),
    ".ndjson.gz": lambda: gzip.compress(_written("write_ndjson")),
}


class _Stdin(io.TextIOWrapper):
    def __init__(self, data, terminal=False):
        super().__init__(io.BytesIO(data))
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize("end", KINDS)
def test_what_comes_in_is_known_by_its_first_bytes(end, monkeypatch):
    monkeypatch.setattr(sys, "stdin", _Stdin(KINDS[end]()))
    with opened("-") as path:
        assert Path(path).name == f"stdin{end}"
        source = mercer.scan(path)
        rows = np.concatenate(list(source.blocks(7)))
        kept = Path(path)
    assert np.allclose(rows, X)
    assert not kept.exists()
    assert not kept.parent.exists()


def test_the_copy_is_whole_and_goes_where_the_work_fails(monkeypatch):
    data = b"a,b\n" + b"1,2\n" * 10_000
    monkeypatch.setattr(sys, "stdin", _Stdin(data))
    with opened("-") as path:
        assert Path(path).read_bytes() == data
    monkeypatch.setattr(sys, "stdin", _Stdin(b"a,b\n1,2\n"))
    made = []

    def fail():
        with opened("-") as path:
            made.append(Path(path))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not made[0].parent.exists()


def test_what_cannot_be_read_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", _Stdin(b"", terminal=True))
    with pytest.raises(InputError, match=r"cat table.csv \| mercer look -"), opened("-"):
        pass
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="stdin is closed"), opened("-"):
        pass
    with pytest.raises(InputError, match="name of the file is empty"), opened(""):
        pass


@pytest.mark.parametrize("address", ["http://a.b/c.csv", "s3://b/x.parquet", "file:///x.csv"])
def test_no_address_is_opened(address):
    with pytest.raises(InputError, match="nothing is fetched"), opened(address):
        pass


@pytest.mark.parametrize("name", ["x.csv", "C:/x.csv", "a//b.csv", "x:/y"])
def test_names_of_files_are_left_as_they_are(name):
    with opened(name) as path:
        assert path == name


@pytest.mark.parametrize(
    ("head", "end"),
    [
        (b"", ".csv"),
        (b"\x1f\x8b damaged", ".csv.gz"),
        (b"PK\x03\x04" + b"x" * 26 + b"data.npy", ".npz"),
        (b"PK\x03\x04" + b"[Content_Types].xml", ".csv"),
        (b"\xef\xbb\xbf{}", ".ndjson"),
        (b"\x89HDF\r\n", ".h5"),
    ],
)
def test_the_end_of_a_name_by_first_bytes(head, end):
    assert end_of(head) == end
