import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lint(root):
    command = Path(sys.executable).parent / "lint-imports"
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "NO_COLOR": "1"}
    return subprocess.run(
        [command, "--no-cache"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def copy(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    without_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=without_caches)
    return tmp_path


def test_the_house_keeps_its_layers():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("solvers/_wrong.py", "import mercer.estimators\n", "mercer.solvers._wrong"),
        ("plots/_wrong.py", "from mercer.estimators import PCA\n", "mercer.plots._wrong"),
        ("operators/_wrong.py", "import sklearn\n", "not allowed to import sklearn"),
        ("planning/_wrong.py", "def f():\n    import torch\n", "not allowed to import torch"),
        ("selection/_wrong.py", "import mercer.diagnostics\n", "mercer.selection._wrong"),
        ("utils/__init__.py", "", "mercer.utils"),
        ("kernels/_wrong.py", "import pandas\n", "not allowed to import pandas"),
    ],
)
def test_a_broken_copy_is_caught(copy, place, text, words):
    path = copy / "src" / "mercer" / place
    if not path.parent.is_dir():
        path.parent.mkdir()
        (path.parent / "__init__.py").touch()
    path.write_text(text, encoding="utf-8")
    done = lint(copy)
    assert done.returncode == 1
    assert words in done.stdout
