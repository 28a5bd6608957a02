"""Zarr folders, of format 2 and 3."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from mercer.errors import InputError, MissingExtraError
from mercer.sources._column_choice import Chosen
from mercer.sources.files._chunked_file import ChunkedSource
from mercer.sources.files._file_source import block_dtype, refusing, table_shape

# What Zarr raises for metadata that are cut off, of other types, or not known.
_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    OSError,
    AttributeError,
    RuntimeError,
    AssertionError,
)


@final
class ZarrSource(ChunkedSource):
    """A two-dimensional array (n, p) of a Zarr folder, read by whole rows of chunks.

    A chunk that is missing is legal Zarr: its cells are the fill value, mostly 0, and nothing
    tells whether it was left out on purpose or lost.
    """

    unpacking = 2.0  # of many chunks side by side, packed and unpacked

    def __init__(self, path: Path, array: Any, columns: Any, drop: Any) -> None:
        self.path, self.key = path, array.path or None
        self.label = f"{path.name}, array {array.path!r}" if array.path else path.name
        self.dtype = block_dtype(array.dtype, self.label)
        self.shape = table_shape(array.shape, self.label)
        _refuse_codecs(array, self.label)
        # The file that is read and unpacked whole: a shard where there are shards.
        self.chunk_rows = (getattr(array, "shards", None) or array.chunks)[0]
        self.row_bytes = self.shape[1] * array.dtype.itemsize
        self._array = array
        self._choose(None, columns, drop)

    @contextlib.contextmanager
    def _dataset(self) -> Iterator[Any]:
        yield self._array


def open_zarr(
    path: Path, *, key: str | None = None, columns: Chosen = None, drop: Chosen = None
) -> ZarrSource:
    """Return the rows of an array of a Zarr folder; only its metadata are read.

    Parameters
    ----------
    path : path
        The folder.
    key : str or None
        Which array of a group, such as "layers/counts"; None where only one is a table of
        numbers.
    columns, drop : iterable of int, or None
        Positions of the columns to use, or not to use.
    """
    try:
        import zarr
    except ImportError:
        raise MissingExtraError(
            "Zarr folders need the library zarr",
            got=f"{path.name}, and zarr is not installed",
            fix="pip install 'mercer[zarr]'",
        ) from None
    fix = "copy or write it again: its metadata are missing or damaged"
    with refusing(_BROKEN, "the folder cannot be opened as Zarr", path.name, fix):
        node = zarr.open(path, mode="r")
        array = node if hasattr(node, "dtype") else _member(node, key, path)
        if key is not None and array is node:
            raise _unknown(key, path, [])
        return ZarrSource(path, array, columns, drop)


def _member(group: Any, key: str | None, path: Path) -> Any:
    arrays = dict(_arrays(group))
    if key is not None:
        if key.strip("/") not in arrays:
            raise _unknown(key, path, list(arrays))
        return arrays[key.strip("/")]
    tables = {k: a for k, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiub"}
    if len(tables) == 1:
        return next(iter(tables.values()))
    shown = ", ".join(f"{k!r} {a.shape}" for k, a in list((tables or arrays).items())[:8])
    raise InputError(
        "the group must hold one table of numbers, or say which with key=",
        got=f"{path.name}: {len(tables)} tables; {shown or 'no array at all'}",
        fix=f"pass key={next(iter(tables))!r}" if tables else "save a two-dimensional array",
    )


def _arrays(group: Any) -> Iterator[tuple[str, Any]]:
    for _, array in group.arrays():
        yield array.path, array
    for _, inner in group.groups():
        yield from _arrays(inner)


def _unknown(key: str, path: Path, names: list[str]) -> InputError:
    return InputError(
        f"there is no array {key!r}",
        got=f"{path.name}: {', '.join(map(repr, names[:8])) or 'one array, without a name'}",
        fix="choose one of these with key=" if names else "leave key= out",
    )


def _refuse_codecs(array: Any, label: str) -> None:
    """Refuse chunks that unpickle: Zarr 2 allows that filter, and it can run code."""
    stages = array.metadata.to_dict()
    used = repr([stages.get(name) for name in ("filters", "compressor", "codecs")])
    if "pickle" in used.lower():
        raise InputError(
            "chunks that are unpickled are not read: that can run code",
            got=f"{label}: {used[:120]}",
            fix="save the numbers with another filter",
        )
