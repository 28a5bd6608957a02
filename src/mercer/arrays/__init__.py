"""The only room that knows how array libraries, threads and memory differ."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
