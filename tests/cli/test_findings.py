import types

import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli._voice import Voice
from mercer.cli.fitting import _fit_findings as _findings
from mercer.cli.fitting._axis_lines import (
    axis_lines,
    certified_lines,
    components_for,
    how_many,
    shares_of,
    spectrum_table,
    values_of,
    what_was_found,
)
from mercer.cli.fitting._fit_stages import fitted, ready
from mercer.cli.fitting._new_estimator import built
from mercer.cli.fitting._row_judgement import _step, _work, findings, judged, related, some_rows
from mercer.diagnostics import Finding, outliers, sampling_error
from mercer.errors import DataWarning
from mercer.tables import Asked, look, prepared


def found(tmp_path, X, method="pca", k="2", **asked):
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])})
    frame.write_parquet(tmp_path / "x.parquet")
    model = built(method, components=k)
    have = ready(
        Voice(quiet=True), str(tmp_path / "x.parquet"), Asked(**asked), method, lambda _: model
    )
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
    X = rows
    done, looked = found(tmp_path, X, "robust-pca")
    done.model.method = "spherical"
    assert _findings.document(done, looked)["lower"] is None
    assert " - " in _findings.lines(done, looked)[3]


def prepare(tmp_path, X, **asked):
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])})
    frame.write_parquet(tmp_path / "x.parquet")
    return prepared(look(tmp_path / "x.parquet", Asked(**asked)))


@pytest.fixture
def wide_rows():
    rng = np.random.default_rng(1)
    return rng.standard_normal((90, 5)) * [9, 4, 1, 1, 1]


def test_tables_are_looked_at_whole_or_have_no_limits(tmp_path, wide_rows):
    X = wide_rows
    X[30, 4] = 25
    made = prepare(tmp_path, X, standardize="yes")
    model = mercer.PCA(2, standardize=True).fit(made.rows)
    found = judged(model, made)
    scaled = X / X.std(axis=0, ddof=1)
    expected = outliers(scaled, 2)
    assert found.whole
    assert np.allclose(found.found.t2, expected.t2)
    assert found.found.flagged[0] == 30
    assert np.allclose(found.table, scaled)
    assert np.allclose(found.sampling, sampling_error(found.scores))
    new = expected.new_at(0.95)
    assert found.limits == {"0.95": pytest.approx([new.t2, new.q])}  # 99 % takes 99 rows
    X = wide_rows
    made = prepare(tmp_path, X)
    assert judged(mercer.KernelPCA(2).fit(made.rows), made).limits is None
    assert judged(mercer.RobustPCA(2).fit(made.rows), made).found is None
    rest = prepare(tmp_path, X[:, 2:])
    with pytest.warns(DataWarning, match="no component"):
        model = mercer.PCA("auto").fit(rest.rows)
    none = judged(model, rest)
    assert none.limits is None
    assert none.scores.shape == (90, 0)


@pytest.mark.parametrize(("n", "p"), [(10, 3), (10**6, 50), (5000, 4000), (200, 30_000)])
def test_the_work_is_bounded(n, p):
    wide_rows = -(-n // _step(n, p))
    assert 1 <= wide_rows <= n
    assert _work(wide_rows, p) <= 5e8 or wide_rows <= 125
    assert wide_rows == n or n * p > 4e6 or _work(n, p) > 5e8


def test_rows_are_counted_in_the_file_and_judged(tmp_path, wide_rows):
    X = wide_rows
    made = prepare(tmp_path, X)
    source = mercer.scan(tmp_path / "x.parquet")
    assert np.array_equal(some_rows(source, 7), X[::7])
    assert np.array_equal(some_rows(made.rows, 7).to_numpy(), X[::7])
    X = np.random.default_rng(0).standard_normal((200, 4)) * [1000, 1, 1, 1]
    made = prepare(tmp_path, X, standardize="no")
    model = mercer.PCA(1).fit(made.rows)
    found = findings(model, judged(model, made), ["mass", "a", "b", "c"], None, None)
    assert [finding.code for finding in found] == ["M104"]


def test_other_columns_against_the_axes():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((50, 2))
    x = z[:, 0] + rng.standard_normal(50)
    series = pl.Series([None if i == 4 else v for i, v in enumerate(x)])
    found = related(series, z)
    there = np.arange(50) != 4
    expected = [np.corrcoef(x[there], z[there, j])[0, 1] for j in range(2)]
    assert found["kind"] == "r"
    assert np.allclose(found["axes"], expected)
    groups = (z[:, 1] > 0).astype(int)
    text = related(pl.Series(["=a", "b"])[groups.tolist()], z)
    means = np.array([z[groups == g].mean(axis=0) for g in (0, 1)])
    between = ((means[groups] - z.mean(axis=0)) ** 2).sum(axis=0)
    assert text["kind"] == "eta2"
    assert np.allclose(text["axes"], between / ((z - z.mean(axis=0)) ** 2).sum(axis=0))
    for value in (1.0, 0.1, 0.3):
        assert related(pl.Series([value] * 50), z)["axes"] == [None, None]


def model(**attributes):
    made = object.__new__(mercer.LaplacianEigenmaps)
    vars(made).update({"n_components_": 2} | attributes)
    return made


def test_a_table_has_what_the_method_has():
    whole = model(
        eigenvalues_=np.array([2.0, 1.0]), explained_variance_ratio_=np.array([0.5, 0.25])
    )
    assert axis_lines(whole) == [
        "axis  eigenvalue  share %  sum %",
        "   1      2.0000     50.0   50.0",
        "   2      1.0000     25.0   75.0",
    ]
    bare = model(eigenvalues_=np.array([2.0, 1.0]), explained_variance_ratio_=None)
    assert axis_lines(bare) == ["axis  eigenvalue", "   1      2.0000", "   2      1.0000"]
    shares = model(explained_variance_ratio_=np.array([0.5, 0.25]))
    assert axis_lines(shares)[1].split() == ["1", "50.0", "50.0"]
    assert axis_lines(model()) == []
    assert axis_lines(model(n_components_=0, eigenvalues_=np.empty(0))) == []
    long = model(n_components_=3, eigenvalues_=np.ones(3), explained_variance_ratio_=None)
    assert axis_lines(long, 2)[-1] == "… (1 more)"


def test_why_there_are_so_many_axes():
    assert values_of(model()) is None
    assert shares_of(model(explained_variance_ratio_=None)) is None
    assert values_of(model(explained_variance_=[3.0, 2.0, 1.0])).tolist() == [3.0, 2.0]
    table = np.random.default_rng(0).poisson(5.0, (6, 5)) + 20 * np.eye(6, 5)
    assert how_many(mercer.CorrespondenceAnalysis(1).fit(table)) == "1 axis, as asked."
    assert how_many(mercer.CorrespondenceAnalysis(2).fit(table)).startswith("2 axes, the def")
    assert "component" in how_many(mercer.CorrespondenceAnalysis("auto").fit(table))
    found = types.SimpleNamespace(reached=1e-12, groups=((0, 1), (1, 2)))
    lines = certified_lines(model(certificate_=found))
    assert lines[0] == "Certified: every eigenvalue to 1.0e-12 of itself."
    assert lines[1].startswith("Axes 1, 2 cannot be told apart")
    assert lines[2].startswith("Axes 2, the next one cannot")
    assert certified_lines(model()) == []


ratio = np.array([0.6, 0.3, 0.1, 0.0])
V = np.eye(4)
columns = ["height", "width", "depth", "colour"]


def findings_of(ratio=ratio, components=V, **options):
    given = {"rank": 4, "groups": (), **options}
    return what_was_found(ratio, components, columns, **given)


def test_table_shows_the_farther_end_of_each_interval_and_running_sums():
    values = 10 * ratio
    lines = spectrum_table(values, values - 1e-9, values + 3e-9, values / 100, ratio, rows=3)
    head, first, second, third, more = lines
    assert head.split() == [
        "component", "variance", "certified", "±", "sampling", "±", "share", "%", "sum", "%",
    ]  # fmt: skip
    assert first.split() == ["1", "6.0000", "3.0e-09", "0.060", "60.0", "60.0"]
    assert second.split()[-1] == "90.0"
    assert third.split()[-1] == "100.0"
    assert "(1 more)" in more
    assert len({len(line) for line in (head, first, second, third)}) == 1


@pytest.mark.parametrize(
    ("share", "count"), [(0.5, 1), (0.6, 1), (0.61, 2), (0.9, 2), (1.0, 3), (1.1, None)]
)
def test_components_for_a_share(share, count):
    assert components_for(ratio, share) == count


def test_the_usual_findings():
    lines = findings_of()
    assert lines[0] == "2 components carry 90 % of the variance (of 4 features)."
    assert lines[1] == "The map of PC1 and PC2 shows 90.0 % of it."
    assert lines[2] == "PC1 weighs most: height (+1.00)."
    assert lines[4] == "Rank 4: every direction carries variance."
    assert lines[5] == "The arithmetic tells every axis with variance from its neighbours."
    assert findings_of(ratio[:1], V[:1])[0] == "1 component carries 60.0 % of the variance."
    lines = findings_of(rank=2, groups=[(2, 3)], constant=["colour"])
    assert "Rank 2: 2 of 4 directions carry no variance; constant: colour." in lines
    assert not [line for line in lines if "cannot be told apart" in line]
    lines = findings_of(groups=[(0, 1)])
    assert lines[-1] == "PC1, PC2 cannot be told apart: only the space they span has a meaning."
    lines = findings_of(ratio[:2], V[:2], groups=[(1, 2)])
    assert lines[-1].startswith("PC2, the next axis cannot be told apart")
