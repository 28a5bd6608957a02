"""Inertias that are adjusted: by a rising map of eigenvalues, or by joint fits."""

import numpy as np
import pytest
from written_mca import tables

import mercer
from mercer.errors import AccuracyWarning
from mercer.estimators.categories import _adjusted_inertias as _mca_joint
from mercer.estimators.categories._adjusted_inertias import joint, joint_pairs, mapped
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import Categories, active_of
from mercer.solvers import Certificate


@pytest.fixture
def burt(rng):
    made = Categories(active_of(coded(tables(rng, 300)), None, None))
    return made.square, made.active.owner


def test_at_rest_the_blocks_are_what_the_axes_rebuild(burt):
    square, owner = burt
    found, said = joint(square, owner, 2)
    assert said.converged
    own = owner[:, None] == owner
    np.testing.assert_array_equal(found[~own], square[~own])
    values, vectors = np.linalg.eigh(found)
    fitted = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    np.testing.assert_allclose(fitted[own], found[own], rtol=0, atol=1e-8)
    rest = np.sum((square - fitted)[~own] ** 2) / np.sum(square[~own] ** 2)
    assert said.share == pytest.approx(1 - rest, abs=1e-8)


def test_no_other_axes_rebuild_the_crossed_tables_better(rng, burt):
    square, owner = burt
    own = owner[:, None] == owner
    _, said = joint(square, owner, 2)
    spectrum = joint_pairs(joint(square, owner, 2)[0], 2, 1e-6, 0)
    factor = spectrum.right * np.sqrt(spectrum.values)
    best = np.sum((square - factor @ factor.T)[~own] ** 2)
    for _ in range(20):
        near = factor + 1e-3 * rng.normal(size=factor.shape)
        assert np.sum((square - near @ near.T)[~own] ** 2) > best
    values, vectors = np.linalg.eigh(square)
    plain = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    whole = np.sum(square[~own] ** 2)
    assert said.share > 1 - np.sum((square - plain)[~own] ** 2) / whole


def test_two_variables_are_fitted_by_their_correspondence_analysis(rng):
    X = tables(rng, 300, (4, 5), 2.0)
    adjusted = mercer.MultipleCorrespondenceAnalysis(2, table="adjusted").fit(X)
    found = mercer.MultipleCorrespondenceAnalysis(2, table="joint").fit(X)
    # One table alone: its best axes are those of its own singular vectors.
    np.testing.assert_allclose(
        found.explained_variance_ratio_.sum(),
        adjusted.explained_variance_ratio_.sum(),
        rtol=1e-6,
    )


def test_an_iteration_cut_short_says_so(burt, monkeypatch):
    monkeypatch.setattr(_mca_joint, "_STEPS", 2)
    with pytest.warns(AccuracyWarning, match="after 2 steps"):
        _, said = joint(*burt, 2)
    assert not said.converged
    assert said.steps == 2


def test_a_variable_says_no_more_of_itself_than_there_is():
    # Noise in which the best fit would grow one variable for ever (a Heywood case).
    X = np.round(3 * np.random.RandomState(0).uniform(size=(20, 3))).astype(int)
    made = Categories(active_of(coded(X), None, None))
    found, said = joint(made.square, made.active.owner, 1)
    assert said.converged
    assert said.bounded == 1
    for variable in range(3):
        at = made.active.owner == variable
        assert np.linalg.norm(found[np.ix_(at, at)], 2) <= 1 / 3 + 1e-9
    assert np.linalg.eigvalsh(found)[-1] <= 1 + 1e-9


def test_a_certificate_goes_through_a_rising_map():
    values = np.array([0.8, 0.5])
    before = Certificate.of(
        values,
        np.array([0.8 + 1e-8, 0.5 + 1e-8, 0.3]),
        np.array([1e-7, 1e-7]),
        error=1e-9,
        tol=1e-6,
        zero_level=1e-15,
    )
    after = mapped(before, values, np.square)
    np.testing.assert_allclose(after.lower, before.lower**2)
    np.testing.assert_allclose(after.upper, before.upper**2)
    np.testing.assert_array_equal(after.sine, before.sine)
    assert np.all(after.gap <= [0.8**2 - 0.5**2, 0.5**2 - 0.3**2])
    assert after.next_upper == pytest.approx(before.next_upper**2)


def test_greenacre_total_is_the_mean_inertia_of_crossed_tables(rng):
    X = tables(rng, 200)
    found = mercer.MultipleCorrespondenceAnalysis(2, correction="greenacre", exclude=["x3=l2"])
    codes = np.array([[int(cell[1]) for cell in row] for row in X])
    crossed = []
    for a in range(4):
        for b in range(4):
            if a != b:
                P = np.zeros((5, 5))
                np.add.at(P, (codes[:, a], codes[:, b]), 1 / 200)
                r, c = P.sum(axis=1, keepdims=True), P.sum(axis=0)
                with np.errstate(invalid="ignore"):
                    parts = np.nan_to_num((P - r * c) ** 2 / (r * c))
                parts[2 if a == 3 else slice(0)] = 0
                parts[:, 2 if b == 3 else slice(0)] = 0
                crossed.append(parts.sum())
    assert found.fit(X).column_inertias_.sum() == pytest.approx(np.mean(crossed))
