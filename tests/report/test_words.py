import pytest

from mercer.report._words import count, listed, number, percent


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
