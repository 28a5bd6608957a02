"""Bytes of text come unpacked and in UTF-8, whatever the size of the chunks."""

import gzip

import pytest

from mercer.sources.text._text_bytes import Chunks, TextFile, look

TEXT = "a,ü,€\n1,😀,3\r\n" * 3


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16", "utf-16"),
        ("utf-32", None),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "UTF-16BE"),
        ("gb18030", "gb18030"),
    ],
)
def test_text_comes_back(tmp_path, written, given, packed, size):
    data = TEXT.encode(written)
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    chunks = Chunks(look(path, given), size)
    found = list(chunks)
    assert b"".join(found).decode() == TEXT
    assert chunks.packed == path.stat().st_size
    assert chunks.given == len(TEXT.encode())
    assert max(map(len, found)) <= max(4, 3 * size)


def test_a_big_endian_mark_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xfe\xff" + TEXT.encode("utf-16-be"))
    assert look(path) == TextFile(path, False, "utf-16-be", 2)
    assert b"".join(Chunks(look(path), 5)).decode() == TEXT
