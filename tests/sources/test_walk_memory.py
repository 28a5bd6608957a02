"""A walk holds a few blocks, however large the file: measured in a process of its own."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="anonymous memory is told by /proc"
)

WALK = """
import sys
from mercer.arrays import anonymous_bytes
from mercer.sources import scan

source, total, most = scan(sys.argv[1]), 0.0, 0
for block in source.blocks(10):  # what the libraries take once is not counted
    break
before = anonymous_bytes()
for block in source.blocks(int(sys.argv[2])):
    total += float(block[:, [0]].sum())
    most = max(most, anonymous_bytes() - before)
print(total, most / 1e6)
"""
P = 500  # columns of float32: 2 kB a row


def write_npy(path, n, order="C"):
    cells = np.lib.format.open_memmap(path, "w+", "f4", (n, P), order == "F")
    cells[:, 0] = 1
    cells.flush()


def write_columns(path, n):
    write_npy(path, n, "F")


def write_npz(path, n):
    """The same bytes of cells: 166 a row, of 8 and 4 bytes."""
    indices = np.tile(np.arange(166, dtype="i4") * 3, n)
    parts = np.ones(n * 166), indices, np.arange(n + 1) * 166
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(parts, shape=(n, P)), compressed=False)


def write_hdf5(path, n):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        cells = file.create_dataset("X", (n, P), "f4", chunks=(300, 200))
        for at in range(0, n, 3000):
            cells[at : at + 3000] = np.eye(1, P, dtype="f4")


def write_h5ad(path, n):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": (n, P)})
        group["indptr"] = np.arange(n + 1) * 166
        group["indices"] = np.tile(np.arange(166, dtype="i4") * 3, n)
        group["data"] = np.ones(n * 166)


def write_zarr(path, n):
    zarr = pytest.importorskip("zarr")
    cells = zarr.create_array(
        path, shape=(n, P), dtype="f4", chunks=(300, 200), compressors=None
    )
    for at in range(0, n, 3000):
        cells[at : at + 3000] = np.tile(np.eye(1, P, dtype="f4"), (min(3000, n - at), 1))


def write_bed(path, n):
    """Two bits a cell, so 16 times the columns for the same bytes."""
    record = np.full(n // 4, 0b11111111, np.uint8)
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01" + np.full(n // 4, 0b10101010, np.uint8).tobytes())
        for _ in range(16 * P - 1):
            file.write(record.tobytes())
    path.with_suffix(".bim").write_text("".join(f"1 v{j} 0 0 A G\n" for j in range(16 * P)))
    path.with_suffix(".fam").write_text("".join(f"f s{i} 0 0 1 -9\n" for i in range(n)))


KINDS = {
    "x.npy": write_npy,
    "columns.npy": write_columns,
    "x.npz": write_npz,
    "x.h5": write_hdf5,
    "x.h5ad": write_h5ad,
    "x.zarr": write_zarr,
    "x.bed": write_bed,
}


def check(tmp_path, name, n, limit):
    KINDS[name](tmp_path / name, n)
    rows = "64" if name == "x.bed" else "1000"  # blocks of 2 MB
    run = [sys.executable, "-c", WALK, str(tmp_path / name), rows]
    total, most = map(float, subprocess.check_output(run, text=True).split())
    assert total == n
    assert most < limit


@pytest.mark.parametrize("name", ["columns.npy", "x.npz", "x.zarr"])
def test_a_walk_holds_a_few_blocks(tmp_path, name):
    """40 MB in blocks of 2 MB; of every kind among the long sweeps."""
    check(tmp_path, name, 20_000, 25)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_long_walk_holds_no_more(tmp_path, name):
    """200 MB in blocks of 2 MB."""
    check(tmp_path, name, 100_000, 40)
