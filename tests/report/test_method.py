"""How it was computed: plan, versions, code that can be run again, and what a page costs."""

import ast
import sys
import tracemalloc
from importlib.metadata import version

import numpy as np
import pytest

import mercer
from mercer.report import page_cost, report
from mercer.report._page_request import PageRequest, python_of

# How it was computed: the plan, versions, and code that can be run again.
RNG = np.random.default_rng(19)


X = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 4)) * 3 + RNG.normal(size=(50, 4))


MODELS = {
    "plain": mercer.PCA(),
    "auto": mercer.PCA("auto", standardize=True),
    "weighted": mercer.PCA(2, feature_weight=np.array([1.0, 2.0, 3.0, 4.0])),
    "robust": mercer.RobustPCA(2, random_state=3),
    "kernel": mercer.KernelPCA(2, kernel="rbf"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_code_fits_the_same_model(name):
    model = MODELS[name].fit(X)
    tree = ast.parse(python_of(model, "X"))
    call = tree.body[1].value.func.value
    assert call.func.attr == type(model).__name__
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    again = type(model)(**given).fit(X)
    assert np.allclose(again.transform(X), model.transform(X))


def test_the_plan_is_that_of_the_fit():
    model = mercer.PCA(2).fit(X)
    section = PageRequest("a", data="'x.csv'", seconds={"fit": 1.23456}, command="mercer").last(
        model
    )
    paths, facts, shell, python = section.parts
    assert paths.rows[0][0] == model.plan_.chosen.name
    assert len(paths.rows) == 1 + len(model.plan_.rejected)
    said = dict(facts.rows)
    assert said["seconds, fit"] == "1.235"
    assert said["mercer"] == mercer.__version__
    assert said["numpy"] == version("numpy")
    assert said["Python"] == sys.version.split()[0]
    assert shell.text == "mercer"
    assert "fit('x.csv')" in python.text


def test_the_code_names_what_the_fit_took():
    section = PageRequest("a").last(mercer.PCA(2).fit(X))
    assert len(section.parts) == 3
    y = np.repeat(["a", "b"], 25)
    model = mercer.LinearDiscriminantAnalysis().fit(X, y)
    assert ".fit(X, y, sample_weight=w)" in python_of(model, "X", weights="w")
    assert ".fit(made.rows, made.y)" in python_of(model, "made.rows", "made = 1")
    assert PageRequest("a", row_names=dict).listed_names is None
    assert PageRequest("a", row_names=["x"]).listed_names == ["x"]


def test_the_last_section_has_all_times_and_the_code():
    X = np.random.default_rng(0).normal(size=(20, 3))
    spent = {"fit": 1.5, "report": 0.25}
    wanted = PageRequest("a", seconds=spent, sample_weight=np.ones(20), command="mercer x")
    section = wanted.last(mercer.PCA(2).fit(X))
    rows = dict(section.parts[1].rows)
    assert (rows["seconds, fit"], rows["seconds, report"]) == ("1.5", "0.25")
    texts = [part.text for part in section.parts if hasattr(part, "text")]
    assert texts[0] == "mercer x"
    assert "sample_weight=sample_weight" in texts[1]
    X = np.random.default_rng(0).normal(size=(20, 3))
    wanted = PageRequest("a", sample_weight=np.ones(20), data="made.rows", opening="made = 1")
    text = wanted.last(mercer.PCA(2).fit(X)).parts[-1].text
    assert "made.rows, sample_weight=made.weights" in text


@pytest.mark.parametrize("shape", [(60_000, 20), (4000, 300)])
def test_the_page_stays_below_the_memory_foreseen(shape, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=shape).astype(np.float32))
    model = mercer.PCA(3).fit(path)
    tracemalloc.start()
    try:
        report(model, path).save(tmp_path / "x.html")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < page_cost(shape).bytes


def test_more_rows_and_colours_cost_more():
    small, large = page_cost((1000, 10)), page_cost((10**6, 10), read_seconds=2.0, colours=1)
    assert small.seconds + 2 < large.seconds
    assert small.bytes < large.bytes
    assert str(large).startswith("page: one more walk, about ")
    assert "rows in memory" not in str(large)
    assert str(page_cost((1000, 10), held=True)).endswith(" beside the rows in memory")
