from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli._usage import UsageError
from mercer.cli.app import commands
from mercer.cli.fitting._fit_run import places_of, refuse_placeless, refuse_stdout
from mercer.errors import InputError

DATA = Path(__file__).parents[1] / "data"


def fit(path, *words):
    done = CliRunner().invoke(commands, ["fit", str(path), *map(str, words), "-q"])
    assert done.exit_code == 0, done.stderr
    return done


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


def test_an_array_holds_coordinates_alone(tmp_path):
    words = ("--method", "ca", "-k", 2, "--columns-out", tmp_path / "c.npy")
    fit(DATA / "hair_eye_592.csv", *words)
    assert np.load(tmp_path / "c.npy").shape == (4, 2)


def test_other_methods_have_correlations_or_loadings(tmp_path):
    words = ("--method", "lda", "--target", "Species", "--columns-out", tmp_path / "l.csv")
    fit(DATA / "iris.csv", *words)
    lda = pl.read_csv(tmp_path / "l.csv")
    assert lda.columns == ["column", "PC1", "PC2"]
    assert lda.height == 4
    fit(DATA / "iris.csv", "-k", 2, "--columns-out", tmp_path / "p.csv")
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
