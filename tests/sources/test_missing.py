"""Missing cells counted, in memory, sparse and in files."""

import numpy as np
import pytest
import scipy.sparse

from mercer.sources import (
    ArrayBlocks,
    MissingCellError,
    bad_cell_error,
    counted_error,
    has_missing,
    in_memory,
    missing_counts,
    scan,
)


def gaps():
    X = np.arange(5000 * 3.0).reshape(5000, 3)
    X[[1, 4500], 0], X[4999, 2] = np.nan, np.nan
    return X


@pytest.mark.parametrize(
    "source",
    [
        in_memory(gaps()),
        in_memory(scipy.sparse.csr_array(gaps())),
        ArrayBlocks(in_memory(gaps())),
        ArrayBlocks(in_memory(scipy.sparse.csr_array(gaps()))),
        in_memory(gaps().astype(np.float32)),
    ],
    ids=["dense", "sparse", "blocks", "sparse blocks", "float32"],
)
def test_counts(source):
    rows, counts = missing_counts(source)
    assert rows == 5000
    assert counts.tolist() == [2, 0, 1]
    assert has_missing(source)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_infinity_and_nothing_are_not_missing(form):
    whole = np.zeros((9, 2))
    assert not has_missing(in_memory(form(whole)))
    whole[3, 1] = -np.inf
    assert not has_missing(in_memory(form(whole)))


def test_integers_have_none():
    assert not has_missing(in_memory(np.ones((4, 2), int)))
    assert missing_counts(in_memory(np.ones((4, 2), int)))[1].tolist() == [0, 0]
    whole = scipy.sparse.csr_array(np.ones((4, 2), int))
    assert missing_counts(in_memory(whole))[1].tolist() == [0, 0]


def test_the_message_counts_and_names():
    error = counted_error(in_memory(gaps()), "row 1, column 0", ["a", "b", "c"], "drop them")
    assert str(error) == (
        "X contains NaN; 3 of 15,000 cells are missing, in 2 of 3 columns\n"
        "  got: 'a' 2, 'c' 1; the first is NaN at row 1, column 0\n"
        "  fix: drop them"
    )
    assert isinstance(error, MissingCellError)
    assert error.counted
    assert error.place == "row 1, column 0"


def test_the_columns_with_most_are_named():
    X = np.where(np.arange(60).reshape(6, 10) % 7 == 0, np.nan, 1.0)
    X[:, 8] = np.nan
    text = str(counted_error(in_memory(X), "here", None, "fix"))
    assert "column 8 6" in text
    assert "and 4 more columns" in text


def test_rows_that_are_gone_are_not_counted():
    source = scan(iter([gaps()]))
    list(source.blocks(100))
    assert counted_error(source, "here", None, "fix") is None


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_no_missing_cell(value):
    assert not isinstance(bad_cell_error("here", value), MissingCellError)
    assert not bad_cell_error("here", np.nan).counted
