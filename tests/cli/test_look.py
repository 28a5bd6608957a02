import dataclasses
import json
import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.typed import command, ok

import mercer
from mercer.cli.app import commands
from mercer.cli.commands.look_command import text_of
from mercer.cli.commands.tune_command import within
from mercer.tables import Asked, Column, Look, look, prepared


def seen(columns, **parts):
    return Look("t.csv", "t.csv", 300, tuple(columns), Asked(), **parts)


NUMBER = {"kind": "number", "role": "active", "mean": 1.5, "low": -1.0, "high": 20000.0}


def test_every_column_of_a_narrow_table_has_a_line():
    columns = [
        Column("name", "text", "id", "names the rows", distinct=300),
        Column("width", missing=30, deviation=0.25, **NUMBER),
        Column("remark", "text", "out", "text"),
    ]
    head, _, title, name, width, remark, *rest = text_of(seen(columns), every=False).split("\n")
    assert head == "t.csv: 300 rows, 3 columns (1 analysed, 1 for names, 1 left out)"
    assert title.split()[:2] == ["column", "kind"]
    assert name.split() == ["name", "text", "id", "names", "the", "rows"]
    assert width.split() == ["width", "number", "active", "30", "1.5", "0.25", "-1", "2e+04"]
    assert remark.split() == ["remark", "text", "out", "text"]
    assert rest == ["", "30 of 300 analysed cells missing (10 %)"]


def test_like_columns_of_a_wide_table_share_a_line_unless_every_one_is_wanted():
    genes = [Column(f"g{i}", deviation=i + 1.0, **NUMBER) for i in range(6000)]
    columns = [Column("id", "text", "id", "names the rows"), *genes]
    lines = text_of(seen(columns), every=False).split("\n")
    assert len(lines) == 5
    assert re.search(r"g0..g5999 \(6,000 columns\) +number +active +-1 +2e\+04", lines[4])
    assert len(text_of(seen(columns), every=True).split("\n")) == 6004


def test_notes_and_transposing_follow_the_table():
    turned = dataclasses.replace(
        seen([Column("a", "number", "active")]), asked=Asked(transpose=True)
    )
    assert text_of(turned, every=False).endswith(
        "transposed: 1 rows of 300 variables would be analysed"
    )
    text = text_of(seen([Column("a", "number", "active")], notes=("one", "two")), every=False)
    assert text.endswith("\n\none\ntwo")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"n{i},{rng.normal():.4f},{rng.normal():.4f}" for i in range(30)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["name,a,b", *rows]) + "\n", encoding="utf-8")
    return path


def test_options_reach_the_look(table):
    done = CliRunner().invoke(commands, ["look", str(table), "--json"])
    document = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (document["schema"], document["ok"], document["warnings"]) == ("mercer/1", True, [])
    assert (document["data"]["path"], document["data"]["rows"]) == (str(table), 30)
    roles = {column["name"]: column["role"] for column in document["data"]["columns"]}
    assert (roles["a"], roles["b"]) == ("active", "active")
    assert roles["name"] != "active"
    words = ["look", str(table), "--columns", "b", "--json"]
    columns = json.loads(CliRunner().invoke(commands, words).stdout)["data"]["columns"]
    assert [column["name"] for column in columns if column["role"] == "active"] == ["b"]


def test_a_table_is_looked_at_as_a_method_would(tmp_path):
    lines = ["town,a,g", "N,1,x", "S,2,y", "W,2,x", "E,1,y"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def look_as(*words):
        done = ok(CliRunner().invoke(commands, ["look", str(tmp_path / "t.csv"), *words]))
        return done.stdout.splitlines()[0]

    assert "(2 analysed, 1 for names)" in look_as()
    assert "(1 analysed, 1 for names, 1 for colour)" in look_as("--method", "pca")
    assert "(2 analysed, 1 for names)" in look_as("--method", "mca")
    assert "(1 analysed, 1 for names, 1 for groups)" in look_as(
        "--method", "lda", "--target", "g"
    )
    crossed = look_as("--method", "ca", "--rows-by", "town", "--columns-by", "g")
    assert "(1 for rows, 1 for columns, 1 left out)" in crossed


PATHS = {"svd", "gram", "dual", "krylov"}


run = command("plan")


@pytest.fixture
def npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(300, 20)))
    return path


def test_the_table_is_the_plan_of_the_library(npy):
    done = ok(run(npy, "-k", 3, "--memory", "1GB"))
    rows = prepared(look(npy)).rows
    assert done.stdout == f"{mercer.plan(mercer.PCA(3, memory='1GB'), rows)}\n"
    assert "looked at 300 rows in " in done.stderr


def test_json_holds_the_whole_plan(npy):
    done = run(npy, "-k", 3, "--standardize", "yes", "--json")
    document = json.loads(done.stdout)
    assert (document["schema"], document["ok"]) == ("mercer/1", True)
    data = document["data"]
    assert data.pop("look_seconds") >= 0
    assert data == {"path": str(npy), "rows": 300, "columns": 20, "left_out": []}
    assert document["parameters"]["standardize"] is True
    assert document["chosen"]["name"] in PATHS
    assert {"passes", "bytes", "flops", "seconds"} <= set(document["chosen"])
    names = {path["name"] for path in document["rejected"]} | {document["chosen"]["name"]}
    assert len(document["rejected"]) + 1 == len(names) > 1
    assert names <= PATHS
    assert all(path["reason"] for path in document["rejected"])


def test_tables_of_text_are_planned(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"some words about {i % 30},{i * i % 13},{i * 7 % 11}" for i in range(40)]
    path.write_text("\n".join(["remark,a,b", *rows]) + "\n", encoding="utf-8")
    document = json.loads(run(path, "--json").stdout)
    assert document["data"]["left_out"] == ["remark"]
    assert document["data"]["columns"] == 2
    path = tmp_path / "t.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(40, 3)), delimiter=",")
    assert json.loads(run(path, "--json").stdout)["data"]["rows"] == 40
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    done = run(path)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "line 3" in done.stderr


def test_options_and_memory_are_checked_first(npy):
    done = run(npy, "--memory", "10KB", "--json")
    assert done.exit_code == 5
    assert "--memory" in json.loads(done.stdout)["error"]["fix"]
    done = run("not_here.csv", "-k", "nonsense")
    assert done.exit_code == 2
    assert "-k nonsense" in done.stderr


def test_what_is_not_priced_is_said(npy, tmp_path):
    done = ok(run(npy, "--method", "robust-pca", "-k", 2))
    assert "reads the rows 25 to 45 times" in done.stdout
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + rng.normal(size=(60, 1))
    X[3, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    done = run(tmp_path / "x.npy")
    assert "filled first, in passes that are not priced" in done.stdout
    assert "not priced" not in run(tmp_path / "x.npy", "--missing", "rows").stdout


tune = command("tune")


@pytest.fixture
def gappy_table(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 3))
    frame = pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")})
    frame = frame.with_columns(a=pl.when(pl.int_range(60) == 4).then(None).otherwise("a"))
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_the_choice_and_why(gappy_table):
    done = ok(tune(gappy_table, "--kernel", "rbf(lengthscale=2)", "--json"))
    said = json.loads(done.stdout)
    assert said["criterion"] == "linear is enough"
    assert said["best"].startswith("linear")
    assert len(said["candidates"]["kernel"]) == 2
    assert said["reason"]
    assert "filled by PCA first" in done.stderr
    assert "60 rows looked at" in done.stderr
    done = tune(gappy_table, "--kernel", "rfb")
    assert done.exit_code in (2, 3)
    assert "rbf" in done.stderr


def test_time_limits_the_rows(monkeypatch):
    seen = []

    def study(rows):
        seen.append(rows)
        now[0] += (rows / 200) ** 2
        return rows

    now = [0.0]
    monkeypatch.setattr("mercer.cli.commands.tune_command.clock.perf_counter", lambda: now[0])
    assert within(study, 2000, None) == 2000
    assert within(study, 2000, 17.0) == 800
    assert within(study, 2000, 1.5) == 200
    assert within(study, 2000, 1e6) == 2000
    assert within(study, 150, 1.0) == 150
    assert seen == [2000, 200, 800, 200, 200, 2000, 150]
