"""The suite under other processors' loops: one line a run, and an exit code."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "cores.py"


@pytest.fixture(name="cores")
def _cores():
    spec = importlib.util.spec_from_file_location("cores", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path, want):
    path.write_text(
        "from os import environ as env\n\n\ndef test_it():\n"
        f"    assert (env['OPENBLAS_CORETYPE'], env['OMP_NUM_THREADS']) == {want}\n"
    )
    return [str(path)]


def test_a_run_has_its_core_and_says_how_it_went(cores, tmp_path, capsys):
    args = written(tmp_path / "test_it.py", ("Nehalem", "1"))
    assert cores.run("Nehalem", 1, args) == 0
    assert capsys.readouterr().out.startswith("Nehalem   1 thread   1 passed, ")
    assert cores.run("Prescott", 2, args) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Prescott  2 threads  1 failed, ")
    assert second.startswith("FAILED")


def test_every_core_runs_with_every_number_of_threads(cores, monkeypatch, capsys):
    runs = []
    monkeypatch.setattr(cores, "loops_of", lambda core: None if core == "Zen" else core)
    monkeypatch.setattr(cores, "run", lambda *given: runs.append(given) or len(runs) == 3)
    assert cores.main(["-x"]) == 1
    assert [one[:2] for one in runs] == [
        (core, n) for core in ("Prescott", "Nehalem", "Haswell", "SkylakeX") for n in (1, 2)
    ]
    assert all(one[2] == ["-x"] for one in runs)
    assert "Zen       left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("own", "wanted"),
    [("Haswell", "Prescott"), ("SkylakeX", "Prescott"), ("Katmai", "Nehalem")],
)
def test_the_quick_part_is_run_under_another_core(cores, monkeypatch, own, wanted):
    monkeypatch.setattr(cores, "loops_of", lambda _core: own)
    monkeypatch.setattr(cores, "run", lambda core, threads, args: (core, threads, args))
    core, threads, args = cores.main(["--other", "-x"])
    assert (core, threads) == (wanted, 2)
    assert args[-1] == "-x"
    assert all((TOOL.parents[1] / place).exists() for place in args[:-1])


def test_another_library_has_one_kind_of_core(cores, monkeypatch, capsys):
    monkeypatch.setattr(cores, "loops_of", lambda _core: None)
    assert cores.main(["--other"]) == 0
    assert "not OpenBLAS" in capsys.readouterr().out


def test_loops_are_those_asked_for(cores):
    own = cores.loops_of(None)
    if own is None:
        pytest.skip("no OpenBLAS here")
    assert cores.loops_of("Nehalem") in ("Nehalem", own)  # other families have others
