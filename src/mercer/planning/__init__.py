"""Which path is taken, what it will cost, and why the others were not. Touches no array."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
