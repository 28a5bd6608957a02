"""Rows from anywhere. Today: arrays and sparse matrices in memory."""

from mercer.sources._base import Source, scan
from mercer.sources._in_memory import DenseSource, SparseSource
from mercer.sources._mapped import MappedSource

__all__ = ["DenseSource", "MappedSource", "Source", "SparseSource", "scan"]
