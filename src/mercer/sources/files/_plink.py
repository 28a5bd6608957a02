"""PLINK 1 binary genotypes: .bed with .bim and .fam beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources._column_choice import Chosen
from mercer.sources.files._file_source import FileSource, let_go

_MAGIC = b"\x6c\x1b"
_HEAD = 3  # bytes before the first record
# Two bits a genotype, lowest first: copies of the first allele of the .bim file.
_COPIES = np.array([2, np.nan, 1, 0], np.float32)
# For each byte its four genotypes, which are looked up together as one item of 16 bytes.
_FOURS = np.stack([_COPIES[(np.arange(256) >> (2 * q)) & 3] for q in range(4)], axis=1)
_TABLE = _FOURS.view(np.complex128)[:, 0]
_TILE = 512  # records that are turned at a time: they stay in the cache


@final
class BedSource(FileSource):
    """Genotypes (n samples, p variants) as float32: 0, 1 or 2 copies, NaN where missing.

    What is counted is the first allele of the .bim file, as PLINK's own export does. float32,
    because bytes have no NaN.

    The file stands variant by variant, four samples in a byte: a row is spread over all of
    it. So 16 blocks are gathered at a time, packed, through a memory map: they take as much
    memory as one block unpacked. A walk touches each page of the file about
    1 + 1024 / `rows` times; blocks of 1000 rows and more make it one or two readings of the
    file, short blocks many.
    """

    def __init__(self, path: Path, columns: Any = None, drop: Any = None) -> None:
        self.path, self.label = path, path.name
        self.beside = (path.with_suffix(".bim"), path.with_suffix(".fam"))
        names = _fields(self.beside[0], 1, path)
        n = len(_fields(self.beside[1], 1, path))
        self.shape, self.dtype = (n, len(names)), np.dtype(np.float32)
        self._variants, self._record = len(names), -(-n // 4)
        self._check()
        self._choose(names, columns, drop)

    @property
    def nbytes(self) -> int:
        """See `Source.nbytes`: the packed genotypes, once."""
        return self.shape[1] * self._record

    def _check(self) -> None:
        with self.path.open("rb") as file:
            head = file.read(_HEAD)
        if head[:2] != _MAGIC:
            raise InputError(
                "the file is not in PLINK's binary format",
                got=f"{self.label}: begins with bytes {head[:2].hex() or 'none'}, not 6c1b",
                fix="write it with plink --make-bed (a BED file of intervals is another kind)",
            )
        if head[2:] != b"\x01":
            raise InputError(
                "genotypes must stand variant by variant",
                got=f"{self.label}: byte 2 is {head[2:].hex() or 'missing'}, not 01"
                + (" (sample by sample, of PLINK before 1.0)" if head[2:] == b"\x00" else ""),
                fix="write it again with plink --make-bed",
            )
        size, needed = self.path.stat().st_size, _HEAD + self._variants * self._record
        if size != needed:
            raise InputError(
                "the size of the .bed file does not fit its .bim and .fam",
                got=f"{self.label}: {size:,} bytes; {self._variants:,} variants of "
                f"{self.shape[0]:,} samples need {needed:,}",
                fix="use the three files that were written together",
            )

    def _read(self, rows: int, start: int) -> Iterator[Array]:
        n = self.shape[0]
        self._check()
        shape = (self._variants, self._record)
        packed = np.memmap(self.path, np.uint8, "r", _HEAD, shape)
        for first in range(start, n, 16 * rows):
            last = min(n, first + 16 * rows)
            slab = self._gather(packed, first // 4, -(-last // 4))
            for at in range(first, last, rows):
                upto = min(last, at + rows)
                low = at // 4 - first // 4
                part = slab[low : -(-upto // 4) - first // 4]
                yield _unpacked(part)[at % 4 : at % 4 + upto - at]

    def _gather(self, packed: Any, low: int, high: int) -> Array:
        """Return bytes low to high - 1 of each record as (high - low, p): samples are rows."""
        slab = np.empty((high - low, self.shape[1]), np.uint8)
        for j in range(0, self.shape[1], _TILE):
            which = slice(j, j + _TILE) if self.at is None else self.at[j : j + _TILE]
            slab[:, j : j + _TILE] = packed[which, low:high].T
            let_go(packed)
        return slab


def _unpacked(part: Array) -> Array:
    """Return the genotypes (4 r, p) of bytes (r, p)."""
    out = np.empty((part.shape[0], 4, part.shape[1]), np.float32)
    for four, packed in zip(out, part, strict=True):
        four[:] = _TABLE[packed].view(np.float32).reshape(-1, 4).T
    return out.reshape(-1, part.shape[1])


def open_bed(path: Path, *, columns: Chosen = None, drop: Chosen = None) -> BedSource:
    """Return the samples of a PLINK .bed file; .bim and .fam must stand beside it.

    Parameters
    ----------
    path : path
        The .bed file.
    columns, drop : iterable of str or int, or None
        Variants to use, or not to use, by name or position.
    """
    return BedSource(path, columns, drop)


def _fields(path: Path, at: int, bed: Path) -> list[str]:
    """Return field `at` of every line of a .bim or .fam file."""
    if not path.is_file():
        raise InputError(
            f"the {path.suffix} file is missing",
            got=f"{bed.name}: no {path.name} beside it",
            fix="put .bed, .bim and .fam of one data set into one folder",
        )
    found = list[str]()
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) < 6:
                raise InputError(
                    f"a line of the {path.suffix} file must have six fields",
                    got=f"{path.name}, line {number}: {len(fields)} fields",
                    fix="write the three files again with plink --make-bed",
                )
            found.append(fields[at])
    if not found:
        raise InputError(
            f"the {path.suffix} file is empty",
            got=f"{path.name}, 0 lines",
            fix="write the three files again with plink --make-bed",
        )
    return found
