"""HDF5 files: one table of numbers among the data sets."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from mercer.errors import InputError, MissingExtraError
from mercer.sources._column_choice import Chosen
from mercer.sources.files._chunked_file import ChunkedSource
from mercer.sources.files._file_source import block_dtype, reason_of, table_shape

# What h5py raises for damaged files.
BROKEN = (OSError, RuntimeError, ValueError, LookupError, TypeError, OverflowError)


@final
class Hdf5Source(ChunkedSource):
    """A two-dimensional data set (n, p) of an HDF5 file, opened anew for each walk.

    Chunks that were never written are legal HDF5: they are read as the fill value, mostly 0.
    HDF5 keeps no checksum unless asked: a flipped bit in the cells is not seen, and one in
    the directories can make the HDF5 library itself hang or crash.

    Parameters
    ----------
    path : Path
        The file.
    dataset : h5py.Dataset
        The data set, open now.
    names : sequence of str or None
        Column names, where the file has some.
    columns, drop : iterable, or None
        Columns to use, or not to use.
    """

    def __init__(
        self,
        path: Path,
        dataset: Any,
        *,
        names: Any = None,
        columns: Chosen = None,
        drop: Chosen = None,
    ) -> None:
        self.path, self.key = path, dataset.name.strip("/")
        self.label = label_of(path, dataset)
        check_dataset(dataset, self.label)
        self.dtype = block_dtype(dataset.dtype, self.label)
        self.shape = table_shape(dataset.shape, self.label)
        self.row_bytes = self.shape[1] * dataset.dtype.itemsize
        if dataset.chunks:  # one after the other, packed and in space that grows by doubling
            self.chunk_rows = dataset.chunks[0]
            self.unpacking = 4.0 * dataset.chunks[1] / max(self.shape[1], 1)
        self._stored = (dataset.shape, dataset.dtype)
        self._choose(names, columns, drop)

    @contextlib.contextmanager
    def _dataset(self) -> Iterator[Any]:
        with open_file(self.path) as file:
            dataset = file[self.key]
            if (dataset.shape, dataset.dtype) != self._stored:
                raise InputError(
                    "the data set has changed since it was opened",
                    got=f"{self.label}: {dataset.shape} of {dataset.dtype}",
                    fix="open it again when nothing writes to it",
                )
            yield dataset


def open_hdf5(
    path: Path, *, key: str | None = None, columns: Chosen = None, drop: Chosen = None
) -> Hdf5Source:
    """Return the rows of a data set of an HDF5 file.

    Parameters
    ----------
    path : path
        The file.
    key : str or None
        Which data set, such as "group/table"; None where only one is a table of numbers.
    columns, drop : iterable of int, or None
        Positions of the columns to use, or not to use.
    """
    with open_file(path) as file:
        found = _only_table(file, path) if key is None else member(file, key, path)
        return Hdf5Source(path, found, columns=columns, drop=drop)


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[Any]:
    """Open an HDF5 file for reading, or refuse it."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(
            "HDF5 files need the library h5py",
            got=f"{path.name}, and h5py is not installed",
            fix="pip install 'mercer[hdf5]'",
        ) from None
    # One try for the opening and the reading: HDF5 finds damage wherever it first looks.
    try:
        with h5py.File(path, "r") as file:
            yield file
    except InputError:
        raise
    except BROKEN as error:
        raise InputError(
            "the file cannot be read as HDF5",
            got=f"{path.name}: {reason_of(error)}",
            fix="copy or write the file again: it is cut off, damaged, or of another kind",
        ) from error


def member(file: Any, key: str, path: Path) -> Any:
    """Return a data set or group of an open file by its name."""
    try:
        found = file[key]
    except KeyError as error:
        names = [name for name, _ in _all_datasets(file)]
        raise InputError(
            f"there is no data set {key!r}",
            got=f"{path.name}: {', '.join(map(repr, names[:8])) or reason_of(error)}",
            fix="choose one of these with key=",
        ) from None
    if found.file.filename != file.filename:
        raise InputError(
            "a data set must stand in the file itself",
            got=f"{path.name}, data set {key!r}: a link to {found.file.filename}",
            fix="open that file, if it is one you trust",
        )
    return found


def label_of(path: Path, dataset: Any) -> str:
    """Return what messages call a data set of a file."""
    return f"{path.name}, data set {dataset.name.strip('/')!r}"


def check_dataset(dataset: Any, label: str) -> None:
    """Refuse groups, data sets whose cells stand in other files, and those never written."""
    if not hasattr(dataset, "shape"):
        parts = list(dataset) if hasattr(dataset, "keys") else []
        raise InputError(
            "a group is not a table",
            got=f"{label}, holds {', '.join(map(repr, parts[:8])) or 'nothing'}",
            fix="name one of its data sets with key=",
        )
    if dataset.shape is None:
        raise InputError(
            "the data set is empty",
            got=f"{label}, without shape",
            fix="check what wrote the file",
        )
    if dataset.is_virtual or dataset.external:
        raise InputError(
            "a data set must stand in the file itself",
            got=f"{label}: its cells are in other files",
            fix="copy it into one file",
        )
    if dataset.size and not dataset.id.get_storage_size():
        raise InputError(
            "the data set was never written",
            got=f"{label}, shape {dataset.shape}, 0 bytes stored",
            fix="check what wrote the file",
        )


def _all_datasets(file: Any) -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    file.visititems(lambda name, item: _note(found, name, item))
    return found


def _note(found: list[tuple[str, Any]], name: str, item: Any) -> None:
    if hasattr(item, "dtype") and hasattr(item, "shape"):
        found.append((name, item))


def _only_table(file: Any, path: Path) -> Any:
    every = _all_datasets(file)
    tables = [(k, d) for k, d in every if d.ndim == 2 and d.dtype.kind in "fiub"]
    if len(tables) == 1:
        return tables[0][1]
    shown = ", ".join(f"{k!r} {d.shape} {d.dtype}" for k, d in (tables or every)[:8])
    raise InputError(
        "the file must hold one table of numbers, or say which with key=",
        got=f"{path.name}: {len(tables)} tables; {shown or 'no data set at all'}",
        fix=f"pass key={tables[0][0]!r}" if tables else "save a two-dimensional data set",
    )
