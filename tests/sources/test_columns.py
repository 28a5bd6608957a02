"""Columns are chosen by name or place; what is left out is said."""

import pytest

from mercer.errors import DataWarning, InputError
from mercer.sources._column_choice import choose_columns

NAMES = ["id", "height", "weight", "when"]
KINDS = ["text", None, None, "dates"]


def test_all_numbers_are_taken_and_the_rest_is_said():
    with pytest.warns(DataWarning, match=r"'id' \(text\), 'when' \(dates\)"):
        found = choose_columns(NAMES, KINDS, None, None, "t.csv")
    assert found.at == (1, 2)
    assert found.names == ("height", "weight")
    assert dict(found.dropped)["id"] == "holds text, not numbers"


def test_chosen_columns_keep_their_order_and_say_nothing():
    found = choose_columns(NAMES, KINDS, ["weight", 1], None, "t.csv")
    assert found.at == (2, 1)
    assert dict(found.dropped) == {"id": "not asked for", "when": "not asked for"}
    assert choose_columns(NAMES, KINDS, None, ["id", -1, "weight"], "t").names == ("height",)
    assert choose_columns(NAMES, KINDS, "height", None, "t").names == ("height",)


@pytest.mark.parametrize(
    ("columns", "drop", "words"),
    [
        (["hieght"], None, "did you mean 'height'"),
        ([7], None, "no column number 7"),
        ([1.5], None, "name or its position"),
        (["id"], None, "'id' holds text"),
        (["height"], ["height"], "no column of numbers"),
        ([], None, "no column of numbers"),
    ],
)
def test_refusals(columns, drop, words):
    with pytest.raises(InputError, match=words):
        choose_columns(NAMES, KINDS, columns, drop, "t.csv")


def test_twins_are_refused():
    with pytest.raises(InputError, match="more than one column is called 'a'"):
        choose_columns(["a", "a"], [None, None], None, None, "t.csv")
