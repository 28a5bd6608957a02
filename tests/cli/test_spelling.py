import pytest

from mercer.cli._spelling import as_typed, harmless, one_line


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ('allow memory="769 kB", or less', "allow --memory 769kB, or less"),
        ("say it: header=True or header=False", "say it: --header or --no-header"),
        ("pass encoding='latin-1', or", "pass --encoding latin-1, or"),
        ("pass key='a b'", "pass --key 'a b'"),
        ("enough `memory`, or standardize=True", "enough --memory, or --standardize yes"),
        ('missing="em" fills them', "--missing em fills them"),
        ("n_components=3.", "-k 3."),
        ("--set time=3", "--set time=3"),
        ("lifetime=3, uptime=2", "lifetime=3, uptime=2"),
        ("nothing to do here", "nothing to do here"),
    ],
)  # fmt: skip
def test_advice_is_given_in_options(said, typed):
    assert as_typed(said) == typed


def test_only_line_ends_and_tabs_are_left_of_what_steers_a_terminal():
    assert harmless("a\tb\nc\x1b[31m\x07\r\x9b") == "a\tb\nc\\x1b[31m\\x07\\r\\x9b"
    assert harmless("größe 量 −1") == "größe 量 −1"
    assert harmless("\u202e\udc80") == "\\u202e\\udc80"


def test_one_line_is_one_line():
    assert one_line("a\r\nb\x0bc\u2028d") == "a b c d"
