"""What a text file is, by its name and its first bytes."""

import codecs
import gzip
from pathlib import Path

from mercer.errors import InputError
from mercer.sources._bytes import TextFile, read_some

_LOOK = 4096  # bytes that tell what a file is

# What a file begins with when it is not text, and what to call it.
_DISGUISES = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\x1f\x8b", "packed by gzip"),
    (b"BZh", "packed by bzip2"),
    (b"\xfd7zXZ", "packed by xz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    (b"SQLite format", "an SQLite database"),
    (b"%PDF-", "a PDF document"),
)
# Marks at the beginning of a file, the longer ones first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def look(path: Path, encoding: str | None = None) -> TextFile:
    """Return what a text file is by its first bytes; what is no text is refused.

    Parameters
    ----------
    path : Path
        A file; one whose name ends with .gz is unpacked while it is read.
    encoding : str or None
        How characters are written. None takes the mark at the beginning, UTF-8 without one.
    """
    packed = path.suffix.lower() == ".gz"
    with path.open("rb") as raw:
        if packed and raw.read(2) not in (b"\x1f\x8b", b""):
            raise InputError(
                "the file is not packed by gzip, as its name says",
                got=path.name,
                fix="take .gz off its name",
            )
        raw.seek(0)
        stream = gzip.GzipFile(fileobj=raw) if packed else raw
        head = read_some(stream, _LOOK, path.name, 0)
    _refuse_disguise(head, path.name, packed)
    name, mark = _encoding(head, encoding, path.name)
    return TextFile(path, packed, name, mark)


def _encoding(head: bytes, wanted: str | None, label: str) -> tuple[str, int]:
    """Return the codec and the length of the mark."""
    name = None if wanted is None else _codec(wanted)
    for mark, marked in _MARKS:
        general = marked.removesuffix("-le").removesuffix("-be")
        if head.startswith(mark) and name in (None, marked, general, general + "-sig"):
            return marked, len(mark)
    if name in ("utf-16", "utf-32"):
        raise InputError(
            f"{wanted} needs a mark at the beginning of the file, or the order of its bytes",
            got=f"{label} begins with {head[:4].hex(' ')}",
            fix=f"pass encoding='{name}-le' or encoding='{name}-be'",
        )
    nulls = head[1::2].count(0), head[::2].count(0)
    if name is None and max(nulls) > 0.4 * len(head) / 2:
        order = "le" if nulls[0] > nulls[1] else "be"
        raise InputError(
            "the text looks like UTF-16 without a mark: line 1 holds NUL bytes",
            got=f"{label} begins with {head[:8].hex(' ')}",
            fix=f"pass encoding='utf-16-{order}', or save the file as UTF-8",
        )
    return ("utf-8" if name in (None, "utf-8-sig", "ascii") else name), 0


def _codec(wanted: str) -> str:
    try:
        name = codecs.lookup(wanted).name
        "a".encode(name)  # refuses codecs that do not make text
        codecs.getincrementaldecoder(name)
    except (LookupError, TypeError):
        raise InputError(
            "there is no such encoding",
            got=f"encoding={wanted!r}",
            fix="use a name that Python knows, such as 'utf-8', 'utf-16-le' or 'latin-1'",
        ) from None
    return name


def _refuse_disguise(head: bytes, label: str, packed: bool) -> None:
    found = next((what for magic, what in _DISGUISES if head.startswith(magic)), None)
    if found is None and head[:200].lstrip().lower().startswith(
        (b"<!doctype", b"<html", b"<?xml")
    ):
        found = "a web page"
    if found is None:
        return
    fix = "give the file the end of name that it should have"
    if b"[Content_Types].xml" in head or b"xl/" in head:
        found, fix = "an Excel workbook (.xlsx)", "save the sheet as CSV"
    elif "zip archive" in found:
        fix = "unpack it first"
    elif found == "packed by gzip" and not packed:
        fix = f"call it {label}.gz"
    elif found.startswith("packed"):
        fix = "unpack it first, or pack it by gzip"
    inside = "inside its packing " if packed else ""
    raise InputError(
        "the file is not text",
        got=f"{label}: by its first bytes {inside}it is {found}",
        fix=fix,
    )
