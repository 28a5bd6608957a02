import dataclasses
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

from mercer.cli.app import commands
from mercer.cli.commands.look_command import text_of
from mercer.tables import Asked, Column, Look


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


def test_a_transposed_table_says_what_becomes_of_it():
    turned = dataclasses.replace(
        seen([Column("a", "number", "active")]), asked=Asked(transpose=True)
    )
    assert text_of(turned, every=False).endswith(
        "transposed: 1 rows of 300 variables would be analysed"
    )


def test_notes_follow_the_table():
    text = text_of(seen([Column("a", "number", "active")], notes=("one", "two")), every=False)
    assert text.endswith("\n\none\ntwo")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"n{i},{rng.normal():.4f},{rng.normal():.4f}" for i in range(30)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["name,a,b", *rows]) + "\n", encoding="utf-8")
    return path


def test_the_command_gives_all_to_a_program(table):
    done = CliRunner().invoke(commands, ["look", str(table), "--json"])
    document = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (document["schema"], document["ok"], document["warnings"]) == ("mercer/1", True, [])
    assert (document["data"]["path"], document["data"]["rows"]) == (str(table), 30)
    roles = {column["name"]: column["role"] for column in document["data"]["columns"]}
    assert (roles["a"], roles["b"]) == ("active", "active")
    assert roles["name"] != "active"


def test_options_reach_the_look(table):
    words = ["look", str(table), "--columns", "b", "--json"]
    columns = json.loads(CliRunner().invoke(commands, words).stdout)["data"]["columns"]
    assert [column["name"] for column in columns if column["role"] == "active"] == ["b"]


def test_stdin_is_looked_at_like_a_file(table):
    done = CliRunner().invoke(commands, ["look", "-"], input=table.read_bytes())
    assert done.stdout.startswith("stdin.csv: 30 rows, 3 columns (2 analysed")


def test_a_table_is_looked_at_as_a_method_would(tmp_path):
    lines = ["town,a,g", "N,1,x", "S,2,y", "W,2,x", "E,1,y"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def look_as(*words):
        done = CliRunner().invoke(commands, ["look", str(tmp_path / "t.csv"), *words])
        assert done.exit_code == 0, done.stderr
        return done.stdout.splitlines()[0]

    assert "(1 analysed, 1 for names, 1 for colour)" in look_as()
    assert "(2 analysed, 1 for names)" in look_as("--method", "mca")
    assert "(1 analysed, 1 for names, 1 for groups)" in look_as(
        "--method", "lda", "--target", "g"
    )
    crossed = look_as("--method", "ca", "--rows-by", "town", "--columns-by", "g")
    assert "(1 for rows, 1 for columns, 1 left out)" in crossed
