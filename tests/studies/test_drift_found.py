"""What drift moves: rows, axes, variances, and what is found."""

import types

import numpy as np
import pytest
import scipy.linalg
from tests.studies.drift_tables import tables

import mercer
from mercer.sources import scan
from mercer.studies.drifting import _drift_comparisons as found
from mercer.studies.drifting import _rows_after as study
from mercer.studies.drifting._drift_axes import Turn, between, near, turned
from mercer.studies.drifting._rows_after import after
from mercer.studies.drifting._rows_before import before


def columns(**changes):
    parts = {
        "names": ("a", "b", "c", "d", "e"),
        "shift_sd": np.array([0.1, -2.0, 3.0, 1.5, 1.2]),
        "shift_se": np.array([1.0, -20.0, 30.0, 15.0, 12.0]),
        "shift_chance": np.array([0.9, 0.0, 0.0, 0.001, 0.002]),
        "ratio": np.array([1.0, 0.5, 1.1, 1.0, 3.0]),
        "ratio_chance": np.array([1.0, 0.01, 0.9, 1.0, 0.001]),
    }
    return found.ComparedColumns(**{**parts, **changes})


def test_findings_are_corrected_for_their_number_and_ordered():
    calm = columns(shift_chance=np.ones(5), ratio_chance=np.ones(5))
    assert found.column_means(calm, 0.05)[1].startswith("The mean has moved of c by")
    assert found.column_means(calm, 0.05)[1].count("sd (") == 1
    assert found.column_ratios(calm, 0.05)[0] == 1.0
    asked = {"one": (0.02, "first"), "two": (0.001, "second"), "three": (0.9, "third")}
    comparisons = found.settled(asked, 0.95)
    assert [one.what for one in comparisons] == ["two", "one", "three"]
    assert [one.chance for one in comparisons] == pytest.approx([0.003, 0.04, 0.9])
    assert [one.changed for one in comparisons] == [True, True, False]
    assert not any(one.changed for one in found.settled({"one": (0.02, "")} | asked, 0.99)[1:])


def test_turns_are_named_and_rows_compared():
    turns = (Turn((0,), 12.0, 3.0, 0.001), Turn((1, 2), 5.0, 4.0, 0.7))
    chance, says = found.axes_turned(turns, 0.05)
    assert chance == 0.001
    assert says.endswith("angles to the new axes: PC1 12.0° (chance makes 3.0°).")
    chance, says = found.axis_variances(
        turns, np.array([1.0, 2.5]), np.array([0.8, 0.001]), 0.05
    )
    assert chance == pytest.approx(0.002)
    assert says.endswith("the plane of PC2 and PC3 (2.5 times).")
    model = types.SimpleNamespace(outliers_=np.arange(10), n_samples_=200)
    same, says = found.outlying(model, np.arange(100) < 5)
    assert same > 0.3
    assert says == "5 of 100 rows (5.0 %) are outlying; 5 % were at fit."
    assert found.outlying(model, np.arange(100) < 30)[0] < 1e-4


def test_variances_and_rest_add_up_to_the_total_variance():
    X, _, _ = tables(200, 2)
    for model in (mercer.PCA(2), mercer.PCA(2, standardize=True), mercer.PCA()):
        known = before(model.fit(X))
        scaled = (X - known.mean) * known.factor
        assert known.total == pytest.approx(np.var(scaled, axis=0, ddof=1).sum())
        assert known.rows == 200
        assert np.allclose(np.var(scaled @ known.axes.T, axis=0, ddof=1), known.variances)
    X, _, _ = tables(100, 2, p=20, variances=np.ones(20))
    known = before(mercer.PCA(3).fit(X))
    _, least, most = known.expected(17.0)
    assert np.all(least < 1.2)
    assert np.array_equal(most, known.variances)


def test_known_deviations_are_exact_and_others_near():
    X, _, _ = tables(500, 2)
    true = X.std(axis=0, ddof=1)
    assert before(mercer.PCA(2).fit(X)).deviations is None
    assert np.allclose(before(mercer.PCA(2).fit(X)).nearly, true, rtol=0.1)
    assert np.allclose(before(mercer.PCA().fit(X)).deviations, true)
    weight = np.arange(1.0, 7.0)
    model = mercer.PCA(2, standardize=True, feature_weight=weight).fit(X)
    known = before(model)
    assert np.allclose(known.deviations, np.std(X * known.factor, axis=0, ddof=1))


@pytest.mark.parametrize(("n", "p"), [(100, 20), (100, 100), (200, 300)])
def test_expected_variances_are_those_of_new_rows(n, p):
    ratios, optimism = [], []
    for seed in range(20 if p > 100 else 80):
        values = np.ones(p)
        values[:2] = [40.0, 15.0]
        X, _, axes = tables(n, 2, p=p, seed=seed, variances=values)
        known = before(mercer.PCA(2).fit(X))
        covariance = (axes * values) @ axes.T
        true = np.einsum("ij,jk,ik->i", known.axes, covariance, known.axes)
        expected, least, most = known.expected(float(p - 2))
        ratios.append(expected / true)
        optimism.append(known.variances / true)
        assert np.all(least <= expected)
        assert np.all(expected <= most)
    # The chance of a variance of 100 rows is 3 % in the mean of 20 draws.
    assert np.allclose(np.mean(ratios, axis=0), 1, atol=0.08)
    assert p < n or np.mean(optimism) > 1 + p / n / 40


def test_sums_are_those_of_the_plain_formulas(monkeypatch):
    X, Y, _ = tables(100, 90)
    known = before(mercer.PCA(2).fit(X))
    monkeypatch.setattr(study, "_BYTES", 7 * 8 * 6)  # seven rows at a time
    new = study.after(known, scan(Y), Y.mean(axis=0), 90)
    x = Y - known.mean
    z = x @ known.axes.T
    r = x - z @ known.axes
    zc, rc, xc = (part - part.mean(axis=0) for part in (z, r, x))
    assert np.allclose(new.shift, x.mean(axis=0))
    assert np.allclose(new.along, np.cov(z.T))
    assert np.allclose(new.across, zc.T @ rc / 89)
    assert np.allclose(new.variances, np.var(x, axis=0, ddof=1))
    assert new.rest == pytest.approx(np.sum(rc**2) / 89)
    assert np.allclose(new.turned, (zc**2).T @ np.sum(rc**2, axis=1) / 89)
    assert np.allclose(new.crossed, (zc**2).T @ zc**2 / 89)
    assert np.allclose(new.q, np.sum(r**2, axis=1))
    assert np.allclose(new.t2, np.sum(z**2 / known.variances, axis=1))
    norms = np.sum(xc**2, axis=1)
    assert new.spread == pytest.approx(np.var(norms) / np.mean(norms) ** 2)
    apart = np.sum(zc**2, axis=1) / np.mean(np.sum(zc**2, axis=1))
    apart -= np.sum(rc**2, axis=1) / np.mean(np.sum(rc**2, axis=1))
    assert new.swing >= np.var(apart) * (1 - 1e-9)


def test_rows_are_left_out_and_spread():
    X, Y, _ = tables(100, 90)
    known = before(mercer.PCA(2).fit(X))
    kept = np.arange(90) % 3 > 0
    some = study.after(known, scan(Y), Y[kept].mean(axis=0), 60, kept)
    alone = study.after(known, scan(Y[kept]), Y[kept].mean(axis=0), 60)
    assert some.rows == 60
    assert np.allclose(some.along, alone.along)
    assert some.rest_squares == pytest.approx(alone.rest_squares)
    Y = np.arange(10_000.0)[:, None] * [1.0, 2.0]
    some = study.dense_rows(scan(Y), None, most=100)
    assert some.shape == (100, 2)
    assert some[0, 0] < 200
    assert some[-1, 0] > 9800
    assert np.all(np.diff(some[:, 0]) > 0)
    assert len(study.dense_rows(scan(Y[:50]), None)) == 50


def test_sum_of_squared_variances_has_no_bias():
    values = np.linspace(1, 4, 12)
    found = []
    for seed in range(200):
        _, Y, axes = tables(2, 25, p=12, seed=seed, variances=values)
        found.append(study._squares(Y))
        assert axes.shape == (12, 12)
    assert np.mean(found) == pytest.approx(np.sum(values**2), rel=0.05)


def test_axes_with_near_variances_are_planes():
    assert near(np.array([10.0, 9.5, 4.0, 3.9, 3.8]), 100) == [(0, 1), (2, 3, 4)]
    assert near(np.array([10.0, 9.5, 4.0]), 1e6) == [(0,), (1,), (2,)]
    assert near(np.zeros(0), 10) == []
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
