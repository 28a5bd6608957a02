"""Put a new file in the place of an old one in a single step."""

import contextlib
import errno
import functools
import hashlib
import io
import os
import platform
import secrets
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mercer.errors import InputError, MercerError
from mercer.sources import file_error, shown_path

try:
    import fcntl
except ImportError:  # Windows: an open file cannot be removed there, which serves as the lock
    fcntl = None  # type: ignore[assignment]

_TRIES = 100
_UNWRITTEN = "the file cannot be written; nothing there has changed"
_OURS, _END = ".mercer-", ".part"  # how the names of temporary files begin and end
_BOOT = Path("/proc/sys/kernel/random/boot_id")  # of Linux, and so are the mounts
_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[int]:
    """Give a file descriptor whose bytes become the file ``path`` when the block ends well.

    The temporary file lies in the same folder. If the block fails, at any write or by Ctrl-C,
    it is removed and the old file stays as it was. What the system refuses is said by the name
    of the file. What killed processes left behind in the folder is removed by the next write.
    """
    with naming(path):
        _refuse_folders(path)
        _remove_stale(path.parent)
        descriptor, temporary = _temporary(path.parent)
    try:
        try:
            with contextlib.suppress(OSError):  # a new file: the usual permissions stand
                temporary.chmod(path.stat().st_mode & 0o777)
            with naming(path, kind=_UnwrittenError):
                yield descriptor
            with naming(path):
                os.fsync(descriptor)
                if fcntl is None:
                    os.close(descriptor)
                    descriptor = -1
                temporary.replace(path)
        finally:
            if descriptor >= 0:
                with contextlib.suppress(OSError):  # what was to be kept is on the disk by now
                    os.close(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _keep_folder(path.parent)


class _UnwrittenError(OSError):
    """A write failed: what else fails while a file is written is not about that file."""


@contextlib.contextmanager
def naming(path: Path, what: str = _UNWRITTEN, kind: type[OSError] = OSError) -> Iterator[None]:
    """Say by the name of a file what the system refuses, and memory that is not there.

    Parameters
    ----------
    path : Path
        The file, as the user knows it.
    what : str
        What is impossible then.
    kind : type
        The errors of the system that are about this file.
    """
    try:
        yield
    except MercerError:
        raise
    except (kind, MemoryError) as error:
        raise file_error(error, what, path) from error


def _refuse_folders(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(
            "There is no folder to write the file in.",
            got=shown_path(path),
            fix="make the folder first, or choose another",
        )
    if path.is_dir():
        raise InputError(
            "A folder cannot be replaced by a file.",
            got=f"{shown_path(path)}, which is a folder",
            fix="give the name of a file in it",
        )


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte: one call may take only some of them."""
    rest = memoryview(data)
    while len(rest):
        rest = rest[_write(descriptor, rest) :]


def _write(descriptor: int, data: Any) -> int:
    with _marked():
        return os.write(descriptor, data)


@contextlib.contextmanager
def _marked() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _UnwrittenError(error.errno, error.strerror or str(error)) from error


class NewFile(io.RawIOBase):
    """What `replacing` gives, as a file of Python; its owner closes the descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.refused: OSError | None = None  # what the system said at last

    def writable(self) -> bool:
        """See `io.IOBase`."""
        return True

    def seekable(self) -> bool:
        """See `io.IOBase`."""
        return True

    def write(self, data: Any) -> int:
        """See `io.RawIOBase`: some of the bytes, or an error that `replacing` names."""
        try:
            return _write(self._descriptor, data)
        except OSError as error:
            self.refused = error
            raise

    def seek(self, offset: int, whence: int = 0) -> int:
        """See `io.IOBase`."""
        with _marked():
            return os.lseek(self._descriptor, offset, whence)


def _temporary(folder: Path) -> tuple[int, Path]:
    """Open a new file and lock it, so that nobody takes it for one that was left behind."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    for _ in range(_TRIES):
        temporary = folder / f"{_OURS}{_kernel()}-{secrets.token_hex(8)}{_END}"
        descriptor = os.open(temporary, flags, 0o666)
        try:
            if _lock(descriptor) is not False and temporary.exists():
                return descriptor, temporary
        except BaseException:
            _forget(descriptor, temporary)
            raise
        _forget(descriptor, temporary)  # another writer removed it before it was locked
    raise OSError(errno.EBUSY, f"no temporary file can be kept in {shown_path(folder)}")


def _forget(descriptor: int, temporary: Path) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)
    with contextlib.suppress(OSError):
        temporary.unlink()


def _remove_stale(folder: Path) -> None:
    """Remove what writers left behind that are gone for certain.

    A lock is let go when its owner ends, however that comes. Other machines may not see locks
    on a shared folder: there only files of this machine, since it was started, are looked at.
    """
    found = list(folder.glob(f"{_OURS}*{_END}"))
    if found and not _is_local(folder):
        found = [path for path in found if path.name.startswith(f"{_OURS}{_kernel()}-")]
    for path in found:
        with contextlib.suppress(OSError):
            if fcntl is None:
                path.unlink()
                continue
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
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


@functools.cache
def _kernel() -> str:
    """Return a mark of this machine since it was started."""
    try:
        mark = _BOOT.read_text()
    except OSError:
        mark = f"{platform.node()} {uuid.getnode()}"
    return hashlib.sha256(mark.encode()).hexdigest()[:12]


def _is_local(folder: Path) -> bool:
    """Tell whether a folder lies on a disk of this machine, where all see the same locks."""
    if not _MOUNTS.exists():
        return False
    device = folder.stat().st_dev
    mark = f"{os.major(device)}:{os.minor(device)}"
    with contextlib.suppress(OSError):
        for line in _MOUNTS.read_text(errors="surrogateescape").splitlines():
            place, _, kind = line.partition(" - ")
            if place.split()[2] == mark:
                return kind.split()[0] in _LOCAL
    return False
