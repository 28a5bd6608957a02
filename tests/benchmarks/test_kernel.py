"""The kernel benchmark judges by correct rivals only, and its table says what held."""

import gc
import json
import time

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import cluster, kernel, missing, missing_rivals, outofcore, scale, table
from benchmarks.missing_rivals import soft_impute_als
from benchmarks.roofs import Roofs
from benchmarks.watch import Watch

from mercer import PCA


def record(seconds, error, tolerance=1e-6):
    return {"median": seconds, "error": error, "correct": error <= tolerance}


def cell(ours=1.0, default=20.0, arpack=3.0, arpack_error=1e-9):
    records = {
        "mercer": record(ours, 1e-8),
        "sklearn-auto": record(default, 1e-12),
        "sklearn-arpack": record(arpack, arpack_error),
        "sklearn-randomized": record(0.5, 1e-3),
    }
    judged = kernel._judged(kernel.CASES[0], records, 900, 1000.0)
    shape = {"case": "mnist-float64", "peak_bytes": 900, "peak_limit": 1000.0}
    return {**shape, "rivals": records, **judged}


def test_the_kernel_table_names_rivals_and_misses():
    assert cell()["fastest_correct"] == "sklearn-arpack"
    assert cell(arpack_error=1e-2)["fastest_correct"] == "sklearn-auto"
    lines = kernel.section({"started": "2026-01-01T00", "commit": "abc", "cells": [cell()]})
    rows = [line for line in lines if line.startswith("| mnist")]
    assert len(rows) == 1
    assert rows[0].endswith("| yes |")
    assert "MISSED" in kernel.line(cell(default=2.0))


@pytest.mark.parametrize(
    ("changed", "holds"),
    [({}, True), ({"default": 14.0}, False), ({"arpack": 1.1}, False), ({"ours": 4.0}, False)],
)
def test_both_ratios_count(changed, holds):
    assert cell(**changed)["holds"] is holds


def test_gamma_is_one_over_the_median():
    x = np.random.default_rng(0).standard_normal((500, 3))
    sample = x[::5]
    squared = ((sample[:, None] - sample[None]) ** 2).sum(axis=2)
    median = np.median(squared[np.triu_indices(100, 1)])
    assert kernel.gamma_of(x) == pytest.approx(1 / median)


CELL = {
    "case": "exact-100000",
    "target": "half-width 1e-4",
    "path": "tiles",
    "seconds": 30.0,
    "over_floor": 1.4,
    "reached": 3e-5,
    "peak_bytes": 900_000_000,
    "planned_bytes": 1_200_000_000,
    "holds": True,
}


def test_what_is_watched_is_measured():
    gc.collect()
    with Watch() as watch:
        held = np.ones(20_000_000)
        time.sleep(0.1)
    assert watch.seconds >= 0.1
    if watch.base:  # the system tells the memory of a process
        assert 0.5 * held.nbytes <= watch.peak <= 2 * held.nbytes
    roofs = Roofs.measured("float32", 4, 8, 1)
    assert min(roofs.product, roofs.exponential, roofs.thin, roofs.solve, roofs.gram) > 0
    pairs = 0.5 * 3 * 4
    each = roofs.product + roofs.exponential + 2 * roofs.thin
    assert roofs.walk(3 * roofs.side) == pytest.approx(pairs * each)
    assert roofs.landmarks(2 * roofs.side, 8) > 2 * (roofs.solve + roofs.gram)
    json.dumps(roofs.facts())


def test_a_cell_in_words():
    text = scale.line(CELL)
    for part in ("exact-100000", "30 s", "1.4x the floor", "900 MB", "holds"):
        assert part in text
    assert "MISSED" in scale.line({**CELL, "holds": False})
    assert "failed" in scale.line({"case": "x", "failed": ["no"]})
    lines = scale.section({"cells": [CELL, {"case": "samplers", "holds": False}]})
    assert sum(line.startswith(("| exact", "| samplers")) for line in lines) == 2
    assert "**no**" in "\n".join(lines)
    result = {"cells": [{"case": "file-5gb", "seconds": 3.0, "holds": True}]}
    text = "\n".join(scale.section(result, "PCA past memory", "outofcore"))
    assert "results/outofcore.json" in text
    assert "| file-5gb |" in text
    text = "\n".join(cluster.section(RESULT))
    assert "results/cluster.json" in text
    assert "| generated-10m |  |  | 9.5 | 1.12 | 2e-15 |  | 300 | 500 | yes |" in text


def test_a_file_is_what_its_variances_say(tmp_path):
    path = tmp_path / "few.npy"
    found = outofcore._write(path, 50_000, 40)
    rows = np.load(path)
    assert rows.shape == (50_000, 40)
    assert rows.dtype == np.float32
    wide = rows.astype(np.float64)
    wide -= wide.mean(axis=0)
    true = np.linalg.svd(wide, compute_uv=False) ** 2 / (len(wide) - 1)
    np.testing.assert_allclose(found, true, rtol=1e-9)
    assert abs(float(rows.mean()) - 288) < 1


def test_a_slow_spectrum_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(outofcore, "DATA", tmp_path)
    path, axes = outofcore._slow(200, 50, 5)
    rows = np.load(path)
    _, s, vt = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(s, np.arange(1, 51) ** -0.5, rtol=1e-10)
    assert outofcore._sine(vt[:5], axes) < 1e-6
    assert outofcore._slow_error(s[:5] ** 2 / 199, 200) < 1e-10


def test_a_table_has_the_noise_and_the_gaps_it_names():
    signal, values, hidden = missing.table(20_000, 30, 5.0, 0.2, 3)
    assert np.var(values - signal) == pytest.approx(1 / 5, rel=0.02)
    assert np.mean(np.var(signal, axis=0)) == pytest.approx(1, rel=0.05)
    assert np.mean(hidden) == pytest.approx(0.2, rel=0.02)
    tail = np.linalg.svd(signal - signal.mean(axis=0), compute_uv=False)[missing.RANK :]
    assert tail[0] < 1e-8


def _soft_impute_by_svd(x, k, ridge, rounds=4000):
    """Soft-thresholded SVDs of the whole table, until nothing moves."""
    hidden = np.isnan(x)
    mean = np.nanmean(x, axis=0)
    filled = np.where(hidden, 0.0, x - mean)
    for _ in range(rounds):
        u, d, vt = np.linalg.svd(filled, full_matrices=False)
        fitted = (u[:, :k] * np.maximum(d[:k] - ridge, 0)) @ vt[:k]
        filled = np.where(hidden, fitted, filled)
    return filled + mean


def test_alternating_ridge_reaches_the_soft_thresholded_svd():
    _, values, hidden = missing.table(80, 12, 5.0, 0.2, 0)
    x = np.where(hidden, np.nan, values)
    filled, facts = soft_impute_als(x, 8, 0.15, thresh=1e-24, rounds=3000)
    reference = _soft_impute_by_svd(x, 8, facts["lambda"])
    # The change is a difference of sums of squares: it sees no step below 1e-8.
    np.testing.assert_allclose(filled, reference, rtol=0, atol=1e-5)
    np.testing.assert_allclose(filled[~hidden], values[~hidden], rtol=0, atol=1e-14)
    _, values, hidden = missing.table(2_000, 30, 1.0, 0.2, 0)
    x = np.where(hidden, np.nan, values)
    filled, facts = soft_impute_als(x, 5, 0.03)
    assert 3 <= facts["rounds"] < 100
    longer, _ = soft_impute_als(x, 5, 0.03, thresh=1e-14, rounds=1000)
    # More rounds would not serve it: the error is that of its model, not of its stop.
    errors = [missing._rms((table - values)[hidden]) for table in (filled, longer)]
    assert errors[0] < 1.01 * errors[1]


def _record(seconds, rmse):
    seeds = [{"seconds": [seconds], "rmse": rmse, "rmse_signal": rmse}]
    return missing.summary(seeds)


def test_only_rivals_near_the_best_set_the_time():
    rivals = {
        "mercer-em": _record(1.0, 1.01),
        "hasty": _record(0.1, 1.2),
        "good": _record(6.0, 1.04),
        "best": _record(50.0, 1.0),
        "never": {"exceeded": 600.0},
        "broken": {"failed": "why"},
    }
    found = missing.verdict(rivals)
    assert (found["best"], found["fastest_near_best"]) == ("best", "good")
    assert found["error_over_best"] == pytest.approx(1.01)
    assert found["faster"] == pytest.approx(6)
    assert found["holds"] is True
    rivals["mercer-em"] = _record(1.0, 1.03)
    assert missing.verdict(rivals)["holds"] is False
    rivals["mercer-em"] = _record(1.3, 1.0)
    assert missing.verdict(rivals)["holds"] is False


def test_rivals_are_cut_off_and_compared_on_the_same_seeds():
    ours = {"median": 1.0, "rmse": 2.0, "seeds": [{"rmse": 1.0}, {"rmse": 3.0}]}
    theirs = {"median": 9.0, "rmse": 1.0, "seeds": [{"rmse": 1.0}]}
    found = missing.verdict({"mercer-em": ours, "slow": theirs})
    assert found["error_over_best"] == 1.0
    found = missing._apart("snr1-missing5", 0, ["soft-impute-als-0.01"], False, 0.05)
    assert found == {"soft-impute-als-0.01": {"exceeded": 0.05}}


def test_a_quick_run_writes_its_file(tmp_path, monkeypatch):
    few = {name: missing_rivals.FILLERS[name] for name in ("soft-impute-als-0.03",)}
    monkeypatch.setattr(missing, "FILLERS", few)
    out = tmp_path / "missing.json"
    options = ["--quick", "--case", "snr5-missing5", "--out", str(out)]
    assert command.main(["missing", *options]) == 0
    cell = json.loads(out.read_text())["cells"][0]
    found = cell["rivals"]["soft-impute-als-0.03"]
    assert found["seeds"][0]["observed_changed"] < 1e-14
    assert found["seeds"][0]["facts"]["cpu_seconds"] > 0
    noise = np.sqrt(1 / 5)
    assert noise < found["rmse"] < 1.2 * noise
    assert found["rmse_signal"] < 0.6 * noise
    # Measuring one method again keeps what is known of the others.
    kept = json.loads(out.read_text())
    kept["cells"][0]["rivals"]["mercer-em"] = _record(1e-6, found["rmse"])
    out.write_text(json.dumps(kept))
    command.main(["missing", *options, "--rivals", "soft-impute-als-0.03"])
    again = json.loads(out.read_text())["cells"]
    assert len(again) == 1
    assert set(again[0]["rivals"]) == {"mercer-em", "soft-impute-als-0.03"}
    assert again[0]["holds"] is True
    text = "\n".join(missing.section({"cells": [cell]}))
    assert "| snr5-missing5 | soft-impute-als-0.03 |" in text


@pytest.fixture
def sync():
    """Dask in this thread alone."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="sync"):
        yield


@pytest.mark.usefixtures("sync")
def test_the_rows_are_those_of_the_blocks():
    X = cluster.array_of(3, 50, 12)
    assert X.chunks == ((50, 50, 50), (12,))
    whole = np.concatenate(list(cluster._blocks(3, 50, 12)()))
    np.testing.assert_array_equal(X.compute(), whole)
    assert abs(float(whole.mean()) - 100) < 1
    assert len({block.tobytes() for block in np.split(whole, 3)}) == 3


def test_the_reference_is_that_of_lapack():
    whole = np.concatenate(list(cluster._blocks(3, 50, 12)()))
    found = cluster.variances_of(3, 50, 12, 4)
    np.testing.assert_allclose(found, cluster.lapack_variances(whole, 4), rtol=1e-11)


@pytest.mark.usefixtures("sync")
@pytest.mark.parametrize("name", list(cluster.shapes()))
def test_shapes_on_which_dask_ml_is_off(name):
    import dask.array as da

    x, k = cluster.shapes()[name]
    parted = da.from_array(x, chunks=(max(2, -(-len(x) // 4)), x.shape[1]))
    model = PCA(k).fit(parted)
    truth = cluster.lapack_variances(x, k)
    np.testing.assert_allclose(model.explained_variance_, truth, rtol=1e-10)
    assert model.certificate_.met


RESULT = {
    "cells": [
        {
            "case": "generated-10m",
            "seconds": 9.5,
            "over_threads": 1.125,
            "error": 2e-15,
            "peak_bytes": 300_000_000,
            "planned_bytes": 500_000_000,
            "holds": True,
        },
        {
            "case": "forecast",
            "symmetric_gflops": [60.0, 30.0],
            "thin_gflops": [40.0, 16.0],
            "task_seconds": 0.0012,
            "network_bytes_per_second": 9e8,
            "holds": True,
        },
    ]
}


def test_the_forecasts_stand_between_their_marks(tmp_path):
    from benchmarks.cluster_model import foreseen

    from mercer.planning import Machine

    forecasts = [foreseen(10**9, p, w, Machine()) for p in (100, 2_000) for w in (16, 64)]
    RESULT["cells"][1]["forecasts"] = forecasts
    (tmp_path / "cluster.json").write_text(json.dumps(RESULT))
    page = tmp_path / "cluster.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    assert table._forecasts(tmp_path, page) == [page]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert text.count("**") == 2 * 4  # one path is taken each time
    assert "| 100 | 16 | 6,250 | **gram** | 1 |" in text
    assert "1.2 ms a task" in text
    times = [each["paths"][0]["seconds"] for each in forecasts]
    assert times[1] < 0.5 * times[0]
    assert times[2] > 5 * times[0]
