"""Read a file that was written by `write`, and refuse every other."""

import hashlib
import os
import stat
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.sources import path_of
from mercer.store import _file_layout as layout

_PIECE = 1 << 24  # bytes read and hashed in one go

_OTHERS = (
    (b"\x80", "a pickle, which runs the code in it when it is opened"),
    (b"\x78", "a compressed file, as joblib writes: it may hold a pickle, which runs code"),
    (b"\x1f\x8b", "a gzip file: it may hold a pickle, which runs code"),
    (b"BZh", "a bzip2 file: it may hold a pickle, which runs code"),
    (b"\xfd7zXZ", "an xz file: it may hold a pickle, which runs code"),
    (b"\x5d\x00\x00", "an lzma file: it may hold a pickle, which runs code"),
    (b"\x04\x22\x4d\x18", "an lz4 file: it may hold a pickle, which runs code"),
    (b"PK", "a zip file (npz, skops, PyTorch): it may hold pickles, which run code"),
    (b"\x93NUMPY", "a single array of NumPy"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
)


class MissingFileError(InputError, FileNotFoundError):
    """There is no file of that name."""


def read(
    path: str | os.PathLike[str], *, kind: str | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the description and the arrays of a ``.mercer`` file. Nothing in it is executed.

    Every byte is held against the checksum before anything is returned. Sizes are held against
    the size of the file before memory is taken: at most twice the file and 16 MB are in use.

    Parameters
    ----------
    path : path
        The file.
    kind : {"model", "checkpoint"}, optional
        Refuse the other kind.

    Returns
    -------
    header : dict
        What was given to `write`, and ``format`` ("mercer"), ``version`` (of the format) and
        ``mercer`` (the version of the package that wrote the file).
    arrays : dict of arrays
        In the byte order of this machine, free to be written to.
    """
    name = os.fspath(path_of(path))
    _must_be_a_file(name)
    with FileIO(name) as file:
        size = os.fstat(file.fileno()).st_size
        prefix, header = _header(name, file, size)
        text, places = layout.unpacked_header(name, header, size - 8 - len(header))
        description = _description(name, text, kind)
        digest = hashlib.sha256(
            prefix[: layout.SHA_AT] + layout.NO_SHA + header[layout.PREFIX - 8 :]
        )
        del header, text
        arrays = {place.name: _array(name, file, place, digest) for place in places}
        if file.read(1) or digest.hexdigest().encode() != prefix[layout.SHA_AT :]:
            raise layout.damaged(name, "the checksum does not match")
    return description, {key: _native(name, key, array) for key, array in arrays.items()}


def _must_be_a_file(name: str) -> None:
    """Refuse what is not there, folders and pipes: opening a pipe would wait for ever."""
    try:
        mode = Path(name).stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFileError(
            "There is no such file.",
            got=f"{name}, looked for in {Path.cwd()}",
            fix="check the name and the folder",
        ) from None
    if not stat.S_ISREG(mode):
        raise InputError(
            "A model is read from a file.",
            got=f"{name}, which is a folder, a pipe or a device",
            fix="give the path of a .mercer file",
        )


def _header(name: str, file: FileIO, size: int) -> tuple[bytes, bytes]:
    """Return the first `PREFIX` bytes of the file, and the header without its length."""
    prefix = bytearray(min(layout.PREFIX, size))
    _fill(name, file, memoryview(prefix))
    if prefix[8 : layout.SHA_AT] != layout.OPENING:
        raise _not_ours(name, bytes(prefix))
    length = int.from_bytes(prefix[:8], "little")
    if size < layout.PREFIX or length > size - 8 or length < layout.PREFIX - 8:
        raise layout.damaged(name, f"{size:,} bytes, but the header alone claims {length:,}")
    if length > layout.HEADER_BYTES:
        raise layout.damaged(
            name, f"a header of {length:,} bytes; at most {layout.HEADER_BYTES:,} are read"
        )
    header = bytearray(length)
    header[: layout.PREFIX - 8] = prefix[8:]
    _fill(name, file, memoryview(header)[layout.PREFIX - 8 :])
    return bytes(prefix), bytes(header)


def _not_ours(name: str, first: bytes) -> InputError:
    reason = next((why for sign, why in _OTHERS if first.startswith(sign)), None)
    if reason is None and first[8:9] == b"{":
        reason = "a safetensors file that mercer did not write"
    return InputError(
        "This is not a .mercer file; it was not opened any further.",
        got=f"{name}: {reason or 'the first bytes are ' + repr(first[:12])}",
        fix="give a file written by mercer.save; a model kept in another form must be fitted "
        "and saved again",
    )


def _description(name: str, text: str, kind: str | None) -> dict[str, Any]:
    """Read the description and hold its format, version and kind against what is asked."""
    found = layout.parsed(name, text)
    version = found.get("version")
    if found.get("format") != "mercer" or type(version) is not int or version < 1:
        raise layout.damaged(name, "the description names no format and version")
    if version > layout.VERSION:
        raise InputError(
            "The file was written by a newer mercer, in a form that this one cannot read.",
            got=f"{name}: format {version}, written by mercer {found.get('mercer')}; "
            f"this one reads formats up to {layout.VERSION}",
            fix="update mercer, or save the model again with this version",
        )
    if kind is not None and found.get("kind") != kind:
        raise InputError(
            f"The file does not hold a {kind}.",
            got=f"{name}: a {found.get('kind')}",
            fix="a model is opened by mercer.load; a checkpoint by the fit that wrote it",
        )
    return found


def _array(name: str, file: FileIO, place: layout.Place, digest: Any) -> np.ndarray:
    """Read one array into its own memory, and its bytes into the checksum."""
    try:
        array = np.empty(place.shape, place.dtype)
    except ValueError:  # no cells, but a length that no array can have
        raise layout.damaged(
            name, f"array {place.name!r} has the shape {place.shape}"
        ) from None
    view = array.reshape(-1).view(np.uint8).data
    for start in range(0, len(view), _PIECE):
        piece = view[start : start + _PIECE]
        _fill(name, file, piece)
        digest.update(piece)
    return array


def _fill(name: str, file: FileIO, view: memoryview) -> None:
    while len(view):
        count = file.readinto(view)
        if not count:
            raise layout.damaged(name, "it ended while it was read")
        view = view[count:]


def _native(name: str, key: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise layout.damaged(name, f"array {key!r} holds bytes that are neither true nor false")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
