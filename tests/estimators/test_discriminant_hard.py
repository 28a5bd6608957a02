"""Discriminant analysis of rows that hurt: far off, collinear, nearly constant, huge."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from discriminant_data import Gram, Svd, classes, reference, sine
from sklearn.datasets import load_digits

import mercer
from mercer import LinearDiscriminantAnalysis
from mercer.errors import AccuracyWarning, DataWarning
from mercer.operators import GroupedRows

PATHS = [Svd, Gram]
each_path = pytest.mark.parametrize("kind", PATHS, ids=["svd", "gram"])


@pytest.mark.parametrize(("kind", "times"), [(Gram, 1), (Svd, 2)])
def test_rows_are_read_as_often_as_the_plan_says(kind, times, monkeypatch):
    X, y = classes(9000, 6, 3, 3)
    read, block = np.zeros(9000, int), GroupedRows.block

    def record(self, part, buffer=None):
        read[part] += 1
        return block(self, part, buffer)

    monkeypatch.setattr(GroupedRows, "block", record)
    model = kind().fit(X, y)
    assert np.all(read == times)
    assert model.plan_.chosen.passes == times


@each_path
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("spread", [1.0, 1e-9, 1e9])
def test_far_from_the_origin(kind, offset, spread):
    """float64 up to mean/std 1e8: the axes of the stored numbers within 1e-10."""
    X, y = classes(300, 4, 3, 7)
    X = spread * (X + offset)
    values, axes = reference(X, y)
    model = kind().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    assert sine(model.scalings_, axes) < 1e-10
    certificate = model.certificate_
    assert certificate.met
    assert np.all(certificate.lower <= values * (1 + 1e-12))
    assert np.all(values <= certificate.upper * (1 + 1e-12))


@each_path
def test_classes_that_lie_far_apart_and_far_off(kind):
    X, y = classes(200, 3, 2, 8)
    X[y == 1] += 1e8
    values, axes = reference(X, y)
    model = kind().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert sine(model.scalings_, axes) < 1e-9


def test_float32_rows_far_off():
    X, y = classes(500, 4, 3, 9)
    X = (X + 1e4).astype(np.float32)
    values, axes = reference(X, y)
    model = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert sine(model.scalings_, axes) < 1e-9
    Z = model.transform(X)
    assert Z.dtype == np.float32
    exact = (X.astype(np.float64) - model.xbar_) @ model.scalings_
    np.testing.assert_allclose(Z, exact, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kind", [*PATHS, LinearDiscriminantAnalysis])
def test_collinear_columns_change_nothing(kind):
    X, y = classes(90, 4, 3, 17)
    more = np.c_[X, X[:, 0] + X[:, 1], np.full(90, 7.0)]
    with pytest.warns(DataWarning, match="singular"):
        found = kind().fit(more, y)
    plain = kind().fit(X, y)
    assert found.within_rank_ == 4
    np.testing.assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(
        found.predict_proba(more), plain.predict_proba(X), rtol=0, atol=1e-7
    )
    np.testing.assert_allclose(found.tests_.chi2, plain.tests_.chi2, rtol=1e-7)


def test_collinear_but_for_stored_digits_far_off():
    X, y = classes(90, 3, 3, 19)
    X = X + 1e8
    more = np.c_[X, X[:, 0] + X[:, 1]]
    with pytest.warns(DataWarning, match="combinations of others"):
        assert LinearDiscriminantAnalysis().fit(more, y).within_rank_ == 3


@pytest.mark.parametrize("kind", [Svd, LinearDiscriminantAnalysis])
def test_a_column_with_few_digits_takes_no_others_with_it(kind):
    """A clock far from zero rounds itself, and columns that nearly agree stay two columns."""
    X, y = classes(200, 3, 3, 21)
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    clock = 1.7e9 + 1e-5 * np.random.default_rng(0).normal(size=200)
    model = kind().fit(np.c_[X, clock], y)
    assert model.within_rank_ == 4
    values, _ = reference(np.c_[X, clock], y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
    still = np.c_[X, np.full(200, 0.1) + 2.0**-56 * (np.arange(200) % 2)]  # one unit apart
    assert kind().fit(still, y).within_rank_ == 3


def test_too_little_memory_is_said_before_work_begins():
    with pytest.raises(mercer.errors.BudgetError, match="memory"):
        LinearDiscriminantAnalysis(memory="1kB").fit(*load_digits(return_X_y=True))


def test_the_gram_path_hands_over_where_it_sees_too_little(monkeypatch):
    X, y = classes(400, 4, 3, 23)
    X[:, 3] = X[:, 0] + 1e-6 * X[:, 3]
    taken, solve = [], LinearDiscriminantAnalysis._solve

    def record(self, source, path, weights):
        taken.append(path.name)
        return solve(self, source, path, weights)

    def both(self, source, weights=None):
        made = problem(self, source, weights)
        return dataclasses.replace(made, time=None)

    problem = LinearDiscriminantAnalysis._problem
    monkeypatch.setattr(LinearDiscriminantAnalysis, "_solve", record)
    monkeypatch.setattr(LinearDiscriminantAnalysis, "_problem", both)
    monkeypatch.setattr("mercer.planning._decision._ANYWAY", 0.0)
    well = X.astype(np.longdouble)
    well[:, 3] = 1e6 * (well[:, 3] - well[:, 0])  # the same space, well conditioned
    values, _ = reference(well, y)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert taken == ["gram", "svd"]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    with pytest.warns((AccuracyWarning, DataWarning)):
        Gram().fit(X, y)


def test_a_column_that_is_constant_in_every_class_is_named():
    X, y = classes(60, 3, 2, 29)
    frame = pd.DataFrame(X, columns=list("abc")).assign(code=10.0 * y)
    with pytest.warns(DataWarning, match="not the same") as seen:
        model = LinearDiscriminantAnalysis().fit(frame, y)
    assert model.tests_ is None
    assert "'code'" in str(seen[0].message)
    assert model.within_rank_ == 3
    assert model.structure_[3, 0] != 0
    assert model.structure_within_[3, 0] == 0
    assert model.scalings_[3, 0] == 0


def test_huge_and_tiny_numbers():
    X, y = classes(60, 3, 3, 41)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    for power in (-900, 900):
        model = LinearDiscriminantAnalysis().fit(np.ldexp(X, power), y)
        np.testing.assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(
            model.predict_proba(np.ldexp(X, power)), plain.predict_proba(X), rtol=0, atol=1e-9
        )
