from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer.cli.app import commands

DATA = Path(__file__).parents[1] / "data"


def run(*words):
    return CliRunner().invoke(commands, [str(word) for word in words])


LINES = {
    "ca": ("hair_eye_592.csv", ()),
    "mca": ("poison.csv", ()),
    "lda": ("iris.csv", ("--target", "Species")),
    "lle": ("decathlon.csv", ("--drop", "Rank,Points")),
}


@pytest.mark.parametrize("method", LINES)
def test_a_method_is_a_command_and_writes_a_page(method, tmp_path):
    name, words = LINES[method]
    done = run(method, DATA / name, *words, "-o", tmp_path / "p.html", "-q")
    assert done.exit_code == 0, done.stderr
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    for part in ("Map of the rows", "Axes", "What was assumed", "How it was computed"):
        assert part in text
    assert ("Coordinates of the columns" in text) == (method != "lle")
    assert str(tmp_path / "p.html") in done.stdout
    again = run(
        "report", DATA / name, "--method", method, *words, "-o", tmp_path / "q.html", "-q"
    )
    assert again.stdout.replace("q.html", "p.html") == done.stdout


def test_a_map_has_two_axes_where_nobody_says_how_many(tmp_path):
    done = run("mca", DATA / "poison.csv", "-o", tmp_path / "p.html", "-q")
    assert "2 axes, the default" in done.stdout
    done = run("mca", DATA / "poison.csv", "-k", 1, "-o", tmp_path / "q.html", "-q")
    assert "1 axis, as asked" in done.stdout


def test_the_page_of_a_model(tmp_path):
    model = tmp_path / "m.mercer"
    run("fit", DATA / "hair_eye_592.csv", "--method", "ca", "-o", model)
    done = run("report", model, DATA / "hair_eye_592.csv", "-o", tmp_path / "p.html", "-q")
    assert done.exit_code == 0, done.stderr
    assert "Certified" in done.stdout
    assert "Coordinates of the columns" in (tmp_path / "p.html").read_text(encoding="utf-8")
