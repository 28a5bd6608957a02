"""Conformance kits: hold a new operator, solver or kernel to the laws that all the others obey.

They need no test framework: a broken law is an `AssertionError` that names it, with both
numbers.
"""

from mercer.testing import matrices
from mercer.testing._kernels import check_kernel
from mercer.testing._operators import check_operator
from mercer.testing._solvers import check_solver

__all__ = ["check_kernel", "check_operator", "check_solver", "matrices"]
