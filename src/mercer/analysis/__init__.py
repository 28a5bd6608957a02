"""A table as people have it to its analysis: the method that fits, its rows, its page."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
