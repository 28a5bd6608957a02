"""The names of `mercer.testing`, and where they live."""

from mercer.testing import matrices as matrices
from mercer.testing._kernels import check_kernel as check_kernel
from mercer.testing._operators import check_operator as check_operator
from mercer.testing._solvers import check_lapack_types as check_lapack_types
from mercer.testing._solvers import check_solver as check_solver
