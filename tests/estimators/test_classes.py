"""Labels of classes in any form, and decisions between them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from mercer import LinearDiscriminantAnalysis
from mercer.errors import DataWarning, InputError
from mercer.estimators.groups._class_labels import TellsClasses

ROWS = np.array([[0.0], [5.0], [0.3], [5.1], [4.9]])


def fitted(y, weights=None, n=5):
    """Return the analysis of as many rows as there are labels, or of five."""
    count = len(y) if hasattr(y, "__len__") and len(y) > 2 else n
    return LinearDiscriminantAnalysis().fit(ROWS[:count], y, sample_weight=weights)


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
    found = fitted(y)
    assert len(found.classes_) == 2
    np.testing.assert_allclose(
        found.means_, [ROWS[[1, 3]].mean(axis=0), ROWS[[0, 2]].mean(axis=0)]
    )


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
        fitted(y)


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
        LinearDiscriminantAnalysis().fit(ROWS[:4], y)


def test_one_class_is_named():
    with pytest.raises(InputError, match="'only'"):
        fitted(["only"] * 5)


def test_classes_without_weight_are_left_out_by_name():
    weights = np.array([1.0, 1, 0, 2, 1])
    with pytest.warns(DataWarning, match="'gone'"):
        found = fitted(["a", "b", "gone", "a", "b"], weights)
    assert found.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(found.means_[1], ROWS[[1, 4]].mean(axis=0))
    with (
        pytest.warns(DataWarning),
        pytest.raises(InputError, match="two classes"),
    ):
        fitted(["a", "b", "b", "a", "a"], np.array([1.0, 0, 0, 2, 1]))


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
        fitted(labels)
    assert "str" in error.value.fix


def test_one_class_is_shown_as_it_was_given():
    with pytest.raises(InputError, match="1 class only: 'a'"):
        fitted(np.array(["a", "a", "a"]))
