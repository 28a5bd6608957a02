"""Frozen numbers about a fit."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
