"""What is done about missing cells: up to 5 % unasked, and always said."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.tables._table_gaps import gaps_of, left_out, numbered, refuse_missing, settled

NAMES = ("a", "b", "c", "d")


def table(*cells, rows=50, empty=()):
    X = np.arange(float(rows * 4)).reshape(rows, 4)
    for row, column in cells:
        X[row, column] = np.nan
    X[list(empty)] = np.nan
    return gaps_of(X)


FEW = table((1, 0), (1, 1), (7, 1))
MANY = table(*((row, row % 3) for row in range(0, 50, 2)))
EMPTY = table(empty=(3, 11))


@pytest.mark.parametrize("asked", ["auto", "rows", "columns", "error"])
def test_nothing_missing_nothing_said(asked):
    found = settled(asked, table(), NAMES, "t", True)
    assert (found.missing, found.out.size, found.without.size, found.said) == (
        "raise",
        0,
        0,
        (),
    )


def test_who_asks_for_em_gets_it_for_later_rows():
    assert settled("em", table(), NAMES, "t", True).missing == "em"
    assert settled("em", table(), NAMES, "t", False).missing == "raise"


def test_a_few_are_filled_and_said():
    found = settled("auto", FEW, NAMES, "t", True)
    assert (found.missing, found.out.size) == ("em", 0)
    assert found.said == (
        "3 of 200 cells are missing (1.5 %): filled by iterative PCA (--missing em)",
    )


def test_just_five_percent_is_a_few():
    ten = table(*((row, 2) for row in range(10)))
    assert settled("auto", ten, NAMES, "t", True).missing == "em"
    eleven = table(*((row, 2) for row in range(11)))
    with pytest.raises(InputError, match="more than 5 %"):
        settled("auto", eleven, NAMES, "t", True)


def test_many_are_refused_with_the_worst_columns():
    with pytest.raises(InputError) as caught:
        settled("auto", MANY, NAMES, "t.csv", True)
    assert caught.value.got == (
        "t.csv: 25 of 200 cells are missing (12.5 %), most in 'a' 9, 'b' 8, 'c' 8"
    )
    assert caught.value.fix == (
        "--missing em to fill them anyway, rows or columns to leave them out"
    )
    assert settled("em", MANY, NAMES, "t", True).missing == "em"
    assert settled("ppca", MANY, NAMES, "t", True).missing == "ppca"


def test_rows_are_left_out_and_said_by_number():
    found = settled("rows", FEW, NAMES, "t", False)
    assert (found.missing, found.out.tolist()) == ("raise", [1, 7])
    assert found.said[0].endswith("(--missing rows): rows 2, 8 (counted from 1)")


def test_columns_are_left_out_and_said_by_name():
    found = settled("columns", FEW, NAMES, "t", False)
    assert (found.out.tolist(), found.without.tolist()) == ([], [0, 1])
    assert found.said == (
        "2 of 4 columns have missing cells and are left out (--missing columns): 'a', 'b'",
    )


@pytest.mark.parametrize("asked", ["auto", "em", "rows", "columns", "error"])
def test_empty_rows_are_always_left_out(asked):
    found = settled(asked, EMPTY, NAMES, "t", True)
    assert (found.out.tolist(), found.without.size) == ([3, 11], 0)
    assert found.said == (
        "2 of 50 rows hold nothing in the columns analysed and are left out:"
        " rows 4, 12 (counted from 1)",
    )


def test_error_refuses_one_cell():
    with pytest.raises(InputError, match="cells are missing"):
        settled("error", table((0, 0)), NAMES, "t", True)


@pytest.mark.parametrize("asked", ["auto", "em", "ppca"])
def test_a_method_that_cannot_fill(asked):
    with pytest.raises(InputError, match="does not fill") as caught:
        settled(asked, FEW, NAMES, "t", False)
    assert "--missing rows" in caught.value.fix


def test_a_method_that_fills_in_one_way():
    assert settled("auto", FEW, NAMES, "t", ("em",)).missing == "em"
    with pytest.raises(InputError, match="'ppca'") as caught:
        settled("ppca", FEW, NAMES, "t", ("em",))
    assert caught.value.fix.startswith("--missing em")


def test_something_must_be_left():
    everywhere = table(*((row, row % 4) for row in range(50)))
    for asked in ("rows", "columns"):
        with pytest.raises(InputError, match=f"too few {asked}"):
            settled(asked, everywhere, NAMES, "t", True)
    with pytest.raises(InputError, match="too few rows"):
        settled("auto", table(empty=range(49)), NAMES, "t", True)
    with pytest.raises(InputError, match="too few rows"):
        settled("auto", table(empty=range(50)), NAMES, "t", True)


def test_one_cell_and_tiny_shares_read_well():
    assert (
        settled("auto", table((0, 0)), NAMES, "t", True)
        .said[0]
        .startswith("1 of 200 cells is missing (0.5 %)")
    )
    assert (
        "(under 0.1 %)" in settled("auto", table((0, 0), rows=5000), NAMES, "t", True).said[0]
    )


def test_long_lists_are_cut():
    assert numbered(np.arange(1200)) == "rows 1, 2, 3, 4, 5 and 1,195 more (counted from 1)"
    assert numbered(np.array([1233])) == "row 1,234 (counted from 1)"


def test_new_rows():
    line = "3 of 200 cells are missing (1.5 %): filled by the model"
    assert left_out(FEW, "t", "em")[1] == [line]
    assert "count nowhere" in left_out(FEW, "t", "passive")[1][0]
    out, said = left_out(FEW, "t", "rows")
    assert np.array_equal(out, FEW.partial)
    assert "(--missing rows)" in said[0]
    with pytest.raises(InputError, match="no row has a cell"):
        left_out(table(empty=range(50)), "t", "em")
    assert "the model fills none" in str(refuse_missing(FEW, NAMES, "t", ""))
