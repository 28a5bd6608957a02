"""How it was computed: the plan, versions, and code that can be run again."""

import ast
import sys
from importlib.metadata import version

import numpy as np
import pytest

import mercer
from mercer.report._page_request import method_section, python_of

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
    section = method_section(model, data="'x.csv'", seconds={"fit": 1.23456}, command="mercer")
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


def test_without_a_command_there_is_no_command():
    section = method_section(mercer.PCA(2).fit(X), data="X", seconds={})
    assert len(section.parts) == 3


def test_classes_and_weights_stand_in_the_code():
    y = np.repeat(["a", "b"], 25)
    model = mercer.LinearDiscriminantAnalysis().fit(X, y)
    assert ".fit(X, y, sample_weight=w)" in python_of(model, "X", weights="w")
    assert ".fit(made.rows, made.y)" in python_of(model, "made.rows", "made = 1")
