"""Leading pairs of an operator, sorted, signed and certified."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
