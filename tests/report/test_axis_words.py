import numpy as np
import pytest

from mercer.report._page_words import axis_in_words

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
