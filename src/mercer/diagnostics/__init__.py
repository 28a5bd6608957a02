"""Frozen numbers about a fit."""

from mercer.diagnostics._kernel import effective_rank, linear_alignment
from mercer.diagnostics._sampling import sampling_error

__all__ = ["effective_rank", "linear_alignment", "sampling_error"]
