"""Genotypes of PLINK files, packed here by the description of the format."""

import numpy as np
import pytest

from mercer.sources import scan
from mercer.sources.files._plink import BedSource

CODES = {2: 0b00, 1: 0b10, 0: 0b11, -1: 0b01}  # copies of the first allele; -1 is missing


def write(path, G):
    """Write genotypes (samples, variants), one by one."""
    n, p = G.shape
    packed = bytearray(b"\x6c\x1b\x01")
    for j in range(p):
        for i in range(0, n, 4):
            byte = 0
            for q, g in enumerate(G[i : i + 4, j]):
                byte |= CODES[int(g)] << (2 * q)
            packed.append(byte)
    path.write_bytes(packed)
    lines = [f"1 snp{j} 0 {j} A G\n" for j in range(p)]
    path.with_suffix(".bim").write_text("".join(lines))
    lines = [f"fam{i} id{i} 0 0 1 -9\n" for i in range(n)]
    path.with_suffix(".fam").write_text("".join(lines))


def made(n=103, p=7):
    return np.random.default_rng(2).integers(-1, 3, (n, p))


def as_floats(G):
    return np.where(G < 0, np.nan, G).astype(np.float32)


def whole(source, rows, start=0):
    blocks = list(source.blocks(rows, start))
    assert [len(b) for b in blocks[:-1]] == [rows] * (len(blocks) - 1)
    return np.concatenate(blocks)


@pytest.mark.parametrize("n", [1, 4, 102, 103])
def test_genotypes_are_those_written(tmp_path, n):
    G = made(n)
    write(tmp_path / "x.bed", G)
    source = scan(tmp_path / "x.bed")
    assert isinstance(source, BedSource)
    assert source.shape == G.shape
    assert source.dtype == np.float32
    assert source.names[:2] == ("snp0", "snp1")
    assert source.nbytes == 7 * -(-n // 4)
    for rows in (1, 2, 3, 4, 5, 6, 25, 200):
        for start in {0, rows, 3 * rows, 100 // rows * rows}:
            if start < n:
                found = whole(source, rows, start)
                np.testing.assert_array_equal(found, as_floats(G)[start:])


def test_all_bytes_are_known():
    """Each of the 256 bytes against its four pairs of bits."""
    from mercer.sources.files._plink import _unpacked

    copies = {0b00: 2, 0b01: np.nan, 0b10: 1, 0b11: 0}
    found = _unpacked(np.arange(256, dtype=np.uint8).reshape(1, 256))
    wanted = [[copies[(byte >> (2 * q)) & 3] for byte in range(256)] for q in range(4)]
    np.testing.assert_array_equal(found, np.float32(wanted))


def test_variants_are_chosen(tmp_path):
    write(tmp_path / "x.bed", made())
    source = scan(tmp_path / "x.bed", columns=["snp5", 0])
    np.testing.assert_array_equal(whole(source, 10), as_floats(made())[:, [5, 0]])
    assert source.place(0, 0) == "x.bed, row 0, column 0 ('snp5')"


def test_a_missing_genotype_is_a_bad_cell(tmp_path):
    G = np.abs(made())
    G[61, 4] = -1
    write(tmp_path / "x.bed", G)
    assert scan(tmp_path / "x.bed").first_bad_cell()[:2] == (61, 4)


def test_a_fingerprint_sees_the_files_beside(tmp_path):
    write(tmp_path / "x.bed", made())
    before = scan(tmp_path / "x.bed").fingerprint()
    bim = tmp_path / "x.bim"
    bim.write_text(bim.read_text().replace("snp3", "rs03"))
    assert scan(tmp_path / "x.bed").fingerprint() != before
