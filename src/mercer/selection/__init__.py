"""How many components: rules that read a spectrum, two Gram matrices, or a small table."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
