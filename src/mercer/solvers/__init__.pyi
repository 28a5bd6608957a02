"""The names of `mercer.solvers`, and where they live."""

from mercer.solvers._block_krylov import BlockKrylov as BlockKrylov
from mercer.solvers._captured_axes import raised as raised
from mercer.solvers._certificate import Certificate as Certificate
from mercer.solvers._eigenvalue_bounds import PROBES as PROBES
from mercer.solvers._eigenvalue_bounds import Outside as Outside
from mercer.solvers._eigenvalue_bounds import bordered_upper as bordered_upper
from mercer.solvers._eigenvalue_bounds import complement_norm as complement_norm
from mercer.solvers._eigenvalue_bounds import lanczos_norm as lanczos_norm
from mercer.solvers._eigenvalue_bounds import probe_factor as probe_factor
from mercer.solvers._eigenvalue_bounds import sampled_norm as sampled_norm
from mercer.solvers._exact import Exact as Exact
from mercer.solvers._solver import Floor as Floor
from mercer.solvers._solver import Goal as Goal
from mercer.solvers._solver import Solver as Solver
from mercer.solvers._spectrum import Outcome as Outcome
from mercer.solvers._spectrum import Spectrum as Spectrum
from mercer.solvers._spectrum import fix_signs as fix_signs
from mercer.solvers._spectrum import signs_of as signs_of
from mercer.solvers._spectrum import signs_of_sums as signs_of_sums
from mercer.solvers._stored_matrix import Stored as Stored
from mercer.solvers._unfolding import DistanceBars as DistanceBars
from mercer.solvers._unfolding import Unfolded as Unfolded
from mercer.solvers._unfolding import unfold as unfold
