"""What a file is by its first bytes."""

import gzip

import pytest

from mercer.errors import InputError
from mercer.sources.text._text_bytes import TextFile, look


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
