import pytest

from mercer.cli._voice import as_begun, as_typed, given_as_typed, harmless, one_line


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
        ("say which with key=", "say which with --key"),
        ("--set time=3", "--set time=3"),
        ('or components="largest"', "or --set components=largest"),
        ("take --set unseen=passive", "take --set unseen=passive"),
        ("take unseen='passive'.", "take --set unseen=passive."),
        ("lifetime=3, uptime=2", "lifetime=3, uptime=2"),
        ("nothing to do here", "nothing to do here"),
    ],
)  # fmt: skip
def test_advice_is_given_in_options(said, typed):
    assert as_typed(said) == typed


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("delimiter='ab'", "--delimiter ab"),
        ("key='X'; there are none", "--key X; there are none"),
        ("x.csv, line 3: 'key=3'", "x.csv, line 3: 'key=3'"),
    ],
)
def test_what_was_given_is_shown_as_typed_and_cells_as_they_are(said, typed):
    assert given_as_typed(said) == typed


@pytest.mark.parametrize(
    ("said", "begun"),
    [
        ("A model is read from a file.", "a model is read from a file"),
        ("There is no file", "there is no file"),
        ("X contains NaN", "X contains NaN"),
        ("RBF has no parameter", "RBF has no parameter"),
        ("Anything", "Anything"),
    ],
)
def test_a_sentence_goes_on_behind_a_colon(said, begun):
    assert as_begun(said) == begun


def test_only_line_ends_and_tabs_are_left_of_what_steers_a_terminal():
    assert harmless("a\tb\nc\x1b[31m\x07\r\x9b") == "a\tb\nc\\x1b[31m\\x07\\r\\x9b"
    assert harmless("größe 量 −1") == "größe 量 −1"
    assert harmless("\u202e\udc80") == "\\u202e\\udc80"


def test_one_line_is_one_line():
    assert one_line("a\r\nb\x0bc\u2028d") == "a b c d"
