import importlib
import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).resolve().parents[2]
STUBS = sorted((ROOT / "src" / "mercer").rglob("__init__.pyi"))
HEAVY = {"click", "jinja2", "narwhals", "numpy", "pandas", "polars", "rich", "scipy", "sklearn"}
NAMES = """
AccuracyWarning Analysis Autoencoder BayesianPCA Checkpoint ClassicalMDS
CorrespondenceAnalysis DataWarning DictionaryLearning DiffusionMaps FAMD FactorAnalysis Isomap
KernelDiscriminantAnalysis KernelPCA LandmarkFeatures LaplacianEigenmaps
LinearDiscriminantAnalysis LocallyLinearEmbedding MFA MaximumVarianceUnfolding MercerError
MultipleCorrespondenceAnalysis PCA PaCMAP ProbabilisticPCA RandomFeatures RobustPCA
SpectralClustering TSNE TopicVectors UMAP __version__ analyse bootstrap cluster describe_axes
describe_groups drift errors export_onnx health how_many impute load look multiple_imputation
plan progress rotate save scan tune
"""
PUBLIC = NAMES.split()
ROOMS = [
    "diagnostics", "dropin", "errors", "guests", "kernels", "neural", "plots", "report",
    "selection", "studies",
    "testing",
]  # fmt: skip


def python(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True
    ).stdout


def cpu_seconds(*arguments):
    """CPU time of a whole process: unlike wall time it ignores what else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    python(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_import_is_quick_and_loads_nothing_heavy():
    code = "import time; t = time.process_time(); import mercer; print(time.process_time() - t)"
    assert min(float(python("-c", code)) for _ in range(7)) < 0.050
    code = "import sys, json, mercer; print(json.dumps(sorted(sys.modules)))"
    assert not HEAVY & set(json.loads(python("-c", code)))
    assert min(cpu_seconds("-m", "mercer", "--help") for _ in range(7)) < 0.200


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "--help"], ["--version"]])
def test_help_and_version_load_no_numbers(arguments):
    code = (
        "import atexit, sys, json; from mercer.cli.app import commands;"
        "atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))));"
        f"commands.main({arguments!r})"
    )
    loaded = set(json.loads(python("-c", code).splitlines()[-1]))
    assert HEAVY & loaded == {"click"}


def test_public_names_and_rooms_are_these():
    assert sorted(mercer.__all__) == PUBLIC
    assert dir(mercer) == sorted({*PUBLIC, *ROOMS})
    code = "import mercer\n" + "\n".join(f"assert dir(mercer.{room})" for room in ROOMS)
    assert python("-c", f"{code}\nprint(mercer.kernels.RBF.__name__)").strip() == "RBF"


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_the_names_of_a_stub_are_there(stub):
    room = importlib.import_module(".".join(stub.parent.relative_to(ROOT / "src").parts))
    names = re.findall(r"(\w+) as \1\b", stub.read_text(encoding="utf-8"))
    assert len(set(names)) == len(names) == stub.read_text(encoding="utf-8").count(" as ")
    assert set(names) <= set(dir(room))
    assert set(room.__all__) <= set(dir(room))
    for name in names:
        value = getattr(room, name)
        if isinstance(value, type) and value.__module__.startswith("mercer."):
            assert value.__name__ == name
    # A module of that name would stand in the way of the object.
    modules = {path.stem for path in stub.parent.iterdir() if not path.stem.startswith("__")}
    assert not modules & set(room.__all__) - {"errors", "matrices"}


def test_a_name_of_every_room_loads_first():
    """Each in a process of its own, which has loaded other libraries but nothing of mercer."""
    rooms = {name: getattr(getattr(mercer, name), "__module__", "") for name in PUBLIC}
    first = {home.split(".")[1]: name for name, home in rooms.items() if "." in home}
    code = (
        "import os, sys, numpy, scipy.sparse, sklearn.base, narwhals\n"
        "for name in sys.argv[1:]:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        import mercer\n"
        "        os._exit(getattr(mercer, name) is None)\n"
        "    assert os.waitpid(child, 0)[1] == 0, name\n"
        "assert 'mercer' not in sys.modules\n"
        "print('all')\n"
    )
    assert len(first) >= 4
    assert python("-c", code, *first.values()).strip() == "all"


def test_names_are_the_real_ones_and_unknown_ones_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'KPCA'"):
        _ = mercer.KPCA
    from mercer.errors import AccuracyWarning
    from mercer.estimators import PCA, KernelPCA

    assert mercer.PCA is PCA
    assert mercer.KernelPCA is KernelPCA
    assert mercer.AccuracyWarning is AccuracyWarning


def test_the_changelog_knows_the_version():
    assert f"## {mercer.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
