"""`mercer fit` as it is typed: what it says, what it writes, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli.app import commands

PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"


def run(*words, **given):
    return CliRunner().invoke(commands, ["fit", *map(str, words)], **given)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) * 4
    X += rng.standard_normal((80, 6))
    X[17, 3] += 40
    frame = pl.DataFrame({"name": [f"p{i:02d}" for i in range(80)]})
    frame = frame.with_columns(
        team=pl.Series(["=red", "blue"] * 40),
        age=pl.Series(X[:, 0] * 2 + rng.standard_normal(80)),
        **{f"v{i}": X[:, i] for i in range(6)},
    )
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def numbers(table):
    return pl.read_csv(table).select(pl.col("^v.$")).to_numpy()


def test_one_command_and_no_option_says_what_it_assumed():
    done = run(PENGUINS)
    assert done.exit_code == 0
    assert "8 of 1,720 cells are missing" in done.stderr
    assert "standardised" in done.stderr
    assert "plan: 344 x 5" in done.stderr
    assert "certified ±" in done.stdout
    assert "beyond noise" in done.stdout
    assert "PC1 weighs most: flipper_length_mm" in done.stdout
    assert "outlying row" in done.stdout


def test_the_numbers_are_those_of_the_library(table):
    said = json.loads(run(table, "--columns", "v*", "-k", 3, "--json").stdout)
    X = numbers(table)
    values, axes = np.linalg.eigh(np.cov(X.T))
    assert np.allclose(said["variance"], values[::-1][:3], rtol=1e-10)
    assert np.allclose(said["ratio"], values[::-1][:3] / values.sum(), rtol=1e-10)
    assert np.all(np.array(said["lower"]) <= said["variance"])
    assert np.all(np.array(said["upper"]) >= said["variance"])
    first = np.array([said["loadings"]["PC1"][f"v{i}"] for i in range(6)])
    assert np.allclose(np.abs(first), np.abs(axes[:, -1]) * np.sqrt(values[-1]), rtol=1e-8)
    assert said["roles"]["active"] == [f"v{i}" for i in range(6)]
    assert {"look", "fit", "rows", "write"} == set(said["seconds"])
    assert said["outliers"]["rows"][0] | {"t2": 0, "q": 0} == {
        "row": 18,
        "id": "p17",
        "t2": 0,
        "q": 0,
        "by": said["outliers"]["rows"][0]["by"],
    }
    assert said["plan"]["bytes"] > 0
    assert said["outputs"] == {"model": None, "scores": None, "columns": None}


def test_coordinates_have_names_and_colours_first(table, tmp_path):
    words = ("--color", "team", "--sup", "age", "-k", 2, "--columns", "v*")
    done = run(table, *words, "-o", tmp_path / "m.mercer", "--scores", tmp_path / "z.csv")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [
        str(tmp_path / "m.mercer"),
        str(tmp_path / "z.csv"),
    ]
    read = pl.read_csv(tmp_path / "z.csv")
    assert read.columns == ["name", "team", "PC1", "PC2"]
    assert read["team"][:2].to_list() == ["'=red", "blue"]
    expected = mercer.PCA(2).fit_transform(numbers(table))
    assert np.allclose(read.select("PC1", "PC2").to_numpy(), expected, atol=1e-9)
    line = next(line for line in done.stdout.splitlines() if line.startswith("  age"))
    age = pl.read_csv(table)["age"].to_numpy()
    assert float(line.split()[1]) == pytest.approx(
        np.corrcoef(age, expected[:, 0])[0, 1], abs=1e-3
    )


def test_a_model_keeps_how_rows_are_made_and_no_folder(table, tmp_path):
    run(table, "-k", 2, "--columns", "v*", "-o", tmp_path / "m.mercer")
    notes = mercer.load(tmp_path / "m.mercer").notes_
    assert notes["data"] == {"file": "t.csv", "rows": 80, "columns": 6}
    assert notes["recipe"]["id"] == "name"
    assert notes["recipe"]["columns"] == [f"v{i}" for i in range(6)]
    assert set(notes["limits"]) == {"0.95", "0.99"}
    assert all(a < b for a, b in zip(*notes["limits"].values(), strict=True))
    assert str(tmp_path) not in json.dumps(notes)


def test_no_component_beyond_noise_is_an_answer(tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 8))
    np.save(tmp_path / "noise.npy", X)
    done = run(
        tmp_path / "noise.npy", "--scores", tmp_path / "z.csv", "-o", tmp_path / "m.mercer"
    )
    assert done.exit_code == 0
    assert "No component beyond noise" in done.stdout
    read = pl.read_csv(tmp_path / "z.csv")
    assert read.columns == ["row"]
    assert read["row"].to_list() == list(range(1, 201))
    assert run(tmp_path / "noise.npy", "--scores", tmp_path / "z.npy").exit_code == 0
    assert np.load(tmp_path / "z.npy").shape == (200, 0)
    said = json.loads(run(tmp_path / "noise.npy", "--json").stdout)
    assert (said["components"], said["variance"], said["outliers"]) == (0, [], None)


@pytest.mark.parametrize("method", ["kernel-pca", "robust-pca"])
def test_other_methods(table, tmp_path, method):
    words = (table, "--method", method, "--columns", "v*", "-k", 2)
    done = run(*words, "--scores", tmp_path / "z.parquet")
    assert done.exit_code == 0, done.stderr
    assert pl.read_parquet(tmp_path / "z.parquet").columns[-2:] == ["PC1", "PC2"]
    said = json.loads(run(*words, "--json").stdout)
    assert np.all(np.array(said["lower"]) <= np.array(said["variance"]) * (1 + 1e-12))
    assert np.all(np.array(said["upper"]) >= np.array(said["variance"]) * (1 - 1e-12))
    if method == "robust-pca":
        assert "p17" in done.stdout


def test_stdout_belongs_to_the_coordinates(table):
    done = run(table, "--scores", "-", "-k", 2, "--columns", "v*")
    assert done.stdout.splitlines()[0] == "name,team,PC1,PC2"
    assert len(done.stdout.splitlines()) == 81
    assert "certified ±" in done.stderr
    again = run(table, "--scores", "-", "--json")
    assert again.exit_code == 2


def test_stdin(table):
    done = run("-", "-k", 2, "--columns", "v*", "--json", input=table.read_bytes())
    assert json.loads(done.stdout)["data"] == {"path": "-", "rows": 80, "columns": 6}


@pytest.mark.parametrize("option", ["-o", "--scores"])
def test_outputs_are_checked_before_any_work(table, tmp_path, option, monkeypatch):
    def work(*_, **__):
        raise AssertionError("work has begun")

    monkeypatch.setattr("mercer.cli.fitting._fit_stages.look", work)
    path = tmp_path / ("m.mercer" if option == "-o" else "z.csv")
    path.write_bytes(b"")
    done = run(table, option, path)
    assert done.exit_code == 3
    assert "--force" in done.stderr
    assert path.read_bytes() == b""


def test_a_missed_tolerance_warns_and_is_an_error_only_where_asked(tmp_path):
    X = np.random.default_rng(0).standard_normal((400, 300)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    words = (tmp_path / "x.npy", "-k", 3, "--tol", "1e-17")
    done = run(*words)
    assert done.exit_code == 0
    assert "warning: " in done.stderr
    assert run(*words, "--strict").exit_code == 1


def test_a_checkpoint_is_kept(table, tmp_path):
    words = (table, "--columns", "v*", "-k", 2, "--checkpoint", tmp_path / "c.mercer")
    assert run(*words).exit_code == 0
    assert (tmp_path / "c.mercer").stat().st_size > 0
    refused = run(*words, "--method", "kernel-pca")
    assert refused.exit_code == 3
    assert "no checkpoint" in refused.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["no_such.csv"], 3),
        (["{t}", "--columns", "v*", "--memory", "1KB"], 5),
    ],
    ids=["input", "memory"],
)
def test_exit_codes(table, words, code):
    done = run(*(word.format(t=table) for word in words))
    assert done.exit_code == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_in_a_long_fit_leaves_nothing_half_written(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((60_000, 40)))
    words = ["fit", tmp_path / "x.npy", "--method", "robust-pca", "-k", "30"]
    words += ["-o", tmp_path / "m.mercer", "--scores", tmp_path / "z.csv"]
    running = subprocess.Popen(
        [sys.executable, "-m", "mercer", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in running.stderr:  # the plan is said, the fit begins
        if line.startswith("  -> "):
            break
    time.sleep(0.3)
    os.kill(running.pid, signal.SIGINT)
    began = time.monotonic()
    _, rest = running.communicate(timeout=60)
    assert running.returncode == 130, rest
    assert time.monotonic() - began < 20  # 2 s where the machine has nothing else to do
    assert "Traceback" not in rest
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_closed_pipe_ends_quietly(table):
    command = f"{sys.executable} -m mercer fit {table} --columns 'v*' --scores - -q | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == "name,team,PC1,PC2\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("k", "words"),
    [
        ("3", "3 components, as asked."),
        ("0.9", "enough for the 90 %"),
        ("all", "6 components: all"),
    ],
)
def test_why_so_many(table, k, words):
    assert words in run(table, "--columns", "v*", "-k", k).stdout


def test_rows_that_count_differently_have_no_limits_of_another_fit(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 4)) * [9, 3, 1, 1]
    for name, w in (("alike", np.full(60, 2)), ("differ", np.arange(60) % 3)):
        lines = [",".join(map(str, [*row, c])) for row, c in zip(X, w, strict=True)]
        path = tmp_path / f"{name}.csv"
        path.write_text("a,b,c,d,w\n" + "\n".join(lines) + "\n", encoding="utf-8")
        words = ["fit", str(path), "--weights", "w", "-k", "2", "--json"]
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == 0
        found = json.loads(done.stdout)["outliers"]
        assert (found is None) == (name == "differ")
