"""Columns made of dates and categories."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from mercer.errors import InputError
from mercer.sources import scan
from mercer.tables import Recipe
from mercer.tables._recipe import levels_of, made_names
from mercer.tables.preparing._made_columns import MadeColumns

TEXT = "x,when,what\n1,1970-01-02,b\n2,,a\n3,2000-01-01 12:00,NA\n4,1969-12-31,c\n"
RECIPE = Recipe(
    columns=("x", "when", "what"),
    names=("x", "when", "what=a", "what=b"),
    dates=("when",),
    orders={"when": "iso"},
    levels={"what": ("a", "b")},
)
EXPECTED = np.array([[1, 0, 1], [np.nan, 1, 0], [10957.5, 0, 0], [-1, 0, 0]])


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(TEXT)
    return file


def test_typed_columns_give_the_same_bits(tmp_path):
    when = [
        dt.datetime(1970, 1, 2),
        None,
        dt.datetime(2000, 1, 1, 12),
        dt.datetime(1969, 12, 31),
    ]
    for unit in ("ms", "us", "ns"):
        typed = tmp_path / f"{unit}.parquet"
        pl.DataFrame(
            {"when": pl.Series(when, dtype=pl.Datetime(unit)), "what": ["b", "a", None, "c"]}
        ).with_columns(pl.col("what").cast(pl.Categorical)).write_parquet(typed)
        found = np.concatenate(list(MadeColumns(typed, RECIPE, rows=4).blocks(4)))
        assert np.array_equal(found, EXPECTED, equal_nan=True)


def test_what_a_walk_met_is_counted_anew(path):
    source = MadeColumns(path, RECIPE)
    for _ in range(2):
        list(source.blocks(2))
        assert dict(source.unseen) == {"what": 1}
        assert list(source.examples["what"]) == ["c"]
        assert dict(source.absent) == {"what": 1}
    assert (source.shape, source.counted) == ((4, 3), True)


def test_a_cell_that_is_no_date_is_named_by_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TEXT.replace("1969-12-31", "soon"))
    with pytest.raises(InputError) as caught:
        list(MadeColumns(path, RECIPE, 4, scan(path, columns=["x"])).blocks(3))
    assert caught.value.got == "a.csv, line 5, column 'when': 'soon'"
    with pytest.raises(InputError, match="row 3, column 'when'"):
        list(MadeColumns(path, RECIPE, 4).blocks(3))


def test_what_is_no_date(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"when": [1, 2], "what": ["a", "b"]}).write_parquet(path)
    with pytest.raises(InputError, match="read as a date"):
        list(MadeColumns(path, RECIPE).blocks(3))
    path = tmp_path / "a.parquet"
    pl.DataFrame({"when": [None, None], "what": ["a", "b"]}).write_parquet(path)
    found = np.concatenate(list(MadeColumns(path, RECIPE).blocks(3)))
    assert np.isnan(found[:, 0]).all()
    recipe = Recipe(("when",), ("when",), dates=("when",), orders={"when": "month"})
    path = tmp_path / "a.csv"
    path.write_text("x,when\n1,12/31/1970\n2,1970-12-31\n")
    assert np.concatenate(list(MadeColumns(path, recipe).blocks(9))).tolist() == [[364], [364]]


def test_categories_are_sorted_counted_and_printed(path):
    assert levels_of(path, ["what"], {}, None) == ({"what": ("a", "b", "c")}, {"what": 1})
    assert levels_of(path, ["what"], {}, 2) == ({"what": ("a", "b")}, {"what": 0})
    other = Recipe.of({**RECIPE.plain(), "levels": {"what": ("a", "c")}})
    marks = {MadeColumns(path, recipe).fingerprint() for recipe in (RECIPE, other, RECIPE)}
    assert len(marks) == 2
    assert made_names((), {"a": ("x", "y"), "b": ()}) == ("a=x", "a=y")


def test_fifty_categories_are_enough(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,what\n" + "".join(f"{i},w{i % 50}\n" for i in range(200)))
    assert len(levels_of(path, ["what"], {}, None)[0]["what"]) == 50
    path.write_text("x,what\n" + "".join(f"{i},w{i % 51}\n" for i in range(200)))
    with pytest.raises(InputError, match="more than 50") as caught:
        levels_of(path, ["what"], {}, None)
    assert "'what' has 51" in caught.value.got
    assert levels_of(path, ["what"], {}, 50)[0]
