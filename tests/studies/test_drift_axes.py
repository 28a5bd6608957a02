import numpy as np
import pytest
import scipy.linalg
from tests.studies.drift_tables import tables

import mercer
from mercer.sources import scan
from mercer.studies.drifting._drift_axes import Turn, between, near, turned
from mercer.studies.drifting._rows_after import after
from mercer.studies.drifting._rows_before import before


def test_axes_with_near_variances_are_planes():
    assert near(np.array([10.0, 9.5, 4.0, 3.9, 3.8]), 100) == [(0, 1), (2, 3, 4)]
    assert near(np.array([10.0, 9.5, 4.0]), 1e6) == [(0,), (1,), (2,)]
    assert near(np.zeros(0), 10) == []


def test_planes_are_named_as_planes():
    assert Turn((0,), 1, 1, 1).name == "PC1"
    assert Turn((1, 2), 1, 1, 1).name == "the plane of PC2 and PC3"
    assert Turn((1, 2, 3), 1, 1, 1).name == "the space of PC2 to PC4"


def test_angles_are_those_of_scipy_also_when_tiny():
    rng = np.random.default_rng(0)
    a, b = (np.linalg.qr(rng.standard_normal((9, 3)))[0].T for _ in range(2))
    other = np.degrees(scipy.linalg.subspace_angles(a.T, b.T))[::-1]
    assert np.allclose(between(a, b), other)
    assert np.allclose(between(a, b[:2]), between(b[:2], a))
    turn = np.linalg.qr(a.T + 1e-9 * b.T)[0].T
    assert 0 < between(a, turn)[-1] < 1e-6
    assert between(a, np.zeros((0, 9))).shape == (0,)


def test_expected_angles_are_those_that_chance_makes():
    found, expected = [], []
    for seed in range(60):
        X, Y, _ = tables(300, 200, p=8, k=2, seed=seed)
        known = before(mercer.PCA(2).fit(X))
        new = after(known, scan(Y), Y.mean(axis=0), 200)
        turns = turned(known, new, mercer.PCA(2).fit(Y).components_)
        found.append([one.angle for one in turns])
        expected.append([one.expected for one in turns])
    rms = np.sqrt(np.mean(np.square(found), axis=0))
    assert np.allclose(rms, np.mean(expected, axis=0), rtol=0.2)


def test_axes_that_new_rows_do_not_have_are_at_right_angles():
    X, Y, _ = tables(300, 200)
    known = before(mercer.PCA(2).fit(X))
    new = after(known, scan(Y), Y.mean(axis=0), 200)
    turns = turned(known, new, mercer.PCA(1).fit(Y).components_)
    assert turns[1].angle == 90.0
    assert turns[0].angle < 10
    assert turns[1].chance == pytest.approx(turned(known, new, known.axes)[1].chance)
