"""Asked for more digits, the iteration gives axes as exact as those of the direct paths."""

import numpy as np
import pytest
from forced import fit, gapped
from jacobi import reference, sine

# dtype, the largest mean/std, the tolerance asked for, and the sine that must come of it.
DIGITS = [
    (np.float64, 1e8, 1e-13, 1e-10),
    (np.float64, 0.0, 1e-13, 1e-10),
    (np.float32, 1e6, 1e-10, 1e-6),
    (np.float32, 0.0, 1e-10, 1e-6),
]


@pytest.mark.parametrize(("dtype", "offset", "tol", "allowed"), DIGITS)
def test_a_small_tolerance_reaches_the_sines_of_exact_paths(dtype, offset, tol, allowed):
    X = gapped(400, 40, 3)
    X = (X + offset * X.std()).astype(dtype)
    found = fit("krylov", X, 3, tol=tol)
    assert sine(found.components_, reference(X).axes[:, :3]) <= allowed
