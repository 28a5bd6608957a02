import numpy as np
import polars as pl
import pytest

import mercer
from mercer.cli.fitting._row_judgement import _step, _work, findings, judged, related, some_rows
from mercer.diagnostics import outliers, sampling_error
from mercer.errors import DataWarning
from mercer.tables import Asked, look, prepared


def prepare(tmp_path, X, **asked):
    frame = pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])})
    frame.write_parquet(tmp_path / "x.parquet")
    return prepared(look(tmp_path / "x.parquet", Asked(**asked)))


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    return rng.standard_normal((90, 5)) * [9, 4, 1, 1, 1]


def test_small_tables_are_looked_at_whole(tmp_path, rows):
    X = rows
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
    assert found.limits["0.99"] == pytest.approx([expected.new.t2, expected.new.q])


def test_what_has_no_limits(tmp_path, rows):
    X = rows
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
    rows = -(-n // _step(n, p))
    assert 1 <= rows <= n
    assert _work(rows, p) <= 5e8 or rows <= 125
    assert rows == n or n * p > 4e6 or _work(n, p) > 5e8


def test_every_few_rows_of_a_file(tmp_path, rows):
    X = rows
    made = prepare(tmp_path, X)
    source = mercer.scan(tmp_path / "x.parquet")
    assert np.array_equal(some_rows(source, 7), X[::7])
    assert np.array_equal(some_rows(made.rows, 7).to_numpy(), X[::7])


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


def test_health_sees_the_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 4)) * [1000, 1, 1, 1]
    made = prepare(tmp_path, X, standardize="no")
    model = mercer.PCA(1).fit(made.rows)
    found = findings(model, judged(model, made), ["mass", "a", "b", "c"], None, None)
    assert [finding.code for finding in found] == ["M104"]
