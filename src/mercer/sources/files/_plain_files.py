"""Files that hold one table in another form, written out as a plain one and read as that.

Workbooks, packed files, arrays of JSON, files of statistics programs, several files of text.
"""

import atexit
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mercer.errors import InputError, MissingExtraError

_TEXT = (".csv", ".tsv", ".txt", ".ndjson", ".jsonl", ".json", ".parquet", ".arrow", ".feather")
_BESIDE = ("__macosx/", ".ds_store", "thumbs.db")  # of archives, that are no tables
_MOST = 2e9  # bytes of JSON or of an archive that are taken at once
_NAMED = 5


@cache
def _folder() -> Path:
    """Return a folder for plain files, removed when Python ends."""
    made = Path(tempfile.mkdtemp(prefix="mercer-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def plain_folder() -> Path:
    """Return a new folder for a plain file, removed when Python ends."""
    return Path(tempfile.mkdtemp(dir=_folder()))


_made: dict[tuple[Any, ...], Path] = {}


def plain_file(path: Path) -> Path:
    """Return the plain file that holds the table of another one; the path itself where it is.

    Parameters
    ----------
    path : Path
        A file, or a pattern of several.
    """
    kind = path.suffix.lower()
    maker = _MAKERS.get(kind)
    parts = _several(path) if maker is None else [path]
    if maker is None and not parts:
        return path
    if not all(part.is_file() for part in parts):
        return path
    stats = [part.stat() for part in parts]
    key = (*parts, *((one.st_mtime_ns, one.st_size, one.st_ino) for one in stats))
    if key not in _made or not _made[key].exists():
        folder = plain_folder()
        _made[key] = _joined(path, parts, folder) if maker is None else maker(path, folder)
    return _made[key]


def _several(path: Path) -> list[Path]:
    """Return the files of text that a pattern means, sorted."""
    if path.exists() or not any(mark in path.name for mark in "*?["):
        return []
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return []
    return sorted(path.parent.glob(path.name))


def _joined(path: Path, parts: Sequence[Path], folder: Path) -> Path:
    """Write several files of text one behind the other; they share their first line."""
    made = folder / path.name.replace("*", "_").replace("?", "_")
    with parts[0].open("rb") as file:
        first = file.readline().strip()
    with made.open("wb") as out:
        for part in parts:
            with part.open("rb") as file:
                line = file.readline().strip()
                if line != first:
                    raise InputError(
                        "files that are read together have the same first line",
                        got=f"{part.name}: {line[:40]!r}, and {parts[0].name}: {first[:40]!r}",
                        fix="name the columns alike, or read the files one by one",
                    )
                if part == parts[0]:
                    out.write(line + b"\n")
                last = b"\n"
                while chunk := file.read(1 << 20):
                    out.write(chunk)
                    last = chunk[-1:]
                if last != b"\n":
                    out.write(b"\n")
    return made


def _of_json(path: Path, folder: Path) -> Path:
    """Write an array of records, or columns by name, with one object per line."""
    _refuse_size(path.stat().st_size, path.name)
    try:
        held = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        return _as_lines(path, folder, error)
    rows = _records(held)
    if rows is None:
        raise InputError(
            "the JSON is no table",
            got=f"{path.name}: {type(held).__name__} at the top",
            fix="write an array of objects, [{...}, {...}], or one object per line",
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    made = folder / f"{path.stem}.ndjson"
    with made.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps({n: row.get(n) for n in names}, ensure_ascii=False) + "\n")
    return made


def _as_lines(path: Path, folder: Path, error: Exception) -> Path:
    """Return a file with one object per line that is called .json; others are refused."""
    with path.open("rb") as file:
        if file.readline().strip().endswith(b"}") and file.readline().lstrip()[:1] == b"{":
            made = folder / f"{path.stem}.ndjson"
            shutil.copyfile(path, made)
            return made
    raise InputError(
        "the file is no JSON",
        got=f"{path.name}: {error}",
        fix="write an array of objects, [{...}, {...}], or one object per line",
    )


def _records(held: Any) -> list[dict[str, Any]] | None:
    """Return the rows of what JSON held: an array of objects, also one level down."""
    if isinstance(held, list) and held and all(isinstance(row, dict) for row in held):
        return held
    if not isinstance(held, dict):
        return None
    arrays = [part for part in held.values() if isinstance(part, list)]
    even = len(arrays) == len(held) and len({len(part) for part in arrays}) == 1
    if even and arrays[0] and not isinstance(arrays[0][0], dict | list):
        return [dict(zip(held, row, strict=True)) for row in zip(*arrays, strict=True)]
    tables = [found for part in arrays if (found := _records(part)) is not None]
    return tables[0] if len(tables) == 1 else None


def _of_zip(path: Path, folder: Path) -> Path:
    """Unpack an archive that holds one table."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one for one in archive.namelist() if not one.endswith("/")]
            names = [n for n in names if not any(b in n.lower() for b in _BESIDE)]
            tables = [n for n in names if Path(n).suffix.lower() in _TEXT]
            if len(tables) != 1:
                shown = ", ".join(tables[:_NAMED] or names[:_NAMED]) or "nothing"
                raise InputError(
                    f"an archive must hold one table, not {len(tables) or 'none'}",
                    got=f"{path.name}: {shown}",
                    fix="unpack it, and name the table",
                )
            _refuse_size(archive.getinfo(tables[0]).file_size, path.name)
            made = folder / Path(tables[0]).name
            with archive.open(tables[0]) as packed, made.open("wb") as out:
                shutil.copyfileobj(packed, out)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
        raise InputError(
            "the archive cannot be read",
            got=f"{path.name}: {error}",
            fix="copy or download it again; one with a password must be unpacked first",
        ) from error
    return plain_file(made)


def _refuse_size(size: float, label: str) -> None:
    if size > _MOST:
        raise InputError(
            "the table is too large to be unpacked unasked",
            got=f"{label}: {size / 1e9:.1f} GB",
            fix="unpack it to a file of CSV or Parquet first",
        )


def _of_workbook(path: Path, folder: Path) -> Path:
    """Write the first sheet of a workbook that holds anything as CSV."""
    import polars as pl

    try:
        import fastexcel  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "workbooks need fastexcel",
            got=path.name,
            fix='pip install "mercer[excel]", or save the sheet as CSV',
        ) from None
    try:
        sheets = pl.read_excel(path, sheet_id=0, raise_if_empty=False)
    except Exception as error:  # of whatever kind the library has
        raise InputError(
            "the workbook cannot be read",
            got=f"{path.name}: {str(error).splitlines()[0][:100]}",
            fix="open it in a spreadsheet program, and save the sheet as CSV",
        ) from error
    whole = {name: frame for name, frame in sheets.items() if frame.height and frame.width}
    if not whole:
        raise InputError(
            "the workbook is empty", got=path.name, fix="check which file holds the table"
        )
    made = folder / f"{path.stem}.csv"
    next(iter(whole.values())).write_csv(made)
    return made


def _of_statistics(path: Path, folder: Path) -> Path:
    """Write a table of SPSS, Stata or SAS as CSV, its labels in place of codes."""
    try:
        import pyreadstat
    except ImportError:
        raise MissingExtraError(
            "files of SPSS, Stata and SAS need pyreadstat",
            got=path.name,
            fix='pip install "mercer[statistics]", or save the table as CSV',
        ) from None
    read: dict[str, Any] = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}
    reader: Any = read.get(path.suffix.lower(), pyreadstat.read_sas7bdat)
    more = {"apply_value_formats": True} if path.suffix.lower() in read else {}
    try:
        frame, _ = reader(str(path), **more)
    except Exception as error:
        raise InputError(
            "the file cannot be read",
            got=f"{path.name}: {str(error).splitlines()[0][:100]}",
            fix="save the table as CSV in the program that wrote it",
        ) from error
    made = folder / f"{path.stem}.csv"
    frame.to_csv(made, index=False)
    return made


_MAKERS: dict[str, Callable[[Path, Path], Path]] = {
    ".json": _of_json,
    ".zip": _of_zip,
    ".xlsx": _of_workbook,
    ".xlsm": _of_workbook,
    ".xls": _of_workbook,
    ".ods": _of_workbook,
    ".sav": _of_statistics,
    ".dta": _of_statistics,
    ".sas7bdat": _of_statistics,
}
PLAIN_KINDS = frozenset(_MAKERS)
