"""Operators see NumPy where tensors of torch were given: sources take these apart."""

import pytest
from tests.conftest import LIBRARIES


@pytest.fixture(params=[library for library in LIBRARIES if library.name != "torch"], ids=repr)
def xp(request):
    """Every array library that comes through a source as it is."""
    return request.param
