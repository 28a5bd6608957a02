import types

import numpy as np

import mercer
from mercer.cli.fitting._axis_lines import (
    axis_lines,
    certified_lines,
    how_many,
    shares_of,
    values_of,
)


def model(**attributes):
    made = object.__new__(mercer.LaplacianEigenmaps)
    vars(made).update({"n_components_": 2} | attributes)
    return made


def test_a_table_has_what_the_method_has():
    whole = model(
        eigenvalues_=np.array([2.0, 1.0]), explained_variance_ratio_=np.array([0.5, 0.25])
    )
    assert axis_lines(whole) == [
        "axis  eigenvalue  share %  sum %",
        "   1      2.0000     50.0   50.0",
        "   2      1.0000     25.0   75.0",
    ]
    bare = model(eigenvalues_=np.array([2.0, 1.0]), explained_variance_ratio_=None)
    assert axis_lines(bare) == ["axis  eigenvalue", "   1      2.0000", "   2      1.0000"]
    shares = model(explained_variance_ratio_=np.array([0.5, 0.25]))
    assert axis_lines(shares)[1].split() == ["1", "50.0", "50.0"]
    assert axis_lines(model()) == []
    assert axis_lines(model(n_components_=0, eigenvalues_=np.empty(0))) == []
    long = model(n_components_=3, eigenvalues_=np.ones(3), explained_variance_ratio_=None)
    assert axis_lines(long, 2)[-1] == "… (1 more)"


def test_values_and_shares_may_be_missing():
    assert values_of(model()) is None
    assert shares_of(model(explained_variance_ratio_=None)) is None
    assert values_of(model(explained_variance_=[3.0, 2.0, 1.0])).tolist() == [3.0, 2.0]


def test_why_there_are_so_many_axes():
    table = np.random.default_rng(0).poisson(5.0, (6, 5)) + 20 * np.eye(6, 5)
    assert how_many(mercer.CorrespondenceAnalysis(1).fit(table)) == "1 axis, as asked."
    assert how_many(mercer.CorrespondenceAnalysis(2).fit(table)).startswith("2 axes, the def")
    assert "component" in how_many(mercer.CorrespondenceAnalysis("auto").fit(table))


def test_what_is_certified_and_what_cannot_be_told_apart():
    found = types.SimpleNamespace(reached=1e-12, groups=((0, 1), (1, 2)))
    lines = certified_lines(model(certificate_=found))
    assert lines[0] == "Certified: every eigenvalue to 1.0e-12 of itself."
    assert lines[1].startswith("Axes 1, 2 cannot be told apart")
    assert lines[2].startswith("Axes 2, the next one cannot")
    assert certified_lines(model()) == []
