"""The benchmark of maps judges by residuals, and by correct rivals only."""

import json

import numpy as np
import pytest
from benchmarks import auto_cost, factors, manifold, manifold_isomap, multivariate
from benchmarks.counts import Counts
from benchmarks.factors import NOISE_SD, Factors
from benchmarks.multivariate import CASES, PARTS, categories, compared, counts, inertias, topics


def found(ours=1.0, arpack=2.0, lobpcg=0.5, lobpcg_residual=10.0, mine=1e-6):
    return {
        "mercer": {"seconds": [ours], "residual": mine},
        "arpack": {"seconds": [arpack], "residual": 1e-9},
        "lobpcg": {"seconds": [lobpcg], "residual": lobpcg_residual},
    }


@pytest.mark.parametrize(
    ("changed", "fastest", "holds"),
    [
        ({}, "arpack", True),
        ({"ours": 3.0}, "arpack", False),
        ({"lobpcg_residual": 1e-4}, "lobpcg", False),
        ({"mine": 1e-2}, "arpack", False),
    ],
)
def test_a_wrong_rival_sets_no_target(changed, fastest, holds):
    cell = manifold.judged(found(**changed))
    assert (cell["fastest_correct"], cell["holds"]) == (fastest, holds)


def test_residuals_are_those_of_the_graph():
    x = manifold.roll(500)
    model, rival = manifold.ours(x), manifold.theirs(x, "arpack")
    assert manifold.residual(model.graph_.weights, model.embedding_) < 1e-4
    assert manifold.residual(model.graph_.weights, rival.embedding_) < 1e-6
    noise = np.random.default_rng(0).standard_normal(model.embedding_.shape)
    assert manifold.residual(model.graph_.weights, noise) > 1e-3


def test_the_roll_is_the_image_of_its_sheet():
    rows, sheet = manifold_isomap.roll(50)
    np.testing.assert_array_equal(rows, manifold_isomap.roll(50)[0])
    t = np.linalg.norm(rows[:, [0, 2]], axis=1)
    step = 1e-6
    along = lambda t: 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))  # noqa: E731
    np.testing.assert_allclose(sheet[:, 0], along(t))
    speed = (along(t + step) - along(t)) / step  # of a point on the spiral r = t
    np.testing.assert_allclose(speed, np.sqrt(1 + t**2), rtol=1e-4)
    z = np.random.default_rng(0).standard_normal((40, 2)) * [3, 1]
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 2)))[0]
    np.testing.assert_allclose(manifold_isomap.agreement(z, z @ turn + 5), 1)
    noise = np.random.default_rng(2).standard_normal((40, 2))
    assert min(manifold_isomap.agreement(z, z + 3 * noise)) < 0.9
    cell = manifold_isomap.compared(300, landmarks=80)
    json.dumps(cell)
    assert min(cell["correlations"]) > 0.99
    assert cell["landmarks"] == 80
    assert cell["ratio"] == pytest.approx(cell["rival_seconds"] / cell["seconds"])


def test_data_are_a_function_of_the_seed():
    np.testing.assert_array_equal(counts(40, 12), counts(40, 12))
    assert not np.array_equal(counts(40, 12), counts(40, 12, seed=1))
    assert categories(30, 3, 5).equals(categories(30, 3, 5))
    table = topics(400, 50, 5)
    assert table.sum() == 2000
    assert table.has_canonical_format
    assert abs(table - topics(400, 50, 5)).max() == 0
    table = np.array([[68, 119, 26, 7], [15, 54, 14, 10], [5, 29, 14, 16], [20, 84, 17, 94]])
    assert 592 * inertias(table).sum() == pytest.approx(138.2898, abs=1e-4)
    assert not set(CASES) & set(PARTS)
    with pytest.raises(RuntimeError, match="KeyError"):
        multivariate.part("nothing")


@pytest.mark.parametrize("error", [1e-9, 1e-3])
def test_a_cell_holds_where_all_three_do(error):
    truth = {"values": [0.5, 0.25]}
    ours = {
        "values": [0.5, 0.25 * (1 + error)],
        "seconds": 1.0,
        "peak_bytes": 10,
        "path": "svd",
    }
    theirs = {"values": [0.5, 0.25 * (1 + 1e-6)], "seconds": 6.0, "peak_bytes": 40}
    cell = compared(ours, theirs, truth)
    assert cell["ratio"] == 6
    assert cell["memory_share"] == 0.25
    assert cell["error"] == pytest.approx(error, rel=1e-6)
    assert cell["holds"] is (error < 1e-6)
    assert not compared({**ours, "seconds": 2.0}, theirs, truth)["holds"]
    assert not compared({**ours, "peak_bytes": 20}, theirs, truth)["holds"]
    json.dumps(cell)


@pytest.mark.slow
def test_both_sides_measure_the_same_table():
    pytest.importorskip("prince")
    ours, theirs = multivariate.our_ca(200), multivariate.their_ca(200)
    cell = compared(ours, theirs, multivariate.ca_truth(200))
    assert cell["error"] < 1e-9
    assert cell["rival_error"] < 0.1
    assert cell["path"] in ("svd", "gram")


def test_passes_are_counted(monkeypatch):
    from mercer.operators import Framed

    monkeypatch.setattr(Framed, "gram_matmat", Framed.gram_matmat)  # put back afterwards
    cell = multivariate.sparse_ca(5000, 3000, 10)
    assert (cell["path"], cell["met"]) == ("krylov", True)
    assert cell["passes"] > 2
    assert cell["floor_seconds"] > 0
    assert cell["stored_cells"] <= 50_000


def test_factors_are_what_is_stated():
    loadings = Factors(500, 40, 1.0).loadings()
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(40), rtol=0, atol=1e-13)
    assert Factors(5000, 300, 1.0).rank == 100
    assert Factors(5000, 30, 1.0).rank == 30
    assert Factors(20, 300, 1.0).rank == 20
    data = Factors(200_000, 20, 1.0)
    x = data.load()
    values = np.linalg.eigvalsh(np.cov(x, rowvar=False))[::-1]
    stated = data.sigma**2 + NOISE_SD**2
    np.testing.assert_allclose(values, stated, rtol=5 * np.sqrt(2 / 200_000))
    x = Counts(4_000, 500, 0.05).load()
    assert x.shape == (4_000, 500)
    assert abs(x.nnz / (4_000 * 500) - 0.05) < 0.003


@pytest.mark.parametrize("offset", [1.0, 100.0])
def test_every_column_has_the_stated_offset(offset):
    x = Factors(50_000, 30, offset).load()
    np.testing.assert_allclose(x.mean(axis=0) / x.std(axis=0), offset, rtol=0.02, atol=0.02)


def test_data_are_a_function_of_the_seed_and_cover_every_block(monkeypatch):
    monkeypatch.setattr(factors, "BLOCK_BYTES", 8 * 30 * 70)
    data = Factors(200, 30, 1.0)
    assert data.block_rows() == 70
    first = data.load()
    assert np.array_equal(first, data.load())
    assert not np.array_equal(first, Factors(200, 30, 1.0, seed=1).load())
    # Blocks must not repeat one another.
    step = data.block_rows()
    assert not np.array_equal(first[:10], first[step : step + 10])


def test_logged_counts_are_counts_of_rows_of_one_depth():
    counts, logged = Counts(2_500, 300, 0.1), Counts(2_500, 300, 0.1, "float32", logged=True)
    x, y = counts.load(), logged.load()
    np.testing.assert_array_equal(x.indices, y.indices)
    back = y.astype(np.float64)
    back.data = np.expm1(back.data)
    totals = np.asarray(back.sum(axis=1)).ravel()
    held = np.diff(y.indptr) > 0
    level = counts.rates().mean(axis=0).sum()
    np.testing.assert_allclose(totals[held], level, rtol=1e-5)
    assert y.dtype == np.float32
    assert not np.array_equal(y.data, np.round(y.data))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_table_has_five_factors(dtype):
    rows = auto_cost.table(20, dtype)
    assert rows.shape == (2000, 20)
    assert rows.dtype == dtype
    np.testing.assert_array_equal(rows, auto_cost.table(20, dtype))
    values = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    assert values[4] > 1.5 * values[5]


def test_both_fits_are_timed_in_turns():
    cell = auto_cost.cost(20, "float64", turns=3)
    assert cell["turns"] == 3
    assert abs(cell["components"] - auto_cost.FACTORS) <= 1
    whole = cell["seconds"] / cell["rival_seconds"] - 1
    assert cell["extra_with_all_rules"] == pytest.approx(whole)
    assert set(cell["all_seconds"]) == {"plain", "deciding", "auto"}
    assert cell["holds"] == (cell["extra"] <= 0.1)
