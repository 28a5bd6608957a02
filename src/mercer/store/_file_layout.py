"""The layout of a ``.mercer`` file: safetensors with one description and one checksum.

    8 bytes    length of the header, little-endian
    header     {"__metadata__":{"sha256":"64 hexadecimal digits","mercer":"JSON"},
                "name":{"dtype":"F64","shape":[n,k],"data_offsets":[from,to]}, ...}
    data       the arrays one behind the other, C order, little-endian, no gaps

The checksum covers the whole file with its own 64 digits written as zeros. It comes first, so
the first bytes of the header are always the same and say whose file this is.

The JSON holds ``format`` ("mercer"), ``version``, ``kind`` ("model" or "checkpoint"),
``mercer`` (the version of the package) and what the writer adds. Files of an older version are
read, those of a newer one are refused. A field that is not known is refused too: no writer of
this version has put it there.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mercer.errors import InputError

VERSION = 1
KINDS = ("model", "checkpoint")

OPENING = b'{"__metadata__":{"sha256":"'  # what every header begins with
SHA_AT = 8 + len(OPENING)  # where the 64 digits are
NO_SHA = b"0" * 64
PREFIX = SHA_AT + len(NO_SHA)

# Room for 100,000 column names of 60 letters. Each mark opens or separates a value, and a value
# costs at most about 100 bytes once read: a small file cannot ask for much memory.
HEADER_BYTES = 1 << 23
MARKS = 130_000

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
NAMES = {np.dtype(text): name for name, text in DTYPES.items()}


class Place(NamedTuple):
    """Where an array lies: its type, its shape, and its first byte in the data."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self.dtype.itemsize * math.prod(self.shape)


def placed(arrays: Mapping[str, np.ndarray]) -> list[Place]:
    """Lay the arrays one behind the other, the widest type first so that all are aligned."""
    places, start = [], 0
    for name, array in sorted(arrays.items(), key=lambda pair: (-pair[1].itemsize, pair[0])):
        place = Place(name, array.dtype.newbyteorder("<"), array.shape, start)
        places.append(place)
        start += place.nbytes
    return places


def packed_header(description: str, places: list[Place]) -> bytes:
    """Return the length and the header, padded to whole words, with no checksum yet."""
    table: dict[str, object] = {
        place.name: {
            "dtype": NAMES[place.dtype],
            "shape": list(place.shape),
            "data_offsets": [place.start, place.start + place.nbytes],
        }
        for place in places
    }
    metadata = {"sha256": NO_SHA.decode(), "mercer": description}
    text = json.dumps({"__metadata__": metadata, **table}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def small_enough(path: str, header: bytes) -> None:
    """Refuse a header of more bytes or more values than a file may have."""
    marks = sum(header.count(mark) for mark in (b",", b"[", b"{"))
    if len(header) > HEADER_BYTES or marks > MARKS:
        raise InputError(
            "The description of a .mercer file is too long.",
            got=f"{path}: {len(header):,} bytes with {marks:,} values",
            fix=f"at most {HEADER_BYTES:,} bytes and {MARKS:,} values fit: keep long lists "
            "as arrays",
        )


def unpacked_header(path: str, header: bytes, room: int) -> tuple[str, list[Place]]:
    """Return the description and the places of the arrays, which must fill ``room`` bytes."""
    small_enough(path, header)
    table = parsed(path, header)
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or set(metadata) != {"sha256", "mercer"}:
        raise damaged(path, "the header does not hold exactly a checksum and a description")
    if not isinstance(metadata["mercer"], str):
        raise damaged(path, "the description is not text")
    places = sorted(
        (_place(path, name, entry) for name, entry in table.items()),
        key=lambda place: (place.start, place.nbytes),
    )
    end = 0
    for place in places:
        if place.start != end:
            raise damaged(path, f"array {place.name!r} begins at {place.start}, not at {end}")
        end += place.nbytes
    if end != room:
        raise damaged(path, f"the arrays need {end:,} bytes, the file holds {room:,}")
    return metadata["mercer"], places


def parsed(path: str, text: bytes | str) -> dict[str, Any]:
    """Read one JSON object, in which no name comes twice and nothing is too deep."""
    try:
        found = json.loads(text, object_pairs_hook=_no_name_twice)
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"the header is not JSON ({str(error)[:80]})") from None
    if not isinstance(found, dict):
        raise damaged(path, "the header is not a JSON object")
    return found


def damaged(path: str, why: str) -> InputError:
    """What to raise for a file that is not as it was written."""
    return InputError(
        "The file is damaged or was changed after it was written; nothing was read from it.",
        got=f"{path}: {why}",
        fix="take a sound copy of the file, or fit and save again",
    )


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _place(path: str, name: str, entry: object) -> Place:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise damaged(path, f"array {name!r} has no type, shape and place, or more than those")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise damaged(path, f"array {name!r} has the unknown type {str(dtype)[:20]!r}")
    if not _sizes(shape) or not _sizes(offsets) or len(offsets) != 2 or len(shape) > 32:
        raise damaged(path, f"array {name!r} has no sizes and places in whole numbers")
    place = Place(name, np.dtype(DTYPES[dtype]), tuple(shape), offsets[0])
    if place.start + place.nbytes != offsets[1]:
        raise damaged(path, f"array {name!r} does not fill its place")
    return place


def _sizes(values: object) -> bool:
    return isinstance(values, list) and all(
        type(value) is int and 0 <= value < 1 << 62 for value in values
    )
