"""The result of a study as data that any library takes, and as a table of text."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return numbers, texts, lists and dicts in place of frozen values and arrays.

    Examples
    --------
    >>> plain((np.arange(2), "a"))
    [[0, 1], 'a']
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)
        }
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def aligned(lines: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Return rows of cells as lines whose columns are as wide as they must be.

    Cells stand on the right of their columns; those of the columns `left` on the left.
    """
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(size) if i in left else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in lines
    ]
