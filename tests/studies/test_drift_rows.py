import numpy as np
import pytest
from tests.studies.drift_tables import tables

import mercer
from mercer.sources import scan
from mercer.studies.drifting import _rows_after as study
from mercer.studies.drifting._rows_before import before


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


def test_rows_that_do_not_count_are_left_out():
    X, Y, _ = tables(100, 90)
    known = before(mercer.PCA(2).fit(X))
    kept = np.arange(90) % 3 > 0
    some = study.after(known, scan(Y), Y[kept].mean(axis=0), 60, kept)
    alone = study.after(known, scan(Y[kept]), Y[kept].mean(axis=0), 60)
    assert some.rows == 60
    assert np.allclose(some.along, alone.along)
    assert some.rest_squares == pytest.approx(alone.rest_squares)


def test_sum_of_squared_variances_has_no_bias():
    values = np.linspace(1, 4, 12)
    found = []
    for seed in range(200):
        _, Y, axes = tables(2, 25, p=12, seed=seed, variances=values)
        found.append(study._squares(Y))
        assert axes.shape == (12, 12)
    assert np.mean(found) == pytest.approx(np.sum(values**2), rel=0.05)


def test_few_rows_are_spread_over_all():
    Y = np.arange(10_000.0)[:, None] * [1.0, 2.0]
    some = study.dense_rows(scan(Y), None, most=100)
    assert some.shape == (100, 2)
    assert some[0, 0] < 200
    assert some[-1, 0] > 9800
    assert np.all(np.diff(some[:, 0]) > 0)
    assert len(study.dense_rows(scan(Y[:50]), None)) == 50
