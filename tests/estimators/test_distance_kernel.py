import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.errors import InputError
from mercer.estimators.manifold._distance_kernel import (
    Placing,
    PlacingTask,
    described,
    halved_squares,
    placed,
    refuse_odd_distances,
)
from mercer.planning import Path
from mercer.solvers import BlockKrylov, Exact, Stored

WHOLE = Path("lapack", Exact(destroy=True), 1, 0, 0.0, 0.0, "gram", 8, "")
KRYLOV = Path("stored", Stored(BlockKrylov(block=8), False), 1, 0, 0.0, 0.0, "tol", 8, "")


def ask(k=2, indefinite="clip"):
    return PlacingTask(k, indefinite, 1e-10, 10**9, None, 0)


def points(n=60, p=4):
    return np.random.default_rng(n).standard_normal((n, p)) * np.arange(p, 0, -1)


@pytest.mark.parametrize("path", [WHOLE, KRYLOV], ids=["lapack", "stored"])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_pairs_and_places_are_those_of_the_formula(path, metric):
    X = points()
    D = cdist(X, X, metric)
    H = np.eye(60) - 1 / 60
    values, u = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    values, u = values[::-1][:2], u[:, ::-1][:, :2]
    spectrum, found, placing = placed(halved_squares(D.copy()), path, ask())
    np.testing.assert_allclose(spectrum.values, values, rtol=1e-9)
    new = cdist(points(7), X, metric)
    # The formula of the projection, point by point and axis by axis.
    exact = np.array(
        [
            [
                sum(u[i, a] * (np.mean(D[:, i] ** 2) - d[i] ** 2) for i in range(60))
                / (2 * values[a] ** 0.5)
                for a in range(2)
            ]
            for d in new
        ]
    )
    got = placing.of(new**2)
    signs = np.sign(np.sum(got * exact, axis=0))
    np.testing.assert_allclose(got * signs, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(placing.of(D**2), found.coordinates, rtol=0, atol=1e-9)


def test_the_negative_share_is_that_of_all_eigenvalues():
    X = points()
    D = cdist(X, X, "cityblock")
    H = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(-0.5 * H @ D**2 @ H)
    spectrum, found, _ = placed(halved_squares(D), WHOLE, ask())
    state = described(spectrum, found)
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert state["negative_share_"] == pytest.approx(share, rel=1e-9)
    assert share > 0.05
    np.testing.assert_allclose(
        state["explained_variance_ratio_"], values[::-1][:2] / np.abs(values).sum(), rtol=1e-9
    )


def test_no_copy_is_made_of_the_distances():
    D = cdist(points(), points())
    assert halved_squares(D) is D
    assert D[0, 1] < 0


def test_a_level_is_taken_from_all_coordinates():
    placing = Placing(np.eye(2), np.zeros(2), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(placing.of(np.array([[2.0, 4.0]])), [[-2.0, -4.0]])


def spoilt(**changes):
    D = cdist(points(5), points(5))
    for place, value in changes.items():
        i, j = (int(digit) for digit in place[1:])
        D[i, j] = value
    return D


@pytest.mark.parametrize(
    ("D", "what", "got"),
    [
        (np.ones((3, 4)), "square", "(3, 4)"),
        (spoilt(a00=3.0), "no distance to itself", "3 at row 0, column 0"),
        (spoilt(a13=-1.0), "Negative", "-1 at row 1, column 3"),
        (spoilt(a13=900.0), "symmetric", "900 at row 1, column 3"),
    ],
)
def test_what_cannot_be_distances_is_named(D, what, got):
    with pytest.raises(InputError, match=what) as caught:
        refuse_odd_distances(D)
    assert got in caught.value.got


def test_rounding_is_no_asymmetry():
    refuse_odd_distances(spoilt(a13=spoilt()[3, 1] * (1 + 1e-12)))


@pytest.mark.parametrize(("size", "what"), [(0.0, "one place"), (1e160, "too large")])
def test_distances_without_length_or_range_are_refused(size, what):
    D = size * (1.0 - np.eye(4))
    with pytest.raises(InputError, match=what):
        placed(halved_squares(D), WHOLE, ask())
