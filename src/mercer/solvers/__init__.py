"""Leading pairs of an operator, sorted, signed and certified."""

from mercer.solvers._block_krylov import BlockKrylov
from mercer.solvers._captured_axes import raised
from mercer.solvers._certificate import Certificate
from mercer.solvers._eigenvalue_bounds import (
    PROBES,
    Outside,
    bordered_upper,
    complement_norm,
    lanczos_norm,
    probe_factor,
)
from mercer.solvers._exact import Exact
from mercer.solvers._solver import Floor, Goal, Solver
from mercer.solvers._spectrum import Outcome, Spectrum, fix_signs, signs_of, signs_of_sums
from mercer.solvers._stored_matrix import Stored
from mercer.solvers._unfolding import DistanceBars, Unfolded, unfold

__all__ = [
    "PROBES",
    "BlockKrylov",
    "Certificate",
    "DistanceBars",
    "Exact",
    "Floor",
    "Goal",
    "Outcome",
    "Outside",
    "Solver",
    "Spectrum",
    "Stored",
    "Unfolded",
    "bordered_upper",
    "complement_norm",
    "fix_signs",
    "lanczos_norm",
    "probe_factor",
    "raised",
    "signs_of",
    "signs_of_sums",
    "unfold",
]
