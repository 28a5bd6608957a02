"""What a page about classes looks at, and what it leaves out when it is dear."""

import numpy as np
from tests.report.family_tables import iris

import mercer
from mercer.report.facts._groups_summary import groups_seen

X, Y = iris()
MODEL = mercer.LinearDiscriminantAnalysis().fit(X, Y)


def test_looks_are_those_of_the_model():
    seen = groups_seen(MODEL, X, Y)
    assert seen.classes == ["setosa", "versicolor", "virginica"]
    assert np.array_equal(seen.confusion.counts, MODEL.confusion(X, Y).counts)
    assert seen.permutation.p_value == MODEL.permutation(X, Y, draws=199).p_value
    assert np.isclose(seen.largest, 1 / 3)
    assert np.allclose(seen.ellipses.centres, MODEL.centres_)


def test_dear_looks_are_left_out(monkeypatch):
    monkeypatch.setattr("mercer.report.facts._groups_summary._WORK", 10)
    monkeypatch.setattr("mercer.report.facts._groups_summary._CELLS", 10)
    seen = groups_seen(MODEL, X, Y)
    assert seen.confusion is None
    assert seen.permutation is None
    assert seen.ellipses is not None


def test_numbers_as_classes_are_names_too():
    y = np.repeat([3, 1, 2], 50)
    seen = groups_seen(mercer.LinearDiscriminantAnalysis().fit(X, y), X, y)
    assert seen.classes == ["1", "2", "3"]
    assert set(seen.y) == {"1", "2", "3"}


def test_a_kernel_matrix_has_no_linear_map():
    K = np.asarray(X @ X.T)
    model = mercer.KernelDiscriminantAnalysis(kernel="precomputed").fit(K, Y)
    seen = groups_seen(model, K, Y)
    assert seen.flat is None
    assert seen.confusion.accuracy > 0.9
