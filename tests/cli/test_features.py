import json

import numpy as np
import polars as pl
import pytest
from tests.cli.typed import command, ok

import mercer

run = command()


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(5).standard_normal((70, 4)) + 3
    frame = pl.DataFrame({"name": [f"a{i}" for i in range(70)]})
    frame = frame.with_columns(**{f"v{i}": X[:, i] for i in range(4)})
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path


@pytest.mark.parametrize("by", ["landmarks", "random"])
def test_features_of_the_fit_and_of_new_rows(folder, by):
    frame, model = pl.read_csv(folder / "t.csv"), folder / "map.mercer"
    words = ["features", folder / "t.csv", "--by", by, "-m", 12, "--kernel", "rbf(gamma=0.1)"]
    done = ok(run(*words, "-o", folder / "f.csv", "--model", model, "--json"))
    said = json.loads(done.stdout)
    assert (said["rows"], said["features"], said["by"]) == (70, 12, by)
    table = pl.read_csv(folder / "f.csv")
    assert table.columns == ["name", *(f"F{i + 1}" for i in range(12))]
    X, F = frame.drop("name"), table.drop("name").to_numpy()
    kind = mercer.LandmarkFeatures if by == "landmarks" else mercer.RandomFeatures
    wanted = kind(12, kernel="rbf(gamma=0.1)").fit(X)
    np.testing.assert_allclose(F, wanted.transform(X), atol=1e-12)
    if by == "landmarks":
        whole = np.sum(wanted.kernel_.diag(X.to_numpy()))
        assert np.isclose(said["residual_share"], wanted.residual_trace_ / whole)
    ok(run("transform", model, folder / "t.csv", "-o", folder / "again.csv"))
    assert (folder / "again.csv").read_bytes() == (folder / "f.csv").read_bytes()
    assert "Features" in ok(run("inspect", model)).stdout


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--kernel", "foo"], "there is no kernel 'foo'", 2),
        (["--set", "n_landmarks=x"], "n_landmarks must be", 2),
        (["--by", "random", "--set", "sampler=uniform"], "has no parameter 'sampler'", 2),
        (["--kernel", "tanh"], "positive definite", 3),
        (["--by", "random", "--kernel", "tanh"], "no random features", 3),
        (["-m", "0"], "", 2),
    ],
)
def test_what_cannot_be_made_is_refused(folder, words, said, code):
    done = run("features", folder / "t.csv", "-q", *words)
    assert (done.exit_code, len(done.stderr.splitlines())) == (code, 3)
    assert said in done.stderr
