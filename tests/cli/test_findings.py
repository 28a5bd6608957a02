import numpy as np
import polars as pl
import pytest

from mercer.cli._voice import Voice, plain
from mercer.cli.fitting import _fit_findings as _findings
from mercer.cli.fitting._fit_stages import fitted, ready
from mercer.cli.fitting._new_estimator import built
from mercer.cli.fitting._row_judgement import judged
from mercer.diagnostics import Finding
from mercer.tables import Asked


def found(tmp_path, X, method="pca", k="2", **asked):
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])})
    frame.write_parquet(tmp_path / "x.parquet")
    model = built(method, components=k)
    have = ready(Voice(quiet=True), str(tmp_path / "x.parquet"), Asked(**asked), method, model)
    done = fitted(Voice(quiet=True), have)
    return done, judged(done.model, done.made)


@pytest.fixture
def rows():
    X = np.random.default_rng(2).standard_normal((60, 4)) * [8, 3, 1, 1]
    X[11] = [0, 0, 0, 30]
    return X


def test_lines_name_rows_columns_and_findings(tmp_path, rows):
    X = rows
    done, looked = found(tmp_path, X, standardize="no")
    ids = [f"row{i}" for i in range(60)]
    finding = Finding("M110", "what", "got", "fix")
    sup = {
        "age": {"kind": "r", "axes": [0.5, None]},
        "team": {"kind": "eta2", "axes": [0.1, 0]},
    }
    text = "\n".join(_findings.lines(done, looked, ids, sup, [finding]))
    assert text.startswith("x.parquet: PCA of 60 rows, 4 columns\n")
    assert "2 components, as asked" in text
    assert "row11 (" in text
    assert "  age        +0.500       -" in text
    assert "  team (η²)  +0.100  +0.000" in text
    assert text.endswith("M110 what\n  got: got\n  fix: fix")


def test_rows_are_counted_from_one_in_the_file(tmp_path, rows):
    X = rows
    X[0] = np.nan
    done, looked = found(tmp_path, X, missing="rows")
    rows = _findings.document(done, looked)["outliers"]["rows"]
    assert rows[0]["row"] == 12
    assert rows[0]["id"] is None


def test_the_document_is_plain(tmp_path, rows):
    X = rows
    done, looked = found(tmp_path, X, k="auto")
    said = plain(_findings.document(done, looked))
    assert said["choice"]["k"] == said["components"] == len(said["variance"])
    assert said["data"]["rows"] == 60
    assert said["certified"]["met"] is True


def test_intervals_of_a_kernel_are_those_of_its_variances(tmp_path, rows):
    X = rows
    done, looked = found(tmp_path, X, "kernel-pca")
    said = _findings.document(done, looked)
    assert np.all(said["lower"] <= said["variance"] * (1 + 1e-12))
    assert np.all(said["upper"] >= said["variance"] * (1 - 1e-12))
    assert said["upper"][0] < 2 * said["variance"][0]
    assert said["loadings"] is None
    assert any(line.startswith("Kernel: rbf(") for line in _findings.lines(done, looked))


def test_robust_rows_are_the_method_s_own(tmp_path, rows):
    X = rows
    done, looked = found(tmp_path, X, "robust-pca")
    said = _findings.document(done, looked)["outliers"]
    assert said["count"] == len(done.model.outliers_)
    assert said["rows"][0]["row"] == 12
    assert "robust distances" in "\n".join(_findings.lines(done, looked))


def test_signs_have_no_certified_variances(tmp_path, rows):
    X = rows
    done, looked = found(tmp_path, X, "robust-pca")
    done.model.method = "spherical"
    assert _findings.document(done, looked)["lower"] is None
    assert " - " in _findings.lines(done, looked)[3]
