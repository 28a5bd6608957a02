"""Weights of rows: one for each, in any form; what is none is named by its row."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.claims import refuses

from mercer import PCA, KernelPCA, RobustPCA
from mercer.errors import InputError
from mercer.kernels import RBF


def test_rows_that_stand_twice_tell_nothing_of_each_other(rng):
    # A table that stands twice has the errors of the table: nothing is learned by heart.
    X = rng.standard_normal((60, 3))
    one, two = (KernelPCA(2, kernel=RBF(1.5)).fit(T) for T in (X, np.repeat(X, 2, axis=0)))
    for name, error in one.preimage_errors_.items():
        assert two.preimage_errors_[name] == pytest.approx(error, rel=1e-6)
    assert one.preimage_ == two.preimage_
    X = np.repeat(rng.standard_normal((6, 3)), 4, axis=0)
    model = KernelPCA(2, kernel=RBF(1.5)).fit(X)
    assert model.preimage_errors_ == {}
    assert model.inverse_transform(model.transform(X)).shape == X.shape


COUNTS = [1, 2, 0, 3, 1, 2]
FORMS = {
    "tuple": tuple,
    "int8": lambda w: np.array(w, np.int8),
    "float32": lambda w: np.array(w, np.float32),
    "objects": lambda w: np.array(w, object),
    "decimals": lambda w: [decimal.Decimal(one) for one in w],
    "pandas": lambda w: pd.Series(w, index=list("fedcba")),
    "nullable": lambda w: pd.Series(w, dtype="Int64"),
    "polars": pl.Series,
    "memory": lambda w: memoryview(np.array(w)),
    "a mask of nothing": lambda w: np.ma.masked_array(w, [False] * 6),
}


@pytest.mark.parametrize("form", FORMS)
def test_weights_in_any_form_are_read_by_position(form):
    X = np.random.default_rng(0).standard_normal((6, 3))
    wanted = PCA(2).fit(X, sample_weight=COUNTS).explained_variance_
    given = FORMS[form](COUNTS)
    found = PCA(2).fit(X, sample_weight=given).explained_variance_
    np.testing.assert_array_equal(found, wanted)
    model = KernelPCA(2, kernel=RBF(1.0)).fit(X, sample_weight=given)
    other = KernelPCA(2, kernel=RBF(1.0)).fit(X, sample_weight=COUNTS)
    np.testing.assert_array_equal(model.eigenvalues_, other.eigenvalues_)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (pd.Series([1, None, 2, 1, 1, 1], dtype="Int64"), "nan at row 1|row 1 of Series"),
        (pl.Series([1, 1, None, 1, 1, 1]), "nan at row 2"),
        (pl.Series([1.0, 1, 1, -2, 1, 1]), "-2.0 at row 3"),
        ([1, 1, 1, 1, np.inf, 1], "inf at row 4"),
        (np.ma.masked_array(np.ones(6), np.arange(6) == 5), "nan at row 5"),
        (["1"] * 6, "no real number at row 0 of list"),
        (np.array([1, 1, "1", 1, 1, 1], object), "no real number at row 2"),
        ([1.0] * 5 + [1 + 2j], "no real number at row 5 of list"),
        (np.ones(6, complex), "must be numbers"),
        (1j, "must be numbers"),
        (object(), "must be numbers"),
        (np.ones(6, "m8[s]"), "must be numbers"),
        (np.ones((6, 1)), "one number per row"),
        (2.0, "one number per row"),
        (iter([1] * 6), "must be numbers"),
    ],
    ids=range(15),
)
def test_what_is_no_weight_is_named_by_its_row(wrong, words):
    X = np.random.default_rng(0).standard_normal((6, 3))
    for model in (PCA(2), KernelPCA(2, kernel=RBF(1.0))):
        for act in (model.fit, model.partial_fit):
            refuses(words, act, X, sample_weight=wrong)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(81), "got: 81 weights, 80 rows\n"),
        (np.ones(79), "got: 79 weights, 80 rows or more\n"),
        (np.ones((80, 1)), r"sample_weight of shape \(80, 1\)\n"),
        ([], r"sample_weight of shape \(0,\)\n"),
    ],
    ids=["many", "few", "2d", "none"],
)
@pytest.mark.parametrize("model", [PCA(2), KernelPCA(2, landmarks=20)], ids=["pca", "kernel"])
def test_wrong_weights_of_blocks(rng, model, weights, words):
    X = rng.normal(size=(80, 4))
    refuses(words, model.fit, iter([X[:40], X[40:]]), sample_weight=weights)


def test_the_remedy_for_shares_works(table):
    w = np.full(120, 1 / 120)
    refuses("must exceed 1", PCA(3).fit, table, sample_weight=w)
    found = PCA(3).fit(table, sample_weight=w * len(w) / w.sum())
    plain = PCA(3).fit(table)
    np.testing.assert_allclose(found.explained_variance_, plain.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize(
    "weights",
    [
        [1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0, 1e101], ["a", "b"], [1.0, "2"],
        ["1", "2"], [1.0, None], [1.0, 2j], [[1.0], [1.0, 2.0]],
    ],
)  # fmt: skip
def test_weights_of_features_are_positive_and_one_for_each(weights):
    refuses("one positive number", PCA(1, feature_weight=weights).fit, np.eye(3, 2))


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        (["a"] * 24, "'a' at column 0"),
        ([1.0, *["b"] * 23], "'b' at column 1"),
        (np.r_[np.ones(23), 1e-320], "1e-320 at column 23"),
        (np.ones((24, 1)), "an array of shape (24, 1)"),
    ],
)
@pytest.mark.parametrize("model", [PCA, RobustPCA, KernelPCA])
def test_every_estimator_says_which_weight_is_odd(model, weights, got):
    X = np.random.default_rng(0).normal(size=(60, 24))
    with pytest.raises(InputError, match="one positive number") as caught:
        model(2, feature_weight=weights).fit(X)
    assert caught.value.got == got


@pytest.mark.parametrize("missing", ["raise", "em", "ppca"])
def test_columns_whose_squares_leave_the_range_beside_others(missing):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 6))
    rows += 0.3 * rng.standard_normal(rows.shape)
    if missing != "raise":
        rows[rng.random(rows.shape) < 0.1] = np.nan
    size = np.ones(6)
    plain = PCA(2, standardize=True, missing=missing).fit(rows)
    size[[1, 4]] = 1e-74, 1e74
    apart = PCA(2, standardize=True, missing=missing).fit(rows * size)
    np.testing.assert_allclose(apart.explained_variance_, plain.explained_variance_, rtol=1e-9)
    size[[1, 4]] = 1e-79, 1e79
    if missing == "raise":  # complete rows are standardised each column in its own unit
        apart = PCA(2, standardize=True).fit(rows * size)
        np.testing.assert_allclose(
            apart.explained_variance_, plain.explained_variance_, rtol=1e-9
        )
        return
    with pytest.raises(InputError, match=r"too much in size(.|\n)*column 1,(.|\n)*fix: "):
        PCA(2, standardize=True, missing=missing).fit(rows * size)
