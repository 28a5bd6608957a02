"""Guests: maps and dictionaries of other libraries, under the contract of this one."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
