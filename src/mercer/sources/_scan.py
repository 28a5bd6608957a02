"""scan(): the source of whatever holds rows."""

import difflib
import inspect
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import as_csr, is_sparse
from mercer.errors import REFUSALS, InputError
from mercer.sources._block_source import BlockSource, FileIds, Source
from mercer.sources._in_memory import (
    DenseSource,
    SparseSource,
    ids_in_memory,
    is_table_like,
    other_object,
    plain_form,
)
from mercer.sources.files._file_source import (
    PARQUET,
    ids_of,
    ids_within,
    matching,
    path_of,
    shown_path,
)
from mercer.sources.files._plain_files import PLAIN_KINDS, plain_file

# How a file's name ends, and who opens it: module of this room and function.
# Each is called as opener(path, **options).
_OPENERS = {
    ".npy": ("files._npy", "open_npy"),
    ".npz": ("files._npz", "open_npz"),
    ".csv": ("text._delimited_text", "open_text"),
    ".tsv": ("text._delimited_text", "open_text"),
    ".txt": ("text._delimited_text", "open_text"),
    ".ndjson": ("text._json_lines", "open_ndjson"),
    ".jsonl": ("text._json_lines", "open_ndjson"),
    ".parquet": ("files._parquet", "open_parquet"),
    ".pq": ("files._parquet", "open_parquet"),
    ".arrow": ("files._arrow", "open_arrow"),
    ".feather": ("files._arrow", "open_arrow"),
    ".ipc": ("files._arrow", "open_arrow"),
    ".h5": ("files._hdf5", "open_hdf5"),
    ".hdf5": ("files._hdf5", "open_hdf5"),
    ".h5ad": ("files._h5ad", "open_h5ad"),
    ".zarr": ("files._zarr", "open_zarr"),
    ".bed": ("files._plink", "open_bed"),
}
_PACKED = {".gz"}
# Kinds of files that people have and that are not read, and the way out of them.
_NOT_READ = {
    "save the sheet as CSV": (".numbers",),
    "unpack it first": (".7z", ".rar", ".tar", ".tgz", ".bz2", ".xz", ".zst"),
    "save the table as CSV or Parquet, in the program that wrote it": (
        ".rds", ".rda", ".rdata", ".mat", ".sqlite", ".db",
        ".duckdb", ".xml", ".html", ".pdf", ".orc", ".avro",
    ),
    "this is a model: mercer.load opens it, mercer inspect shows it": (".mercer",),
}  # fmt: skip
_BESIDE = {".bed": (".bim", ".fam")}  # files that belong to another
_RUNNABLE = {".pkl", ".pickle", ".joblib", ".pt", ".pth"}


def scan(data: Any, **options: Any) -> Source:
    """Return the source of a file, a frame, an array or a stream; only its head is read.

    Parameters
    ----------
    data : path, array, sparse matrix, frame, or iterator of blocks
        A file named .npy, .npz (sparse), .csv, .tsv, .parquet (also a folder or a pattern
        with *), .arrow, .ndjson, .h5, .h5ad, .zarr or .bed; text also packed as .gz; frames
        of pandas, polars, pyarrow and duckdb, lazy ones too; an iterator of arrays or frames
        (one walk), or a function that makes one (any number of walks).
    **options
        columns, drop : names or positions of the columns to use, or not to use.
        delimiter, header, na, encoding : for text.
        key : which data set of an HDF5, AnnData or Zarr file.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> mercer.scan(np.eye(3)).shape
    (3, 3)
    """
    if isinstance(data, Source):
        _refuse_options(options, "a source that is open already")
        return data
    if isinstance(data, str | os.PathLike):
        return _scan_path(path_of(data), options)
    data = plain_form(data)
    if isinstance(data, np.ndarray) and data.ndim == 2 and not options:
        mapped = (
            _module("files._npy").open_memmap(data) if isinstance(data, np.memmap) else None
        )
        return DenseSource(data) if mapped is None else mapped
    if is_spread(data):
        return _opened(_module("parts._dask_source").open_dask, data, options)  # type: ignore[no-any-return]
    frame = _opened(_module("frames._frame_sources").open_frame, data, options)
    if frame is not None:
        return frame  # type: ignore[no-any-return]
    if isinstance(data, Iterator) or callable(data):
        return _opened(_module("_stream_source").open_stream, data, options)  # type: ignore[no-any-return]
    _refuse_options(options, "an array")
    if hasattr(data, "shape") and not is_table_like(data):
        raise other_object(data)
    if not hasattr(data, "shape") or len(data.shape) != 2:
        raise InputError(
            "this holds no rows that can be scanned",
            got=f"{type(data).__name__}",
            fix="pass a path, a frame, a table of rows and columns, or iter(...) over blocks",
        )
    if is_sparse(data):
        return SparseSource(as_csr(data))
    try:
        return DenseSource(data if hasattr(data, "dtype") else np.asarray(data))
    except REFUSALS:
        raise other_object(data) from None


def is_blocks(X: Any) -> bool:
    """Tell whether X is an iterator of blocks rather than a table."""
    return isinstance(X, Iterator) and not hasattr(X, "shape")


def is_scannable(data: Any) -> bool:
    """Tell whether `data` is a source already, or something that only `scan` can open."""
    if isinstance(data, Source | str | os.PathLike) or is_spread(data):
        return True
    if isinstance(data, Iterator) or callable(data):
        return not (hasattr(data, "shape") or hasattr(data, "__array__"))
    # Frames in memory go another way, and wrapping a wide one costs time.
    lazy = hasattr(data, "collect") or type(data).__module__.split(".")[0].endswith("duckdb")
    return lazy and bool(_module("frames._frame_sources").is_lazy(data))


def is_spread(data: Any) -> bool:
    """Tell whether `data` is a Dask array or frame, without importing Dask."""
    return hasattr(data, "__dask_graph__") and hasattr(data, "to_delayed")


def files_of(data: Any) -> FileIds:
    """Return the files and folders that hold rows, given as `scan` takes them.

    Nothing is opened. Of a stream nothing is known before `scan` has opened it.
    """
    if isinstance(data, frozenset):
        return data
    if isinstance(data, Source):
        return data.files()
    if not isinstance(data, str | os.PathLike):
        return frozenset() if is_spread(data) else ids_in_memory(data)
    path = path_of(data)
    beside = [path.with_suffix(end) for end in _BESIDE.get(kind_of(path), ())]
    return ids_within([*([path] if path.exists() else matching(path)), *beside])


def refuse_own_input(target: Path, *read: Any, said: str = "") -> None:
    """Refuse to write a file that is read, by any name, or one more into a folder that is read.

    Parameters
    ----------
    target : Path
        The file to write.
    *read : path, array, frame, source, or set of device and inode
        What is read, as `scan` takes it, or what `files_of` said of it.
    said : str
        What messages call the target, such as the option that names it.
    """
    folders = list(target.resolve().parents)
    if kind_of(target) not in PARQUET:  # a folder of Parquet files may hold others
        folders = [folder for folder in folders if folder.suffix == ".zarr"]
    ids = ids_of([target, *folders])
    for one in read:
        if ids & files_of(one):
            known = isinstance(one, str | os.PathLike)
            which = f"is {shown_path(one)}" if known else "holds the rows, or is open meanwhile"
            raise InputError(
                "the output would take the place of the input",
                got=f"{said or shown_path(target)}, which {which}",
                fix="choose another name",
            )


def refuse_table(target: Path) -> None:
    """Refuse to write another kind of file in place of a table, which may lie behind a link."""
    target = target.resolve()
    if kind_of(target) in _OPENERS and target.is_file() and target.stat().st_size:
        raise InputError(
            "a table would be lost: this is another kind of file",
            got=f"{shown_path(target)} is there, and named as a table",
            fix="choose another name, or remove it first",
        )


def _scan_path(path: Path, options: dict[str, Any]) -> Source:
    path = plain_file(path)
    module, function = opener_of(path)
    return _opened(getattr(_module(module), function), path, options)  # type: ignore[no-any-return]


def opener_of(path: Path) -> tuple[str, str]:
    """Return who opens a file: module of this room and function; others are refused."""
    kind = kind_of(path)
    if kind in _RUNNABLE:
        raise InputError(
            "files that run code when they are opened are not read",
            got=f"{path.name}",
            fix="save the numbers as .npy, .parquet or .csv",
        )
    path = plain_file(path)
    pattern = any(letter in path.name for letter in "*?[")
    if pattern and not path.exists() and kind not in PARQUET:
        raise InputError(
            "files of text and Parquet are read by a pattern",
            got=f"{shown_path(path)}: {len(matching(path))} files",
            fix="check the pattern, or name one file",
        )
    if not pattern and not path.exists():
        raise InputError(
            "there is no such file",
            got=shown_path(path),
            fix="check the name and the folder",
        )
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(
            "a pipe or device cannot be read as a file",
            got=path.name,
            fix="write it to a file first",
        )
    if path.is_dir() and kind != ".zarr":
        _refuse_folder(path)
        kind = ".parquet"
    if kind not in _OPENERS:
        raise _not_read(path, kind)
    return _OPENERS[kind]


def _refuse_folder(path: Path) -> None:
    """Refuse a folder without Parquet files: its tables are named, for one to be taken."""
    inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    if any(kind_of(one) in PARQUET or one.is_dir() for one in inside):
        return
    known = {*_OPENERS, *PLAIN_KINDS}
    tables = [shown_path(one) for one in inside if one.is_file() and kind_of(one) in known]
    more = f" and {len(tables) - 10} more" if len(tables) > 10 else ""
    raise InputError(
        "a folder is no table: there is no Parquet file here",
        got=f"{shown_path(path)}: {', '.join(tables[:10]) or 'no table'}{more}",
        fix=f"name one: {tables[0]}" if tables else "name a file",
    )


def _not_read(path: Path, kind: str) -> InputError:
    for fix, kinds in _NOT_READ.items():
        if kind in kinds:
            return InputError(f"{kind} files are not read", got=path.name, fix=fix)
    return InputError(
        f"the kind of file is not known by its name's end {kind!r}",
        got=path.name,
        fix=f"use one of {', '.join(sorted(_OPENERS))}",
    )


def _opened(opener: Callable[..., Any], data: Any, options: dict[str, Any]) -> Any:
    """Call an opener; options that it does not know are refused by name."""
    refuse_unknown(opener, options)
    source = opener(data, **options)
    if isinstance(source, BlockSource):
        source.hold_files()
    return source


def refuse_unknown(opener: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse options that an opener does not know, by name."""
    known = list(inspect.signature(opener).parameters)[1:]
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise InputError(
                f"there is no option {name!r} for this kind of data",
                got=f"{name}={options[name]!r}; there are {', '.join(known) or 'none'}",
                fix=f"did you mean {near[0]!r}?" if near else "leave it out",
            )


def kind_of(path: Path) -> str:
    """Return how a file's name ends, in small letters, without .gz."""
    ends = [end.lower() for end in path.suffixes]
    if ends and ends[-1] in _PACKED:
        ends.pop()
    return ends[-1] if ends else ""


def _module(name: str) -> Any:
    return import_module(f"mercer.sources.{name}")


def _refuse_options(options: dict[str, Any], what: str) -> None:
    if options:
        raise InputError(
            f"{what} takes no options",
            got=", ".join(sorted(options)),
            fix="choose columns before, or scan the file itself",
        )
