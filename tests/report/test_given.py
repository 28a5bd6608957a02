"""Names and colours as people pass them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.report import MISSING
from mercer.report._row_labels import colours_of, row_names_of


@pytest.mark.parametrize(
    "given",
    [
        ["a", None, "", float("nan")],
        np.array(["a", None, "", np.nan], object),
        pd.Series(["a", None, "", None]),
        pd.Series(["a", None, "", None], dtype="string"),
        pl.Series(["a", None, "", None]),
    ],
    ids=["list", "array", "pandas", "pandas string", "polars"],
)
def test_labels_without_a_value_are_called_missing(given):
    found = colours_of({"g": given}, 4)["g"]
    assert found.tolist() == ["a", MISSING, "", MISSING]
    assert row_names_of(given, 4) == ["a", None, "", None]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 2, None], [1.0, 2.0, np.nan]),
        (pl.Series([1, 2, None]), [1.0, 2.0, np.nan]),
        (pd.Series([1, 2, None], dtype="Int64"), [1.0, 2.0, np.nan]),
        (np.array([1.5, np.nan, np.inf]), [1.5, np.nan, np.inf]),
        (np.array([1, 2, 3], np.uint8), [1, 2, 3]),
        ([10**30, 1, 2], [1e30, 1.0, 2.0]),
    ],
    ids=["list", "polars", "pandas", "float", "small", "large"],
)
def test_numbers_stay_numbers(given, expected):
    found = colours_of({"v": given}, 3)["v"]
    assert found.dtype.kind in "fiu"
    assert np.array_equal(found.astype(float), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([True, False, True], ["True", "False", "True"]),
        (np.array([True, False, True]), ["True", "False", "True"]),
        ([(1, 2), (3, 4), "x"], ["(1, 2)", "(3, 4)", "x"]),
        ([(1, 2), (3, 4), (5, 6)], ["(1, 2)", "(3, 4)", "(5, 6)"]),
        (np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[D]"),
         ["2020-01-01", MISSING, "2021-01-01"]),
        ([None, None, None], [MISSING] * 3),
        ([1, "a", None], ["1", "a", MISSING]),
    ],
    ids=["bool", "bools", "ragged", "pairs", "dates", "none", "mixed"],
)  # fmt: skip
def test_all_else_is_text(given, expected):
    assert colours_of({"g": given}, 3)["g"].tolist() == expected


def test_names_of_columns_are_text_and_not_empty():
    assert list(colours_of({"": ["a"], 3: ["b"]}, 1)) == ["(unnamed)", "3"]
    assert colours_of(None, 5) == {}
    assert row_names_of(None, 5) is None


@pytest.mark.parametrize("given", [["a"] * 4, np.zeros((5, 2)), [], pl.Series(["a"] * 6)])
def test_what_does_not_fit_the_rows_is_refused(given):
    for call in (lambda: colours_of({"size": given}, 5), lambda: row_names_of(given, 5)):
        with pytest.raises(InputError) as refused:
            call()
        what, got, fix = str(refused.value).splitlines()
        assert "for every row" in what
        assert str(len(given)) in got
        assert "order of the rows" in fix
