"""Every family's page from the command line: a method is a command."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer.cli.app import commands

DATA = Path(__file__).parents[1] / "data"


def run(*words):
    return CliRunner().invoke(commands, [str(word) for word in words])


LINES = {
    "ca": ("hair_eye_592.csv", {}),
    "mca": ("poison.csv", {}),
    "lda": ("iris.csv", {"target": "Species"}),
    "lle": ("decathlon.csv", {"drop": ("Rank", "Points")}),
}


@pytest.mark.parametrize("method", LINES)
def test_a_method_is_a_command_and_the_same_as_its_report(method, tmp_path):
    name, asked = LINES[method]
    words = [f"--{option}" for option in asked] + [
        word if isinstance(word, str) else ",".join(word) for word in asked.values()
    ]
    done = run(method, DATA / name, *words, "-o", tmp_path / "p.html", "-q")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "p.html").stat().st_size > 10_000
    words = ("--method", method, *words, "-o", tmp_path / "q.html", "-q")
    again = run("report", DATA / name, *words)
    assert again.stdout.replace("q.html", "p.html") == done.stdout


def test_a_page_of_a_model_is_written(tmp_path):
    model = tmp_path / "m.mercer"
    run("fit", DATA / "hair_eye_592.csv", "--method", "ca", "-o", model)
    done = run("report", model, DATA / "hair_eye_592.csv", "-o", tmp_path / "p.html", "-q")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "p.html").exists()
