"""Every command of docs/command_line.md runs, in the order of the page."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer.cli.app import COMMANDS, commands
from mercer.methods import COMMANDS as METHODS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
LINES = [
    line[2:]
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    for path in (ROOT / "tests" / "data").glob("*.csv"):
        shutil.copy(path, folder)
    return folder


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_page(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = shlex.split(line)
    assert words[0] == "mercer"
    done = CliRunner().invoke(commands, words[1:])
    assert done.exit_code == 0, done.stderr
    assert done.stdout
    if "--json" in words:
        keys = set(re.findall(r"^\| (`.*`) \|", PAGE, re.MULTILINE))
        named = {key for cell in keys for key in re.findall(r"`(\w+)`", cell)}
        assert set(json.loads(done.stdout)) >= named & {"variance", "plan", "outputs", "health"}


def test_every_command_and_method_is_on_the_page():
    assert all(f"`mercer {name}" in PAGE for name in COMMANDS)
    lacking = [n for n in METHODS if f"`{n}`" not in PAGE and f"--method {n} " not in PAGE]
    assert lacking == []
