"""With --json stdout is exactly one JSON document, whatever the command, done or refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from mercer.cli.app import COMMANDS, commands
from mercer.cli.commands import doctor_command as _doctor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with names, groups, days, numbers and a few gaps, and a model of it."""
    made = tmp_path_factory.mktemp("documents")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) + 3 * rng.normal(size=(60, 1))
    lines = [
        f"n{i},{'xyz'[i % 3]},2024-02-{i % 28 + 1:02d},{a:.3f},{b:.3f},{c:.3f},{d:.3f}"
        for i, (a, b, c, d) in enumerate(X)
    ]
    text = "\n".join(["name,group,day,a,b,c,d", *lines]) + "\n"
    (made / "t.csv").write_text(text, encoding="utf-8")
    done = run("fit", made / "t.csv", "-o", made / "t.mercer", "--scores", made / "z.csv")
    assert done.exit_code == 0, done.stderr
    return made


def run(*words):
    return CliRunner().invoke(commands, [str(word) for word in words])


LINES = {
    "demo": ["demo", "iris", "-o", "{}/demo"],
    "look": ["look", "{}/t.csv"],
    "plan": ["plan", "{}/t.csv"],
    "fit": ["fit", "{}/t.csv", "-o", "{}/new.mercer", "--scores", "{}/new.parquet"],
    "transform": ["transform", "{}/t.mercer", "{}/t.csv", "-o", "{}/again.csv"],
    "inverse": ["inverse", "{}/t.mercer", "{}/z.csv", "-o", "{}/rows.csv"],
    "tune": ["tune", "{}/t.csv", "--kernel", "rbf", "--time", "1"],
    "inspect": ["inspect", "{}/t.mercer"],
    "drift": ["drift", "{}/t.mercer", "{}/t.csv"],
    "methods": ["methods", "pca"],
    "doctor": ["doctor"],
    "completion": ["completion", "bash"],
    "report": ["report", "{}/t.csv", "-o", "{}/t.html"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_done_says_one_document(name, folder, monkeypatch):
    monkeypatch.setattr(_doctor, "_EXTRAS", {})
    done = run(*(word.format(folder) for word in LINES[name]), "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["schema"], document["ok"]) == ("mercer/1", True)
    assert isinstance(document["warnings"], list)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_refused_says_one_document(name):
    done = run(name, "--json", "--no-such-option")
    assert done.exit_code == 2
    document = json.loads(done.stdout)
    assert (document["schema"], document["ok"]) == ("mercer/1", False)
    assert "--no-such-option" in document["error"]["what"]
