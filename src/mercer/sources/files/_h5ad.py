"""AnnData's .h5ad files: cells of single-cell experiments by genes."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse

from mercer.arrays import Array, check_places
from mercer.errors import InputError
from mercer.sources.files import _hdf5 as hdf5
from mercer.sources.files import _sparse_file as csr
from mercer.sources.files._file_source import FileSource, native, refusing, table_shape


@final
class SparseGroup(csr.CsrSource):
    """A CSR group of an .h5ad file: data sets data, indices and indptr, and a shape."""

    def __init__(self, path: Path, group: Any, shape: tuple[int, int]) -> None:
        self.path, self.key = path, group.name.strip("/")
        self.label, self.shape = hdf5.label_of(path, group), shape
        values, numbers = _lists(group, self.label)
        self.dtype = csr.cell_dtype(values.dtype, self.label)
        self.nnz = csr.check_cells(values.shape, numbers.shape, numbers.dtype, self.label)
        self.indptr = _pointers(group, shape[0], self.nnz, self.label)
        self.widths = (values.dtype.itemsize, numbers.dtype.itemsize)

    @contextlib.contextmanager
    def _cells(self) -> Iterator[csr.Cells]:
        with hdf5.open_file(self.path) as file:
            group = file[self.key]

            def read(lo: int, hi: int) -> tuple[Array, Array]:
                return _part(group["data"], lo, hi, self.label), _part(
                    group["indices"], lo, hi, self.label
                )

            yield read


def open_h5ad(path: Path, *, key: str = "X") -> FileSource:
    """Return the rows (cells) of an AnnData file, with the names of its variables.

    Dense tables and CSR groups are read block by block; a CSC group is loaded whole, where it
    fits into half of the free memory.

    Parameters
    ----------
    path : path
        The file.
    key : str
        "X", "raw/X", "layers/NAME" or "obsm/NAME".
    """
    with hdf5.open_file(path) as file:
        found = hdf5.member(file, key, path)
        side = _side(key)
        names = None if side is None else _names(file, side, path)
        if hasattr(found, "dtype"):
            source: FileSource = hdf5.Hdf5Source(path, found, names=names)
        else:
            source = _sparse(path, found)
            source.names = names
        _check_sides(source, names, _names(file, "obs", path))
    return source


def _side(key: str) -> str | None:
    """Return the group that names the columns; a table of obsm has none."""
    if key.strip("/") == "raw/X":
        return "raw/var"
    return "var" if key.strip("/") == "X" or key.strip("/").startswith("layers/") else None


def _sparse(path: Path, group: Any) -> FileSource:
    label = hdf5.label_of(path, group)
    # Before AnnData 0.7 these stood under other names.
    kind = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "nothing"))
    order = _text(kind).removesuffix("_matrix")
    if order not in {"csr", "csc"}:
        raise InputError(
            "the group is no sparse matrix that is known",
            got=f"{label}: encoding-type {order!r}",
            fix='name a table with key=, such as "X" or "layers/NAME"',
        )
    sides = np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ())))
    if sides.dtype.kind not in "iu":
        sides = sides[:0]
    shape = table_shape([int(side) for side in sides.reshape(-1)], label)
    return SparseGroup(path, group, shape) if order == "csr" else _held(path, group, shape)


def _held(path: Path, group: Any, shape: tuple[int, int]) -> csr.HeldRows:
    label = hdf5.label_of(path, group)
    values, numbers = _lists(group, label)
    nnz = csr.check_cells(values.shape, numbers.shape, numbers.dtype, label)
    csr.refuse_what_does_not_fit(
        3 * nnz * (values.dtype.itemsize + numbers.dtype.itemsize), label, "CSC"
    )
    ends = _pointers(group, shape[1], nnz, label)
    data = _part(values, 0, nnz, label).astype(csr.cell_dtype(values.dtype, label), copy=False)
    indices = _part(numbers, 0, nnz, label)
    check_places(indices, shape[0], ends, f"{label}, by columns, column")
    matrix = scipy.sparse.csc_array((data, indices, ends), shape=shape)
    return csr.HeldRows(path, label, matrix, group.name.strip("/"))


def _lists(group: Any, label: str) -> tuple[Any, Any]:
    """Return the data sets of values and of numbers, both written in the file itself."""
    for name in ("data", "indices", "indptr"):
        part = group.get(name)
        if not hasattr(part, "dtype") or part.file.filename != group.file.filename:
            raise InputError(
                "a part of the sparse matrix is missing",
                got=f"{label}: no data set {name!r}",
                fix="write the file again with anndata",
            )
        hdf5.check_dataset(group[name], f"{label}, {name}")
    return group["data"], group["indices"]


def _pointers(group: Any, n: int, nnz: int, label: str) -> Array:
    stored = group["indptr"]
    if stored.shape != (n + 1,):
        # Before it is read: a length that does not fit is told by the header alone.
        csr.row_pointers(np.empty((0,), stored.dtype), n, nnz, label)
    return csr.row_pointers(_part(stored, 0, n + 1, label), n, nnz, label)


def _part(dataset: Any, lo: int, hi: int, label: str) -> Array:
    what, where = "stored cells of the file cannot be read", f"{label}, cells {lo} to {hi - 1}"
    fix = "copy or write the file again: it is damaged"
    with refusing(hdf5.BROKEN, what, where, fix):
        part = np.asarray(dataset[lo:hi])
    return native(part, part.dtype.newbyteorder("="))


def _names(file: Any, side: str, path: Path) -> tuple[str, ...] | None:
    """Return the index of `obs` or `var`, or None where the file has none."""
    table = file.get(side)
    if table is None:
        return None
    index = _text(table.attrs.get("_index", "_index"))
    what, where = f"the names of {side!r} cannot be read", f"{path.name}, {side}/{index}"
    with refusing(hdf5.BROKEN, what, where, "write the file again with anndata"):
        if hasattr(table, "dtype"):  # before AnnData 0.7, one data set of records
            cells = table[table.dtype.names[0]]
        else:
            found = table[index]
            cells = (found if hasattr(found, "dtype") else found["values"])[:]
    return tuple(map(_text, cells))


def _text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def _check_sides(
    source: FileSource, columns: tuple[str, ...] | None, rows: tuple[str, ...] | None
) -> None:
    n, p = source.shape
    for side, names, length in (("var", columns, p), ("obs", rows, n)):
        if names is not None and len(names) != length:
            raise InputError(
                f"the table and the names of {side!r} have different lengths",
                got=f"{source.label}: shape {(n, p)}, {len(names):,} names",
                fix="write the file again with anndata",
            )
