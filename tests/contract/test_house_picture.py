"""docs/house.md is the house: its tree, the methods of the base, a method by its recipe."""

import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.claims import refuses

import mercer
from mercer import methods

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
BASES = ("SpectralEstimator", "OperatedEstimator", "Embedding")


def folders():
    package = ROOT / "src" / "mercer"
    files = [path for path in package.rglob("*") if path.is_file()]
    held = [path for path in files if "__pycache__" not in path.parts]  # of Numba
    places = {path.parent.relative_to(package).as_posix() for path in held}
    return {place for place in places if place != "."}


def test_the_tree_names_every_folder_and_no_other():
    rooms, families = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    named = set()
    for line in rooms.splitlines():
        if not line.startswith(" "):
            named |= set(re.split(r"\s\|\s|\s{2,}", line)[: 1 + line[:40].count(" | ")])
    families = {line.split()[0] for line in families.splitlines()}
    assert families == {place for place in folders() if "/" in place}
    assert {place for place in folders() if "/" not in place} <= named


def test_what_the_page_names_is_there():
    rooms = {place for place in folders() if "/" not in place}
    for name in re.findall(r"`([\w/.]+)`", PAGE):
        room, dot, rest = name.partition(".")
        if name.endswith(".py") and "NAME" not in name:
            places = (ROOT / "src" / "mercer" / name, ROOT / name, ROOT / "src" / name)
            assert any(place.exists() for place in places), name
        elif dot and room in rooms:
            found = importlib.import_module(f"mercer.{room}")
            assert hasattr(found, rest.partition(".")[0]), name


def bases_and_classes():
    classes = [method.load() for method in methods.METHODS.values()]
    every = {base for kind in classes for base in kind.__mro__}
    every = {base for base in every if base.__module__.startswith("mercer.")}
    return {base.__name__: base for base in every if base.__name__ in BASES}, every


def test_the_table_names_what_is_overridden_and_of_which_base():
    bases, every = bases_and_classes()
    rows = re.findall(r"^\| `(\w+)\(.*?\)` \| `(\w+)` \| .+ \|$", PAGE, re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows)
    for name, owner in rows:
        assert name in vars(bases[owner]), name
    own = {
        name for base in bases.values() for name, part in vars(base).items() if callable(part)
    }
    own -= {name for name in own if name.startswith("__") and name != "__sklearn_tags__"}
    users = every - set(bases.values())
    overridden = {name for name in own for kind in users if name in vars(kind)}
    assert overridden <= {name for name, _ in rows}


@pytest.fixture(name="pcoa", scope="module")
def _pcoa(tmp_path_factory):
    """Return the module of the example, and take the method out of the table afterwards."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(code.splitlines()) <= 60
    path = tmp_path_factory.mktemp("outside") / "weighted_pcoa.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("weighted_pcoa", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["weighted_pcoa"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["weighted_pcoa"]
    del methods.METHODS["WeightedPCoA"], methods.COMMANDS["pcoa"]
    del methods._CLASSES["weighted_pcoa", "WeightedPCoA"]


@pytest.fixture(name="X")
def _rows():
    return np.random.default_rng(0).gamma(2.0, size=(60, 5))


def test_it_is_what_it_says(pcoa, X):
    """Euclidean distances give PCA, a weight is a repeated row, and rows lie where they lay."""
    kind = type("Euclidean", (pcoa.WeightedPCoA,), {"metric": "euclidean"})
    euclidean = kind(3).fit(X)
    pca = mercer.PCA(3).fit(X)
    assert np.allclose(np.abs(euclidean.transform(X)), np.abs(pca.transform(X)), atol=1e-10)
    shares = euclidean.explained_variance_ratio_
    assert np.allclose(shares, pca.explained_variance_ratio_, rtol=1e-10)
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = pcoa.WeightedPCoA(3).fit(X, sample_weight=weights)
    repeated = pcoa.WeightedPCoA(3).fit(np.repeat(X, weights, axis=0))
    assert np.allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)
    plain = pcoa.WeightedPCoA(3).fit(X)
    assert np.allclose(plain.transform(X), plain.embedding_, atol=1e-12)


def test_it_is_planned_and_certified(pcoa, X):
    made = mercer.plan(pcoa.WeightedPCoA(2), X)
    assert made.chosen.name == "lapack"
    model = pcoa.WeightedPCoA(2).fit(X)
    assert model.plan_.chosen.name == "lapack"
    assert model.certificate_.met
    lower, upper = model.certificate_.lower, model.certificate_.upper
    assert ((lower <= model.eigenvalues_) & (model.eigenvalues_ <= upper)).all()
    refuses(None, pcoa.WeightedPCoA(2, memory=1000).fit, X, kind=mercer.errors.BudgetError)
    refuses("n_components", pcoa.WeightedPCoA("two").fit, X, kind=mercer.errors.InputError)


def test_it_is_saved_loaded_and_reported(pcoa, X, tmp_path):
    model = pcoa.WeightedPCoA(2).fit(X)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.transform(X), model.transform(X))
    assert "WeightedPCoA" in model.report(X, tmp_path / "page.html").html
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_it_is_fitted_from_the_command_line(pcoa, X, tmp_path):
    table = tmp_path / "table.csv"
    np.savetxt(table, X, delimiter=",", header="a,b,c,d,e", comments="")
    (line,) = re.findall(r'^    python -c "(.*)" pcoa table.csv$', PAGE, re.MULTILINE)
    folder = str(Path(inspect.getfile(pcoa)).parent)
    code = f"import sys; sys.path.insert(0, {folder!r}); {line}"
    for words in (
        "pcoa table.csv -o page.html",
        "fit table.csv --method pcoa -k 2 --standardize no -o model.mercer",
        "transform model.mercer table.csv -o map.csv",
    ):
        command = [sys.executable, "-c", code, *words.split()]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").exists()
    found = np.loadtxt(tmp_path / "map.csv", delimiter=",", skiprows=1)
    assert np.allclose(found[:, -2:], pcoa.WeightedPCoA(2).fit(X).embedding_, atol=1e-9)
