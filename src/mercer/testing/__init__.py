"""Conformance kits: hold a new operator, solver or kernel to the laws that all the others obey.

They need no test framework: a broken law is an `AssertionError` that names it, with both
numbers.
"""

from mercer._lazy import lazy

__getattr__, __dir__ = lazy(__name__, own=("matrices",))
