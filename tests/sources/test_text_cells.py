"""Cells of text are numbers, missing, truth values or text, by one rule."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.sources.text._text_cells import (
    Kind,
    has_decimal_comma,
    is_number,
    kind_of_column,
    not_a_number,
    read_cells,
    to_floats,
    to_floats_with_care,
)

NA = frozenset(["", "NA", "NaN", "nan", "null"])
NUMBERS = ["0", "-1", "+3", "1.", ".5", "1e5", "1E-5", "-1.5e+300", "inf", "-Infinity", "NAN"]
WORDS = ["x", "1_0", "0x1", "1,5", "--1", "1e", "e5", ".", "-", "1 2", "١", "infin", "1d5"]


@pytest.mark.parametrize("cell", NUMBERS + WORDS)
def test_the_three_readers_agree(cell):
    """The rule of the head, the fast reader and the careful one."""
    expected = cell in NUMBERS
    assert is_number(cell) == expected
    text = f'7\n"{cell}"\n'.encode() if "," in cell else f"7\n{cell}\n".encode()
    fast = to_floats(text, 1, ",", NA)
    assert (fast is not None) == expected
    values, wrong = to_floats_with_care(read_cells(text, ","), [False], NA)
    assert wrong.tolist() == [[False], [not expected]]
    if expected:
        np.testing.assert_array_equal(fast, [[7], [float(cell)]])
        np.testing.assert_array_equal(values, fast)


@given(st.text(st.sampled_from("0123456789+-.eEinfaNy_ "), min_size=1, max_size=8))
def test_the_three_readers_agree_on_noise(cell):
    cell = cell.strip()
    if cell in NA:
        return
    text = f"7\n{cell}\n".encode()
    assert is_number(cell) == (to_floats(text, 1, ",", NA) is not None)
    assert is_number(cell) != to_floats_with_care(pl.Series([cell]), [False], NA)[1].item()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_float_comes_back(numbers):
    text = "".join(f"{x!r}\n" for x in numbers).encode()
    assert to_floats(text, 1, ",", NA)[:, 0].tolist() == numbers
    cells = pl.Series([f" {x!r} " for x in numbers])
    assert to_floats_with_care(cells, [False], NA)[0][:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "NA", "2.5"], Kind()),
        (["", "NA"], Kind()),
        (["true", "", "FALSE"], Kind(flags=True)),
        (["true", "1"], Kind(other="text")),
        (["1,5", "2", "-3,25"], Kind(other="text with decimal commas")),
        (["2024-01-01", "2024-01-02T10:00"], Kind(other="dates")),
        (["1.2.2024", "3/4/99"], Kind(other="dates")),
        (["a", "NA"], Kind(other="text")),
        (["1"] * 99 + ["?"], Kind(other="text such as '?'")),
    ],
)
def test_kinds_of_columns(cells, kind):
    assert kind_of_column(cells, NA) == kind


def test_columns_of_truth_values_and_numbers():
    cells = pl.Series(["true", "1", " False ", "2", "NA", "NA", "1", "true"])
    values, wrong = to_floats_with_care(cells, [True, False], NA)
    np.testing.assert_array_equal(values[:3], [[1, 1], [0, 2], [np.nan, np.nan]])
    assert wrong.tolist() == [[False, False]] * 3 + [[True, True]]


def test_empty_cells_are_missing_only_where_that_is_said():
    assert np.isnan(to_floats(b"1\n\n", 2, ",", NA)[0, 1])
    assert to_floats(b"1\n\n", 2, ",", frozenset(["NA"])) is None
    cells = read_cells(b'1\n\n""\n', ",")
    assert to_floats_with_care(cells, [False], frozenset())[1].tolist() == [
        [False],
        [True],
        [True],
    ]


def test_the_refusal_of_a_cell():
    error = not_a_number("x.csv, line 3, column 'b'", "1,5", "b")
    assert error.got == "x.csv, line 3, column 'b': '1,5'"
    assert "decimal comma" in error.fix
    assert has_decimal_comma("1,5")
    assert len(not_a_number("x", "y" * 500, "b").got) < 60
    assert "drop='b'" in not_a_number("x", "y", "b").fix
    assert "neither true nor false" in not_a_number("x", "y", "b", flags=True).what
