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


@pytest.mark.parametrize(
    ("words", "what", "fix"),
    [
        (["x", "--may", "3"], "there is no option --may", "did you mean --many?"),
        (["x", "--zzz"], "there is no option --zzz", "see mercer --help"),
        (["x", "--many", "a"], "--many: 'a' is not a valid integer", "see mercer --help"),
        (["x", "--many"], "option '--many' requires an argument", "see mercer"),
        (["x", "-m", "row"], "--mode is one of rows, columns", "did you mean rows?"),
        (["x", "y"], "got unexpected extra argument (y)", "see mercer --help"),
        ([], "DATA is missing", "write mercer [OPTIONS] DATA"),
        (["bad"], "both would write to stdout", "see mercer --help"),
        (["file"], "could not open file 'x': no", "see mercer"),
    ],
)
def test_errors_of_click_say_what_and_what_to_do(words, what, fix):
    with pytest.raises(click.ClickException) as raised:
        command.main(words, prog_name="mercer", standalone_mode=False)
    error = from_click(raised.value, words)
    assert error.what == what
    assert error.got == " ".join(["mercer", *words])
    assert error.fix.startswith(fix)


def test_a_long_command_line_is_cut():
    error = from_click(click.UsageError("No."), ["x" * 500])
    assert len(error.got) < 120


def test_an_error_without_a_context_points_to_the_command():
    assert from_click(click.UsageError("No."), ["fit", "x.csv"]).fix == "see mercer fit --help"
