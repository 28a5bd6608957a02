"""Numbers, lists and axes in words."""

import dataclasses

import numpy as np
import pytest

from mercer.report import _page_parts as _parts
from mercer.report._page_parts import Code, MapView, Page, Section, Table
from mercer.report._page_words import (
    axes_named,
    axis_in_words,
    count,
    listed,
    number,
    percent,
    short,
)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.5, "50.0 %"),
        (1.0, "100.0 %"),
        (0.99999, "over 99.9 %"),
        (1e-5, "0.001 %"),
        (0, "0 %"),
    ],
)
def test_shares(share, words):
    assert percent(share) == words


def test_lists_and_counts():
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdef"), most=3) == "a, b, c and 3 more"
    assert [count(i, "row") for i in (0, 1, 2)] == ["no rows", "1 row", "2 rows"]
    assert number(1234567.0) == "1.235e+06"


def test_no_list_ends_in_one_more():
    assert listed(list("abcd"), most=3) == "a, b, c and d"
    assert listed(list("abcde"), most=3) == "a, b, c and 2 more"


def test_axes_and_kernels_are_named_shortly():
    assert [axes_named(2, last) for last in (2, 3, 5)] == ["PC2", "PC2 and PC3", "PC2 to PC5"]
    assert short("rbf(lengthscale=34.33656942677879)") == "rbf(lengthscale=34.34)"
    assert short("poly(degree=3, coef=1.5)") == "poly(degree=3, coef=1.5)"


NAMES = tuple("abcdefgh")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.1, 0, 0, 0, 0, 0, 0], "is mostly a"),
        ([0, 0, -1.0, 0.1, 0, 0, 0, 0], "is mostly c"),
        ([0.7, 0.7, 0, 0, 0, 0, 0, 0], "grows with a and b"),
        ([-0.7, -0.6, 0, 0, 0, 0, 0, 0], "falls with a and b"),
        ([0.7, -0.6, 0.1, 0, 0, 0, 0, 0], "sets a against b"),
        ([0.3, -0.7, 0.6, 0, 0, 0, 0, 0], "sets c against b"),
        ([0.4] * 6 + [0.1, 0.1], "grows with most columns: a, b, c, d and 2 more"),
    ],
)
def test_an_axis_in_words(weights, words):
    assert axis_in_words(np.array(weights), NAMES) == words


def test_one_column_that_is_less_than_half_is_only_the_heaviest():
    weights = np.array([0.6, *([0.29] * 7)])
    assert axis_in_words(weights, NAMES) == "weighs a most"


def test_columns_in_order_are_named_by_runs():
    weights = np.array([0.5, 0.5, 0.5, 0.0, 0.0, -0.5, -0.5, 0.0])
    assert axis_in_words(weights, NAMES, in_order=True) == "sets a to c against f to g"


def test_the_sign_of_an_axis_exchanges_the_sides():
    weights = np.array([0.5, -0.4, 0.3, -0.5, 0.1, 0.0, 0.4, 0.2])
    there = axis_in_words(weights, NAMES).removeprefix("sets ").split(" against ")
    back = axis_in_words(-weights, NAMES).removeprefix("sets ").split(" against ")
    assert there == back[::-1]


# Parts are plain values: nothing can be changed, numbers are told from text.
def test_numbers_are_told_from_text():
    table = Table("t", ("a", "b", "c", "d"), (("x", 1, None, "1.0"), ("y", None, 2.5, "2")))
    assert table.numeric == (False, True, True, False)
    assert Table("empty", ("a", "b"), ()).numeric == (False, False)


def test_no_part_can_be_changed():
    kinds = [k for k in vars(_parts).values() if dataclasses.is_dataclass(k)]
    assert len(kinds) > 8
    for kind in kinds:
        if kind.__module__ == _parts.__name__:
            assert kind.__dataclass_params__.frozen
    part = Code("a", "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.text = "c"


def test_what_is_left_out_is_empty():
    assert Section("k", "t").parts == ()
    assert Page("t", (), (), ()).cloud is None
    assert MapView("k", (0, 1)).words == ""
