from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer.cli._built import built
from mercer.cli._family_page import family_page, model_page
from mercer.cli._fitted import fitted, ready
from mercer.cli._voice import Voice
from mercer.cli.app import commands
from mercer.tables import Asked

DATA = Path(__file__).parents[1] / "data"


def run(*words):
    return CliRunner().invoke(commands, [str(word) for word in words])


LINES = {
    "ca": ("hair_eye_592.csv", {}),
    "mca": ("poison.csv", {}),
    "lda": ("iris.csv", {"target": "Species"}),
    "lle": ("decathlon.csv", {"drop": ("Rank", "Points")}),
}


def done_of(method, **more):
    name, asked = LINES[method]
    model = built(method, **more)
    have = ready(Voice(quiet=True), str(DATA / name), Asked(**asked), method, model)
    return fitted(Voice(quiet=True), have)


@pytest.mark.parametrize("method", LINES)
def test_a_plain_page_has_words_a_map_axes_columns_and_data(method):
    done = done_of(method)
    page = family_page(done, "A title", "mercer again")
    text = page.html
    assert page.page.verdict
    for part in ("A title", "Map of the rows", "What was assumed", "How it was computed"):
        assert part in text
    assert ("Coordinates of the columns" in text) == (method != "lle")
    alone = model_page(done.model, "Alone")
    assert "Map of the rows" not in alone.html
    assert any("Certified" in line for line in alone.page.verdict)


def test_a_plain_page_without_an_axis_has_no_map(tmp_path):
    lines = ["r,a,b,c", "x,5,4,6", "y,4,5,5", "z,6,5,5"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = built("ca", components="auto")
    have = ready(Voice(quiet=True), str(tmp_path / "t.csv"), Asked(), "ca", model)
    page = family_page(fitted(Voice(quiet=True), have), "None")
    assert "Map of the rows" not in page.html
    assert "No component beyond noise" in page.page.verdict[0]


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
