"""Principal components and their relatives: planned before, certified after.

Every method is one walk: describe the data, plan the cheapest path that meets the tolerance,
build an operator, take its leading pairs, scale, project. Names load when they are first used,
so ``import mercer`` costs a few milliseconds.
"""

from mercer._lazy import lazy

__version__ = "0.1.0"
__getattr__, __dir__ = lazy(__name__, own=("__version__", "errors"))
