"""What this machine does per second, kept in the user's cache for the processes to come."""

import dataclasses
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from mercer.arrays import Rates
from mercer.store._file_replacement import replacing, write_all

_FORMAT = 1


def keep_rates(measured: Iterable[Rates]) -> None:
    """Write measured rates down; plans of this user on this machine go by them from now on."""
    known = {str(each.threads): dataclasses.asdict(each) for each in measured}
    path = _folder() / f"rates-{_machine()}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as descriptor:
        write_all(descriptor, json.dumps({"format": _FORMAT, "rates": known}).encode())
    forget_rates()


def forget_rates() -> None:
    """Let what is kept be read again."""
    _kept.cache_clear()
    kept_rates.cache_clear()


@lru_cache(maxsize=64)
def kept_rates(threads: int) -> Rates | None:
    """Return the rates measured with so many threads, or None; a process looks once."""
    return _kept().get(threads)


@lru_cache(maxsize=1)
def _kept() -> dict[int, Rates]:
    """Return what was measured, by threads; of a file that is not as it was written nothing."""
    try:
        found = json.loads((_folder() / f"rates-{_machine()}.json").read_bytes())
        if found["format"] != _FORMAT:
            return {}
        return {int(count): _rates_of(each) for count, each in found["rates"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _rates_of(found: dict[str, Any]) -> Rates:
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in found.items()
    }
    made = Rates(**plain)
    each = [made.symmetric, made.thin, made.exponentials]
    each += [(made.reflect, made.eigen), (made.stream, made.touch)]
    if not all(len(pair) == 2 and min(pair) > 0 for pair in each):
        raise ValueError("rates are pairs of positive numbers")
    return made


def _folder() -> Path:
    """Return the user's folder for what can be made again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "mercer"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "mercer"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "mercer"


def _machine() -> str:
    """Return a word for this machine: several may share a home."""
    told = (platform.node(), platform.machine(), platform.processor(), str(os.cpu_count()))
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
