import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from mercer.cli.app import commands


def run(*words, **given):
    return CliRunner().invoke(commands, [*map(str, words)], **given)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 2)) @ rng.standard_normal((2, 4)) + 3
    frame = pl.DataFrame({"name": [f"a{i}" for i in range(70)]})
    frame.with_columns(**{f"v{i}": X[:, i] for i in range(4)}).write_csv(tmp_path / "t.csv")
    return tmp_path


def fit(folder, *words):
    outputs = ("-o", folder / "m.mercer", "--scores", folder / "z.csv", "--force", "-q")
    done = run("fit", folder / "t.csv", *words, *outputs)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("words", [[], ["--set", "whiten=True"], ["--standardize", "yes"]])
def test_rows_of_rank_two_come_back(folder, words):
    fit(folder, "-k", 2, *words)
    done = run("inverse", folder / "m.mercer", folder / "z.csv", "-o", folder / "x.csv")
    assert done.exit_code == 0, done.stderr
    rows, back = pl.read_csv(folder / "t.csv"), pl.read_csv(folder / "x.csv")
    assert back.columns == rows.columns
    assert back["name"].to_list() == rows["name"].to_list()
    there, here = (f.select(pl.col("^v.$")).to_numpy() for f in (rows, back))
    assert np.allclose(here, there, atol=1e-9)


def test_turned_back_coordinates_have_the_columns_names(folder):
    fit(folder, "-k", 2, "--set", "whiten=zca")
    assert pl.read_csv(folder / "z.csv").columns == ["name", "v0", "v1", "v2", "v3"]
    done = run("inverse", folder / "m.mercer", folder / "z.csv", "-o", folder / "x.csv")
    assert done.exit_code == 0, done.stderr
    rows, back = (pl.read_csv(folder / f).select(pl.col("^v.$")) for f in ("t.csv", "x.csv"))
    assert np.allclose(back.to_numpy(), rows.to_numpy(), atol=1e-9)


def test_a_kernel_finds_rows_too(folder):
    fit(folder, "-k", 2, "--method", "kernel-pca", "--kernel", "linear")
    done = run(
        "inverse", folder / "m.mercer", folder / "z.csv", "--json", "-o", folder / "x.npy"
    )
    assert json.loads(done.stdout)["columns"] == 4
    rows = pl.read_csv(folder / "t.csv").select(pl.col("^v.$")).to_numpy()
    assert np.allclose(np.load(folder / "x.npy"), rows, atol=1e-6)


def test_an_array_has_no_names(folder):
    fit(folder, "-k", 2)
    np.save(folder / "z.npy", np.zeros((3, 2)))
    done = run("inverse", folder / "m.mercer", folder / "z.npy")
    means = pl.read_csv(folder / "t.csv").select(pl.col("^v.$")).mean().row(0)
    last = done.stdout.splitlines()[-1].split(",")
    assert last[0] == "3"
    assert np.allclose(np.array(last[1:], float), means)


def test_encoded_columns_stay_numbers_and_it_is_said(folder):
    frame = pl.read_csv(folder / "t.csv").with_columns(team=pl.Series(["x", "y"] * 35))
    frame.write_csv(folder / "t.csv")
    fit(folder, "-k", 2, "--categorical", "encode")
    done = run("inverse", folder / "m.mercer", folder / "z.csv")
    assert "team: written as numbers, one per category" in done.stderr
    assert done.stdout.splitlines()[0].endswith("team=x,team=y")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["name", "PC1"], "PC1 to PC2"),
        (["name", "PC1", "PC2", "PC3"], "PC1, PC2, PC3"),
        (["name", "pc1", "pc2"], "no column is called PC1"),
    ],
)
def test_other_coordinates_are_refused(folder, columns, words):
    fit(folder, "-k", 2)
    frame = pl.DataFrame({name: [1.5, 2, 3] for name in columns})
    frame.write_csv(folder / "other.csv")
    done = run("inverse", folder / "m.mercer", folder / "other.csv")
    assert done.exit_code == 3
    assert words in done.stderr
    assert done.stdout == ""


def test_a_model_without_axes_has_no_way_back(folder):
    X = np.random.default_rng(0).standard_normal((200, 6))
    pl.DataFrame({f"v{i}": X[:, i] for i in range(6)}).write_csv(folder / "t.csv")
    fit(folder)
    done = run("inverse", folder / "m.mercer", folder / "z.csv")
    assert done.exit_code == 3
    assert "no axes" in done.stderr
