"""One Parquet file: ends, counts and checksums are looked at before its rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer.errors import InputError
from mercer.sources.files._parquet import PyarrowPart, _has_checksum, open_part

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


@pytest.mark.parametrize(
    "junk", [b"", b"\x15", b"\x15\xff" * 9, b"\x15\x80\x80", b"\x15\x02" * 3]
)
def test_junk_is_no_checksum(tmp_path, junk):
    (tmp_path / "junk").write_bytes(junk)
    assert not _has_checksum(tmp_path / "junk", 0)


def test_a_damaged_page_is_found_by_its_checksum(tmp_path):
    path = tmp_path / "a.parquet"
    options = {"compression": "none", "use_dictionary": False}
    pq.write_table(TABLE, path, write_page_checksum=True, **options)
    data = bytearray(path.read_bytes())
    at = data.index(np.float64(7.0).tobytes())
    data[at + 3] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.parquet: .*CRC"):
        list(PyarrowPart(path, pq).read(["a"], 4, 0))
