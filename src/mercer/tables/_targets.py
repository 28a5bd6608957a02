"""The column of groups: a word for every row; rows without one are set aside."""

import dataclasses

import numpy as np

from mercer.arrays import Array
from mercer.errors import InputError
from mercer.sources import NA
from mercer.tables._beside_rows import coded, kept_frames
from mercer.tables._look import Look
from mercer.tables._missing_cells import Settled, numbered

_ROWS = 1 << 14  # read in one go


def with_groups(seen: Look, found: Settled) -> tuple[Settled, Array, list[str]]:
    """Return what is left out, the groups of all rows as text (n,), and what is said.

    Parameters
    ----------
    seen : Look
        The table.
    found : Settled
        What is left out for missing cells.
    """
    asked, (name,) = seen.asked, seen.named("target")
    none = np.empty(0, np.int64)
    frames = kept_frames(seen.path, (name,), _ROWS, asked.reading, out=none, stop=asked.rows)
    at, words = coded(frames, name)
    lacks = {*NA, *asked.reading.get("na", ())}
    absent = np.flatnonzero(np.isin(at, [i for i, word in enumerate(words) if word in lacks]))
    said = list[str]()
    if len(absent):
        have, are = ("has", "is") if len(absent) == 1 else ("have", "are")
        said.append(
            f"{len(absent):,} of {len(at):,} rows {have} no group in {name!r} and {are} left"
            f" out: {numbered(absent)}"
        )
    out = np.union1d(found.out, absent).astype(np.int64)
    counts = np.bincount(np.delete(at, out), minlength=len(words))
    there = np.flatnonzero(counts)
    if len(there) < 2:
        raise InputError(
            "two groups are needed at least (--target)",
            got=f"{seen.label}: {name!r} has {len(there)} in the rows that are left",
            fix="name another column, or see --missing",
        )
    shown = ", ".join(f"{words[i]} {counts[i]:,}" for i in there[np.argsort(words[there])][:8])
    more = f" and {len(there) - 8} more" if len(there) > 8 else ""
    said.append(f"{len(there)} groups in {name!r}: {shown}{more}")
    return dataclasses.replace(found, out=out), words[at], said
