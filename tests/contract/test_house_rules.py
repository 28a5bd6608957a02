import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(root):
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "house_rules.py", root],
        capture_output=True,
        text=True,
        timeout=60,
    )


def house(root, files):
    for place, text in files.items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return check(root)


def test_the_house_keeps_its_rules():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout


def function(lines, docstring=0):
    words = '    """' + "word\n" * docstring + '"""\n' if docstring else ""
    return "def f():\n" + words + "    x = 1\n" * (lines - 2) + "    return x\n"


GOOD = {
    "src/mercer/__init__.py": "X = 1\n",
    "src/mercer/room/__init__.py": "from mercer.room._thing import f\n",
    "src/mercer/room/_thing.py": function(60, docstring=50),
    "src/mercer/room/_names.py": "X = 1\n",
    "tests/room/test_thing.py": "from sklearn.decomposition import PCA\n",
    "benchmarks/rivals.py": "import sklearn.manifold\n",
    "src/mercer/long.py": "X = 1\n" * 400,
}


def test_a_good_house_passes(tmp_path):
    done = house(tmp_path, GOOD)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("place", "text", "words"),
    [
        ("src/mercer/long.py", "X = 1\n" * 401, "401 lines"),
        ("src/mercer/room/_thing.py", function(61), "f has 61 lines"),
        ("src/mercer/room/_utils.py", "X = 1\n", "'_utils' says nothing"),
        ("src/mercer/core/__init__.py", "", "'core' says nothing"),
        ("tests/room/test_thing.py", "# print" + "(x)\n", "print left in a comment"),
        ("src/mercer/room/_b.py", "class B:\n    x = 1\n", "tests/room/test_b.py is missing"),
        ("src/mercer/a.py", "from sklearn.decomposition import PCA\n", "sklearn.decomposition"),
        ("src/mercer/a.py", "if 1:\n    from sklearn import manifold\n", "sklearn.manifold"),
        ("src/mercer/a.py", "import sklearn.discriminant_analysis as s\n", "discriminant"),
    ],
)
def test_each_breach_is_named(tmp_path, place, text, words):
    done = house(tmp_path, {**GOOD, place: text})
    assert done.returncode == 1
    assert words in done.stdout
    assert len(done.stdout.splitlines()) == 1
