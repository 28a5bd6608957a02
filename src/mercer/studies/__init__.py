"""Studies: many fits of one table, and what they say together."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
