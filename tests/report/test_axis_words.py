"""Axes in words: signs, single columns, runs of neighbours."""

import numpy as np
import pytest

from mercer.report._axis_words import axis_in_words

NAMES = tuple("abcdefgh")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, 0.1, 0.0, 0, 0, 0, 0, 0], "is mostly a"),
        ([0.5, 0.24, 0.24, -0.24, 0.24, -0.24, 0.24, -0.24], "weighs a most"),
        ([0.7, -0.6, 0.1, 0, 0, 0, 0, 0], "sets a against b"),
        ([0.7, 0.6, 0.1, 0, 0, 0, 0, 0], "grows with a and b"),
        ([-0.7, -0.6, 0.1, 0, 0, 0, 0, 0], "falls with a and b"),
        ([1.0] * 8, "grows with most columns: a, b, c, d and 4 more"),
        ([1.0] * 5 + [0.0] * 3, "grows with most columns: a, b, c, d and e"),
    ],
)
def test_what_an_axis_weighs(weights, words):
    assert axis_in_words(np.array(weights), NAMES) == words


def test_neighbours_are_named_as_runs():
    weights = np.zeros(100)
    weights[10:30], weights[50], weights[60:62] = 1.0, 0.9, -1.0
    names = tuple(f"{400 + j} nm" for j in range(100))
    words = axis_in_words(weights, names, in_order=True)
    assert words == "sets 410 nm to 429 nm and 450 nm against 460 nm to 461 nm"
