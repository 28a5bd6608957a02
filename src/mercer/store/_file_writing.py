"""Write a description and arrays into one file, whole or not at all."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import InputError
from mercer.sources import path_of
from mercer.store import _file_layout as layout
from mercer.store._file_replacement import naming, replacing, write_all

_PIECE = 1 << 24  # bytes hashed and written in one go
_OURS = ("format", "version", "mercer")


def write(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a ``.mercer`` file in place of ``path``: the old file or the new, never a mixture.

    The bytes go to a temporary file in the same folder, then to the disk, and only then does
    the file take its name. A file that exists is replaced if it is a ``.mercer`` file or empty;
    anything else is refused.

    Parameters
    ----------
    path : path
        The file.
    header : mapping
        What JSON can hold, with ``kind``, which is "model" or "checkpoint". Numbers are finite.
        The names ``format``, ``version`` and ``mercer`` are added.
    arrays : mapping of arrays
        Floats of 4 or 8 bytes, integers, booleans. At most one is copied at a time, and only
        if it is not stored row by row.
    """
    target = path_of(path).resolve()  # a link stays, the file it leads to is replaced
    for key, array in arrays.items():
        if array.dtype.newbyteorder("<") not in layout.NAMES or key == "__metadata__":
            raise InputError(
                "This array cannot be written to a .mercer file.",
                got=f"array {key!r} of type {array.dtype}",
                fix="use floats of 4 or 8 bytes, integers or booleans, and another name than "
                "__metadata__",
            )
    places = layout.placed(arrays)
    head = layout.packed_header(_described(header), places)
    layout.small_enough(str(target), head)
    must_be_ours(target)
    with naming(target), replacing(target) as descriptor:
        digest = hashlib.sha256(head)
        write_all(descriptor, head)
        for place in places:
            for piece in _pieces(arrays[place.name], place.dtype):
                digest.update(piece)
                write_all(descriptor, piece)
        os.lseek(descriptor, layout.SHA_AT, os.SEEK_SET)
        write_all(descriptor, digest.hexdigest().encode())


def _described(header: Mapping[str, Any]) -> str:
    if header.get("kind") not in layout.KINDS or any(key in header for key in _OURS):
        kinds = ", ".join(layout.KINDS)
        raise InputError(
            "A .mercer file says its kind, and leaves format and version to the writer.",
            got=f"kind {header.get('kind')!r} among {sorted(header)}",
            fix=f"give kind as one of {kinds}, and none of {', '.join(_OURS)}",
        )
    # Asked of the loaded package: its front names every room above this one.
    package = sys.modules["mercer"].__version__
    whole = {"format": "mercer", "version": layout.VERSION, "mercer": package, **header}
    try:
        return json.dumps(whole, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "The description of a .mercer file must be plain JSON.",
            got=str(error)[:200],
            fix="use None, booleans, finite numbers, text, lists and dicts with text as names",
        ) from None


def is_ours(path: Path) -> bool:
    """Tell whether a file begins as a ``.mercer`` file does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(layout.SHA_AT)[8:] == layout.OPENING


def must_be_ours(path: Path) -> None:
    """Refuse to replace what may be somebody else's work."""
    if not path.exists():
        return
    if is_ours(path) or (path.is_file() and path.stat().st_size == 0):
        return
    kinds = ("a folder, a pipe or a device", "a file that mercer did not write")
    whose = kinds[path.is_file()]
    raise InputError(
        "mercer replaces .mercer files only.",
        got=f"{path}, which is {whose}",
        fix="choose another name, or remove it first",
    )


def _pieces(array: np.ndarray, dtype: np.dtype[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array in C order and little-endian, a piece at a time."""
    whole = np.ascontiguousarray(array, dtype=dtype).reshape(-1).view(np.uint8)
    for start in range(0, whole.size, _PIECE):
        yield whole[start : start + _PIECE].data
