"""plain(): the result of a study as data that any library takes."""

import dataclasses
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
