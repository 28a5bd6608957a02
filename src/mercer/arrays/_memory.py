"""How many bytes are free, how many we use, and how a size is written."""

import contextlib
import re
import time
from pathlib import Path

from mercer.errors import InputError

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}B": 1000 ** (i + 1) for i, letter in enumerate("KMGTP")}
_UNITS |= {f"{letter}IB": 1024 ** (i + 1) for i, letter in enumerate("KMGTP")}
_FALLBACK = 4 * 1024**3  # bytes assumed free where the system does not tell
_STALE = 1.0  # seconds after which the system is asked again
_told = (-_STALE, 0)  # when it was asked, and what it said


def parse_bytes(size: float | str) -> int:
    """Return a size in bytes from a number, "4GB" (10^9) or "4GiB" (2^30).

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("1.5 MiB"), parse_bytes(2048)
    (4000000000, 1572864, 2048)
    """
    found = re.fullmatch(r"\s*([0-9.eE+]+)\s*([kKMGTP]?[iI]?[bB]?)\s*", str(size))
    try:
        assert found is not None
        number, factor = float(found[1]), _UNITS[found[2].upper()]
        assert 0 < number * factor < 2**63
    except (AssertionError, KeyError, ValueError):
        raise InputError(
            "`memory` is not a size",
            got=f"memory={size!r}",
            fix='pass a positive number of bytes, or a text such as "4GB" or "512MiB"',
        ) from None
    return int(number * factor)


def show_bytes(size: float) -> str:
    """Return a size for people: three digits and a decimal unit.

    Examples
    --------
    >>> show_bytes(1234), show_bytes(40_000_000_000)
    ('1.23 kB', '40 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def available_bytes() -> int:
    """Return the memory that can be taken without swapping, limits of a container included.

    The system is asked once a second at most: a small fit takes less than its answer.
    """
    global _told
    now = time.monotonic()
    if not now - _told[0] < _STALE:
        _told = now, _free_bytes()
    return _told[1]


def _free_bytes() -> int:
    """Return what the system says is free."""
    free = _FALLBACK
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())
        free = int(found[1]) * 1024 if found else free
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and used.exists() and limit.read_text().strip().isdigit():
        free = min(free, max(0, int(limit.read_text()) - int(used.read_text())))
    return free


def anonymous_bytes() -> int:
    """Return the anonymous resident memory of this process, or 0 where it is not told."""
    status = Path("/proc/self/status")
    found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


def give_back() -> None:
    """Have the allocator return what is free to the system, where it knows how (glibc)."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
