import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators.groups._class_labels import labels_of, priors_of


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
