import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.typed import command, ok

import mercer
from mercer.cli._model_argument import axes_of, loaded, recipe_of
from mercer.errors import InputError

DATA = Path(__file__).parents[1] / "data"


run = command()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 4)) @ rng.standard_normal((4, 4)) + 3
    frame = pl.DataFrame({"name": [f"a{i}" for i in range(70)]})
    frame = frame.with_columns(**{f"v{i}": X[:, i] for i in range(4)})
    frame.write_csv(tmp_path / "t.csv")
    ok(run("fit", tmp_path / "t.csv", "-k", 2, "-o", tmp_path / "m.mercer", "-q"))
    return tmp_path


def coordinates(folder, frame):
    return mercer.load(folder / "m.mercer").transform(frame.select(pl.col("^v.$")))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy"])
def test_new_rows_in_any_order_of_columns(folder, kind):
    frame = pl.read_csv(folder / "t.csv")[5:20]
    mixed = frame.select("v2", pl.lit("=x").alias("note"), "name", "v0", "v3", "v1")
    mixed.write_parquet(folder / "new.parquet")
    out = folder / f"z.{kind}"
    done = ok(run("transform", folder / "m.mercer", folder / "new.parquet", "-o", out))
    assert done.stdout == f"{out}\n"
    assert "15 rows, 2 coordinates" in done.stderr
    if kind == "npy":
        found = np.load(out)
    else:
        separator = "\t" if kind == "tsv" else ","
        read = pl.read_parquet if kind == "parquet" else pl.read_csv
        table = read(out) if kind == "parquet" else read(out, separator=separator)
        assert table.columns == ["name", "PC1", "PC2"]
        assert table["name"].to_list() == frame["name"].to_list()
        found = table.select("PC1", "PC2").to_numpy()
    assert np.allclose(found, coordinates(folder, frame), atol=1e-12)


def test_rows_go_through_stdin_stdout_and_numbers(folder):
    done = run("transform", folder / "m.mercer", "-", input=(folder / "t.csv").read_bytes())
    lines = done.stdout.splitlines()
    assert lines[0] == "name,PC1,PC2"
    assert len(lines) == 71
    pl.read_csv(folder / "t.csv").drop("name").write_csv(folder / "bare.csv")
    done = run("transform", folder / "m.mercer", folder / "bare.csv")
    assert done.stdout.splitlines()[:2][0] == "row,PC1,PC2"
    assert done.stdout.splitlines()[1].startswith("1,")
    words = ("transform", folder / "m.mercer", folder / "t.csv", "--json")
    assert run(*words).exit_code == 2
    said = json.loads(run(*words, "-o", folder / "z.csv").stdout)
    assert (said["rows"], said["components"]) == (70, 2)
    assert said["outputs"] == {"scores": str(folder / "z.csv")}


def test_options_of_text_and_files_that_are_there(folder):
    frame = pl.read_csv(folder / "t.csv")
    frame.write_csv(folder / "semi.csv", separator=";")
    frame.write_parquet(folder / "t.parquet")
    out = ("-o", folder / "s.mercer", "-k", 2, "--delimiter", ";", "--na", "none")
    assert run("fit", folder / "semi.csv", *out).exit_code == 0
    texts = [
        run("transform", folder / "s.mercer", folder / f) for f in ("semi.csv", "t.parquet")
    ]
    assert texts[0].stdout == texts[1].stdout
    assert texts[0].exit_code == 0
    words = ("transform", folder / "m.mercer", folder / "t.csv", "-o")
    assert run(*words, folder / "t.csv", "--force").exit_code == 3
    (folder / "z.csv").write_text("mine", encoding="utf-8")
    assert run(*words, folder / "z.csv").exit_code == 3
    assert (folder / "z.csv").read_text(encoding="utf-8") == "mine"
    assert run(*words, folder / "z.csv", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [
        ("t.csv", "m.mercer", "the model comes first"),
        ("m.mercer", "m.mercer", "a table is wanted"),
        ("no.mercer", "t.csv", "no such file"),
        ("m.mercer", "no.csv", "no such file"),
        ("m.mercer", "few.csv", "lacks 1 of the 4 columns"),
        ("m.mercer", "gaps.csv", "missing"),
    ],
)
def test_what_cannot_be_done(folder, model, data, words):
    frame = pl.read_csv(folder / "t.csv")
    frame.drop("v3").write_csv(folder / "few.csv")
    frame.with_columns(v1=pl.when(pl.col("name") == "a7").then(None).otherwise("v1")).write_csv(
        folder / "gaps.csv"
    )
    done = run("transform", folder / model, folder / data, "-o", folder / "z.csv")
    assert done.exit_code == 3
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 3
    assert not (folder / "z.csv").exists()


def test_groups_of_new_rows_stand_beside_their_places(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 3)) + 8 * np.eye(3)[np.repeat(np.arange(3), 20)]
    frame = pl.DataFrame({"id": range(60), "g": group}).with_columns(
        **{f"v{i}": X[:, i] for i in range(3)}
    )
    frame.write_csv(tmp_path / "t.csv")
    model = tmp_path / "m.mercer"
    run("fit", tmp_path / "t.csv", "--method", "lda", "--target", "g", "-o", model, "-q")
    frame.drop("g").write_csv(tmp_path / "new.csv")
    ok(run("transform", model, tmp_path / "new.csv", "--predict", "-o", tmp_path / "z.csv"))
    found = pl.read_csv(tmp_path / "z.csv")
    assert found.columns == ["id", "group", "PC1", "PC2"]
    assert found["group"].to_list() == group.tolist()


FAMILIES = {
    "ca": ("hair_eye_592.csv", ()),
    "crossed": ("HairEyeColor_long.csv", ("--rows-by", "Hair", "--columns-by", "Eye")),
    "mca": ("poison.csv", ()),
    "passive": ("penguins.csv", ("--missing", "passive")),
    "lda": ("iris.csv", ("--target", "Species")),
    "isomap": ("decathlon.csv", ("--drop", "Points", "--set", "neighbours=8")),
    "lle": ("decathlon.csv", ("--drop", "Points")),
    "mds": ("decathlon.csv", ("--drop", "Points")),
    "famd": ("poison.csv", ()),
    "kda": ("iris.csv", ("--target", "Species")),
    "eigenmaps": ("decathlon.csv", ("--drop", "Points")),
    "diffusion": ("decathlon.csv", ("--drop", "Points")),
    "mvu": ("decathlon.csv", ("--drop", "Points")),
    "factor": ("decathlon.csv", ("--drop", "Points")),
    "topics": ("varespec.csv", ()),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_rows_of_the_fit_land_where_they_were(name, tmp_path):
    table, words = FAMILIES[name]
    method = {"crossed": "ca", "passive": "mca"}.get(name, name)
    path, model = DATA / table, tmp_path / "m.mercer"
    fit = ("fit", path, "--method", method, "-k", 2, *words, "-o", model, "-q")
    ok(run(*fit, "--scores", tmp_path / "z.parquet"))
    ok(run("transform", model, path, "-o", tmp_path / "again.parquet"))
    before, after = (pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("z", "again"))
    axes = ["PC1", "PC2"]
    assert before[before.columns[0]].equals(after[after.columns[0]])
    tol = 1e-6 if name == "lle" else 1e-8
    assert np.allclose(before.select(axes), after.select(axes), atol=tol)


def test_rows_that_lack_a_cell_can_be_left_out(folder):
    frame = pl.read_csv(folder / "t.csv")
    lacking = frame.with_columns(v1=pl.when(pl.col("name") == "a3").then(None).otherwise("v1"))
    lacking.write_csv(folder / "gaps.csv")
    words = ("transform", folder / "m.mercer", folder / "gaps.csv", "-o", folder / "z.csv")
    refused = run(*words)
    assert refused.exit_code == 3
    assert "mercer transform --missing rows" in refused.stderr
    done = ok(run(*words, "--missing", "rows"))
    assert "row 4 (counted from 1)" in done.stderr
    found = pl.read_csv(folder / "z.csv")
    assert found["name"].to_list() == [f"a{i}" for i in range(70) if i != 3]


@pytest.fixture
def plane(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((70, 2)) @ rng.standard_normal((2, 4)) + 3
    frame = pl.DataFrame({"name": [f"a{i}" for i in range(70)]})
    frame.with_columns(**{f"v{i}": X[:, i] for i in range(4)}).write_csv(tmp_path / "t.csv")
    return tmp_path


def fit(plane, *words):
    outputs = ("-o", plane / "m.mercer", "--scores", plane / "z.csv", "--force", "-q")
    ok(run("fit", plane / "t.csv", *words, *outputs))


@pytest.mark.parametrize("words", [[], ["--set", "whiten=True"], ["--standardize", "yes"]])
def test_rows_of_rank_two_come_back(plane, words):
    fit(plane, "-k", 2, *words)
    ok(run("inverse", plane / "m.mercer", plane / "z.csv", "-o", plane / "x.csv"))
    rows, back = pl.read_csv(plane / "t.csv"), pl.read_csv(plane / "x.csv")
    assert back.columns == rows.columns
    assert back["name"].to_list() == rows["name"].to_list()
    there, here = (f.select(pl.col("^v.$")).to_numpy() for f in (rows, back))
    assert np.allclose(here, there, atol=1e-9)


def test_kernels_and_turned_axes_find_rows_too(plane):
    fit(plane, "-k", 2, "--set", "whiten=zca")
    assert pl.read_csv(plane / "z.csv").columns == ["name", "v0", "v1", "v2", "v3"]
    ok(run("inverse", plane / "m.mercer", plane / "z.csv", "-o", plane / "x.csv"))
    rows, back = (pl.read_csv(plane / f).select(pl.col("^v.$")) for f in ("t.csv", "x.csv"))
    assert np.allclose(back.to_numpy(), rows.to_numpy(), atol=1e-9)
    fit(plane, "-k", 2, "--method", "kernel-pca", "--kernel", "linear")
    done = run("inverse", plane / "m.mercer", plane / "z.csv", "--json", "-o", plane / "x.npy")
    assert json.loads(done.stdout)["columns"] == 4
    rows = pl.read_csv(plane / "t.csv").select(pl.col("^v.$")).to_numpy()
    assert np.allclose(np.load(plane / "x.npy"), rows, atol=1e-6)


def test_an_array_has_no_names_and_codes_stay_numbers(plane):
    fit(plane, "-k", 2)
    np.save(plane / "z.npy", np.zeros((3, 2)))
    done = run("inverse", plane / "m.mercer", plane / "z.npy")
    means = pl.read_csv(plane / "t.csv").select(pl.col("^v.$")).mean().row(0)
    last = done.stdout.splitlines()[-1].split(",")
    assert last[0] == "3"
    assert np.allclose(np.array(last[1:], float), means)
    frame = pl.read_csv(plane / "t.csv").with_columns(team=pl.Series(["x", "y"] * 35))
    frame.write_csv(plane / "t.csv")
    fit(plane, "-k", 2, "--categorical", "encode")
    done = run("inverse", plane / "m.mercer", plane / "z.csv")
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
def test_other_coordinates_are_refused(plane, columns, words):
    fit(plane, "-k", 2)
    frame = pl.DataFrame({name: [1.5, 2, 3] for name in columns})
    frame.write_csv(plane / "other.csv")
    done = run("inverse", plane / "m.mercer", plane / "other.csv")
    assert done.exit_code == 3
    assert words in done.stderr
    assert done.stdout == ""


def test_a_model_without_axes_has_no_way_back(plane):
    X = np.random.default_rng(0).standard_normal((200, 6))
    pl.DataFrame({f"v{i}": X[:, i] for i in range(6)}).write_csv(plane / "t.csv")
    fit(plane)
    done = run("inverse", plane / "m.mercer", plane / "z.csv")
    assert done.exit_code == 3
    assert "no axes" in done.stderr


X = np.random.default_rng(0).standard_normal((20, 3))


@pytest.fixture
def files(tmp_path):
    frame = pl.DataFrame({c: X[:, i] for i, c in enumerate("abc")})
    frame.write_csv(tmp_path / "t.csv")
    mercer.save(mercer.PCA(2).fit(frame), tmp_path / "m.mercer")
    return str(tmp_path / "m.mercer"), str(tmp_path / "t.csv")


def test_a_model_of_python_has_the_names_of_its_frame(files, tmp_path):
    model = loaded(*files, "transform")
    assert recipe_of(model).columns == ("a", "b", "c")
    assert axes_of(model) == ["PC1", "PC2"]
    with pytest.raises(InputError, match="names of its columns"):
        recipe_of(mercer.PCA(2).fit(X))
    mercer.save(mercer.PCA(2), tmp_path / "u.mercer")
    with pytest.raises(InputError, match="not fitted"):
        loaded(str(tmp_path / "u.mercer"), files[1], "transform")


def test_models_of_python_say_what_their_columns_are():
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})
    recipe = recipe_of(mercer.MultipleCorrespondenceAnalysis(1).fit(frame))
    assert recipe.table == "categories"
    assert recipe.categories == {"a": "text", "b": "whole"}
    counts = pl.DataFrame({"a": [3, 1], "b": [1, 4]})
    assert recipe_of(mercer.CorrespondenceAnalysis(1).fit(counts)).table == "counts"
    model = mercer.FAMD()
    model.feature_names_in_ = ("a", "b")
    with pytest.raises(InputError, match="which columns are categories"):
        recipe_of(model)
