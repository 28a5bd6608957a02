"""Put a new file in the place of an old one in a single step."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from mercer.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be removed there, which serves as the lock
    fcntl = None  # type: ignore[assignment]

_TRIES = 100


def path_of(given: str | os.PathLike[str]) -> Path:
    """Return the path that was given; open files, numbers and bytes are refused."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise InputError(
        "A file is given by its path.",
        got=f"{type(given).__name__}: {str(given)[:60]}",
        fix='give text or a pathlib.Path, such as "model.mercer"',
    )


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[int]:
    """Give a file descriptor whose bytes become the file ``path`` when the block ends well.

    The temporary file lies in the same folder. If the block fails, at any write or by Ctrl-C,
    it is removed and the old file stays as it was. What a killed process left behind is removed
    by the next write of the same name; a lock tells it from the file of a running process.
    """
    if not path.parent.is_dir():
        raise InputError(
            "There is no folder to write the file in.",
            got=f"{path}",
            fix="make the folder first, or choose another",
        )
    if path.is_dir():
        raise InputError(
            "A folder cannot be replaced by a file.",
            got=f"{path}, which is a folder",
            fix="give the name of a file in it",
        )
    stem = f".mercer-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}-"
    _remove_stale(path.parent, stem)
    with _named(path):
        descriptor, temporary = _temporary(path.parent, stem)
    try:
        try:
            with contextlib.suppress(OSError):  # a new file: the usual permissions stand
                temporary.chmod(path.stat().st_mode & 0o777)
            yield descriptor
            with _named(path):
                os.fsync(descriptor)
                if fcntl is None:
                    os.close(descriptor)
                    descriptor = -1
                temporary.replace(path)
        finally:
            if descriptor >= 0:
                os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _keep_folder(path.parent)


class WriteError(InputError, OSError):
    """A file cannot be written; what stood there before is as it was."""


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say by the user's name of the file what the system says by ours."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(
            "the file cannot be written; nothing there has changed",
            got=f"{path}: {error.strerror or error}",
            fix="choose another place, or make room",
        ) from error


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte: one call may take only some of them."""
    rest = memoryview(data)
    while len(rest):
        rest = rest[os.write(descriptor, rest) :]


def _temporary(folder: Path, stem: str) -> tuple[int, Path]:
    """Open a new file and lock it, so that nobody takes it for one that was left behind."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    for _ in range(_TRIES):
        temporary = folder / f"{stem}{secrets.token_hex(8)}.part"
        descriptor = os.open(temporary, flags, 0o666)
        if _lock(descriptor) is not False and temporary.exists():
            return descriptor, temporary
        # Another writer removed it between its making and its lock.
        os.close(descriptor)
        with contextlib.suppress(OSError):
            temporary.unlink()
    raise OSError(f"no temporary file can be kept in {folder}")


def _remove_stale(folder: Path, stem: str) -> None:
    for path in list(folder.glob(f"{stem}*")):
        with contextlib.suppress(OSError):
            if fcntl is None:
                path.unlink()
                continue
            descriptor = os.open(path, os.O_RDWR)
            try:
                if _lock(descriptor):
                    path.unlink()
            finally:
                os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Take the lock of an open file: false if another holds it, None if there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _keep_folder(folder: Path) -> None:
    """Send the new name to the disk. Not every system lets a folder be synchronised."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
