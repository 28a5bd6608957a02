import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.cli.typed import ok

import mercer
from mercer.cli._coordinates_table import (
    Beside,
    WithGroups,
    fit_coordinates,
    write_coordinates,
)
from mercer.cli._outputs import refuse_model, refuse_scores, refuse_twins, same_file
from mercer.cli._usage import UsageError
from mercer.cli.app import commands
from mercer.cli.fitting._fit_run import places_of, refuse_placeless, refuse_stdout
from mercer.errors import InputError
from mercer.tables import Asked, look, prepared


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    return path


def test_outputs_are_two_files(tmp_path, table):
    path = tmp_path / "new.csv"
    assert refuse_scores(str(path), option="--scores", inputs=[str(table)]) == path
    assert refuse_scores("-", option="--scores") is None
    one = tmp_path / "a.mercer"
    with pytest.raises(InputError, match=r"-o .* and --checkpoint"):
        refuse_twins({"-o": one, "--scores": None, "--checkpoint": tmp_path / "." / "a.mercer"})
    refuse_twins({"-o": one, "--scores": tmp_path / "a.csv"})
    assert not same_file(one, tmp_path / "-")


@pytest.mark.parametrize("way", ["itself", "symbolic link", "hard link", "detour"])
def test_the_input_is_never_written_over(tmp_path, table, way):
    path = tmp_path / "other.csv"
    if way == "symbolic link":
        path.symlink_to(table)
    elif way == "hard link":
        os.link(table, path)
    else:
        path = table if way == "itself" else tmp_path / ".." / tmp_path.name / table.name
    with pytest.raises(InputError, match="take the place of the input"):
        refuse_scores(str(path), option="-o", inputs=[str(table)], force=True)


def test_what_is_there_stays_without_force(tmp_path, table):
    with pytest.raises(InputError, match="--force"):
        refuse_scores(str(table), option="-o")
    assert refuse_scores(str(table), option="-o", force=True) == table
    with pytest.raises(InputError, match="does not exist"):
        refuse_scores(str(tmp_path / "no" / "t.csv"), option="-o")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="must be a file"):
        refuse_scores(str(tmp_path / "folder.csv"), option="-o", force=True)
    path = tmp_path / "notes.mercer"
    path.write_text("my own notes about mercers", encoding="utf-8")
    with pytest.raises(InputError, match=r"replaces \.mercer files only"):
        refuse_model(str(path), force=True)
    mercer.save(mercer.PCA(2), tmp_path / "m.mercer")
    assert refuse_model(str(tmp_path / "m.mercer"), force=True) == tmp_path / "m.mercer"


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.csv.gz"])
def test_kinds_that_are_not_written(tmp_path, name):
    with pytest.raises(InputError, match="not known by its name"):
        refuse_scores(str(tmp_path / name), option="-o")


@pytest.mark.parametrize("name", ["m.csv", "m.parquet", "-"])
def test_a_model_is_no_table(tmp_path, name):
    with pytest.raises(InputError, match=r"ends in \.mercer"):
        refuse_model(name if name == "-" else str(tmp_path / name))


def test_a_folder_that_may_not_be_written_to_is_known_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="nothing may be written"):
        refuse_scores(str(tmp_path / "new.csv"), option="--scores")


DATA = Path(__file__).parents[1] / "data"


def fit(path, *words):
    return ok(CliRunner().invoke(commands, ["fit", str(path), *map(str, words), "-q"]))


def test_columns_of_counts_with_their_shares(tmp_path):
    fit(
        DATA / "hair_eye_592.csv",
        "--method",
        "ca",
        "-k",
        2,
        "--columns-out",
        tmp_path / "c.csv",
    )
    found = pl.read_csv(tmp_path / "c.csv")
    frame = pl.read_csv(DATA / "hair_eye_592.csv").drop("eye")
    model = mercer.CorrespondenceAnalysis(2).fit(frame)
    assert found["column"].to_list() == frame.columns
    assert np.array_equal(found.select("PC1", "PC2").to_numpy(), model.column_coordinates_)
    assert np.allclose(found["mass"].sum(), 1.0)
    assert np.allclose(found["inertia"].sum(), model.total_inertia_)
    assert np.allclose(found["contribution_1"].sum(), 1.0)
    assert {"cos2_1", "cos2_2"} <= set(found.columns)


def test_supplementary_counts_come_last(tmp_path):
    words = ("--method", "ca", "--sup", "Other", "--columns-out", tmp_path / "c.csv")
    done = fit(DATA / "french_writers.csv", *words)
    assert "Supplementary columns, coordinates on the axes" in done.stdout
    found = pl.read_csv(tmp_path / "c.csv")
    assert found["column"].to_list() == ["Period", "Comma", "Other"]
    assert np.isnan(found["mass"][2])
    frame = pl.read_csv(DATA / "french_writers.csv")
    model = mercer.CorrespondenceAnalysis(1).fit(frame.select("Period", "Comma"))
    placed = model.supplementary_columns(frame.select("Other").to_numpy())
    assert np.allclose(found["PC1"][2], placed[0, 0])


def test_arrays_and_raw_text_are_written_as_they_are(tmp_path, made):
    words = ("--method", "ca", "-k", 2, "--columns-out", tmp_path / "c.npy")
    fit(DATA / "hair_eye_592.csv", *words)
    assert np.load(tmp_path / "c.npy").shape == (4, 2)
    path = tmp_path / "z.csv"
    write_coordinates(path, iter([np.ones((5, 1))]), ["PC1"], Beside(made), raw=True)
    assert path.read_text(encoding="utf-8").splitlines()[1] == "=1+1,1.0"


def test_other_methods_have_correlations_or_loadings(tmp_path):
    words = ("--method", "lda", "--target", "Species", "--columns-out", tmp_path / "l.csv")
    fit(DATA / "iris.csv", *words)
    lda = pl.read_csv(tmp_path / "l.csv")
    assert lda.columns == ["column", "PC1", "PC2"]
    assert lda.height == 4
    fit(DATA / "iris.csv", "-k", 2, "--standardize", "no", "--columns-out", tmp_path / "p.csv")
    X = pl.read_csv(DATA / "iris.csv").select(pl.col(pl.Float64)).to_numpy()
    found = pl.read_csv(tmp_path / "p.csv").select("PC1", "PC2").to_numpy()
    # Loadings v√λ of all axes give the covariance; two axes give the closest of rank two.
    values, axes = np.linalg.eigh(np.cov(X.T))
    near = axes[:, -2:] * values[-2:] @ axes[:, -2:].T
    assert np.allclose(found @ found.T, near, atol=1e-8)


def test_what_has_no_places_is_refused_before_the_fit():
    assert places_of(object()) is None
    for kind, name in ((mercer.Isomap, "isomap"), (mercer.KernelPCA, "kernel-pca")):
        with pytest.raises(InputError, match="no coordinates of columns"):
            refuse_placeless(name, kind())
    refuse_placeless("pca", mercer.PCA())
    with pytest.raises(UsageError, match="go to a file"):
        refuse_stdout("-")


HARD = [0.1, -0.0, 5e-324, 1.7976931348623157e308, 1 / 3, -2.5e-17, np.nextafter(1, 2)]


@pytest.fixture
def made(tmp_path):
    rows = [f"{text},{i},{i * i % 7}" for i, text in enumerate(["=1+1", "-x", "@y", "d", "7"])]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["name,x,y", *rows]) + "\n", encoding="utf-8")
    return prepared(look(path, Asked(id="name")))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy"])
def test_numbers_come_back_bit_for_bit(tmp_path, made, kind):
    Z = np.array([*HARD, 1.5, 2.5, 3.0]).reshape(5, 2)
    path = tmp_path / f"z.{kind}"
    parts = iter([Z[:2], Z[2:]])
    assert write_coordinates(path, parts, ["PC1", "PC2"], Beside(made), raw=False) == 5
    if kind == "npy":
        found = np.load(path)
    else:
        separator = {"csv": ",", "tsv": "\t"}
        read = (
            pl.read_parquet(path)
            if kind == "parquet"
            else pl.read_csv(path, separator=separator[kind])
        )
        assert read.columns == ["name", "PC1", "PC2"]
        quote = "" if kind == "parquet" else "'"
        assert read["name"].to_list() == [f"{quote}=1+1", f"{quote}-x", f"{quote}@y", "d", "7"]
        found = read.select("PC1", "PC2").to_numpy()
    assert found.tobytes() == Z.tobytes() or np.array_equal(
        np.ascontiguousarray(found).view(np.int64), Z.view(np.int64)
    )


def test_stdout_gets_text(made, monkeypatch):
    class Out:
        buffer = io.BytesIO()

        def flush(self):
            pass

    monkeypatch.setattr("sys.stdout", Out())
    write_coordinates(None, iter([np.ones((5, 1))]), ["PC1"], Beside(made), raw=False)
    assert Out.buffer.getvalue().decode().splitlines()[-1] == "7,1.0"


def test_rows_of_the_fit_are_where_the_map_put_them():
    import types

    rows = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    places = np.arange(6.0).reshape(3, 2)
    kept = types.SimpleNamespace(embedding_=places)
    assert np.concatenate(list(fit_coordinates(kept, rows))) is not places
    assert np.array_equal(np.concatenate(list(fit_coordinates(kept, rows))), places)
    moved = types.SimpleNamespace(row_coordinates_=places[:2], transform=lambda _: places + 1)
    assert np.array_equal(np.concatenate(list(fit_coordinates(moved, rows))), places + 1)


def prepared_of(path, **asked):
    return prepared(look(path, Asked(**asked)))


@pytest.fixture
def named_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "PC1": [f"r{i}" for i in range(30)],
            "group": ["=a", "b", "NA"] * 10,
            "size": range(30),
            "x": rng.standard_normal(30),
            "y": rng.standard_normal(30),
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_pieces_of_any_length_are_the_columns(named_table):
    rows = prepared_of(named_table, id="PC1", color=("group", "size"))
    beside = Beside(rows, rows.color, numbers=["size"], taken=["PC1"])
    parts = [beside.take(n) for n in (1, 0, 7, 22)]
    whole = pl.concat(parts)
    assert whole.columns == ["PC1_", "group", "size"]
    assert beside.id == "PC1_"
    assert whole["PC1_"].to_list() == [f"r{i}" for i in range(30)]
    assert whole["group"][:3].to_list() == ["=a", "b", "NA"]
    assert whole["size"].dtype == pl.Float64


def test_rows_of_exchanged_and_nameless_tables_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n,\n3,5\n4,4\n", encoding="utf-8")
    rows = prepared_of(path, missing="rows")
    beside = Beside(rows)
    assert beside.id is None
    assert beside.take(3)["row"].to_list() == [1, 3, 4]
    assert rows.numbers_at(np.array([1])).tolist() == [3]
    frame = pl.DataFrame({"gene": ["a", "b", "c"], "s1": [1.0, 2, 4], "s2": [2.0, 3, 3]})
    frame.with_columns(s3=pl.Series([9.0, 1, 5])).write_csv(tmp_path / "t.csv")
    beside = Beside(prepared_of(tmp_path / "t.csv", transpose=True, id="gene"))
    assert beside.take(3).to_dict(as_series=False) == {"name": ["s1", "s2", "s3"]}
    assert beside.id == "name"


def test_groups_stand_behind_the_names(tmp_path):
    import types

    class Model:
        def predict(self, rows):
            return np.asarray(["lo" if a < 2 else "hi" for a in rows["a"]])

    (tmp_path / "g.csv").write_text("group,a\nx,1\ny,2\nx,3\n", encoding="utf-8")
    rows = pl.DataFrame({"a": [1, 2, 3]})
    prepared_of = types.SimpleNamespace(
        row_names=("p", "q", "r"), id=None, recipe=types.SimpleNamespace(cross=("group", "b"))
    )
    beside = WithGroups(Beside(prepared_of), Model(), rows)
    first = beside.take(2)
    assert first.to_dict(as_series=False) == {"group": ["p", "q"], "group_": ["lo", "hi"]}
    assert beside.take(1)["group_"].to_list() == ["hi"]
