"""Matrices known by their products with thin blocks."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
