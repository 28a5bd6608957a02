"""A table as people have it: kinds and roles of its columns, and the rows made of them."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
