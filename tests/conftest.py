import dataclasses
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.arrays import as_numpy

# Rows in pieces and forced paths, which the tests of many rooms use.
for _place in ("sources", "numerics"):
    _folder = str(Path(__file__).resolve().parent / _place)
    if _folder not in sys.path:
        sys.path.insert(0, _folder)


@dataclasses.dataclass(frozen=True)
class Library:
    """An array library as a test sees it: numbers in, numbers out."""

    name: str
    asarray: Callable[[Any], Any]  # NumPy array -> array of the library, same dtype
    numpy: Callable[[Any], Any] = as_numpy

    def __repr__(self):
        return self.name


def _frozen(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def _strict(values):
    import array_api_strict

    return array_api_strict.asarray(np.array(values))


def _torch(values):
    import torch

    return torch.asarray(np.array(values))


LIBRARIES = [
    Library("numpy", np.array),
    Library("read-only", _frozen),
    Library("strict", _strict),
]
if importlib.util.find_spec("torch") is not None:
    LIBRARIES.append(Library("torch", _torch))


@pytest.fixture(params=LIBRARIES, ids=repr)
def xp(request):
    """Every array library that the rooms below the estimators must work with."""
    return request.param


@pytest.fixture
def rng():
    """Random numbers, the same in every run."""
    return np.random.default_rng(20_240_229)
