"""Facts of columns: numbers by the walk, text and dates by the head."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from mercer.sources import Held
from mercer.tables.looking._column_facts import Facts, number_facts, other_facts
from mercer.tables.looking._column_numbers import Numbers

NA = frozenset(["", "NA"])


def facts_of(X, kinds=None, kept=()):
    X = np.asarray(X, float)
    numbers = Numbers(X.shape[1], kept, np.arange(X.shape[1]))
    numbers.add(X)
    names = [f"c{j}" for j in range(X.shape[1])]
    held = [Held(kind) for kind in kinds or ["number"] * X.shape[1]]
    return number_facts(names, held, numbers, X[:10])


def test_kinds_of_numbers():
    n = np.arange(12.0)
    columns = [n / 2, n * 3, n % 2, np.full(12, 7), np.full(12, np.nan), n, n + 1]
    columns[5] = np.where(n % 2 == 0, np.inf, np.nan)
    found = facts_of(np.column_stack(columns), kept=[1])
    kinds = ["number", "integer", "flag", "integer", "empty", "number", "integer"]
    assert [one.kind for one in found] == kinds
    assert found[0].distinct is None
    assert found[1].unique
    assert found[1].distinct == 12
    assert found[3].constant
    assert found[3].deviation == 0
    assert (found[4].missing, found[5].missing, found[5].infinite) == (12, 6, 6)
    assert found[6].counts
    assert not found[1].counts
    assert (found[0].low, found[0].high, found[0].mean) == (0, 5.5, 2.75)


def test_one_row_has_no_deviation():
    assert facts_of([[1.5]])[0].deviation is None


@pytest.mark.parametrize(
    ("cells", "kind", "words", "missing", "distinct", "unique"),
    [
        (["a", "b", "a"], "text", "", 0, 2, False),
        (["a", "b", "c"], "text", "", 0, 3, True),
        (["a", "", "NA", "b"], "text", "", 2, 2, False),
        (["DE", "NA", "FR"], "text", "", 1, 2, True),  # Namibia
        (["", "NA", ""], "empty", "", 3, None, False),
        (["2024-01-01", "2024-01-02", ""], "date", "iso", 1, 2, False),
        (["31.12.2024", "01.12.2024"], "date", "day", 0, 2, True),
        (["01/02/2024", "01/02/2024"], "date", "unclear", 0, 1, False),
        (["1,5", "2,25", "3"], "text", "with decimal commas", 0, 3, True),
        (["1,500", "22,250", "3"], "text", "with commas between thousands", 0, 3, True),
        (["1,234.5", "1,000,000"], "text", "with commas between thousands", 0, 2, True),
        (["1.5", "2", "2"], "text", "that spells numbers", 0, 2, False),
        (["$1,200", "$ 3.50", "12"], "text", "with signs", 0, 3, True),
        (["12 %", "3.5%", "-4%"], "text", "with signs", 0, 3, True),
        (["1", "2.5", "N/A", "N/A"], "text", "such as 'N/A'", 0, 3, False),
        (["1", "2.5", "low", "high"], "text", "", 0, 4, True),
        (["1", "none", "none", "none"], "text", "", 0, 2, False),
        (["-", "%"], "text", "", 0, 2, True),
        (["x" * 101, "y"], "text", "long", 0, 2, True),
    ],
)
def test_text_by_its_head(cells, kind, words, missing, distinct, unique):
    expected = Facts("c", kind, words, missing, distinct=distinct, unique=unique)
    assert other_facts(pl.Series("c", cells, pl.String), "text", "", NA) == expected


def test_typed_columns():
    days = pl.Series("d", [dt.date(2024, 1, 1), None, dt.date(2024, 1, 1)])
    assert other_facts(days, "date", "", NA) == Facts("d", "date", missing=1, distinct=1)
    nothing = pl.Series("n", [None, None], pl.String)
    assert other_facts(nothing, "text", "", NA) == Facts("n", "empty", missing=2)
