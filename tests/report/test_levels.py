import numpy as np
import pytest

import mercer
from mercer.report import Levels, report
from mercer.report._row_labels import SomeNames, levels_of
from mercer.report.facts._row_cloud import category_colour

RNG = np.random.default_rng(5)
TEXT = np.array(["b", "a", "c", "a", "b", "a"])
CODED = Levels(np.array([1, 0, 2, 0, 1, 0]), np.array(["a", "b", "c", "never"]))


def test_codes_say_what_the_texts_say():
    for mine, theirs in zip(levels_of(CODED), levels_of(TEXT), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_some_of_the_rows_have_only_their_own_levels():
    levels, at, counts = levels_of(CODED[np.array([1, 3, 2])])
    assert (levels.tolist(), at.tolist(), counts.tolist()) == (["a", "c"], [0, 0, 1], [2, 1])


def test_colours_of_codes_are_those_of_texts():
    one, other = category_colour("g", CODED), category_colour("g", TEXT)
    assert one.levels == other.levels
    assert one.at.tolist() == other.at.tolist()


def test_names_of_a_few_rows():
    names = SomeNames({3: "c"}, 10)
    assert (len(names), names[np.int64(3)], names[4]) == (10, "c", None)


@pytest.mark.parametrize("far", [0, 411])
def test_only_rows_that_stand_out_are_asked_for_their_names(far):
    X = RNG.normal(size=(500, 6))
    X[far] += 40
    asked = []

    def names(rows):
        asked.extend(rows.tolist())
        return {row: f"name {row}" for row in rows.tolist()}

    made = report(mercer.PCA(2).fit(X), X, row_names=names)
    assert far in asked
    assert len(asked) <= 21
    assert f"name {far}" in " ".join(made.page.verdict)
