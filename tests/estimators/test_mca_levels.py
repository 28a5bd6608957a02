import numpy as np
import pandas as pd
import pytest

from mercer.errors import DataWarning, InputError
from mercer.estimators.categories._category_codes import coded
from mercer.estimators.categories._indicator_table import (
    active_of,
    warn_of_empty_rows,
    warn_of_levels,
)

X = [["a", "u", "s"], ["b", "u", "s"], ["a", "v", "s"], ["c", "w", "s"]]


def test_levels_that_count_and_their_shares():
    found = active_of(coded(X), None, ["x1=w"])
    assert found.labels == ["x0=a", "x0=b", "x0=c", "x1=u", "x1=v"]
    assert found.names == ["x0", "x1"]
    assert found.q == 2
    np.testing.assert_allclose(found.shares, [0.5, 0.25, 0.25, 0.5, 0.25])
    np.testing.assert_allclose(found.masses, found.shares / 2)
    assert found.owner.tolist() == [0, 0, 0, 1, 1]
    assert found.axes == 3  # x0 has two; x1 lacks a level and keeps both, but there are 4 rows
    np.testing.assert_allclose(found.masses_of_rows, 0.25)


def test_rows_without_weight_have_no_levels():
    found = active_of(coded(X), np.array([1.0, 1, 2, 0]), None)
    assert found.labels == ["x0=a", "x0=b", "x1=u", "x1=v"]
    np.testing.assert_allclose(found.shares, [0.75, 0.25, 0.5, 0.5])
    assert found.axes == 2


def test_a_level_that_is_whole_but_for_missing_cells_counts():
    found = active_of(
        coded([["a", "u"], [None, "v"], ["a", "u"]], missing="passive"), None, None
    )
    assert found.labels == ["x0=a", "x1=u", "x1=v"]
    assert found.axes == 2


def test_nothing_varies():
    with pytest.raises(InputError, match="no variable varies"):
        active_of(coded([["a"], ["a"]]), None, None)


def test_columns_that_do_not_vary_are_named():
    with pytest.warns(DataWarning, match="x2"):
        warn_of_levels(active_of(coded(X), None, None))


def test_empty_rows_are_named():
    table = coded([["a", "b"], [None, None], ["c", "b"]], missing="passive")
    with pytest.warns(DataWarning, match="row 1"):
        warn_of_empty_rows(table, "is odd")


def test_a_level_with_the_name_of_another_is_not_excluded_by_guess():
    frame = pd.DataFrame({"a": ["b=c", "d", "d"], "a=b": ["c", "e", "c"]})
    with pytest.raises(InputError, match="2 levels are called so"):
        active_of(coded(frame), None, ["a=b=c"])
