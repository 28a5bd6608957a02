import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.diagnostics import health
from mercer.diagnostics.health_checks._health import seen_of
from mercer.diagnostics.health_checks._map_checks import _angles, shares

from .fits import factors, found

# -- M106 -----------------------------------------------------------------------------


def test_axes_alike_are_a_plane():
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((300, 6)) * [9, 3, 3, 1, 0.5, 0.2]
        finding = found(X, 4).get("M106")
        if finding is not None:
            named += 1
            assert finding.what == "PC2 and PC3: read the plane, not the axes"
            assert "300 other rows would turn PC2 and PC3 by" in finding.got
    assert named >= 26  # of variances that are equal three in four


def test_axes_that_lie_apart_are_axes():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        assert "M106" not in found(rng.standard_normal((300, 6)) * [9, 5, 3, 1.5, 0.7, 0.2], 5)


def test_axes_of_noise_and_those_not_kept_are_said():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    X[:, 0] *= 8
    assert found(X, 3)["M106"].what == "PC2, PC3 and what follows cannot be told apart"
    assert found(X, 6)["M106"].what == "PC2 to PC6 and what follows cannot be told apart"


def test_equal_variances_to_rounding():
    X = np.concatenate([np.eye(4), -np.eye(4)])
    scores, variances = X[:, :3], np.full(3, 2 / 7)
    (finding,) = health(X, scores, variances, inseparable=((0, 1, 2, 3),), rows=1e12)
    assert finding.what == "PC1 to PC3 and what follows cannot be told apart"
    assert "the same variance to rounding" in finding.got
    (finding,) = health(None, scores, [3.0, 2.0, 2.0], inseparable=((1, 2),), rows=1e12)
    assert finding.what == "PC2 and PC3: read the plane, not the axes"


def test_several_planes_are_one_finding():
    scores = np.random.default_rng(0).standard_normal((500, 5)) * [6, 6, 3, 1, 1]
    (finding,) = health(None, scores, [36.0, 35.9, 9, 1.01, 1])
    assert finding.what == "PC1 and PC2; PC4 and PC5: read the planes, not the axes"


@pytest.mark.parametrize("gap", [1.4, 2.0])
def test_the_angle_is_that_between_samples(gap):
    """Against draws: the root mean square angle of PC1 from its true direction."""
    n, sizes = 400, np.sqrt([gap, 1.0, 0.01])
    turned, said = [], []
    for seed in range(300):
        X = np.random.default_rng(seed).standard_normal((n, 3)) * sizes
        axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2]
        turned.append(np.arctan2(abs(axes[0, 1]), abs(axes[0, 0])))
        scores = (X - X.mean(axis=0)) @ axes.T
        said.append(_angles(seen_of(X, scores, scores.var(axis=0, ddof=1)))[0])
    assert_allclose(np.median(said), np.sqrt(np.mean(np.square(turned))), rtol=0.15)


# -- M107 -----------------------------------------------------------------------------


def test_noise_in_many_columns_explains_little_of_others():
    X = np.random.default_rng(0).standard_normal((20, 200))
    finding = found(X, 5)["M107"]
    assert "PC1 to PC5: 3" in finding.got  # 37 % of these rows, 2.4 % of others
    assert "20 rows, 200 columns" in finding.got


def test_real_axes_explain_others_too():
    assert "M107" not in found(factors(40, 200, np.random.default_rng(0), (40.0, 30.0)), 2)
    assert "M107" not in found(np.random.default_rng(0).standard_normal((60, 5)), 2)


@pytest.mark.parametrize("shape", [(24, 5), (15, 40)])
def test_shares_are_those_of_plain_axes(shape):
    X = factors(*shape, np.random.default_rng(0)) + 3
    k, folds = 2, 4
    fold = np.random.default_rng(0).permutation(shape[0]) % folds
    explained = total = 0.0
    for number in range(folds):
        inside, outside = X[fold != number], X[fold == number]
        mean = inside.mean(axis=0)
        axes = np.linalg.svd(inside - mean, full_matrices=False)[2][:k]
        explained += np.sum(((outside - mean) @ axes.T) ** 2)
        total += np.sum((outside - mean) ** 2)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert_allclose(shares(X, k, folds), [s[:k].sum() / s.sum(), explained / total])


def test_shares_of_nothing():
    assert shares(np.ones((6, 4)), 1) == (0.0, 0.0)
