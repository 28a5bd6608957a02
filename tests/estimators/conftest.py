import sys
from pathlib import Path

import numpy as np
import pytest
from forced import FORCED

from mercer.testing import matrices

HERE = str(Path(__file__).resolve().parent)  # streams.py lives here
if HERE not in sys.path:
    sys.path.insert(0, HERE)


TALL, WIDE = (128, 32), (32, 128)
FORMS = [(name, TALL) for name in ("svd", "gram", "krylov")]
FORMS += [(name, WIDE) for name in ("svd", "gram", "dual", "krylov")]


@pytest.fixture(params=FORMS, ids=lambda form: f"{form[0]}-{form[1][0]}x{form[1][1]}")
def form(request):
    """A PCA class bound to one path, and a shape for it."""
    name, shape = request.param
    return FORCED[name], shape


@pytest.fixture
def exact_data():
    """Make data whose principal components are known exactly: (X, mean, s, axes)."""

    def make(shape, values=None, seed=0):
        r = min(shape[0] - 1, shape[1])
        values = np.arange(r, 0, -1.0) if values is None else np.asarray(values, float)
        rows, signs = matrices.dyadic_rows(values, shape, seed, centred=True)
        mean = np.random.default_rng(seed).integers(-50, 50, shape[1]).astype(float)
        return rows + mean, mean, values, (signs / np.sqrt(shape[1])).T

    return make


@pytest.fixture
def table(rng):
    """An ordinary table: correlated columns of different scales, far from the origin."""
    factors = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 8))
    noise = 0.3 * rng.standard_normal((120, 8))
    return (factors + noise) * np.linspace(0.5, 3, 8) + np.linspace(-40, 100, 8)
