import click
import pytest

from mercer.cli._usage import from_click, nearest, no_command


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
