"""The command line as a whole, in a process of its own: exit codes, streams, speed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from tests.cli.typed import command, ok

from mercer import __version__
from mercer.cli.app import COMMANDS, commands
from mercer.cli.commands import doctor_command as _doctor
from mercer.cli.commands.completion_command import script_of
from mercer.methods import COMMANDS as METHODS


def mercer(*arguments, **options):
    command = [sys.executable, "-m", "mercer", *map(str, arguments)]
    given = {"stdin": subprocess.DEVNULL} | options
    if "input" in given:
        del given["stdin"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **given)


def three_lines(text):
    first, second, third = text.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("  got: ")
    assert third.startswith("  fix: ")
    return first, second, third


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(2000, 20)))
    return tmp_path / "x.npy"


def test_version_and_help_go_to_stdout():
    done = mercer("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mercer {__version__}\n", "")
    done, asked = mercer(), mercer("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == asked.stdout
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)


def test_done_is_exit_0(npy):
    done = mercer("plan", npy, env={**os.environ, "FORCE_COLOR": "1"})
    assert done.returncode == 0
    assert done.stdout.startswith("plan: 2,000 x 20")
    assert "looked at 2,000 rows" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


WRONG = {
    "command": (["plna"], "there is no command 'plna'", "did you mean mercer plan?"),
    "argument": (["plan"], "DATA is missing", "write mercer plan [OPTIONS] DATA"),
    "option": (["plan", "x.npy", "--colour"], "there is no option --colour", "--color?"),
    "choice": (["look", "x.npy", "--missing", "rwos"], "--missing is one of", "mean rows?"),
    "number": (["plan", "x.npy", "--tol", "few"], "'few' is not a valid float", "--help"),
    "value": (["methods", "pac"], "NAME is one of pca, kernel-pca", "did you mean pca?"),
    "extra": (["look", "x.npy", "y.npy"], "unexpected extra argument", "see mercer look"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage_is_exit_2_and_three_lines(name):
    words, what, fix = WRONG[name]
    done = mercer(*words, "--json")
    assert done.returncode == 2
    first, second, third = three_lines(done.stderr)
    assert what in first
    assert fix in third
    assert words[0] in second or words[-1] in second
    error = json.loads(done.stdout)["error"]
    said = [f"error: {error['what']}", f"  got: {error['got']}", f"  fix: {error['fix']}"]
    assert [first, second, third] == said


FAILING = (
    "import sys; import mercer.cli.commands.methods_command as methods;"
    "methods.parameters_of = lambda *_: 1 / 0;"
    "sys.argv = ['mercer', 'methods', 'pca', *sys.argv[1:]];"
    "from mercer.cli.app import main; main()"
)


def test_an_unforeseen_error_is_exit_1_without_a_traceback():
    command = [sys.executable, "-c", FAILING]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert "ZeroDivisionError" in three_lines(done.stderr)[1]
    loud = subprocess.run([*command, "--debug"], capture_output=True, text=True, timeout=60)
    assert loud.returncode == 1
    assert "Traceback" in loud.stderr


# The work is replaced by a long sleep, so that the interrupt meets a running command. It runs
# from text, as templates do: after that, a module run by -m would end by the signal.
SLEEPING = """
import sys, time
import mercer.cli.commands.methods_command as methods
from mercer.cli.app import main
methods.parameters_of = lambda *_: exec("print('ready', file=sys.stderr); time.sleep(60)")
sys.argv = ["mercer", "methods", "pca", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["text", "json"])
def test_interrupt_is_exit_130(words, tmp_path):
    (tmp_path / "sleeping.py").write_text(SLEEPING, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    running = subprocess.Popen(
        [sys.executable, "-m", "sleeping", *words],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr.readline() == "ready\n"
    os.kill(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert running.returncode == 130
    assert stderr == "interrupted\n"
    if words:
        document = json.loads(stdout)
        assert (document["ok"], document["error"]["code"]) == (False, 130)
    else:
        assert stdout == ""


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no such signal here")
def test_a_closed_pipe_ends_quietly():
    running = subprocess.Popen(
        [sys.executable, "-m", "mercer", "methods", "kernel-pca"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    running.stdout.close()
    stderr = running.stderr.read()
    running.stderr.close()
    assert running.wait(60) == -signal.SIGPIPE
    assert stderr == b""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_and_fits_80_columns(name):
    done = CliRunner().invoke(commands, [name, "--help"], terminal_width=80)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: mercer {name}")
    assert re.search(rf"\n +mercer {name}", done.stdout)
    assert "\\b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['mercer', '--help']\n"
        "from mercer.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'polars', 'rich', 'pandas'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"

    def seconds():
        began = time.perf_counter()
        mercer("--help")
        return time.perf_counter() - began

    # 0.08 s here; the machine may be busy with other tests.
    assert min(seconds() for _ in range(5)) < 0.4


def test_an_old_terminal_gets_unknown_letters_spelt_out():
    code = (
        "import sys; sys.argv = ['mercer', 'methods'];"
        "import mercer.cli.commands.methods_command as m;"
        "own = m.Method('PCA', '', 'größe ≤ 量', 'pca');"
        "m.COMMANDS, m.families = {'pca': own}, lambda: {'A': [own]};"
        "from mercer.cli.app import main; main()"
    )
    env = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("latin-1") == "A:\n  pca  größe \\u2264 \\u91cf\n"


@pytest.mark.skipif(os.name == "nt", reason="the shell of Windows closes no streams")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_closed_streams_are_no_failure(closed, npy):
    words = "methods" if closed == ">&-" else f'fit "{npy}" -k 2 --scores -'
    line = f'"{sys.executable}" -m mercer {words} {closed}'
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert "error" not in done.stderr
    assert (len(done.stdout.splitlines()) == 2001) == (closed == "2>&-")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_command_without_a_method(name):
    done = CliRunner().invoke(commands, [name, "--help"], terminal_width=80)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: mercer {name} [OPTIONS] [MODEL] DATA")
    assert METHODS[name].about in done.stdout
    assert "--method" not in done.stdout.partition("Options:")[2]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_shows_the_methods_in_a_section_of_their_own():
    text = CliRunner().invoke(commands, ["--help"], terminal_width=80).stdout
    own = text.partition("Commands:")[2].partition("Reports of a method")[2]
    assert all(f"\n  {name} " in own for name in METHODS)
    assert not any(f"\n  {name} " in own for name in COMMANDS)


# With --json stdout is exactly one JSON document, whatever the command, done or refused.


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
    ok(run("fit", made / "t.csv", "-o", made / "t.mercer", "--scores", made / "z.csv"))
    return made


run = command()


LINES = {
    "demo": ["demo", "iris", "-o", "{}/demo"],
    "look": ["look", "{}/t.csv"],
    "plan": ["plan", "{}/t.csv"],
    "fit": ["fit", "{}/t.csv", "-o", "{}/new.mercer", "--scores", "{}/new.parquet"],
    "transform": ["transform", "{}/t.mercer", "{}/t.csv", "-o", "{}/again.csv"],
    "features": ["features", "{}/t.csv", "-m", "5", "-o", "{}/features.csv"],
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
    done = ok(run(*(word.format(folder) for word in LINES[name]), "--json"))
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script(shell):
    done = ok(CliRunner().invoke(commands, ["completion", shell]))
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
