"""What is not said is found."""

import pytest

from mercer.errors import InputError
from mercer.tables import Asked


def test_defaults_say_nothing():
    asked = Asked()
    assert asked.columns is None
    assert (asked.drop, asked.color, asked.sup) == ((), (), ())
    assert (asked.missing, asked.standardize) == ("auto", "auto")
    assert (asked.dates, asked.categorical) == ("ignore", "ignore")
    assert asked.reading == {}
    assert asked == Asked()


@pytest.mark.parametrize("name", ["missing", "standardize", "dates", "categorical"])
def test_words_that_an_option_does_not_have(name):
    with pytest.raises(InputError, match=f"--{name}") as caught:
        Asked(**{name: "maybe"})
    assert caught.value.got == f"{name}='maybe'"


def test_one_row_is_not_enough():
    with pytest.raises(InputError, match="two rows"):
        Asked(rows=1)


def test_tables_are_of_known_kinds_and_may_be_crossed():
    with pytest.raises(InputError, match="--table"):
        Asked(table="heaps")
    assert not Asked(count="n").crossed
    assert Asked(rows_by="a").crossed
