"""Rows from anywhere. Today: arrays and sparse matrices in memory."""

from mercer.sources._base import Source, scan
from mercer.sources._in_memory import DenseSource, SparseSource

__all__ = ["DenseSource", "Source", "SparseSource", "scan"]
