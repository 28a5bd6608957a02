"""Zip archives of .npy members: sizes are checked before anything is unpacked."""

import contextlib
import dataclasses
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, final

import numpy as np

from mercer.arrays import Array, show_bytes
from mercer.errors import InputError
from mercer.sources._files import reason_of
from mercer.sources._npy import fill, npy_header

_RATIO = 1000  # unpacked bytes for one packed byte that are believed ...
_FREE = 100_000_000  # ... once this many are unpacked
# What Python's zipfile and its unpackers raise for damaged archives.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
)


@final
@dataclasses.dataclass(frozen=True)
class Member:
    """One array of an archive, as its header describes it."""

    name: str
    offset: int  # of the first cell within the unpacked member
    shape: tuple[int, ...]
    fortran: bool
    stored: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the cells."""
        return math.prod(self.shape) * self.stored.itemsize


@final
class Archive:
    """The arrays of a .npz file, which is not kept open.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, path.name
        with self._refusing(), zipfile.ZipFile(path) as file:
            members = {i.filename[:-4]: i for i in file.infolist() if _is_array(i)}
        self.members = members

    def describe(self, name: str) -> Member:
        """Return an array's shape and type, checked against the size of its member."""
        if name not in self.members:
            raise InputError(
                f"there is no array {name!r} in the archive",
                got=f"{self.label}: {', '.join(map(repr, list(self.members)[:8])) or 'none'}",
                fix="choose one of these with key=, or write the file again",
            )
        info, label = self.members[name], f"{self.label}, array {name!r}"
        self._check_ratio(info, label)
        with self.open(name) as file:
            shape, fortran, stored = npy_header(file, label)
            found = Member(name, file.tell(), shape, fortran, stored)
        if min(shape, default=0) < 0 or found.offset + found.nbytes != info.file_size:
            raise InputError(
                "an array is not as long as its header says",
                got=f"{label}: {info.file_size:,} bytes; shape {shape} of {stored} needs "
                f"{found.offset + found.nbytes:,}",
                fix="write the file again: it is cut off, or its header is wrong",
            )
        return found

    def load(self, member: Member) -> Array:
        """Return a whole array."""
        order = "F" if member.fortran else "C"
        values = np.empty(member.shape, member.stored, order=order)  # type: ignore[call-overload]
        with self.open(member.name) as file:
            file.seek(member.offset)
            label = f"{self.label}, array {member.name!r}"
            # reshape in the order of the file is a view, so this fills `values`.
            fill(file, values.reshape(-1, order=order), label)
        return values

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Open a member for reading; what the archive gets wrong is refused in three lines."""
        with (
            self._refusing(f", array {name!r}"),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self.members[name]) as file,
        ):
            yield file

    def _check_ratio(self, info: zipfile.ZipInfo, label: str) -> None:
        packed = min(info.compress_size, self.path.stat().st_size)
        if info.file_size > _FREE and info.file_size > _RATIO * packed:
            raise InputError(
                "an array is packed beyond belief: this may be a zip bomb",
                got=f"{label}: {show_bytes(packed)} would become {show_bytes(info.file_size)}",
                fix="if the file is yours, save it unpacked with numpy.savez",
            )

    @contextlib.contextmanager
    def _refusing(self, where: str = "") -> Iterator[None]:
        try:
            yield
        except InputError:
            raise
        except _BROKEN as error:
            raise InputError(
                "the archive cannot be read",
                got=f"{self.label}{where}: {reason_of(error)}",
                fix="copy or write the file again: it is damaged, or no .npz file",
            ) from None


def _is_array(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith(".npy")
