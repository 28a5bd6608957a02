import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from mercer.cli.app import commands
from mercer.cli.commands.completion_command import script_of


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script(shell):
    done = CliRunner().invoke(commands, ["completion", shell])
    assert done.exit_code == 0
    assert done.stdout == script_of(shell) + "\n"
    assert "_MERCER_COMPLETE" in done.stdout


def completed(*words):
    """Return what could stand for the last word, as bash asks for it."""
    env = {
        **os.environ,
        "_MERCER_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["mercer", *words]),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "mercer"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (["fi"], ["plain,fit"]),
        (["in"], ["plain,inverse", "plain,inspect"]),
        (["look", "--miss"], ["plain,--missing"]),
        (["look", "x.csv", "--missing", "r"], ["plain,rows"]),
        (["plan", "x.csv", "--method", "ker"], ["plain,kernel-pca"]),
        (["methods", "rob"], ["plain,robust-pca"]),
        (["look", "x"], ["file,x"]),
        (["zzz"], []),
    ],
)
def test_commands_options_and_values_are_completed(words, answers):
    assert completed(*words) == answers


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_understands_its_script():
    script = script_of("bash") + "\ncomplete -p mercer"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "-F _mercer_completion mercer" in done.stdout
