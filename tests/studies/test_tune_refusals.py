import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import GroupKFold, LeaveOneOut

import mercer
from mercer.errors import MercerError
from mercer.kernels import RBF, FeatureMap, Linear

X = np.random.default_rng(0).normal(size=(40, 3))


def spoilt(value):
    rows = X.copy()
    rows[3, 1] = value
    return rows


def beyond(n):
    return [(np.arange(20), np.arange(20, n))] * 2


DATA = {
    "one row": (X[:1], "one row has no variance"),
    "two rows": (X[:2], "2 rows, cv=5"),
    "no rows": (X[:0], r"0 sample\(s\)"),
    "one line": (X[:, 0], "Expected 2D array"),
    "all equal": (np.ones((40, 3)), "no variance"),
    "nan": (spoilt(np.nan), "NaN at row 3, column 1"),
    "infinity": (spoilt(-np.inf), "-infinity at row 3, column 1"),
    "text": (np.array([["a", "b"]] * 20), "text 'a' at row 0, column 0"),
    "a word": ("table", "must be a table of numbers"),
    "nothing": (None, "must be a table of numbers"),
    "complex": (X + 1j, "Complex data"),
    "huge": (X * 1e200, "leave the range of float64"),
    "text in a frame": (pd.DataFrame({"a": ["x"] * 20, "b": range(20)}), "'a'"),
}
OPTIONS = {
    "no components": ({"n_components": 0}, "n_components"),
    "a share": ({"n_components": 0.5}, "one number of components"),
    "all components": ({"n_components": None}, "one number of components"),
    "a truth value": ({"n_components": True}, "one number of components"),
    "a word": ({"n_components": "2"}, "n_components"),
    "more components than rows": ({"n_components": 41}, "at most 31 components"),
    "as many as a fold": ({"n_components": 32}, "at most 31 components"),
    "no kernels": ({"kernels": []}, "no kernel to try"),
    "a slip": ({"kernels": ["rfb"]}, "did you mean 'rbf'"),
    "a matrix": ({"kernels": "precomputed"}, "rows are needed"),
    "a number": ({"kernels": 3}, "must be a kernel"),
    "scales for other columns": ({"kernels": RBF((1.0, 2.0))}, "one scale for each column"),
    "an odd function": ({"kernels": lambda *_: np.ones(3)}, "cannot be compared"),
    "nan from a function": ({"kernels": lambda x, y: x @ y.T * np.nan}, "not finite"),
    "negative counts": ({"kernels": "chi2"}, "not negative"),
    "one fold": ({"cv": 1}, "cv=1"),
    "part of a fold": ({"cv": 2.5}, "cannot be split"),
    "folds by name": ({"cv": "five"}, "cannot be split"),
    "groups": ({"cv": GroupKFold(2)}, "cannot be split"),
    "single rows": ({"cv": LeaveOneOut()}, "1 rows held out"),
    "rows that are not there": ({"cv": beyond(60)}, "row 59 asked for"),
    "no folds": ({"cv": []}, "hold out"),
    "one row at most": ({"max_rows": 1}, "max_rows=1"),
    "part of a row": ({"max_rows": 1.5}, "max_rows=1.5"),
    "few rows at most": ({"max_rows": 5}, "5 rows, cv=5"),
    "a seed by name": ({"random_state": "a"}, "random_state"),
    "standardise by name": ({"standardize": "yes"}, "standardize"),
    "no lengthscale": ({"lengthscales": []}, "positive numbers"),
    "a negative lengthscale": ({"lengthscales": [-1.0]}, "lengthscale"),
}


@pytest.mark.parametrize("name", DATA)
def test_data_that_cannot_be_used_are_refused_in_three_lines(name):
    data, words = DATA[name]
    with pytest.raises(MercerError, match=words) as caught:
        mercer.tune(data)
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_cannot_be_are_refused_in_three_lines(name):
    options, words = OPTIONS[name]
    with pytest.raises(MercerError, match=words) as caught:
        mercer.tune(X, **options)
    assert len(str(caught.value).splitlines()) == 3


def test_sparse_rows_have_no_l1_distance_and_cannot_be_standardised():
    rows = scipy.sparse.csr_array(np.maximum(X, 0))
    with pytest.raises(MercerError, match="not defined on sparse rows"):
        mercer.tune(rows, "laplacian")
    with pytest.raises(MercerError, match="cannot be standardised"):
        mercer.tune(rows, standardize=True)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X[:10], {}),
        (X[:4], {"cv": 2, "n_components": 1}),
        (X[:, :1], {"n_components": 1}),
        (np.c_[X, np.full(40, 5.0)], {}),
        (np.repeat(X[:2], 20, axis=0), {}),
        ((X + 1e6).astype(np.float32), {}),
        ((X * 10).astype(np.int64), {}),
        (X > 0, {}),
        (X, {"n_components": 31}),
        (X, {"kernels": [lambda x, y: x @ y.T]}),
        (X, {"kernels": FeatureMap(lambda rows: rows)}),
        (X, {"kernels": "linear"}),
        (X, {"lengthscales": 2.0}),
        (X, {"random_state": None}),
        (X, {"random_state": np.random.default_rng(0)}),
        (X, {"cv": beyond(40), "n_components": 1}),
    ],
    ids=[
        "ten rows",
        "four rows",
        "one column",
        "a constant column",
        "two rows repeated",
        "float32 far off",
        "whole numbers",
        "truth values",
        "as many axes as can be",
        "products as a function",
        "products as features",
        "linear alone",
        "one lengthscale",
        "any seed",
        "a generator",
        "given folds",
    ],
)
def test_odd_but_sound_input_is_linear(data, options):
    few = {} if {"kernels", "lengthscales"} & set(options) else {"lengthscales": [0.5, 2.0]}
    assert mercer.tune(data, **options, **few).best == Linear()
