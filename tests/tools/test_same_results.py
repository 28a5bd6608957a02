"""Results of one tree as hashes: the same twice, and a difference is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
NAMES = f"""
import sys, json
sys.path.insert(0, {str(TOOLS)!r})
import same_results
print(json.dumps([name for name, _ in (*same_results.fits(), *same_results.studies())]))
"""


@pytest.fixture(name="record", scope="module")
def _record(tmp_path_factory):
    """Return what one small case gives."""
    out = tmp_path_factory.mktemp("record") / "a.json"
    command = [sys.executable, TOOLS / "same_results.py", "record", out]
    command += ["--only", "ClassicalMDS: distances"]
    subprocess.run(command, check=True, cwd=out.parent, capture_output=True)
    return out


def compared(before, after):
    command = [sys.executable, TOOLS / "same_results.py", "compare", before, after]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_a_record_holds_attributes_looks_and_the_model_file(record):
    ((name, case),) = json.loads(record.read_text())["cases"].items()
    assert name.startswith('ClassicalMDS: distances, at_once, metric="precomputed"')
    assert case["fit"] == "text: ClassicalMDS"
    for kept in (".eigenvalues_", ".certificate_", "transform(new)", "file: arrays", "page"):
        assert not case[kept].startswith(("error", "text"))
        assert len(case[kept]) == 64


def test_the_same_tree_gives_the_same_and_a_difference_is_named(record, tmp_path):
    code, lines = compared(record, record)
    assert (code, lines[-1]) == (0, "0 of 1 cases differ, in 0 attributes")
    whole = json.loads(record.read_text())
    (name,) = whole["cases"]
    whole["cases"][name][".eigenvalues_"] = "text: other"
    other = tmp_path / "b.json"
    other.write_text(json.dumps(whole))
    code, lines = compared(record, other)
    assert (code, lines[-1]) == (1, "1 of 1 cases differ, in 1 attributes")
    assert lines[0] == name
    assert lines[1].startswith("    .eigenvalues_: ")


def test_every_case_has_a_name_of_its_own():
    done = subprocess.run([sys.executable, "-c", NAMES], check=True, capture_output=True)
    names = json.loads(done.stdout)
    assert len(names) == len(set(names)) == 249
