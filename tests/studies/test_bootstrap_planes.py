import numpy as np
import scipy.linalg
import scipy.stats

from mercer.studies._resampled_axes import alike, matched, planes, rotated


def turned(angles, k=3, at=(1, 2)):
    """Cosines of draws that turn two axes into each other."""
    found = np.tile(np.eye(k), (len(angles), 1, 1))
    for d, angle in enumerate(np.radians(angles)):
        i, j = at
        found[d][[i, i, j, j], [i, j, i, j]] = [
            np.cos(angle),
            np.sin(angle),
            -np.sin(angle),
            np.cos(angle),
        ]
    return found


def test_axes_that_turn_into_each_other_are_a_plane():
    found = planes(turned(np.linspace(0, 180, 60)))
    assert [one.axes for one in found] == [(0,), (1, 2)]
    assert all(one.stable for one in found)
    assert found[1].angle < 1e-5
    assert found[1].name == "the plane of PC2 and PC3"


def test_axes_that_hold_still_stand_alone():
    found = planes(turned(np.linspace(-20, 20, 60)))
    assert [one.axes for one in found] == [(0,), (1,), (2,)]
    assert 5 < found[1].angle < 15


def test_three_axes_make_a_space():
    draws = np.stack([scipy.stats.ortho_group.rvs(3, random_state=s) for s in range(80)])
    found = planes(draws)
    assert [one.axes for one in found] == [(0, 1, 2)]
    assert found[0].name == "the space of PC1, PC2 and PC3"


def test_an_axis_that_leaves_the_space_is_not_stable():
    cosines = np.tile(np.diag([1.0, 1.0, 0.2]), (50, 1, 1))
    found = planes(cosines)
    assert [one.axes for one in found] == [(0,), (1,), (2,)]
    assert [one.stable for one in found] == [True, True, False]
    assert 70 < found[2].angle < 90
    assert planes(np.zeros((20, 0, 0))) == ()


def test_axes_are_matched_by_their_largest_cosines():
    cosines = np.array([[0.1, -0.9, 0.2], [0.8, 0.1, 0.0], [0.0, 0.3, 0.95]])
    order, signs = matched(cosines)
    assert order.tolist() == [1, 0, 2]
    assert signs.tolist() == [-1, 1, 1]


def test_rotation_is_that_of_scipy():
    rng = np.random.default_rng(0)
    loadings, target = rng.standard_normal((2, 9, 3))
    turn, _ = scipy.linalg.orthogonal_procrustes(loadings, target)
    assert np.allclose(rotated(loadings, target), loadings @ turn)


def test_equal_variances_are_told_apart_once_in_twenty():
    told = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 3)) * [1, 1, 0.1]
        values, axes = (part[..., ::-1] for part in np.linalg.eigh(np.cov(X.T)))
        weights = rng.multinomial(100, np.full(100, 0.01), size=30)
        scores = (X - X.mean(axis=0)) @ axes
        along = [np.cov(scores.T, fweights=w).diagonal() for w in weights]
        same = alike(values, np.array(along))
        told.append(not same[0])
        assert not same[1]
    assert 0.0 < np.mean(told) < 0.13


def test_axes_alike_begin_as_planes():
    found = planes(turned(np.zeros(30), k=4), np.array([True, False, True]))
    assert [one.axes for one in found] == [(0, 1), (2, 3)]
