"""Numbers about a fit."""

from mercer.diagnostics._sampling import sampling_error

__all__ = ["sampling_error"]
