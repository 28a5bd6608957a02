"""One self-contained page about a fit: words, maps, tables, and how they came about."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
