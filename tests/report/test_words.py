import pytest

from mercer.report._page_words import axes_named, count, listed, number, percent, short


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
