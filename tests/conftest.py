import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mercer.arrays import as_numpy


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
