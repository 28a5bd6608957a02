import json
import os
from collections import Counter

import numpy as np
import polars as pl
import pytest
from benchmarks import __main__ as command
from benchmarks import command_line, machine, peak, reference, runner, timing
from benchmarks.cases import dense_cases, select
from benchmarks.factors import Factors
from benchmarks.rivals import RIVALS, Fit
from scipy import sparse


def test_fits_take_turns_and_failures_are_kept(monkeypatch):
    monkeypatch.setattr(timing, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(timing.gc, "collect", lambda: 0)  # slow behind a thousand tests
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


def test_every_case_is_selected_or_refused_with_a_reason():
    for case in select("all"):
        for rival in RIVALS.values():
            reason = rival.refuse(case)
            assert reason is None or reason
    assert [case.name for case in select("dense", "*5000x5000-float32-offset1-*")] == [
        "dense-5000x5000-float32-offset1-k10",
        "dense-5000x5000-float32-offset1-k50",
    ]
    assert select("sparse", "nothing") == []
    assert [timing.Timed([first]).rounds for first in (0.1, 1.0, 9.9, 10.0, 100.0)] == [
        7,
        3,
        3,
        1,
        1,
    ]


def test_the_peak_of_a_fit_is_seen_from_outside(tmp_path):
    x = np.random.default_rng(0).standard_normal((50_000, 50))
    bytes_, reason = peak.peak_of_fit(peak.save(x, tmp_path), "sklearn-full", 2)
    if peak.rss_anon(os.getpid()) is None:
        assert (bytes_, reason) == (None, "no RssAnon on this system")
    else:
        assert reason is None
        assert x.nbytes <= bytes_ <= 8 * x.nbytes
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


@pytest.fixture
def runs(monkeypatch):
    """Record what would be run instead of running it."""
    made = []

    def run(cases, rivals, out, *, quick, **_others):
        made.append((len(cases), rivals, out.name, quick))
        return out

    monkeypatch.setattr(runner, "run", run)
    return made


def test_a_whole_run_is_kept_under_the_name_of_its_group(runs, capsys):
    assert command.main(["dense"]) == 0
    assert [(count, name) for count, _, name, _ in runs] == [(40, "dense.json")]
    runs.clear()
    assert command.main(["dense", "--case", "nothing"]) == 2
    assert "no dense case matches" in capsys.readouterr().err
    assert runs == []
    command.main(["all"])
    assert [name for _, _, name, _ in runs] == ["dense.json", "sparse.json", "real.json"]
    runs.clear()
    command.main(["all", "--out", "mine.json"])
    assert runs[0][2] == "mine-dense.json"


@pytest.mark.parametrize(
    "options", [["--quick"], ["--case", "*k10"], ["--rivals", "mercer", "sklearn-auto"]]
)
def test_a_part_is_written_elsewhere(runs, options):
    command.main(["dense", *options])
    assert runs[0][2] == "partial-dense.json"


@pytest.mark.parametrize("name", [*command.NAMED, "missing"])
def test_cases_are_listed_and_not_run(name, capsys, monkeypatch):
    module = command.NAMED.get(name, command.missing)
    monkeypatch.setattr(module, "run", lambda *_: pytest.fail("it was asked to list them"))
    assert command.main([name, "--list"]) == 0
    named = capsys.readouterr().out.split()
    assert len(named) == len(module.CASES) > 0
    assert command.main([name, "--list", "--case", named[0]]) == 0
    assert capsys.readouterr().out.split() == named[:1]


def test_the_dense_grid_is_whole():
    cases = dense_cases()
    assert len(cases) == 40
    assert len({case.name for case in cases}) == 40
    assert Counter((case.rows, case.columns) for case in cases) == {
        (1_000_000, 50): 8,
        (200_000, 200): 8,
        (20_000, 2_000): 8,
        (2_000, 20_000): 8,
        (5_000, 5_000): 8,
    }
    assert Counter(case.components for case in cases) == {10: 20, 50: 20}
    assert Counter(case.offset for case in cases) == {1.0: 20, 100.0: 20}


@pytest.mark.slow
def test_a_small_file_is_made_once_and_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "DATA", tmp_path)
    path = command_line._made(600)
    assert pl.read_parquet(path).shape == (600, 50)
    assert command_line._made(600) == path
    cell = command_line._fit(600)
    assert cell["components"] == 8
    assert cell["planned_bytes"] > 0
    assert cell["libraries_bytes"] > 1e6
    assert set(cell["stages"]) == {"look", "fit", "rows", "write"}


def test_the_start_is_measured(monkeypatch):
    monkeypatch.setattr(command_line, "TIMES", 1)
    cell = command_line.CASES["start-help"]()
    assert 0 < cell["seconds"] == cell["each"][0]
    own = command_line.CASES["own-look"]()
    assert 0 < own["seconds"] < 1
    assert 20 < own["modules"] < 100


def truth_by_svd(x, k):
    centred = x.astype(np.longdouble) - x.astype(np.longdouble).mean(axis=0)
    _, s, vt = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    return s[:k] ** 2 / (len(x) - 1), vt[:k]


@pytest.mark.parametrize("shape", [(400, 60), (60, 400), (80, 80)])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e6])
def test_exact_agrees_with_an_svd(shape, offset):
    x = Factors(*shape, offset).load()
    found = reference.exact(x, 5)
    values, components = truth_by_svd(x, 5)
    np.testing.assert_allclose(found.values, values, rtol=1e-9)
    assert reference.subspace_sine(components, found) < 1e-9
    np.testing.assert_allclose(found.total, x.var(axis=0, ddof=1).sum(), rtol=1e-9)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_exact_takes_sparse_and_several_blocks(shape, monkeypatch):
    x = sparse.random(*shape, density=0.2, format="csr", random_state=0)
    whole = reference.exact(x.toarray(), 4)
    monkeypatch.setattr(reference, "BLOCK_BYTES", 8 * 40 * 7)
    found = reference.exact(x, 4)
    np.testing.assert_allclose(found.values, whole.values, rtol=1e-12)
    assert reference.subspace_sine(whole.components, found) < 1e-10


def test_errors_are_what_they_say():
    x = Factors(200, 30, 1.0).load()
    truth = reference.exact(x, 6)
    assert reference.value_error(truth.values[:3], truth) == 0.0
    assert reference.value_error(truth.values * [1, 1, 1.01, 1, 1, 1], truth) == pytest.approx(
        0.01
    )
    assert reference.value_error(truth.values * np.nan, truth) == np.inf
    turned = truth.components[:3].copy()
    turned[2] = np.cos(0.1) * turned[2] + np.sin(0.1) * truth.components[5]
    assert reference.subspace_sine(turned, truth) == pytest.approx(np.sin(0.1))
    # A rotation inside the subspace is no error.
    assert reference.subspace_sine(truth.components[[2, 0, 1]], truth) < 1e-12


def test_the_answer_is_remembered_by_the_digest_of_the_data(tmp_path, monkeypatch):
    x = Factors(50, 10, 1.0).load()
    first = reference.remembered(x, 3, tmp_path)
    monkeypatch.setattr(reference, "exact", lambda *_: pytest.fail("computed twice"))
    assert np.array_equal(reference.remembered(x, 3, tmp_path).values, first.values)
    other = x.copy()
    other[3, 4] += 1e-12
    assert reference.digest(other) != reference.digest(x)
