"""What runs before a change lands: the steps in their order, and a browser that is there."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LANDING = Path(__file__).parent.parent / ".ci" / "run"
FIRST = ["run test", "run test-cores --other", "run check"]
TOOLS = ("bash", "dirname", "id")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="a shell script")


@pytest.fixture
def landing(tmp_path):
    """Return a runner of the script whose programs write down that they were called."""
    programs, calls = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    (tmp_path / ".ci").mkdir()
    shutil.copy(LANDING, tmp_path / ".ci" / "run")
    for name in TOOLS:
        (programs / name).symlink_to(shutil.which(name))

    def program(path, then=""):
        path.write_text(f'#!/bin/bash\necho "{path.name} $*" >> {calls}\n{then}\n')
        path.chmod(0o755)

    def land(**environment):
        done = subprocess.run(
            [programs / "bash", tmp_path / ".ci" / "run"],
            env={"PATH": str(programs), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, calls.read_text().splitlines()

    program(tmp_path / "run")
    land.program = lambda name, then="": program(programs / name, then)
    land.steps = lambda then: program(tmp_path / "run", then)
    land.browser = programs / "chromium"
    return land


def test_the_steps_run_in_their_order(landing):
    landing.program("chromium")
    done, calls = landing()
    assert done.returncode == 0, done.stderr
    assert calls == [*FIRST, "run test-browser"]


def test_a_missing_browser_is_no_success(landing):
    done, calls = landing()
    assert done.returncode == 1
    assert calls == FIRST
    assert "got: no chromium" in done.stderr
    assert "fix: install it" in done.stderr


def test_a_missing_browser_is_installed_where_changes_land(landing):
    (landing.browser.parent / "id").unlink()
    landing.program("id", "echo 0")
    installed = (
        f'[ "$2" = install ] && echo > {landing.browser} && /bin/chmod +x {landing.browser}'
    )
    landing.program("apt-get", f"{installed}; true")
    done, calls = landing(CI="true")
    assert done.returncode == 0, done.stderr
    assert calls[-1] == "run test-browser"
    assert "apt-get -qq install -y chromium" in calls
    assert landing.browser.exists()


@pytest.mark.parametrize("broken", ["test", "test-cores", "check", "test-browser"])
def test_one_step_that_fails_fails_the_whole_and_the_others_still_run(landing, broken):
    landing.program("chromium")
    landing.steps(f'[ "$1" != {broken} ]')
    done, calls = landing()
    assert done.returncode == 1
    assert f"== ./run {broken}" in done.stdout
    assert len(calls) == len(FIRST) + 1
