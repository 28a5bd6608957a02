"""Missing cells: filled along a fit, imputed once or several times."""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__)
