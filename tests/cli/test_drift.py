import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.typed import ok

import mercer
from mercer.cli.app import commands

NAMES = ["height", "width", "depth", "mass"]


def run(*words, stdin=None):
    return CliRunner().invoke(commands, ["drift", *map(str, words)], input=stdin)


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)) @ np.diag([6, 3, 1, 1]) + 50
    frames = [pl.DataFrame(part, schema=NAMES) for part in (X[:180], X[180:])]
    model = mercer.PCA(2).fit(frames[0])
    mercer.save(model, tmp_path / "m.mercer")
    frames[0].write_csv(tmp_path / "old.csv")
    frames[1].select(reversed(NAMES)).with_columns(note=pl.lit("text")).write_csv(
        tmp_path / "new.csv"
    )
    frames[1].with_columns(pl.col("mass") + 2).write_csv(tmp_path / "moved.csv")
    return tmp_path, model, frames


def test_no_change_is_said_and_a_change_is_named(files):
    folder, _, _ = files
    done = ok(run(folder / "m.mercer", folder / "new.csv", "--strict"))
    head, verdict, empty, title, *table = done.stdout.splitlines()
    assert head == "120 new rows beside 180 rows of the fit:"
    assert verdict == "no change beyond chance"
    assert (empty, title.split()) == ("", ["compared", "chance"])
    assert len(table) == 9
    assert "Limits of T² and Q" in done.stderr
    folder, _, _ = files
    done = ok(run(folder / "m.mercer", folder / "moved.csv"))
    assert "The mean has moved of mass by +" in done.stdout
    assert "* means of the columns" in done.stdout
    assert run(folder / "m.mercer", folder / "moved.csv", "--strict").exit_code == 1


def test_a_program_gets_everything(files):
    folder, model, frames = files
    done = run(folder / "m.mercer", folder / "moved.csv", "--json", "--strict")
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    assert document["ok"] is True
    assert document["changed"] is True
    assert document["columns"]["names"] == NAMES
    own = mercer.drift(model, frames[1].with_columns(pl.col("mass") + 2))
    assert document["comparisons"][0]["says"] == own.comparisons[0].says
    assert document["captured"]["now"] == pytest.approx(own.captured.now)


def test_a_reference_and_stdin_are_used(files):
    folder, _, _ = files
    words = [folder / "m.mercer", folder / "new.csv", "--reference", folder / "old.csv"]
    document = json.loads(run(*words, "--level", 0.9, "--json").stdout)
    assert document["limits"]["source"].startswith("from 180 rows of the reference")
    assert document["limits"]["level"] == 0.9
    assert document["columns"]["ratio_chance"] is not None
    folder, _, _ = files
    done = ok(run(folder / "m.mercer", "-", stdin=(folder / "new.csv").read_bytes()))
    assert "no change beyond chance" in done.stdout


def test_missing_cells_are_filled_by_a_model_that_fills(files):
    folder, model, frames = files
    holes = frames[1].with_columns(
        pl.when(pl.int_range(pl.len()) % 20 > 0).then(pl.col("width")).alias("width")
    )
    holes.write_csv(folder / "holes.csv")
    refused = run(folder / "m.mercer", folder / "holes.csv")
    assert refused.exit_code == 3
    assert "cells are missing" in refused.stderr
    mercer.save(mercer.PCA(2, missing="em").fit(frames[0]), folder / "em.mercer")
    done = ok(
        run(folder / "em.mercer", folder / "holes.csv", "--reference", folder / "old.csv")
    )
    assert "no change beyond chance" in done.stdout
    assert "filled by the model" in done.stderr
    assert model.missing == "raise"


def test_wrong_files_and_options_are_refused(files):
    folder, _, _ = files
    swapped = run(folder / "new.csv", folder / "m.mercer")
    assert swapped.exit_code == 3
    assert "the model comes first" in swapped.stderr
    (folder / "few.csv").write_text("height,width,depth\n1,2,3\n")
    assert run(folder / "m.mercer", folder / "few.csv").exit_code == 3
    assert run(folder / "m.mercer", folder / "new.csv", "--level", 2).exit_code == 2


def test_missing_cells_are_filled_where_the_model_filled_some(files):
    folder, _, frames = files
    gappy = frames[0].with_columns(mass=pl.when(pl.arange(pl.len()) != 3).then(pl.col("mass")))
    gappy.write_csv(folder / "gappy.csv")
    mercer.save(mercer.PCA(2, missing="em").fit(gappy), folder / "filled.mercer")
    words = [folder / "filled.mercer", folder / "gappy.csv"]
    ok(run(*words, "--reference", folder / "gappy.csv"))
    assert run(folder / "m.mercer", folder / "gappy.csv").exit_code == 3
