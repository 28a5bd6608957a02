"""Mutants: sites and their changes, a tree that was moved, and what becomes of three faults."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
HALF = "def half(x):\n    if x < 0 and x != -1:\n        return -x / 2\n    return x / 2\n"
CHECKS = """
from mercer.solvers.a import half


def test_half():
    assert half(4) == 2
    assert half(-4) == 2


def test_nothing():
    assert True
"""


@pytest.fixture(name="sites", scope="module")
def _sites():
    spec = importlib.util.spec_from_file_location("mutant_sites", TOOLS / "mutant_sites.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutant_sites"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mutant_sites"]


def tree(root, place="a", text=HALF):
    """Write a tree with one module, and a test of it."""
    solvers = root / "src" / "mercer" / "solvers"
    solvers.mkdir(parents=True)
    for folder in (solvers.parent, solvers):
        (folder / "__init__.py").touch()
    (solvers / f"{place}.py").write_text(text)
    (root / "tests").mkdir()
    (root / "tests" / "test_a.py").write_text(CHECKS)
    return root


def test_every_change_gives_other_python(sites, tmp_path):
    (module,) = (one for one in sites.modules_of(tree(tmp_path)).values() if one.sites)
    made = {site.change: sites.mutated(module.source, site).decode() for site in module.sites}
    assert "return x * 2" in made["Div to Mult"].replace("(", "").replace(")", "")
    assert "x <= 0" in made["Lt to LtE"]
    assert "x < 0 or x" in made["And to Or"]
    assert "return None" in made["None returned"]
    assert len(set(made.values())) == len(made)


def test_a_draw_is_seeded_and_takes_every_kind_in_turn(sites, tmp_path):
    modules = sites.modules_of(tree(tmp_path))
    drawn = sites.sample(modules, seed=0, count=3)
    assert drawn == sites.sample(modules, seed=0, count=3)
    assert len({site.kind for site in drawn}) == 3
    assert len({site.statement for site in drawn}) == 3


def test_a_mutant_is_found_where_its_function_went(sites, tmp_path):
    before = sites.modules_of(tree(tmp_path / "before"))
    moved = "LIMIT = 3\n\n\n" + HALF.replace("def half", "def _half")
    after = sites.modules_of(tree(tmp_path / "after", "b", moved))
    drawn = sites.sample(before, seed=1, count=3)
    for one, (how, there) in zip(drawn, sites.found_again(after, drawn), strict=True):
        assert (how, there.file) == ("exact", "src/mercer/solvers/b.py")
        assert (there.statement, there.change) == (one.statement, one.change)
    gone = sites.modules_of(tree(tmp_path / "gone", "b", "X = 3\n"))
    assert [how for how, _ in sites.found_again(gone, drawn)] == ["gone"] * 3


@pytest.mark.slow
def test_faults_are_caught_by_the_tests_of_their_lines(tmp_path):
    root = tree(tmp_path / "tree")
    cover, drawn, result = (tmp_path / name for name in ("cover", "drawn.json", "result.json"))

    def mutants(*command):
        command = [sys.executable, TOOLS / "mutants.py", *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    mutants("cover", cover, "--tree", root, "-n", "1")
    mutants("sample", drawn, "--tree", root, "--coverage", cover, "--count", "3")
    given = ("--mutants", drawn, "--coverage", cover, "--result", result, "--jobs", "1")
    told = mutants("run", "--tree", root, *given)
    found = json.loads(result.read_text())["results"]
    assert len(found) == 3
    assert {one["tests"] for one in found} == {1}  # the other test runs none of the lines
    assert any(one["verdict"] == "killed" for one in found)
    assert "3 mutants: " in told
    assert mutants("compare", result, result).endswith("0 caught before and surviving now\n")
