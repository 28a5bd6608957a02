"""Checkpoints: the sums of a fit kept in a file, so that a killed fit goes on."""

import dataclasses
import json
import math
import os
import sys
import time
from numbers import Real
from pathlib import Path
from typing import Any, Self

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.operators import Sums
from mercer.sources import path_of

_EVERY = 30.0  # seconds between two writes
_SHARE = 9  # times as long as a write took is spent on the fit before the next


@dataclasses.dataclass
class Checkpoint:
    """Where the sums of a fit are kept, and how often.

    A checkpoint belongs to rows and parameters: one of other rows or parameters is refused,
    never overwritten in silence. Every walk that has ended is kept whole, so that an
    iteration is replayed up to the walk that was cut off.

    Parameters
    ----------
    path : path
        The file; it is replaced as a whole at each write, so that a kill at any time leaves
        one that can be read.
    every : float
        Seconds between two writes; 0 writes after every block. Where writing takes long,
        writes are fewer: they may take a tenth of the time.

    Examples
    --------
    >>> import mercer
    >>> mercer.Checkpoint("fit.mercer", every=60).every
    60
    """

    path: str | os.PathLike[str]
    every: float = _EVERY

    def __post_init__(self) -> None:
        every = self.every
        if isinstance(every, bool) or not isinstance(every, Real) or not 0 <= every < math.inf:
            raise InputError(
                "`every` must be a number of seconds, 0 or more",
                got=f"every={every!r}",
                fix="pass 30 to write each half minute, 0 to write after every block",
            )
        self._owner: dict[str, Any] = {}
        self.block: int | None = None
        self._walks: dict[str, tuple[dict[str, Array], int, bool]] = {}
        self._due: float = time.monotonic() + every

    @classmethod
    def of(cls, given: object) -> "Checkpoint":
        """Return a checkpoint from a path, or a fresh one with the same settings."""
        if isinstance(given, Checkpoint):
            return cls(given.path, given.every)
        if isinstance(given, str | os.PathLike):
            return cls(given)
        raise InputError(
            "`checkpoint` must name a file",
            got=f"{given!r}",
            fix='pass a path such as "fit.mercer", or mercer.Checkpoint(path, every=60)',
        )

    def begin(self, owner: dict[str, Any], block: int) -> Self:
        """Read what is kept for this fit, described by plain data; nothing yet is fine.

        Blocks have `block` rows, or as many as those that were kept: free memory, which
        settles their length, may be another now.
        """
        # Another version may sum in another order, and keep other arrays.
        known = owner | {"mercer": sys.modules["mercer"].__version__}
        self._owner = json.loads(json.dumps(known, default=str))
        path = path_of(self.path)
        if not path.parent.is_dir():
            raise InputError(
                "the folder of the checkpoint does not exist",
                got=str(path.parent),
                fix="make it first",
            )
        self.block = block
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            return self
        header, arrays = _read(path)
        if header["owner"] != self._owner:
            raise InputError(
                "the checkpoint belongs to another fit",
                got=f"{path}: {_difference(header['owner'], self._owner)}",
                fix="pass the same rows and parameters, or another file, or delete this one",
            )
        self.block = header["block"]
        for walk in header["walks"]:
            prefix = f"{walk['walk']}/"
            kept = {
                n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)
            }
            self._walks[walk["walk"]] = (kept, walk["rows"], walk["ended"])
        return self

    def kept(self, walk: str) -> tuple[dict[str, Array], int, bool] | None:
        """See `Journal.kept`."""
        found = self._walks.get(walk)
        return None if found is None else (_copied(found[0]), found[1], found[2])

    def note(self, walk: str, sums: Sums, rows: int, *, ended: bool) -> None:
        """See `Journal.note`: the end of a walk is always written."""
        if not ended and time.monotonic() < self._due:
            return
        # A solver may write over sums that have ended, and a later write needs them again.
        self._walks[walk] = (_copied(sums.keep()) if ended else sums.keep(), rows, ended)
        begun = time.monotonic()
        self._write()
        now = time.monotonic()
        self._due = now + (max(self.every, _SHARE * (now - begun)) if self.every else 0.0)

    def _write(self) -> None:
        from mercer import store

        arrays = {
            f"{walk}/{name}": array
            for walk, (kept, _, _) in self._walks.items()
            for name, array in kept.items()
        }
        walks = [
            {"walk": walk, "rows": rows, "ended": ended}
            for walk, (_, rows, ended) in self._walks.items()
        ]
        header = {
            "kind": "checkpoint",
            "owner": self._owner,
            "block": self.block,
            "walks": walks,
        }
        store.write(Path(self.path), header, arrays)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what a checkpoint holds, or say that this file is none."""
    from mercer import store

    try:
        header, arrays = store.read(path, kind="checkpoint")
        if isinstance(header.get("owner"), dict) and isinstance(header.get("walks"), list):
            return header, arrays
        what, got = "The file does not hold the sums of a fit.", str(path)
    except InputError as error:
        what, got = error.what, error.got
    raise InputError(
        what,
        got=got,
        fix="name another file for the checkpoint, or delete this one if it was one:"
        " the fit then begins anew",
    )


def _difference(then: dict[str, Any], now: dict[str, Any]) -> str:
    """Say in a few words what differs between two owners."""
    words = {
        "method": "another method",
        "rows": "other rows",
        "weights": "other weights",
        "mercer": f"mercer {then.get('mercer')}, now {now.get('mercer')}",
    }
    names = [name for name in now if then.get(name) != now[name] and name != "parameters"]
    found = [words.get(name, f"another {name}") for name in names]
    before, after = then.get("parameters", {}), now.get("parameters", {})
    changed = [name for name in after if before.get(name) != after[name]]
    found += [f"{name} = {before.get(name)}, now {after[name]}" for name in changed]
    return ", ".join(found) or "other parameters"


def _copied(arrays: dict[str, Array]) -> dict[str, Array]:
    return {name: array.copy() for name, array in arrays.items()}
