"""Rows from anywhere: arrays in memory, files and streams that are read block by block."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
