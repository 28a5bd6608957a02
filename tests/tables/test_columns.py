"""A column is a value."""

import dataclasses

import pytest

from mercer.tables import Column


def test_a_column_cannot_be_changed():
    column = Column("x", "number", "active")
    assert column == Column("x", "number", "active", "")
    with pytest.raises(dataclasses.FrozenInstanceError):
        column.role = "out"
