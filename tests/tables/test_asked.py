"""What is not said is found."""

from mercer.tables import Asked


def test_defaults_say_nothing():
    asked = Asked()
    assert asked.columns is None
    assert (asked.drop, asked.color, asked.sup) == ((), (), ())
    assert (asked.missing, asked.standardize) == ("auto", "auto")
    assert (asked.dates, asked.categorical) == ("ignore", "ignore")
    assert asked.reading == {}
    assert asked == Asked()
