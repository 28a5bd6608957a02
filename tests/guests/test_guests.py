"""Guests: the same bits for a seed, places of new rows, files without pickle, words."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import check_estimator
from tests.claims import hushed, refuses

import mercer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5)) + 6 * np.repeat(np.eye(3, 5), 30, axis=0)
NEW = RNG.normal(size=(12, 5))
MADE = {
    "TSNE": mercer.TSNE(perplexity=10, n_iter=150),
    "UMAP": mercer.UMAP(neighbours=10),
    "PaCMAP": mercer.PaCMAP(),
    "DictionaryLearning": mercer.DictionaryLearning(4, max_iter=20),
}
# What the hosts cannot. openTSNE and pacmap: places of rows of the fit, given as new ones, are
# near and not equal. umap-learn: new rows are placed together, in one run of random steps, so
# that a place depends on the rows beside it and on their order.
_NEAR = {"check_transformer_general", "check_transformer_data_not_an_array"}
_TOGETHER = {"check_methods_sample_order_invariance", "check_methods_subset_invariance"}
CANNOT = {"TSNE": _NEAR, "PaCMAP": _NEAR, "UMAP": _TOGETHER}


# umap-learn is compiled for half a minute when it first runs.
RUN = [pytest.param(n, marks=pytest.mark.slow) if n == "UMAP" else n for n in MADE]


@pytest.mark.parametrize("name", RUN)
def test_two_runs_are_one_and_files_keep_it(name, tmp_path):
    model = MADE[name].fit(X)
    places, new = model.embedding_.copy(), model.transform(NEW)
    assert model.certificate_ is None
    assert np.isfinite(new).all()
    mercer.save(model, tmp_path / "guest.mercer")
    again = MADE[name].fit(X)
    assert np.array_equal(again.embedding_, places)
    assert np.array_equal(again.transform(NEW), new)
    loaded = mercer.load(tmp_path / "guest.mercer")
    assert np.array_equal(loaded.transform(NEW), new)
    plan = mercer.plan(MADE[name], X)
    assert "no certificate" in str(plan)
    assert plan.chosen.seconds > 0
    model.report(X, tmp_path / "guest.html")
    assert "no certificate" in (tmp_path / "guest.html").read_text(encoding="utf-8")


def test_rows_of_the_fit_come_back_within_the_distance_of_neighbours():
    model = mercer.TSNE(perplexity=10).fit(X)
    places = model.embedding_
    near = NearestNeighbors(n_neighbors=2).fit(places).kneighbors(places)[0][:, 1]
    moved = np.linalg.norm(model.transform(X) - places, axis=1)
    assert np.median(moved) <= np.median(near)


def test_a_map_of_ours_is_a_start():
    ours = mercer.LaplacianEigenmaps(2, neighbours=40)
    by_map = mercer.TSNE(start=ours, perplexity=10, n_iter=50).fit(X)
    by_places = mercer.TSNE(start=ours.fit_transform(X), perplexity=10, n_iter=50).fit(X)
    assert np.array_equal(by_map.embedding_, by_places.embedding_)
    refuses("one place for each row", mercer.TSNE(start=np.zeros((3, 2))).fit, X)


CHECKED = [
    "TSNE",
    "DictionaryLearning",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("PaCMAP", "UMAP")),
]


@pytest.mark.parametrize("name", CHECKED)
def test_check_estimator_but_for_what_hosts_cannot(name):
    few = {"TSNE": {"n_iter": 20}, "DictionaryLearning": {"max_iter": 5}}.get(name, {})
    made = getattr(mercer, name)(**few)
    done = hushed(check_estimator, made, on_fail=None, on_skip=None)
    failed = {r["check_name"]: str(r["exception"]) for r in done if r["status"] == "failed"}
    assert set(failed) <= CANNOT.get(name, set()), failed


@pytest.mark.parametrize("name", MADE)
def test_bad_rows_are_refused(name):
    model = MADE[name]
    refuses("missing|NaN", model.fit, np.where(X > 7, np.nan, X))
    refuses("1|one", model.fit, X[:1], kind=ValueError)
    refuses("text|number|convert", model.fit, [["a", "b"], ["c", "d"]], kind=ValueError)


def test_a_library_that_is_not_there_is_exit_4(tmp_path):
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    code = (
        "import sys\n"
        "for name in ('openTSNE', 'umap', 'pacmap'): sys.modules[name] = None\n"
        "from mercer.cli.app import commands\n"
        "commands.main(sys.argv[1:])"
    )
    for method in ("tsne", "umap", "pacmap"):
        words = [sys.executable, "-c", code, "fit", str(tmp_path / "t.csv"), "--method", method]
        done = subprocess.run([*words, "-q"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 4
        assert done.stderr.splitlines()[2] == f"  fix: pip install 'mercer[{method}]'"
