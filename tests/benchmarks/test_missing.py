import json

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import missing, missing_rivals
from benchmarks.missing_rivals import soft_impute_als


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


def test_the_rival_stops_where_the_r_package_would():
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


def test_errors_are_compared_on_the_seeds_that_both_have():
    ours = {"median": 1.0, "rmse": 2.0, "seeds": [{"rmse": 1.0}, {"rmse": 3.0}]}
    theirs = {"median": 9.0, "rmse": 1.0, "seeds": [{"rmse": 1.0}]}
    found = missing.verdict({"mercer-em": ours, "slow": theirs})
    assert found["error_over_best"] == 1.0


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


def test_a_slow_rival_is_cut_off():
    found = missing._apart("snr1-missing5", 0, ["soft-impute-als-0.01"], False, 0.05)
    assert found == {"soft-impute-als-0.01": {"exceeded": 0.05}}
