"""Rows of chunks are read once, and never too many at a time."""

import pytest

from mercer.sources.files._chunked_file import spans


@pytest.mark.parametrize("n", [1, 64, 1000, 1001])
@pytest.mark.parametrize("rows", [1, 7, 64, 5000])
@pytest.mark.parametrize("chunk", [1, 10, 64, 4000])
def test_spans_cover_the_rows_by_whole_chunks(n, rows, chunk):
    for start in {0, rows, 3 * rows}:
        found = list(spans(n, rows, start, chunk, 100))
        assert [row for first, last in found for row in range(first, last)] == [
            *range(start, n)
        ]
        assert all(last % chunk == 0 or last == n for _, last in found)
        assert all(last - first < rows + chunk for first, last in found)


def test_rows_of_chunks_that_are_too_large_are_cut():
    found = list(spans(1_000_000, 1000, 0, 1_000_000, 8000))
    assert max(last - first for first, last in found) == (1 << 26) // 8000
    assert found[-1][1] == 1_000_000
    # What was asked for is read, however large: the reader of blocks chose it.
    assert next(spans(10**6, 10**5, 0, 10**6, 8000)) == (0, 10**5)
