"""One Parquet file: ends, counts and checksums are looked at before its rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mercer.sources.files._parquet import PyarrowPart, open_part

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
