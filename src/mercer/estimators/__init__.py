"""The spectral family: each method its operator, its scaling, its projection."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
