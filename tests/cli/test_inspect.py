import json
import re

import numpy as np
import polars as pl
import pytest
from tests.cli.typed import command, ok

import mercer

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)) + 9 * rng.normal(size=(80, 1))


run = command("inspect")


def saved(model, folder, notes=None):
    path = folder / "m.mercer"
    if notes is not None:
        model.notes_ = notes
    mercer.save(model, path)
    return path


def test_a_model_says_what_it_is_and_what_it_was_fitted_to(tmp_path):
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    recipe = {"columns": ["a", "b", "c", "d"], "id": "name", "transpose": False}
    notes = {"recipe": recipe, "data": {"file": "t.csv", "rows": 80}}
    notes["limits"] = {"0.95": [6.0, 2.5]}
    model = mercer.PCA(2, standardize=True).fit(frame)
    path = saved(model, tmp_path, notes)
    done = ok(run(path))
    head, fitted, columns, parameters, *_ = done.stdout.splitlines()
    assert re.fullmatch(rf"{path}: pca, written by mercer \S+, format \d+", head)
    assert fitted == "fitted to 80 rows and 4 columns"
    assert columns == "columns: a, b, c, d"
    assert parameters == "parameters: n_components=2, standardize=True"
    shares = 100 * model.explained_variance_ratio_
    assert f"{shares[0]:.1f}" in done.stdout
    assert f"{shares.sum():.1f}" in done.stdout
    assert "certified: every variance to " in done.stdout
    assert "data: file t.csv, rows 80" in done.stdout
    assert "recipe: id name" in done.stdout
    assert "transpose" not in done.stdout
    assert "recipe: columns" not in done.stdout
    assert "limits at 95%: T² 6, Q 2.5" in done.stdout
    assert "privacy: no row of the data is inside this file" in done.stdout


def test_a_program_gets_the_numbers(tmp_path):
    model = mercer.PCA("auto").fit(X)
    document = json.loads(run(saved(model, tmp_path), "--json").stdout)["model"]
    assert document["method"] == "pca"
    assert document["components"] == model.n_components_
    assert np.allclose(document["variances"], model.explained_variance_)
    assert document["choice"]["reason"] == model.choice_.reason
    assert document["certificate"]["met"] is True
    assert document["notes"] is None
    assert (document["rows_inside"], document["numbers_per_row"]) == (0, [])


def test_rows_and_numbers_inside_are_told_of(tmp_path):
    model = mercer.KernelPCA(2, kernel="rbf(lengthscale=3)").fit(X)
    done = run(saved(model, tmp_path))
    assert "kernel: RBF(lengthscale=3.0)" in done.stdout
    assert "privacy: 80 rows of the data are inside this file" in done.stdout
    done = run(saved(mercer.RobustPCA(2).fit(X), tmp_path))
    assert "no row of the data is inside, but some numbers about each" in done.stdout


def test_words_of_categories_are_told_of(tmp_path):
    recipe = {"columns": ["a", "g"], "levels": {"g": ["x", "y"]}, "reading": {"na": ["-"]}}
    done = run(saved(mercer.PCA(2).fit(X), tmp_path, {"recipe": recipe}))
    assert "recipe: levels g=x/y" in done.stdout
    assert "recipe: reading na=-" in done.stdout
    assert "inside this file, but the words of its categories are" in done.stdout
    frame = pl.DataFrame({"a": ["x", "y"] * 4, "b": ["u", "u", "v", "v"] * 2})
    recipe = {"columns": ["a", "b"], "categories": {"a": "text", "b": "text"}}
    recipe |= {"table": "categories", "scales": {"a": 1 / 3}}
    model = mercer.MultipleCorrespondenceAnalysis(1).fit(frame)
    text = run(saved(model, tmp_path, {"recipe": recipe})).stdout
    assert "the words of its categories are" in text
    assert "recipe: table categories" in text
    assert "recipe: scales a=0.3333" in text


def test_axes_alike_many_and_unfitted(tmp_path):
    square = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0.1]])
    done = run(saved(mercer.PCA(3).fit(square), tmp_path))
    assert "PC1, PC2 cannot be told apart" in done.stdout
    done = run(saved(mercer.PCA(15).fit(rng.normal(size=(50, 20))), tmp_path))
    assert "… (5 more)" in done.stdout
    done = ok(run(saved(mercer.PCA(2), tmp_path)))
    assert "pca, not fitted" in done.stdout
    (tmp_path / "m.mercer").write_bytes(b"\x80\x04pickle")
    done = run(tmp_path / "m.mercer")
    assert (done.exit_code, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 3


def test_no_component_and_other_faces(tmp_path):
    with pytest.warns(mercer.DataWarning):
        model = mercer.PCA("auto").fit(rng.normal(size=(300, 20)))
    done = run(saved(model, tmp_path))
    assert "no component\n" in done.stdout
    assert "No component beyond noise" in done.stdout
    from mercer import dropin

    done = run(saved(dropin.PCA(2).fit(X), tmp_path))
    assert (done.exit_code, done.stderr) == (0, "")
    assert ": PCA, written by" in done.stdout


def test_families_say_what_they_have_and_keep(tmp_path):
    table = np.random.default_rng(0).poisson(9.0, (12, 5)) + 9 * np.eye(12, 5)
    path = saved(mercer.CorrespondenceAnalysis(2).fit(table), tmp_path)
    text = run(path).stdout
    assert "axis   inertia  share %  sum %" in text
    assert "certified: every eigenvalue to " in text
    assert "no row of the data is inside" in text
    document = json.loads(run(path, "--json").stdout)["model"]
    assert document["variances"] is None
    assert len(document["eigenvalues"]) == 2
    path = saved(mercer.LocallyLinearEmbedding().fit(X), tmp_path)
    text = run(path).stdout
    assert "share" not in text
    assert "privacy: 80 rows of the data are inside this file" in text
