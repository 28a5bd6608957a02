import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from mercer.diagnostics import neighbour_ranks
from mercer.errors import InputError

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 5, 30])
def test_trustworthiness_is_scikit_learns_and_continuity_its_mirror(k):
    X, Z = RNG.normal(size=(90, 6)), RNG.normal(size=(90, 2))
    Z[:, 0] += X[:, 0]
    trust, continuity = neighbour_ranks(X, Z, [k])
    assert trust[0] == pytest.approx(trustworthiness(X, Z, n_neighbors=k), abs=1e-12)
    assert continuity[0] == pytest.approx(trustworthiness(Z, X, n_neighbors=k), abs=1e-12)


@pytest.mark.parametrize("change", [lambda x: x, lambda x: 1e6 * x - 3e8])
def test_a_faithful_map_keeps_all(change):
    X = RNG.normal(size=(60, 3))
    trust, continuity = neighbour_ranks(
        X, change(X) @ np.linalg.qr(RNG.normal(size=(3, 3)))[0], [5, 20]
    )
    np.testing.assert_allclose([trust, continuity], 1.0, rtol=0, atol=1e-4)


@pytest.mark.parametrize("neighbours", [[], [0], [30]])
def test_numbers_that_mean_nothing_are_refused(neighbours):
    X = RNG.normal(size=(60, 3))
    with pytest.raises(InputError, match="half of the rows"):
        neighbour_ranks(X, X, neighbours)
