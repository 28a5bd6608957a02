"""Guests: methods of other libraries, with mercer's names and its way of speaking."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
