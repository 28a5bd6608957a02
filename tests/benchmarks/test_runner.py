import json
import os

import numpy as np
from benchmarks import machine, peak, runner, timing
from benchmarks.cases import select
from benchmarks.rivals import RIVALS, Fit


def test_fits_take_turns_and_failures_are_kept(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE_SECONDS", 0.0)
    calls = []

    def good(name):
        def fit():
            calls.append(name)
            return Fit(np.ones(1), np.ones((1, 1)))

        return fit

    def bad():
        raise ValueError("no\nmore")

    timed = timing.interleaved({"a": good("a"), "b": good("b"), "c": bad})
    assert calls[:6] == ["a", "b", "b", "a", "a", "b"]
    assert len(timed["a"].seconds) == len(timed["b"].seconds) == 7
    assert timed["c"].failed == "ValueError: no"
    assert timed["c"].median is None


def test_longer_fits_are_run_less_often():
    assert [timing.Timed([first]).rounds for first in (0.1, 1.0, 9.9, 10.0, 100.0)] == [
        7,
        3,
        3,
        1,
        1,
    ]


def test_the_peak_of_a_fit_is_seen_from_outside(tmp_path):
    """The full solver copies the data: its peak is at least one copy, at most a few."""
    x = np.random.default_rng(0).standard_normal((50_000, 50))
    bytes_, reason = peak.peak_of_fit(peak.save(x, tmp_path), "sklearn-full", 2)
    if peak.rss_anon(os.getpid()) is None:
        assert (bytes_, reason) == (None, "no RssAnon on this system")
    else:
        assert reason is None
        assert x.nbytes <= bytes_ <= 8 * x.nbytes


def test_a_failed_fit_says_why(tmp_path):
    x = np.full((50, 5), np.nan)
    bytes_, reason = peak.peak_of_fit(peak.save(x, tmp_path), "sklearn-full", 2)
    assert bytes_ is None
    assert "NaN" in reason or "no RssAnon" in reason


def test_a_run_writes_its_result(tmp_path, monkeypatch):
    roofs = {f"gram_{dtype}_gflops": 1.0 for dtype in ("float64", "float32")}
    monkeypatch.setattr(machine, "roofs", lambda: {**roofs, "copy_gb_per_s": 1.0})
    monkeypatch.setattr(runner, "REFERENCES", tmp_path)
    cases = select("dense", "dense-10000x40-float64-offset1-k10", quick=True)
    names = ["sklearn-covariance_eigh", "sklearn-tuned", "faiss"]
    said = []
    runner.run(cases, names, tmp_path / "out.json", quick=True, say=said.append)
    result = json.loads((tmp_path / "out.json").read_text())
    (cell,) = result["cells"]
    assert cell["rivals"]["sklearn-covariance_eigh"]["correct"]
    assert cell["rivals"]["sklearn-covariance_eigh"]["error"] < 1e-10
    assert "hopeless" in cell["rivals"]["sklearn-tuned"]["skipped"]
    assert "faiss" in cell["rivals"]["faiss"]["skipped"]
    assert cell["floors"]["data_bytes"] == 8 * 10_000 * 40
    assert result["machine"]["cores"] >= 1
    assert len(said) == 1


def test_every_rival_has_a_reason_or_runs():
    for case in select("all"):
        for rival in RIVALS.values():
            reason = rival.refuse(case)
            assert reason is None or reason
