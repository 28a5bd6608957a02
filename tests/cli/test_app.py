import json
import os
import signal
import subprocess
import sys

import click
import numpy as np
import pytest

from mercer import __version__
from mercer.cli.app import exit_code
from mercer.errors import BudgetError, InputError, NotSupportedError


def mercer(*arguments, **options):
    command = [sys.executable, "-m", "mercer", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_version_goes_to_stdout():
    done = mercer("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mercer {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"], ["plan", "-h"]])
def test_help_goes_to_stdout(arguments):
    done = mercer(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: mercer")


@pytest.mark.parametrize("arguments", [["plna"], ["plan"], ["plan", "x.npy", "--colour"]])
def test_wrong_usage_is_exit_2(arguments):
    done = mercer(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: mercer" in done.stderr


def test_unusable_input_is_exit_3_and_three_lines():
    done = mercer("plan", "not_here.npy")
    assert (done.returncode, done.stdout) == (3, "")
    first, second, third = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert second.strip() == "got: not_here.npy"
    assert third.strip().startswith("fix: ")


def test_over_budget_is_exit_5(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2000, 200)))
    done = mercer("plan", tmp_path / "x.npy", "--memory", "10KB")
    assert (done.returncode, done.stdout) == (5, "")
    assert "fix: " in done.stderr


def test_json_is_one_document_even_on_failure():
    done = mercer("plan", "not_here.npy", "--json")
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["ok"] is False
    assert document["error"]["got"] == "not_here.npy"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("a", got="b", fix="c"), 3),
        (NotSupportedError("a", got="b", fix="c"), 3),
        (BudgetError("a", got="b", fix="c"), 5),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_exit_codes(error, code):
    assert exit_code(error) == code


def test_interrupt_is_exit_130(tmp_path):
    # The work is replaced by a long sleep, so that the interrupt meets a running command.
    code = (
        "import sys, time; import mercer.cli._demo as demo;"
        "demo.run = lambda *a: (print('ready', flush=True), time.sleep(60));"
        "sys.argv = ['mercer', 'demo', 'iris', '-o', sys.argv[1]];"
        "from mercer.cli.app import main; main()"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout.readline() == "ready\n"
    os.kill(running.pid, signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in stderr


def test_a_closed_pipe_ends_quietly(tmp_path):
    command = f"{sys.executable} -m mercer demo iris -o {tmp_path} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("iris: ")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
