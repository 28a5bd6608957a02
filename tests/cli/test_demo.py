"""The demo, and the data that come with it."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.typed import command, ok

import mercer
from mercer.cli._datasets import DATASETS, FILES, GROUPS, load
from mercer.cli.app import COMMANDS, commands
from mercer.cli.commands.demo_command import run
from mercer.errors import InputError
from mercer.methods import COMMANDS as METHODS


@pytest.mark.parametrize("name", DATASETS)
def test_a_demo_prints_its_plan_findings_and_paths_and_writes_the_coordinates(
    name, tmp_path, capsys
):
    run(name, tmp_path / "new")
    out, err = capsys.readouterr()
    assert out.startswith(f"{name}: ")
    assert "-> " in out
    assert "certified ±" in out
    assert "90 % of the variance" in out
    assert "PC1 weighs most: " in out
    table, page = out.splitlines()[-2:]
    assert table == str(tmp_path / "new" / f"{name}.csv")
    assert page == str(tmp_path / "new" / f"{name}.html")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        f"{name}.csv",
        f"{name}.html",
    }
    assert err.startswith("fitted in ")
    data = load(name)
    with (tmp_path / "new" / f"{name}.csv").open(encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    Z = np.array([row[2:] for row in rows], dtype=float)
    model = mercer.PCA(standardize=data.standardize).fit(data.X)
    assert head[:4] == ["row", "label", "PC1", "PC2"]
    assert [row[1] for row in rows] == list(data.labels)
    expected = model.transform(data.X)[:, : Z.shape[1]]
    assert np.abs(Z - expected).max() < 1e-8 * np.abs(expected).max()
    # Two components at least, and no more than carry 90 % of the variance.
    share = np.cumsum(model.explained_variance_ratio_)
    assert share[Z.shape[1] - 1] >= 0.9
    assert Z.shape[1] == 2 or share[Z.shape[1] - 2] < 0.9
    if name == "digits":
        assert "Rank 61: 3 of 64 directions carry no variance" in out
        assert "pixel_0_0, pixel_4_0, pixel_4_7" in out


def test_the_pages_of_the_demo_name_groups_and_columns(tmp_path):
    run("iris", tmp_path)
    words = (tmp_path / "iris.html").read_text(encoding="utf-8")
    data = load("iris")
    assert all(name in words for name in [*data.features, "setosa", "versicolor", "virginica"])
    values = np.linalg.eigvalsh(np.cov(data.X.T))
    assert f"{100 * values[-1] / values.sum():.1f} %" in words
    done = ok(typed("penguins", "-o", tmp_path))
    assert "2 of 344 rows hold nothing" in done.stderr
    assert "standardised" in done.stderr
    assert done.stdout.startswith("penguins.csv: 4 columns of numbers: principal components")
    table = pl.read_csv(tmp_path / "penguins.csv")
    assert table.columns[:4] == ["row", "label", "PC1", "PC2"]
    assert len(table) == 342
    assert 4 not in table["row"]
    assert done.stdout.rstrip().endswith(str(tmp_path / "penguins.html"))
    words = (tmp_path / "penguins.html").read_text(encoding="utf-8")
    assert all(name in words for name in ("Adelie", "Chinstrap", "Gentoo", "body_mass_g"))


def test_the_folder_of_the_demo(tmp_path):
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="taken"):
        run("iris", tmp_path / "taken")
    (tmp_path / "iris.csv").write_text("mine", encoding="utf-8")
    done = typed("iris", "-o", tmp_path)
    assert done.exit_code == 3
    assert "--force" in done.stderr
    assert (tmp_path / "iris.csv").read_text(encoding="utf-8") == "mine"
    assert typed("iris", "-o", tmp_path, "--force").exit_code == 0


typed = command("demo")


def test_the_folder_of_the_demo_is_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [typed("iris").exit_code for _ in range(2)] == [0, 0]
    assert (tmp_path / "mercer-demo" / "iris.html").exists()
    assert typed("penguin").exit_code == 3
    assert "did you mean 'penguins'" in typed("penguin").stderr


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_whole(name):
    data = load(name)
    n, p = data.X.shape
    assert data.about.startswith(str(n))
    assert len(data.labels) == n
    assert len(data.features) == p
    assert np.isfinite(data.X).all()


def test_data_sets_say_their_groups_and_their_scales():
    for name in DATASETS:
        data = load(name)
        spread = data.X.std(axis=0)
        spread = spread[spread > 0]
        assert data.standardize == (spread.max() > 100 * np.median(spread))
    assert set(GROUPS) == {*DATASETS, *FILES}


# Every command of docs/command_line.md runs, in the order of the page.


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
LINES = [
    line[2:]
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    for path in (ROOT / "tests" / "data").glob("*.csv"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_page(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = shlex.split(line)
    assert words[0] == "mercer"
    done = ok(CliRunner().invoke(commands, words[1:]))
    assert done.stdout
    if "--json" in words:
        keys = set(re.findall(r"^\| (`.*`) \|", PAGE, re.MULTILINE))
        named = {key for cell in keys for key in re.findall(r"`(\w+)`", cell)}
        assert set(json.loads(done.stdout)) >= named & {"variance", "plan", "outputs", "health"}


def test_every_command_and_method_is_on_the_page():
    assert all(f"`mercer {name}" in PAGE for name in COMMANDS)
    lacking = [n for n in METHODS if f"`{n}`" not in PAGE and f"--method {n} " not in PAGE]
    assert lacking == []


def test_the_demo_is_the_report_and_the_first_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests" / "data" / "penguins.csv", tmp_path)
    run = CliRunner().invoke
    report = run(commands, ["report", "penguins.csv", "-q"]).stdout.split("\n\n")[0]
    demo = run(commands, ["demo", "penguins", "-q"]).stdout.split("\n\n")[0]
    assert demo == report
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    example = said.split("$ mercer report penguins.csv\n")[1].split("...\n")
    flat = " ".join(report.split())
    for part in (example[0].rstrip(), example[1].rstrip()):
        assert " ".join(part.split()) in flat
