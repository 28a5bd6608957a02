"""Fingerprints, shapes and types that all binary files share."""

import os

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.sources import scan
from mercer.sources.files._file_source import block_dtype, native


def saved(path, X):
    np.save(path, X)
    return path


def test_a_fingerprint_changes_with_the_file_and_the_columns(tmp_path):
    X = np.arange(60_000.0).reshape(-1, 3)
    path = saved(tmp_path / "x.npy", X)
    whole = scan(path).fingerprint()
    assert whole == scan(path).fingerprint()
    assert scan(path, columns=[0, 1]).fingerprint() != whole
    turned = scan(path, columns=[1, 0]).fingerprint()
    assert turned != scan(path, columns=[0, 1]).fingerprint()
    state = path.stat()
    X[-1, -1] = -1
    saved(path, X)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time
    assert scan(path).fingerprint() != whole
    X[-1, -1] = 59_999
    saved(path, X)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert scan(path).fingerprint() == whole
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert scan(path).fingerprint() != whole


def test_bytes_that_are_no_booleans_count_once():
    odd = np.array([[0, 1, 2, 255]], np.uint8).view(bool)
    assert native(odd, np.dtype(bool)).sum() == 3


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="long numbers are float64 here")
def test_long_numbers_are_refused():
    with pytest.raises(InputError, match="longer than 8 bytes"):
        block_dtype(np.dtype("g"), "x.npy")
