import json

import numpy as np
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli.app import commands
from mercer.tables import look, prepared

PATHS = {"svd", "gram", "dual", "krylov"}


def run(*words, **given):
    return CliRunner().invoke(commands, ["plan", *map(str, words)], **given)


@pytest.fixture
def npy(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(300, 20)))
    return path


def test_the_table_is_the_plan_of_the_library(npy):
    done = run(npy, "-k", 3, "--memory", "1GB")
    assert done.exit_code == 0
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


def test_columns_that_are_no_numbers_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"some words about {i % 37},{i * i % 13},{i * 7 % 11}" for i in range(40)]
    path.write_text("\n".join(["remark,a,b", *rows]) + "\n", encoding="utf-8")
    document = json.loads(run(path, "--json").stdout)
    assert document["data"]["left_out"] == ["remark"]
    assert document["data"]["columns"] == 2


def test_a_table_without_names_keeps_its_first_row(tmp_path):
    path = tmp_path / "t.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(40, 3)), delimiter=",")
    assert json.loads(run(path, "--json").stdout)["data"]["rows"] == 40


def test_a_ragged_table_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3\n", encoding="utf-8")
    done = run(path)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "line 3" in done.stderr


def test_too_little_memory_is_exit_5(npy):
    done = run(npy, "--memory", "10KB", "--json")
    assert done.exit_code == 5
    assert "--memory" in json.loads(done.stdout)["error"]["fix"]


def test_options_are_checked_before_the_file_is_opened():
    done = run("not_here.csv", "-k", "nonsense")
    assert done.exit_code == 2
    assert "-k nonsense" in done.stderr


def test_robust_pca_says_what_its_plan_does_not_price(npy):
    done = run(npy, "--method", "robust-pca", "-k", 2)
    assert done.exit_code == 0
    assert "reads the rows 25 to 45 times" in done.stdout


def test_filling_is_said_not_to_be_priced(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + rng.normal(size=(60, 1))
    X[3, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    done = run(tmp_path / "x.npy")
    assert "filled first, in passes that are not priced" in done.stdout
    assert "not priced" not in run(tmp_path / "x.npy", "--missing", "rows").stdout


def test_stdin_is_planned_like_a_file(npy):
    done = run("-", "-k", "2", "--json", input=npy.read_bytes())
    assert json.loads(done.stdout)["data"]["path"] == "-"
