"""The parts of a discriminant analysis: classes, the matrix within them, shrinkage, axes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from discriminant_data import classes
from sklearn.base import BaseEstimator
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.exceptions import NotFittedError

from mercer import LinearDiscriminantAnalysis
from mercer.errors import DataWarning, InputError
from mercer.estimators.groups._canonical_axes import (
    Target,
    between,
    canonical,
    constant_within,
    ledoit_wolf,
    structure_of,
    target_of,
    whitened,
    wilks_of,
)
from mercer.estimators.groups._class_labels import TellsClasses, labels_of, priors_of
from mercer.operators import GroupedRows
from mercer.sources import scan


def found_of(X, y, priors=None):
    groups = int(y.max()) + 1
    rows = GroupedRows(scan(X), y, groups)
    moments = rows.moments()
    white = whitened(rows, moments, "svd", None, constant_within(rows, moments))
    shares = np.bincount(y) / len(y) if priors is None else priors
    return between(moments, white, shares)


def test_eigenvalues_and_their_intervals():
    X, y = classes(100, 4, 3, 1)
    found = found_of(X, y)
    spectrum = canonical(found, 1e-6)
    w, b = 0, 0
    for g in range(3):
        rows = X[y == g]
        w = w + np.cov(rows.T) * (len(rows) - 1) / 97
        apart = rows.mean(axis=0) - X.mean(axis=0)
        b = b + len(rows) / 2 * np.outer(apart, apart)
    wanted = np.sort(np.linalg.eigvals(np.linalg.solve(w, b)).real)[::-1][:2]
    np.testing.assert_allclose(spectrum.values, wanted, rtol=1e-10)
    certificate = spectrum.certificate
    assert np.all(certificate.lower < spectrum.values)
    assert np.all(spectrum.values < certificate.upper)
    assert certificate.reached < 1e-10


def test_tests_do_not_depend_on_priors():
    X, y = classes(60, 3, 3, 2)
    one, other = found_of(X, y), found_of(X, y, np.array([0.7, 0.2, 0.1]))
    np.testing.assert_allclose(wilks_of(one).f, wilks_of(other).f, rtol=1e-12)
    assert not np.allclose(canonical(one, 1e-6).values, canonical(other, 1e-6).values)


def test_structure_of_a_zero_axis_is_zero():
    X, y = classes(60, 3, 3, 3)
    found = found_of(X, y)
    total, within = structure_of(found, np.zeros((3, 1)), np.zeros((3, 1)))
    assert not total.any()
    assert not within.any()


class Given(TellsClasses, BaseEstimator):
    """Decisions that are known."""

    def __init__(self, delta):
        self.delta = delta

    def fit(self):
        self.classes_ = np.array(list("abc"))[: self.delta.shape[1]]
        return self

    def _decisions(self, X):
        return self.delta[X]


def test_probabilities_of_decisions_far_apart():
    delta = np.array([[0.0, 1000.0, -1000.0], [5.0, 5.0, -np.inf]])
    model = Given(delta).fit()
    rows = np.array([0, 1])
    np.testing.assert_allclose(model.predict_proba(rows), [[0, 1, 0], [0.5, 0.5, 0]])
    assert model.predict_log_proba(rows)[0, 0] == -1000  # not the log of zero
    assert model.predict(rows).tolist() == ["b", "a"]
    assert model.decision_function(rows).shape == (2, 3)


def test_two_classes_have_one_decision():
    model = Given(np.array([[1.0, 3.0], [2.0, 0.0]])).fit()
    assert model.decision_function(np.array([0, 1])).tolist() == [2.0, -2.0]


@pytest.mark.parametrize(
    "name", ["predict", "predict_proba", "predict_log_proba", "decision_function"]
)
def test_an_unfitted_model_says_so(name):
    with pytest.raises(NotFittedError):
        getattr(LinearDiscriminantAnalysis(), name)(np.eye(3))


def pooled(X, y, shares=(1, 1, 1)):
    w = sum(
        s * np.cov(X[y == g].T) * (np.sum(y == g) - 1)
        for g, s in zip(range(3), shares, strict=True)
    )
    return w / (len(y) - 3)


def white_of(X, y, path, target=None):
    rows = GroupedRows(scan(X), y, 3)
    moments = rows.moments(whole=path == "gram")
    return whitened(rows, moments, path, target, constant_within(rows, moments))


@pytest.mark.parametrize("path", ["gram", "svd"])
@pytest.mark.parametrize("shape", [(90, 5), (20, 18)], ids=str)
def test_the_covariance_becomes_the_identity(path, shape):
    X, y = classes(*shape, 3, 1)
    if path == "gram" and shape[1] > 17:
        return
    found, w = white_of(X, y, path), pooled(X, y)
    r = min(shape[1], shape[0] - 3)
    assert (found.rank, found.possible) == (r, r)
    np.testing.assert_allclose(found.basis.T @ w @ found.basis, np.eye(r), rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        found.image, w @ found.basis, rtol=0, atol=1e-8 * np.abs(w).max()
    )
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


@pytest.mark.parametrize("path", ["gram", "svd"])
@pytest.mark.parametrize("p", [4, 60])
def test_shrunk_covariances(path, p):
    X, y = classes(30, p, 3, 2)
    if path == "gram" and p > 30:
        return
    diagonal = np.linspace(0.5, 2, p)
    target = Target(np.full(3, 0.3), diagonal)
    found = white_of(X, y, path, target)
    w = pooled(X, y, (0.3, 0.3, 0.3)) + np.diag(diagonal)
    np.testing.assert_allclose(
        found.basis.T @ w @ found.basis, np.eye(found.rank), rtol=0, atol=1e-10
    )
    apart = np.stack([X[y == g].mean(axis=0) for g in range(3)]) - X.mean(axis=0)
    exact = apart @ np.linalg.solve(w, apart.T)
    np.testing.assert_allclose(
        (apart @ found.basis) @ (apart @ found.basis).T, exact, rtol=1e-8
    )
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


def test_classes_may_count_differently():
    X, y = classes(60, 3, 3, 4)
    shares = np.array([1.0, 0.0, 0.5])
    found = white_of(X, y, "svd", Target(shares, np.ones(3)))
    w = pooled(X, y, shares) + np.eye(3)
    np.testing.assert_allclose(found.basis.T @ w @ found.basis, np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.variances, np.diagonal(w), rtol=1e-10)


def test_the_error_bound_holds():
    """(1 - η)W ≤ exact W ≤ (1 + η)W, the exact one summed in extended precision."""
    X, y = classes(200, 4, 3, 5)
    X = X + np.array([1e7, 0, 0, 0])
    wide = X.astype(np.longdouble)
    w = np.zeros((4, 4), np.longdouble)
    for g in range(3):
        rows = wide[y == g] - wide[y == g][0]
        gone = rows - rows.mean(axis=0)
        w += gone.T @ gone
    w = (w / 197).astype(float)
    for path in ("gram", "svd"):
        found = white_of(X, y, path)
        off = np.abs(np.linalg.eigvalsh(found.basis.T @ w @ found.basis) - 1).max()
        assert off <= found.error + 1e-14
        assert found.error < 1e-10


@pytest.mark.parametrize("shape", [(50, 6), (8, 30), (1, 3), (20, 1)], ids=str)
def test_the_amount_of_scikit_learn(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1)
    X = X - X.mean(axis=0)
    amount, level = ledoit_wolf(X, np.ones(shape[0]))
    theirs = ledoit_wolf_shrinkage(X, assume_centered=True) if shape[0] > 1 else 0.0
    assert amount == pytest.approx(theirs, abs=1e-12)
    assert level == pytest.approx(np.sum(X**2) / X.size)


def test_counts_are_repeats():
    rng = np.random.default_rng(1)
    X, counts = rng.normal(size=(20, 4)), rng.integers(1, 4, 20)
    one = ledoit_wolf(X, counts.astype(float))
    other = ledoit_wolf(np.repeat(X, counts, axis=0), np.ones(counts.sum()))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_targets():
    X, y = classes(40, 3, 2, 1)
    rows = GroupedRows(scan(X), y, 2)
    found = rows.moments()
    assert target_of(None, rows, found) is None
    assert target_of(0.0, rows, found) is None
    half = target_of(0.5, rows, found)
    np.testing.assert_allclose(half.diagonal, 0.5 * np.trace(found.scatter) / 38 / 3)
    assert half.shares.tolist() == [0.5, 0.5]
    auto = target_of("auto", rows, found)
    assert np.all((auto.shares >= 0) & (auto.shares <= 1))


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a"],
        np.array(["b", "a", "b", "a"], dtype=object),
        pd.Series(["b", "a", "b", "a"], dtype="category"),
        pl.Series(["b", "a", "b", "a"]),
        [True, False, True, False],
        np.array([2.0, 1.0, 2.0, 1.0]),
        pd.Series([7, 3, 7, 3], dtype="Int64"),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_of_any_kind(y):
    found = labels_of(y, 4, None, "LDA")
    assert len(found.classes) == 2
    assert found.codes.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, 2.0, 1.0],
        ["a", None, "b", "a"],
        np.array(["a", np.nan, "b", "a"], dtype=object),
        pd.Series(["a", pd.NA, "b", "a"]),
        pd.Series([1, pd.NA, 2, 1], dtype="Int64"),
        pl.Series(["a", None, "b", "a"]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_a_row_without_a_label_is_named(y):
    with pytest.raises(InputError, match="row 1"):
        labels_of(y, 4, None, "LDA")


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y"),
        ([0.1, 0.5, 0.2, 0.9], "Unknown label type"),
        ([1.0, np.inf, 2.0, 1.0], "infinity"),
        (["a", "a", "a", "a"], "two classes"),
        (["a", "b", "a"], "one label per row"),
        (["a", "b", "c", "d"], "more rows than classes"),
        (np.zeros((4, 2)), "1d array|multilabel|shape"),
        (np.array(["a", 1, "a", 1], dtype=object), "different kinds|Unknown label|mixed"),
    ],
)
def test_what_is_no_label(y, words):
    with pytest.raises(InputError, match=words):
        labels_of(y, 4, None, "LDA")


def test_one_class_is_named():
    with pytest.raises(InputError, match="'only'"):
        labels_of(["only"] * 5, 5, None, "LDA")


def test_classes_without_weight_are_left_out_by_name():
    weights = np.array([1.0, 1, 0, 2, 1])
    with pytest.warns(DataWarning, match="'gone'"):
        found = labels_of(["a", "b", "gone", "a", "b"], 5, weights, "LDA")
    assert found.classes.tolist() == ["a", "b"]
    assert found.codes[[0, 1, 3, 4]].tolist() == [0, 1, 0, 1]
    with (
        pytest.warns(DataWarning),
        pytest.raises(InputError, match="two classes"),
    ):
        labels_of(["a", "b", "b", "a", "a"], 5, np.array([1.0, 0, 0, 2, 1]), "LDA")


def test_priors():
    classes = np.array(["a", "b"])
    assert priors_of(None, np.array([1.0, 3.0]), classes).tolist() == [0.25, 0.75]
    assert priors_of([0.4, 0.6], np.ones(2), classes).tolist() == [0.4, 0.6]
    for bad in ([1.0], [0.5, -0.5], [np.nan, 1], [0, 0], "ab"):
        with pytest.raises(InputError, match="one probability per class"):
            priors_of(bad, np.ones(2), classes)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (pd.cut([1.0, 2.0, 9.0], 2), r"Interval '\(0.992, 5.0\]' at row 0"),
        (
            pd.Series(pd.PeriodIndex(["2020", "2021", "2020"], freq="Y")),
            "Period '2020' at row 0",
        ),
        (np.array(["a", ("b",), "a"], dtype=object), "tuple"),
    ],
)
def test_labels_that_are_neither_text_nor_numbers_are_named(labels, words):
    with pytest.raises(InputError, match=words) as error:
        labels_of(labels, 3, None, "LDA")
    assert "str" in error.value.fix


def test_one_class_is_shown_as_it_was_given():
    with pytest.raises(InputError, match="1 class only: 'a'"):
        labels_of(np.array(["a", "a", "a"]), 3, None, "LDA")
