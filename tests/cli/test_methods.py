"""Methods and options by name, and names that are nearly right."""

import json

import click
import pytest
from click.testing import CliRunner

from mercer.cli._usage import from_click, nearest, no_command
from mercer.cli._voice import as_begun, as_typed, given_as_typed, harmless, one_line
from mercer.cli.app import commands
from mercer.methods import COMMANDS, families


def run(*words):
    return CliRunner().invoke(commands, ["methods", *words])


def test_the_list_names_every_method():
    lines = run().stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(named) == sorted(COMMANDS)
    assert [line[:-1] for line in lines if line.endswith(":")] == list(families())
    document = json.loads(run("--json").stdout)
    assert [method["name"] for method in document["methods"]] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_parameters_are_shown_as_they_are_typed(name):
    done = run(name)
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    method = json.loads(run(name, "--json").stdout)["method"]
    names = {one["name"]: one for one in method["parameters"]}
    assert names["n_components"]["option"] == "-k"
    assert all(one["option"].startswith(("-", "--")) for one in names.values())
    assert set(names) == set(COMMANDS[name].load()().get_params(deep=False))
    for one in names.values():
        head = one["option"].removesuffix("VALUE")
        assert f"\n{head}" in done.stdout


def test_defaults_are_those_of_the_command_line():
    lines = run("pca").stdout.splitlines()
    for line in ("-k auto", "--standardize auto", "--missing auto", "--tol", "--seed 0"):
        assert line in lines
    assert "-k" in run("robust-pca").stdout.splitlines()


def test_an_unknown_method_is_wrong_usage():
    done = run("pac")
    assert done.exit_code == 2
    assert "did you mean pca?" in done.stderr


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("plna", ["plan", "look"], "plan"),
        ("trans", ["plan", "transform"], "transform"),
        ("--colour", ["--columns", "--color"], "--color"),
        ("--json", ["--version", "--help"], None),
        ("", ["plan"], None),
        ("--", ["--help"], None),
        ("PCA", ["pca"], "pca"),
    ],
)
def test_the_nearest_word(word, known, found):
    assert nearest(word, known) == found


def test_an_unknown_command_names_all_where_none_is_near():
    assert no_command("zzz", ["plan", "fit"]).fix == "take one of plan, fit"


@click.command("mercer")
@click.argument("data")
@click.option("--many", type=int)
@click.option("-m", "--mode", type=click.Choice(["rows", "columns"]))
def command(data, **_):
    if data == "bad":
        raise click.UsageError("Both would write to stdout.")
    if data == "file":
        raise click.FileError("x", "no")


def test_a_long_command_line_is_cut():
    error = from_click(click.UsageError("No."), ["x" * 500])
    assert len(error.got) < 120


def test_an_error_without_a_context_points_to_the_command():
    assert from_click(click.UsageError("No."), ["fit", "x.csv"]).fix == "see mercer fit --help"


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
