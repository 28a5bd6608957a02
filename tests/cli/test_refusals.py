"""Every bad input has its snapshot in refusals.txt: the command, the exit code, three lines.

``python tests/cli/test_refusals.py`` writes the snapshot anew; read the difference.
"""

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
import bad_files

from mercer.cli.app import commands

SNAPSHOT = Path(__file__).with_name("refusals.txt")
# Messages of other libraries differ from version to version: what stands behind these words.
# So do sizes from machine to machine.
FOREIGN = re.compile(
    r"(cut\.parquet \(|sheet\.xlsx: |fake\.h5: |empty\.zarr: |fake\.npy, |\(Error -3 ).*"
)


def cases():
    """Return the command lines of the snapshot with the code and the lines they end with."""
    found = {}
    for block in SNAPSHOT.read_text(encoding="utf-8").split("\n\n"):
        if block.strip().startswith("$ mercer "):
            line, *ended = block.strip("\n").splitlines()
            found[line.removeprefix("$ mercer ")] = (ended[:1], ended[1:])
    return found


def ended(line, folder):
    """Run a command line in a folder; return its code and its lines on stderr."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(commands, [*shlex.split(line), "-q"], input=b"")
    finally:
        os.chdir(here)
    said = [FOREIGN.sub(r"\1...", text) for text in done.stderr.splitlines()]
    said = [re.sub(r"(needs |--memory )[\d.]+ ?.?B\b", r"\1SIZE", text) for text in said]
    said = [text.replace(str(folder), "FOLDER").replace(" -q", "") for text in said]
    return [f"[exit {done.exit_code}]"], said, done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("bad").resolve()
    bad_files.write_all(made)
    return made


@pytest.mark.parametrize("line", cases())
def test_a_bad_input_is_refused_as_written_down(line, folder):
    code, said, stdout = ended(line, folder)
    assert stdout == "" or "--json" in line
    assert (code, said) == cases()[line]


@pytest.mark.parametrize("line", cases())
def test_every_refusal_is_three_lines_and_a_code(line):
    code, (first, second, third) = cases()[line]
    assert code in (["[exit 2]"], ["[exit 3]"], ["[exit 5]"])
    assert first.startswith("error: ")
    assert second.startswith("  got: ")
    assert third.startswith("  fix: ")
    assert "Traceback" not in first + second + third
    assert "the work failed" not in first


def test_there_are_many():
    assert len(cases()) >= 60


if __name__ == "__main__":
    lines = [
        line for line in SNAPSHOT.read_text(encoding="utf-8").splitlines() if line[:2] == "$ "
    ]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        bad_files.write_all(place)
        blocks = []
        for line in lines:
            code, said, _ = ended(line.removeprefix("$ mercer "), place)
            blocks.append("\n".join([line, *code, *said]))
    SNAPSHOT.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
