"""mercer report: a page from a table, or from a model and a table; refusals write nothing."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.cli.typed import command, ok

import mercer
from mercer.cli.app import commands

RNG = np.random.default_rng(0)


run = command("report")


@pytest.fixture
def table(tmp_path):
    X = RNG.normal(size=(60, 1)) @ np.ones((1, 4)) * 3 + RNG.normal(size=(60, 4))
    lines = ["group,a,b,c,d"]
    lines += [f"{'xy'[i % 2]},{','.join(f'{v:.6f}' for v in row)}" for i, row in enumerate(X)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, X


def test_the_page_is_there_and_its_path_is_last(table, tmp_path):
    path, X = table
    page = tmp_path / "p.html"
    done = ok(
        run(path, "-o", page, "--color", "group", "--standardize", "no", "--title", "Mine")
    )
    assert done.stdout.rstrip().splitlines()[-1] == str(page)
    text = page.read_text(encoding="utf-8")
    assert "<title>Mine</title>" in text
    values = np.linalg.eigvalsh(np.cov(np.round(X, 6).T))[::-1]
    share = f"{100 * values[0] / values.sum():.1f} %"
    account, first = done.stdout.splitlines()[:2]
    assert first.startswith("1 component carries more than noise, and " + share)
    assert account.startswith("table.csv: 4 columns of numbers: principal components (PCA)")
    assert account in html.unescape(text)
    assert share in text
    assert "2 groups of group" in text


def test_names_of_pages_follow_the_data(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(table[0]).exit_code == 0
    assert (tmp_path / "table.html").exists()
    monkeypatch.chdir(tmp_path)
    ok(run("-", input=table[0].read_text(encoding="utf-8")))
    assert (tmp_path / "report.html").exists()


def test_nothing_is_replaced_unless_forced(table, tmp_path):
    page = tmp_path / "p.html"
    page.write_text("old", encoding="utf-8")
    refused = run(table[0], "-o", page)
    assert refused.exit_code != 0
    assert "--force" in refused.stderr
    assert page.read_text(encoding="utf-8") == "old"
    assert run(table[0], "-o", page, "--force").exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-o", "p.pdf"], ".html"),
        (["-o", "none/p.html"], "folder"),
        (["-o", "p.html", "--color", "grup"], "group"),
        (["-o", "p.html", "-k", "99"], "99"),
    ],
    ids=["kind", "folder", "colour", "components"],
)
def test_refusals_write_nothing(table, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    done = run(table[0], *arguments)
    assert done.exit_code != 0
    assert says in done.stderr
    assert "Traceback" not in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_model_and_its_table(table, tmp_path):
    path, _ = table
    model, page = tmp_path / "m.mercer", tmp_path / "p.html"
    ok(CliRunner().invoke(commands, ["fit", str(path), "-k", "2", "-o", str(model)]))
    done = ok(run(model, path, "-o", page))
    assert "PCA of table.csv" in page.read_text(encoding="utf-8")
    assert done.stdout.startswith("2 components")
    page = tmp_path / "q.html"
    done = run(table[0], "-o", page, "--json")
    said = json.loads(done.stdout)
    assert said["page"] == str(page)
    assert said["bytes"] == len(page.read_bytes())
    assert run("a", "b", "c").exit_code == 2


def test_names_that_break_other_pages(tmp_path):
    evil = "</script><script>alert(1)</script>"
    X = RNG.normal(size=(40, 3)) * [5, 2, 1]
    lines = [f"g,{evil},b,c", *(f"{evil}{i % 2},{a},{b},{c}" for i, (a, b, c) in enumerate(X))]
    path = tmp_path / "a'b<b>.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    ok(run(path, "-o", tmp_path / "p.html", "--color", "g", "-k", "2", "--standardize", "no"))
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "alert(1)" in text
    assert not re.findall(r"<script>alert|<b>", text)


def test_missing_cells_weights_and_a_kernel(table, tmp_path):
    lines = table[0].read_text(encoding="utf-8").splitlines()
    lines[3] = lines[3].rsplit(",", 1)[0] + ","
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    ok(run(path, "-o", tmp_path / "g.html"))
    assert "1 cells were missing" in (tmp_path / "g.html").read_text(encoding="utf-8")
    ok(run(table[0], "--method", "kernel-pca", "-k", "2", "-o", tmp_path / "k.html"))
    assert "kernel PC1" in (tmp_path / "k.html").read_text(encoding="utf-8")


def test_numbers_and_names_on_the_page_are_those_of_the_file(table, tmp_path):
    path, X = table
    run(path, "-o", tmp_path / "p.html", "-k", "2", "--standardize", "no")
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    first = mercer.PCA(2).fit(np.round(X, 6)).explained_variance_[0]
    found = re.search(r'PC1</th><td class="number" data-value="([^"]+)"', text)[1]
    assert float(found) == pytest.approx(first, rel=1e-12)
    lines = table[0].read_text(encoding="utf-8").splitlines()
    lines[2] = "x,,,,"
    lines[40] = "y,900,-900,900,-900"  # the fortieth row
    path = tmp_path / "far.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    done = ok(run(path, "-o", tmp_path / "q.html", "-k", "1", "--standardize", "no"))
    assert "row 40" in (tmp_path / "q.html").read_text(encoding="utf-8")
    assert "row 39" not in done.stdout


def test_the_code_on_the_page_fits_the_same_model(tmp_path):
    rows = ["id,kind,year,a,b,c,d"]
    for i, row in enumerate(RNG.normal(size=(80, 1)) + RNG.normal(size=(80, 4)) / 3):
        cells = ["NA" if i == 7 and j == 0 else f"{v:.5f}" for j, v in enumerate(row)]
        kind = "NA" if i % 9 == 0 else "xy"[i % 2]
        rows.append(f"r{i},{kind},{2000 + i % 3},{','.join(cells)}")
    path, page = tmp_path / "t.csv", tmp_path / "p.html"
    path.write_text("\n".join(rows), encoding="utf-8")
    done = ok(run(path, "-o", page, "--color", "kind", "--sup", "d", "--force"))
    assert "the 2 groups of kind" in done.stdout.lower()  # missing labels are no group
    assert "Left out: year (tells when (year))." in done.stdout
    text = html.unescape(page.read_text(encoding="utf-8"))
    assert "Supplementary columns" in text
    code = re.search(r"in Python</h3><pre><code>(.*?)</code>", text, re.DOTALL)[1]
    names: dict = {}
    exec(compile(code, "page", "exec"), names)
    told = re.search(
        r'PC1</th><td class="number" data-value="([^"]+)"', text.split("Variances")[-1]
    )
    assert names["model"].explained_variance_[0] == float(told[1])


def test_rows_left_out_do_not_move_the_numbers_of_the_others(tmp_path):
    X = RNG.normal(size=(60, 4))
    X[40] += 60
    lines = ["a,b,c,d", *(",".join(f"{v:.5f}" for v in row) for row in X)]
    lines[3] = "1.0,NA,2.0,3.0"
    path, page = tmp_path / "t.csv", tmp_path / "p.html"
    path.write_text("\n".join(lines), encoding="utf-8")
    done = ok(run(path, "-o", page, "--missing", "rows", "-k", "1"))
    assert "row 41" in done.stdout


# Every family's page from the command line: a method is a command.
DATA = Path(__file__).parents[1] / "data"


typed = command()


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
    done = ok(typed(method, DATA / name, *words, "-o", tmp_path / "p.html", "-q"))
    assert (tmp_path / "p.html").stat().st_size > 10_000
    words = ("--method", method, *words, "-o", tmp_path / "q.html", "-q")
    again = typed("report", DATA / name, *words)
    assert again.stdout.replace("q.html", "p.html") == done.stdout
